// Any fact or counter of every port: who is unlike the others, in anything?
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { column, type Values } from "./columns";
import { AWAY, NOT_READ, report } from "./data";
import { Machine, Said, Tip, enc, fill, isDark, paint, palette, pixel, useTheme, useWidth } from "./parts";
import { statistics, type Statistics } from "./statistics";
import { count, number, plural, seen } from "./text";

const LEFT = 64;
interface Geometry { cell: number; row: number; per: number; rows: number; tall: number; gap: number; width: number; height: number }
function measure(width: number, hosts: number, tall: number): Geometry {
  const cell = hosts > 3000 ? 3 : hosts > 700 ? 5 : hosts > 100 ? 9 : 16, row = cell > 9 ? 16 : cell > 3 ? 9 : 4, gap = cell > 3 ? 14 : 8;
  const per = Math.max(1, Math.floor((width - LEFT) / cell)), rows = Math.ceil(hosts / per);
  return { cell, row, per, rows, tall, gap, width: Math.min(width, LEFT + per * cell), height: Math.max(1, rows * (tall * row + gap)) };
}

function ordered(stats: Statistics, filter: string, sort: string): number[] {
  let list = report.core.hosts.name.map((_, h) => h).filter(h => report.first[h + 1] > report.first[h]);
  if (filter) list = list.filter(h => report.core.hosts.name[h].includes(filter));
  if (sort === "name") return list;
  const score = new Float64Array(report.hosts);
  for (const h of list) for (let p = report.first[h]; p < report.first[h + 1]; p++) score[h] = Math.max(score[h], stats.odd(p));
  return list.sort((a, b) => score[b] - score[a] || a - b);
}

function draw(canvas: HTMLCanvasElement, g: Geometry, hosts: number[], v: Values, stats: Statistics, cursor: number) {
  const ink = canvas.getContext("2d")!, p = palette(), dark = isDark();
  canvas.width = g.width; canvas.height = g.height;
  const img = ink.createImageData(g.width, g.height), data = fill(img, p.bg), wide = g.cell - (g.cell > 4 ? 1 : 0), high = g.row - (g.row > 4 ? 1 : 0);
  hosts.forEach((h, i) => {
    const x = LEFT + (i % g.per) * g.cell, y = Math.floor(i / g.per) * (g.tall * g.row + g.gap);
    for (let port = report.first[h], k = 0; port < report.first[h + 1]; port++, k++) {
      const top = y + k * g.row;
      if (v.isUnknown(port)) { paint(img, x, top, wide, high, report.core.hosts.level[h] === AWAY ? AWAY : NOT_READ, p); continue; }
      if (v.isNone(port)) continue; // has none: nothing is drawn
      const ink = pixel(...stats.color(port, dark));
      for (let j = 0; j < high; j++) data.fill(ink, (top + j) * g.width + x, (top + j) * g.width + x + wide);
    }
  });
  ink.putImageData(img, 0, 0);
  ink.fillStyle = p.muted; ink.font = "10px system-ui, sans-serif"; ink.textBaseline = "top";
  for (let r = 0; r < g.rows; r++) ink.fillText(seen(report.core.hosts.name[hosts[r * g.per]], 12), 0, r * (g.tall * g.row + g.gap) + 1);
  const at = cursor < 0 ? -1 : hosts.indexOf(report.host[cursor]);
  if (at >= 0) { ink.strokeStyle = p.text; ink.lineWidth = 2; ink.strokeRect(LEFT + (at % g.per) * g.cell - 1, Math.floor(at / g.per) * (g.tall * g.row + g.gap) + (cursor - report.first[report.host[cursor]]) * g.row - 1, g.cell + 1, g.row + 1); }
}

export function HeatMap({ query, go }: { query: URLSearchParams; go: (hash: string) => void }) {
  const specs = report.core.heat, spec = specs.find(c => c.id === (query.get("column") ?? "ceiling")) ?? specs[0], filter = query.get("q") ?? "", sort = query.get("sort") ?? "name";
  const [v, setV] = useState<Values | null>(null), theme = useTheme(), [wrap, width] = useWidth<HTMLDivElement>(), canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<{ x: number; y: number; port: number } | null>(null), [cursor, setCursor] = useState(-1);
  useEffect(() => { setV(null); if (spec) column(spec).then(setV); }, [spec]);
  const stats = useMemo(() => v && statistics(v), [v]), hosts = useMemo(() => (stats ? ordered(stats, filter, sort) : []), [stats, filter, sort]);
  const tall = useMemo(() => hosts.reduce((most, h) => Math.max(most, report.first[h + 1] - report.first[h]), 1), [hosts]), g = useMemo(() => (width && hosts.length ? measure(width, hosts.length, tall) : null), [width, hosts, tall]);
  useEffect(() => { if (g && v && stats && canvas.current) { draw(canvas.current, g, hosts, v, stats, cursor); performance.mark(`heat ${v.spec.id}`); } }, [g, v, stats, theme, cursor]);
  if (!spec) return <><h1>Heat map</h1><p>No port was read: there is nothing to compare.</p></>;
  const set = (name: string, value: string) => { const next = new URLSearchParams(query); if (value) next.set(name, value); else next.delete(name); go(`#/heat?${next}`); };
  const hit = (e: MouseEvent) => {
    if (!g) return -1;
    const box = canvas.current!.getBoundingClientRect(), x = (e.clientX - box.left) * g.width / box.width - LEFT, y = (e.clientY - box.top) * g.height / box.height, line = g.tall * g.row + g.gap;
    const i = Math.floor(y / line) * g.per + Math.floor(x / g.cell), h = hosts[i], port = h === undefined ? -1 : report.first[h] + Math.floor((y % line) / g.row);
    return x < 0 || x >= g.per * g.cell || h === undefined || port >= report.first[h + 1] ? -1 : port;
  };
  const key = (e: KeyboardEvent) => {
    if (!g) return;
    const i = cursor < 0 ? 0 : Math.max(0, hosts.indexOf(report.host[cursor])), k = cursor < 0 ? 0 : cursor - report.first[report.host[cursor]];
    const to = (host: number, port: number) => { const h = hosts[Math.max(0, Math.min(hosts.length - 1, host))]; setCursor(Math.max(report.first[h], Math.min(report.first[h + 1] - 1, report.first[h] + port))); };
    const last = report.first[hosts[i] + 1] - report.first[hosts[i]] - 1;
    if (e.key === "ArrowRight") to(i + 1, k);
    else if (e.key === "ArrowLeft") to(i - 1, k);
    else if (e.key === "ArrowDown") k >= last && i + g.per < hosts.length ? to(i + g.per, 0) : to(i, k + 1);
    else if (e.key === "ArrowUp") k === 0 && i >= g.per ? to(i - g.per, g.tall) : to(i, k - 1);
    else if (e.key === "Enter" && cursor >= 0) return go(`#/host/${enc(report.hostName(cursor))}`);
    else return;
    e.preventDefault();
  };
  const groups = [...new Set(specs.map(c => c.group))], unknown = v ? report.ports - v.spec.read - v.spec.none : 0;
  return <>
    <h1>Heat map</h1>
    <div class="tools noprint">
      <label>show <select value={spec.id} onChange={e => set("column", e.currentTarget.value)}>{groups.map(name => <optgroup label={name}>{specs.filter(c => c.group === name).map(c => <option value={c.id}>{seen(c.title, 80)}{c.words?.length === 1 && c.read === report.ports ? " (all the same)" : ""}</option>)}</optgroup>)}</select></label>
      <label>hosts <input type="search" value={filter} placeholder="part of a name" onInput={e => set("q", e.currentTarget.value)} /></label>
      <label>order <select value={sort} onChange={e => set("sort", e.currentTarget.value)}><option value="name">host name</option><option value="odd">oddest first</option></select></label>
      <span class="muted small" role="status">{v ? `${plural(hosts.length, "host")}, ${plural(v.spec.read, "value")}${v.spec.none ? `, ${count(v.spec.none)} have none` : ""}${unknown ? `, ${count(unknown)} not collected` : ""}` : "reading"}</span>
    </div>
    <div class={report.hosts > 2000 ? "" : "cols"}>
      <div ref={wrap} class="mapwrap"><canvas ref={canvas} tabIndex={0} role="application" aria-label={`Heat map of ${spec.title}: hosts along, ports down`} aria-describedby="heatnow" onKeyDown={key}
        onMouseMove={e => { const port = hit(e); setTip(port >= 0 ? { x: e.clientX, y: e.clientY, port } : null); }} onMouseLeave={() => setTip(null)} onClick={e => { const port = hit(e); if (port >= 0) go(`#/host/${enc(report.hostName(port))}`); }} />
        <p id="heatnow" class="small" role="status">{cursor >= 0 && v ? `${seen(report.hostName(cursor), 60)} ${seen(report.portName(cursor), 40)}: ${seen(v.text(cursor), 80)}` : ""}</p></div>
      {v && stats ? <aside class={report.hosts > 2000 ? "two" : ""}><Values1 v={v} stats={stats} unknown={unknown} /><Odd v={v} stats={stats} /></aside> : null}
    </div>
    {tip && v ? <Tip x={tip.x} y={tip.y}><b><Said text={report.hostName(tip.port)} most={60} /></b> <Said text={report.portName(tip.port)} most={40} />: <Said text={v.text(tip.port)} most={80} /></Tip> : null}
  </>;
}

function Values1({ v, stats, unknown }: { v: Values; stats: Statistics; unknown: number }) {
  const rows = stats.groups.slice(0, 12), swatch = (port: number) => (e: HTMLElement | null) => { if (e) e.style.background = `rgb(${stats.color(port, isDark())})`; };
  return <section class="card"><h2>{seen(v.spec.title, 80)}</h2>
    {stats.isFew ? <table class="small"><thead><tr><th>value</th><th class="num">ports</th></tr></thead><tbody>
      {rows.map(r => <tr><td><span class="sw" ref={swatch(r.example)} /> <Said text={v.text(r.example)} most={60} /></td><td class="num">{count(r.ports)}</td></tr>)}
      {v.spec.none ? <tr><td>none</td><td class="num">{count(v.spec.none)}</td></tr> : null}{unknown ? <tr><td><span class="sw l6" /> not collected</td><td class="num">{count(unknown)}</td></tr> : null}</tbody></table>
      : <><Histogram bins={stats.bins} /><p class="small">{number(stats.low)} to {number(stats.high)}{v.spec.unit ? ` ${v.spec.unit}` : ""}, median {number(stats.median)}{stats.isLog ? " (log scale)" : ""}</p></>}</section>;
}
function Odd({ v, stats }: { v: Values; stats: Statistics }) {
  const top = stats.top(12);
  return <section class="card"><h2>Furthest from the rest</h2>{top.length ? <table class="small"><thead class="visually-hidden"><tr><th>host</th><th>port</th><th>value</th></tr></thead><tbody>{top.map(p => <tr><td><Machine name={report.hostName(p)} /></td><td class="mono"><Said text={report.portName(p)} most={40} /></td><td class="num"><Said text={v.text(p)} most={40} /></td></tr>)}</tbody></table> : <p class="small">None stands out.</p>}</section>;
}
function Histogram({ bins }: { bins: number[] }) {
  const most = Math.max(...bins, 1);
  return <svg viewBox={`0 0 ${bins.length * 8} 70`} width="100%" role="img" aria-label="Distribution of the values">{bins.map((k, i) => <rect x={i * 8} y={70 - 66 * Math.sqrt(k / most)} width="7" height={66 * Math.sqrt(k / most)} fill="var(--net)" />)}</svg>;
}
