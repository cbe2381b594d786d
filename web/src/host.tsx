// From socket to leaf, to scale: what convinces a vendor.
import { useEffect, useState } from "preact/hooks";
import { column, type Values } from "./columns";
import { LEVELS, hasFinding, report, type Endpoint, type Hop } from "./data";
import { FindingRows } from "./findings";
import { Command, Machine, Said, Square, enc } from "./parts";
import { count, gbps, number, plural, seen } from "./text";

const GENERATION: Record<number, string> = { 2.5: "Gen1", 5: "Gen2", 8: "Gen3", 16: "Gen4", 32: "Gen5", 64: "Gen6" };
const link = (gts: number | null, width: number | null) => (gts && width ? `${GENERATION[gts] ?? `${gts} GT/s`} x${width}` : "not collected");
const isNarrow = (h: Hop) => h.gts !== null && h.width !== null && ((h.width_max ?? 0) > h.width || (h.gts_max ?? 0) > h.gts);

export function HostPage({ name }: { name: string }) {
  const [values, set] = useState<{ ceiling: Values | null; rate: Values | null }>({ ceiling: null, rate: null });
  useEffect(() => {
    const of = (id: string) => { const spec = report.core.heat.find(c => c.id === id); return spec ? column(spec) : null; };
    Promise.all([of("ceiling"), of("rate")]).then(([ceiling, rate]) => set({ ceiling, rate }));
  }, []);
  const h = report.hostIndex.get(name);
  if (h === undefined) return <><h1>No such host</h1><p>No host is called <Said text={name} />.</p></>;
  const hosts = report.core.hosts, tree = hosts.tree[h] ? hosts.trees[hosts.tree[h] - 1] : null, info = hosts.info[h] ? hosts.infos[hosts.info[h] - 1] : null;
  const alike = hosts.tree.filter(t => t === hosts.tree[h]).length, [os, kernel, driver] = info ?? [null, null, null];
  const facts = [hosts.status[h], os && seen(os, 60), kernel && `kernel ${seen(kernel, 40)}`, driver && `GPU driver ${seen(driver, 30)}`, hosts.unknown[h] ? `${plural(hosts.unknown[h], "check")} inconclusive` : ""];
  return <>
    <h1><Said text={name} most={80} /></h1>
    <p class="muted">{facts.filter(Boolean).join(", ")}{hosts.away[h] ? <>; out of service: <Said text={hosts.away[h]} most={120} /></> : null}</p>
    {hosts.write[h] === null ? null : hosts.pace[h] === null ? <p>No compute port is known.</p> : <p>Compute ports together <b>{gbps(hosts.write[h])}</b> Gb/s{hosts.wire[h] === hosts.write[h] ? "" : ` of ${gbps(hosts.wire[h])}`}; slowest port <b>{gbps(hosts.pace[h])}</b> Gb/s (calculated).</p>}
    <section class="card"><h2>Findings</h2><FindingRows found={report.byTarget.get(name) ?? []} of={name} /></section>
    {tree ? <section class="card"><h2>From socket to leaf</h2><p class="small muted">The height of a band is its bandwidth, dashed what both ends could do. {alike > 1 ? `${plural(alike, "host")} have exactly this tree.` : "No other host has this tree."}</p><Drawing tree={tree} host={h} {...values} /></section>
      : <section class="card"><h2>Not read</h2><Command text={`railwright collect -w ${name} --onto latest`} /></section>}
    <Ports host={h} {...values} />
    <section class="card"><h2>More</h2><Command text={`railwright show ${name}`} /><p class="small"><a href={`#/findings?q=${enc(name)}&state=all`}>All findings that name it</a></p></section>
  </>;
}

const ROW = 42, X = { root: 96, sw: 270, end: 500, card: 660, leaf: 905 }, K = 20 / 504; // 20 px are Gen5 x16
const thick = (g: number | null) => (g ? Math.max(2, g * K) : 2);
const short = (pci: string) => pci.replace(/^0000:/, "");

function Drawing({ tree, host, ceiling, rate }: { tree: Endpoint[]; host: number; ceiling: Values | null; rate: Values | null }) {
  const shapes: preact.ComponentChildren[] = [], ports = report.portsOf(host), drawn = tree.filter(e => e.hops.length);
  const root = (e: Endpoint) => e.hops.at(-1)!.pci, numas = [...new Set(drawn.map(e => e.numa))].sort((a, b) => (a ?? 99) - (b ?? 99));
  let y = 8;
  for (const numa of numas) {
    const top = y;
    for (const name of new Set(drawn.filter(e => e.numa === numa).map(root))) {
      const group = drawn.filter(e => root(e) === name), shared = group.length > 1 ? group[0].hops.slice(1, -1).find(h => group.every(e => e.hops.some(o => o.pci === h.pci))) : undefined;
      const up = shared ? group[0].hops.at(-1)! : null, height = group.length * ROW, middle = y + height / 2;
      shapes.push(<g><line x1={X.root - 22} x2={X.root} y1={middle} y2={middle} stroke="var(--line)" /><rect x={X.root} y={middle - 12} width="84" height="24" rx="4" class="box" /><text x={X.root + 7} y={middle + 4}>{seen(short(name), 12)}</text></g>);
      if (up && shared) shapes.push(<g><rect x={X.root + 84} y={middle - thick(up.gbps) / 2} width={X.sw - X.root - 84} height={thick(up.gbps)} class={isNarrow(up) ? "band narrow" : "band"} /><text x={X.root + 92} y={middle - thick(up.gbps) / 2 - 3} class={isNarrow(up) ? "bold" : "muted"}>{link(up.gts, up.width)}</text><rect x={X.sw} y={middle - height / 2 + 5} width="84" height={height - 10} rx="4" class="box" /><text x={X.sw + 7} y={middle}>PCIe switch</text><text x={X.sw + 7} y={middle + 14} class="muted">{seen(short(shared.pci), 12)}</text></g>);
      group.forEach((e, k) => shapes.push(...endpoint(e, y + k * ROW + ROW / 2 + 5, up ? X.sw + 84 : X.root + 84, ports.filter(p => report.portPci(p) === e.pci), ceiling, rate)));
      y += height + 8;
    }
    shapes.push(<g><rect x="0" y={top + 2} width="74" height={y - top - 12} rx="5" class="box" /><text x="10" y={top + 24} class="bold">NUMA {numa ?? "?"}</text></g>);
    y += 24;
  }
  return <div class="mapwrap" tabIndex={0} role="region" aria-label="Drawing of the PCIe tree"><svg viewBox={`0 0 1120 ${y}`} width="1120" role="img" aria-label={`PCIe tree: ${plural(tree.filter(e => e.kind === "nic").length, "NIC function")} and ${plural(tree.filter(e => e.kind === "gpu").length, "GPU")}; the table below says the same`}>{shapes}</svg></div>;
}

function endpoint(e: Endpoint, y: number, from: number, ports: number[], ceiling: Values | null, rate: Values | null) {
  const own = e.hops[0], worst = e.hops.find(isNarrow), narrow = worst ?? null, shown = narrow ?? own, redirect = e.hops.some(h => h.redirects), possible = narrow && own.gbps && own.width && own.width_max ? own.gbps * own.width_max / own.width : null;
  const bad = ports.some(p => hasFinding(report.level[p])), label = e.kind === "gpu" ? `GPU ${short(e.pci)}` : `${ports.length ? seen(report.portName(ports[0]), 14) : "no RDMA device"}  ${short(e.pci)}`;
  const said = `${link(shown.gts, shown.width)}${narrow ? ` of ${link(narrow.gts_max, narrow.width_max)}` : ""}${redirect ? ", ACS redirect" : ""}`;
  const shapes = [<g>{possible ? <rect x={from} y={y - thick(possible) / 2} width={X.end - from} height={thick(possible)} class="possible" /> : null}<rect x={from} y={y - thick(shown.gbps) / 2} width={X.end - from} height={thick(shown.gbps)} class={narrow ? "band narrow" : e.kind === "gpu" ? "band gpu" : "band"} /><text x={from + 8} y={y - Math.max(thick(possible ?? shown.gbps) / 2, 8) - 3} class={narrow || redirect ? "bold" : "muted"}>{said}</text><rect x={X.end} y={y - 12} width="160" height="24" rx="4" class={bad ? "box bad" : "box"} /><text x={X.end + 7} y={y + 4}>{label}</text></g>];
  for (const port of ports.slice(0, 1)) {
    const r = rate?.at(port) as number | null | undefined, c = ceiling?.at(port) as number | null | undefined, leaf = report.leaf(port), slow = r && c && c < r * 0.9;
    shapes.push(<g><rect x={X.card} y={y - thick(r ?? null) / 2} width={X.leaf - X.card} height={thick(r ?? null)} class="band" />{c ? <rect x={X.card} y={y - thick(c) / 2} width={X.leaf - X.card} height={thick(c)} class={slow ? "band narrow" : "band net"} /> : null}<text x={X.card + 8} y={y - Math.max(thick(r ?? null) / 2, 8) - 3} class={slow ? "bold" : "muted"}>{c ? `ceiling ${gbps(c)} of ${number(r ?? 0)}` : r ? `${number(r)}G, ceiling not known` : ceiling?.isNone(port) ? "port is not up" : "not known"}</text><text x={X.leaf + 8} y={y + 4} class={leaf ? "" : "muted"}>{leaf ? `${seen(leaf, 22)}:${seen(report.farPort(port), 16)}` : "no neighbor known"}</text></g>);
  }
  return shapes;
}

function Ports({ host, ceiling, rate }: { host: number; ceiling: Values | null; rate: Values | null }) {
  const ports = report.portsOf(host), tree = report.core.hosts.tree[host] ? report.core.hosts.trees[report.core.hosts.tree[host] - 1] : [];
  if (!ports.length) return null;
  const hop = (port: number) => { const e = tree.find(t => t.pci === report.portPci(port)); return e?.hops.find(isNarrow) ?? e?.hops[0]; };
  return <section class="card"><h2>Ports</h2><div class="scroll" tabIndex={0} role="region" aria-label="Ports"><table><thead><tr><th>port</th><th>netdev</th><th>PCI</th><th>rail</th><th>PCIe, narrowest</th><th class="num">rate, Gb/s</th><th class="num">ceiling, Gb/s</th><th>leaf</th><th>worst finding</th></tr></thead><tbody>{ports.map(p => { const n = hop(p); return <tr>
    <td class="mono"><Said text={report.portName(p)} most={40} /></td><td class="mono"><Said text={report.portNetdev(p) ?? ""} most={40} /></td><td class="mono"><Said text={report.portPci(p) ?? ""} most={20} /></td><td>{report.rail[p] ? count(report.rail[p] - 1) : ""}</td>
    <td>{n ? `${link(n.gts, n.width)}${isNarrow(n) ? ` of ${link(n.gts_max, n.width_max)}` : ""}` : "not collected"}</td><td class="num">{rate?.text(p).replace(/ Gb\/s$/, "") ?? "not collected"}</td><td class="num">{ceiling?.isUnknown(p) ?? true ? "not known" : ceiling!.text(p).replace(/ Gb\/s$/, "")}</td>
    <td>{report.leaf(p) ? <><Machine name={report.leaf(p)!} />:<Said text={report.farPort(p) ?? "?"} most={30} /></> : "no neighbor known"}</td><td><Square level={report.level[p]} /> {LEVELS[report.level[p]]}</td></tr>; })}</tbody></table></div></section>;
}
