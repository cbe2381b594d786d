// Pieces that several views use.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { AWAY, LEVELS, NOT_READ, OK, PARTLY, report, type Severity } from "./data";
import { seen } from "./text";

export const enc = encodeURIComponent;
export const Chip = ({ severity }: { severity: Severity }) => <span class={`chip ${severity}`}>{severity}</span>;
export const Said = ({ text, most }: { text: string | null | undefined; most?: number }) => <bdi class="wrap">{seen(text, most)}</bdi>;
// Our own rule texts: code between backticks, paragraphs, nothing else of Markdown.
export const Prose = ({ text }: { text: string }) => <>{text.split("\n\n").map(part => <p class="small">{part.split("`").map((t, i) => (i % 2 ? <code>{t}</code> : t))}</p>)}</>;

export function Machine({ name }: { name: string }) {
  const where = report.hostIndex.has(name) ? "host" : report.switchIndex.has(name) ? "switch" : "";
  return where ? <a href={`#/${where}/${enc(name)}`}><Said text={name} most={60} /></a> : <Said text={name} />;
}

export const Square = ({ level }: { level: number }) => <span class={`sw l${level}`} aria-hidden="true" />;
export function Legend({ levels }: { levels: number[] }) {
  return <ul class="legend">{levels.map(l => <li><Square level={l} />{LEVELS[l]}</li>)}</ul>;
}

export function Command({ text }: { text: string }) {
  const [done, set] = useState(false);
  const copy = () => navigator.clipboard?.writeText(text).then(() => { set(true); setTimeout(() => set(false), 1500); });
  return <div class="cmd"><pre>{seen(text, 4000)}</pre><button type="button" class="noprint" onClick={copy}>{done ? "Copied" : "Copy"}</button></div>;
}

export interface Palette { levels: [number, number, number][]; bg: [number, number, number]; text: string; muted: string; line: string }
// The theme's colors, as numbers for pixels.
export function palette(): Palette {
  const style = getComputedStyle(document.documentElement), of = (n: string) => style.getPropertyValue(n).trim();
  const rgb = (v: string): [number, number, number] => {
    const x = v.length === 4 ? [...v.slice(1)].map(d => d + d).join("") : v.slice(1);
    return [0, 2, 4].map(i => parseInt(x.slice(i, i + 2), 16)) as [number, number, number];
  };
  const names = ["--ok", "--info", "--low", "--medium", "--high", "--blocker", "--unknown", "--unknown", "--ok"];
  return { levels: names.map(n => rgb(of(n))), bg: rgb(of("--bg")), text: of("--text"), muted: of("--muted"), line: of("--line") };
}
export const isDark = () => document.documentElement.dataset.theme === "dark";
export function useTheme() {
  const [n, set] = useState(0);
  useEffect(() => { const f = () => set(x => x + 1); addEventListener("themechange", f); return () => removeEventListener("themechange", f); }, []);
  return n;
}
export function useWidth<T extends HTMLElement>() {
  const ref = useRef<T>(null), [width, set] = useState(0);
  useEffect(() => {
    const e = ref.current;
    if (!e) return; // nothing to draw on
    const watch = new ResizeObserver(() => set(e.clientWidth));
    watch.observe(e); set(e.clientWidth);
    return () => watch.disconnect();
  }, []);
  return [ref, width] as const;
}
export const Tip = ({ x, y, children }: { x: number; y: number; children: ComponentChildren }) =>
  <div class="tip" role="presentation" ref={e => { if (e) { e.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - 430))}px`; e.style.top = `${y + 16}px`; } }}>{children}</div>;
// A width that is data: CSS cannot be written as an attribute under the policy.
export const grow = (n: number) => (e: HTMLElement | null) => { if (e) e.style.flexGrow = String(n); };

// A square on a canvas: not read is hatched, out of service is outlined, not all decided has a dot.
export function paint(img: ImageData, x: number, y: number, w: number, h: number, level: number, p: Palette) {
  const data = img.data, color = p.levels[level] ?? p.bg, dot = p.levels[NOT_READ];
  for (let j = 0; j < h; j++) for (let i = 0; i < w; i++) {
    const at = ((y + j) * img.width + x + i) * 4;
    let c = color;
    if (level === NOT_READ) c = (i + j + x + y) % (w >= 6 ? 4 : 2) < (w >= 6 ? 2 : 1) ? color : p.bg;
    if (level === AWAY) c = (i === 0 || j === 0 || i === w - 1 || j === h - 1) && (i + j) % 2 === 0 ? color : p.bg;
    if (level === PARTLY && i >= w - Math.max(1, w >> 2) && j >= h - Math.max(1, h >> 2)) c = dot;
    data[at] = c[0]; data[at + 1] = c[1]; data[at + 2] = c[2]; data[at + 3] = 255;
  }
}
export const fill = (img: ImageData, [r, g, b]: [number, number, number]) => new Uint32Array(img.data.buffer).fill(pixel(r, g, b));
export const pixel = (r: number, g: number, b: number) => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
export { OK };
