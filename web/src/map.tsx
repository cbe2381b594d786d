// Every host port of every leaf as one square: is it one host, one leaf, one rail, one pod?
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AWAY, BLOCKER, LEVELS, NOT_READ, OK, PARTLY, hasFinding, report } from "./data";
import { Legend, Machine, Said, Square, Tip, enc, fill, paint, palette, pixel, useTheme, useWidth, type Palette } from "./parts";
import { Rails } from "./rails";
import { count, plural, seen } from "./text";

export interface Leaf { index: number; rail: number; column: number; row: number; block: number; ports: number[] }
interface Pod { name: string; rows: number; columns: number; rails: number[] }
const UNKNOWN_RAIL = -1, IN_A_ROW = 8;

// Leaves of one pod are a block: a column for each rail, a row for each group of hosts.
export function layout(): { leaves: Leaf[]; pods: Pod[]; widest: number; alone: number[] } {
  const sw = report.core.switches, ports: number[][] = sw.name.map(() => []), alone: number[] = [];
  for (let i = 0; i < report.ports; i++) if (report.peer[i]) ports[report.peer[i] - 1].push(i); else alone.push(i);
  const byPod = new Map<string, Map<number, number[]>>();
  sw.name.forEach((_, i) => {
    if (sw.tier[i] !== 1 && !(sw.tier[i] === null && ports[i].length)) return;
    const pod = String(sw.pod[i] ?? ""), rails = byPod.get(pod) ?? new Map<number, number[]>(), rail = sw.rail[i] ?? UNKNOWN_RAIL;
    byPod.set(pod, rails); rails.set(rail, [...(rails.get(rail) ?? []), i]);
  });
  const leaves: Leaf[] = [], pods: Pod[] = [];
  [...byPod].forEach(([name, rails], block) => {
    const known = [...rails.keys()].sort((a, b) => (a < 0 ? 1 : b < 0 ? -1 : a - b)); // those without a rail last
    let rows = 0;
    const put = (index: number, rail: number, column: number, row: number) => { leaves.push({ index, rail, column, row, block, ports: ports[index] }); rows = Math.max(rows, row + 1); };
    const isRailed = known[0] !== UNKNOWN_RAIL;
    if (isRailed) known.forEach((rail, column) => rails.get(rail)!.forEach((index, row) => put(index, rail, column, row)));
    else rails.get(UNKNOWN_RAIL)!.forEach((index, k) => put(index, UNKNOWN_RAIL, k % IN_A_ROW, Math.floor(k / IN_A_ROW)));
    pods.push({ name, rows, columns: isRailed ? known.length : Math.min(IN_A_ROW, rails.get(UNKNOWN_RAIL)!.length), rails: isRailed ? known : [] });
  });
  return { leaves, pods, widest: Math.max(1, ...leaves.map(l => l.ports.length)), alone };
}

export function summary(l: Leaf): string {
  const n = { found: 0, unread: 0, away: 0, partly: 0 };
  for (const p of l.ports) { const v = report.level[p]; if (v === NOT_READ) n.unread++; else if (v === AWAY) n.away++; else if (v === PARTLY) n.partly++; else if (hasFinding(v)) n.found++; }
  const sw = report.core.switches, rail = l.rail === UNKNOWN_RAIL ? "" : `, rail ${l.rail}`;
  const more = [[n.found, "with findings"], [n.partly, "not all decided"], [n.unread, "not read"], [n.away, "out of service"]].filter(([k]) => k).map(([k, w]) => `, ${k} ${w}`).join("");
  return `${sw.name[l.index]}${rail}: ${LEVELS[sw.level[l.index]]}; ${plural(l.ports.length, "host port")}${more}`;
}

interface Geometry { columns: number; left: number; gap: number; cell: number; leaf: number; side: number; podWidth: number; podHeight: number; top: number; width: number; height: number }
const PAD = 3, FOOT = 12;
function measure(full: number, pods: Pod[], widest: number): Geometry {
  const side = Math.ceil(Math.sqrt(widest)), columns = Math.min(pods.length, Math.max(1, Math.round(Math.sqrt(pods.length * 1.4))));
  const wide = Math.max(1, ...pods.map(p => p.columns)), high = Math.max(1, ...pods.map(p => p.rows)), left = 4, gap = 22, top = 20;
  const fits = Math.floor(((full - left - (columns - 1) * gap) / columns / wide - PAD * 2 - 2) / side);
  const cell = Math.max(2, Math.min(fits, high > 4 ? 8 : 14)), leaf = cell * side + PAD * 2;
  const podWidth = wide * (leaf + 2), podHeight = high * (leaf + 2);
  return { columns, left, gap, cell, leaf, side, podWidth, podHeight, top, width: left + columns * podWidth + (columns - 1) * gap, height: Math.ceil(pods.length / columns) * (podHeight + top + FOOT) };
}
function corner(g: Geometry, l: Leaf): [number, number] {
  const x = g.left + (l.block % g.columns) * (g.podWidth + g.gap) + l.column * (g.leaf + 2);
  return [x, Math.floor(l.block / g.columns) * (g.podHeight + g.top + FOOT) + g.top + l.row * (g.leaf + 2)];
}

function drawLeaf(img: ImageData, g: Geometry, l: Leaf, p: Palette) {
  const [x, y] = corner(g, l), level = report.core.switches.level[l.index], data = new Uint32Array(img.data.buffer);
  const isPlain = level === OK || level === PARTLY, ink = pixel(...p.levels[level === PARTLY ? NOT_READ : level]), bg = pixel(...p.bg);
  if (!isPlain) paint(img, x, y, g.leaf, g.leaf, level, p);
  else for (let i = 0; i < g.leaf; i++) for (const [u, v] of [[i, 0], [i, g.leaf - 1], [0, i], [g.leaf - 1, i]]) {
    if (level !== PARTLY || (u + v) % 4 < 2) data[(y + v) * img.width + x + u] = ink;
  }
  for (let j = 2; j < g.leaf - 2; j++) data.fill(bg, (y + j) * img.width + x + 2, (y + j) * img.width + x + g.leaf - 2);
  const size = g.cell > 2 ? g.cell - 1 : g.cell;
  l.ports.forEach((port, k) => paint(img, x + PAD + (k % g.side) * g.cell, y + PAD + Math.floor(k / g.side) * g.cell, size, size, report.level[port], p));
}

export function FabricMap({ go }: { go: (hash: string) => void }) {
  const theme = useTheme(), [wrap, width] = useWidth<HTMLDivElement>(), canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<{ x: number; y: number; leaf: number; port: number } | null>(null), [cursor, setCursor] = useState(-1);
  const L = useMemo(layout, []), g = useMemo(() => (width && L.leaves.length ? measure(Math.min(1240, width), L.pods, L.widest) : null), [width, L]);
  useEffect(() => {
    if (!g || !canvas.current) return;
    const c = canvas.current, ink = c.getContext("2d")!, p = palette();
    c.width = g.width; c.height = g.height;
    const img = ink.createImageData(g.width, g.height);
    fill(img, p.bg);
    for (const l of L.leaves) drawLeaf(img, g, l, p);
    ink.putImageData(img, 0, 0);
    ink.fillStyle = p.muted; ink.font = "11px system-ui, sans-serif";
    L.pods.forEach((pod, i) => {
      const x = g.left + (i % g.columns) * (g.podWidth + g.gap), y = Math.floor(i / g.columns) * (g.podHeight + g.top + FOOT) + 13;
      if (g.leaf > 26 && pod.rails.length) pod.rails.forEach((rail, k) => ink.fillText(rail < 0 ? "no rail" : g.leaf > 40 ? `rail ${rail}` : String(rail), x + k * (g.leaf + 2) + 2, y));
      else if (L.pods.length > 1) ink.fillText(pod.name ? `pod ${seen(pod.name, 20)}` : "no pod", x, y);
    });
    if (cursor >= 0) { const [x, y] = corner(g, L.leaves[cursor]); ink.strokeStyle = p.text; ink.lineWidth = 2; ink.strokeRect(x - 1, y - 1, g.leaf + 2, g.leaf + 2); }
    performance.mark("map");
  }, [g, theme, cursor]);
  const hit = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect(), x = (e.clientX - box.left) * g!.width / box.width, y = (e.clientY - box.top) * g!.height / box.height;
    const i = L.leaves.findIndex(l => { const [a, b] = corner(g!, l); return x >= a && x < a + g!.leaf && y >= b && y < b + g!.leaf; });
    if (i < 0) return null;
    const [a, b] = corner(g!, L.leaves[i]), k = Math.floor((y - b - PAD) / g!.cell) * g!.side + Math.floor((x - a - PAD) / g!.cell);
    return { leaf: i, port: L.leaves[i].ports[k] ?? -1 };
  };
  const open = (leaf: number, port: number) => go(port >= 0 && g!.cell >= 5 ? `#/host/${enc(report.hostName(port))}` : `#/switch/${enc(report.core.switches.name[L.leaves[leaf].index])}`);
  const step = (down: number, right: number) => {
    const [x, y] = corner(g!, L.leaves[Math.max(0, cursor)]);
    let best = cursor < 0 ? 0 : cursor, least = Infinity;
    if (cursor >= 0) L.leaves.forEach((l, i) => {
      const [a, b] = corner(g!, l), along = right ? (a - x) * right : (b - y) * down, off = right ? Math.abs(b - y) : Math.abs(a - x);
      if (along > 0 && along + off * 4 < least) { least = along + off * 4; best = i; }
    });
    setCursor(best);
  };
  const key = (e: KeyboardEvent) => {
    const ways: Record<string, [number, number]> = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    if (ways[e.key]) step(...ways[e.key]);
    else if (e.key === "Enter" && cursor >= 0) return open(cursor, -1);
    else return;
    e.preventDefault();
  };
  const pods = L.pods.filter(p => p.name).length;
  return <>
    <h1>Fabric map</h1>
    {L.leaves.length ? <>
      <p class="muted small">{plural(L.leaves.length, "leaf", "leaves")}{pods > 1 ? ` in ${plural(pods, "pod")}` : ""}, {plural(L.leaves.reduce((s, l) => s + l.ports.length, 0), "host port")}. The frame is the leaf, each square a host port in the order of host names. Arrow keys move, <kbd>Enter</kbd> opens.</p>
      <Legend levels={[OK, PARTLY, 2, 3, 4, BLOCKER, NOT_READ, AWAY]} />
      <Spines />
    </> : <p>No leaf is known: no switch was read, and no host hears a neighbor by LLDP.{report.core.infiniband ? ` ${plural(report.core.infiniband, "InfiniBand port")}: their switches are not collected.` : ""}</p>}
    <div ref={wrap} class="mapwrap">{L.leaves.length ? <canvas ref={canvas} tabIndex={0} role="application" aria-label="Fabric map: leaves by rail and group of hosts" aria-describedby="mapnow" onKeyDown={key}
      onMouseMove={e => { const h = hit(e); setTip(h ? { x: e.clientX, y: e.clientY, ...h } : null); }} onMouseLeave={() => setTip(null)} onClick={e => { const h = hit(e); if (h) open(h.leaf, h.port); }} /> : null}</div>
    <p id="mapnow" class="small" role="status">{cursor >= 0 ? seen(summary(L.leaves[cursor])) : ""}</p>
    {tip ? <Tip x={tip.x} y={tip.y}>{tip.port >= 0 ? <PortTip port={tip.port} /> : seen(summary(L.leaves[tip.leaf]))}</Tip> : null}
    <Alone ports={L.alone} />
    <Rails />
    <Worst leaves={L.leaves} />
  </>;
}
function PortTip({ port }: { port: number }) {
  return <><b><Said text={report.hostName(port)} most={60} /></b> <Said text={report.portName(port)} most={40} /> at <Said text={`${report.leaf(port)}:${report.farPort(port) ?? "?"}`} most={80} />: {LEVELS[report.level[port]]}
    {report.findingsAt(port).slice(0, 3).map(f => <><br /><code>{f.rule}</code> <Said text={f.observed} most={90} /></>)}</>;
}
function Alone({ ports }: { ports: number[] }) {
  if (!ports.length) return null;
  const hosts = [...new Set(ports.map(p => report.hostName(p)))];
  return <details class="small"><summary>{plural(ports.length, "port")} of {plural(hosts.length, "host")} without a known leaf</summary><p>{hosts.slice(0, 200).map(n => <><Machine name={n} /> </>)}{hosts.length > 200 ? "…" : ""}</p></details>;
}
function Worst({ leaves }: { leaves: Leaf[] }) {
  const level = (l: Leaf) => report.core.switches.level[l.index], of = (l: Leaf, f: (v: number) => boolean) => l.ports.filter(p => f(report.level[p])).length;
  const rows = leaves.map(l => ({ l, found: of(l, hasFinding), gaps: of(l, v => v === NOT_READ || v === PARTLY) }));
  const worth = (r: typeof rows[0]) => [hasFinding(level(r.l)) ? level(r.l) : 0, r.found, level(r.l) === NOT_READ ? 1 : 0, r.gaps];
  rows.sort((a, b) => { const x = worth(a), y = worth(b); for (let i = 0; i < 4; i++) if (x[i] !== y[i]) return y[i] - x[i]; return 0; });
  if (!rows.length) return null;
  return <section class="card"><h2>Leaves</h2><div class="scroll" tabIndex={0} role="region" aria-label="Leaves"><table class="small"><thead><tr><th>leaf</th><th>rail</th><th>itself</th><th class="num">host ports</th><th class="num">with findings</th><th class="num">not read or not all decided</th></tr></thead>
    <tbody>{rows.slice(0, 400).map(({ l, found, gaps }) => <tr><td><Machine name={report.core.switches.name[l.index]} /></td><td>{l.rail < 0 ? "" : l.rail}</td><td><Square level={level(l)} /> {LEVELS[level(l)]}</td><td class="num">{count(l.ports.length)}</td><td class="num">{count(found)}</td><td class="num">{count(gaps)}</td></tr>)}</tbody></table></div></section>;
}
function Spines() {
  const sw = report.core.switches, tiers = [...new Set(sw.tier.filter((t): t is number => t !== null && t > 1))].sort((a, b) => a - b);
  return <>{tiers.map(tier => {
    const mine = sw.name.map((_, i) => i).filter(i => sw.tier[i] === tier), bad = mine.filter(i => hasFinding(sw.level[i])), lost = mine.filter(i => sw.level[i] === NOT_READ).length;
    return <p class="small">Tier {tier}: {plural(mine.length, "switch", "switches")}, {bad.length} with findings{lost ? `, ${lost} not read` : ""}.{" "}
      {mine.length <= 400 ? <span aria-hidden="true">{mine.map(i => <Square level={sw.level[i]} />)}</span> : null} {bad.slice(0, 8).map(i => <><Machine name={sw.name[i]} /> </>)}</p>;
  })}</>;
}
