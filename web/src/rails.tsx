// Which leaf has which rail, as `railwright rails` tells it: ports counted, those on another leaf marked.
import { report } from "./data";
import { Machine, Said, enc } from "./parts";
import { count, plural } from "./text";

const MOST = 20;

export function Rails() {
  const { rows, rails, misplaced, ...n } = report.core.rails;
  if (!rows.length) return null;
  const columns = [...new Map(rows.flatMap(r => r.ports.map(c => [`${c.rail}.${c.plane}`, c] as const))).values()].sort((a, b) => a.rail - b.rail || a.plane - b.plane);
  const hasPlanes = new Set(columns.map(c => c.plane)).size > 1, moved = new Set(misplaced.map(m => m.port)).size;
  const open: [number, string][] = [
    [n.undecided, "not known which leaf it belongs to"], [n.not_read, "leaf not known, LLDP was not read"], [n.without_neighbor, "leaf not known, LLDP has no neighbor there"],
    [n.without_netdev, "leaf not known, the host shows no network device"], [n.infiniband, "leaf not known, InfiniBand switches are not collected"], [n.without_rail, "rail not known"],
  ];
  return <section class="card" aria-labelledby="rails"><h2 id="rails">Rails</h2>
    <p class="small muted">{plural(n.compute_ports, "compute port")} of {plural(n.hosts, "host")}: {rails.map(r => `rail ${r.rail}: ${count(r.compute_ports)}`).join(", ")}. Leaves with the same counts are one row.</p>
    <div class="scroll" tabIndex={0} role="region" aria-label="Rails and leaves"><table class="small"><thead><tr><th>leaves</th><th>of rail</th>{columns.map(c => <th class="num">{hasPlanes ? `rail ${c.rail}.${c.plane}` : `rail ${c.rail}`}</th>)}</tr></thead>
      <tbody>{rows.slice(0, 400).map(r => <tr><td><Machine name={r.leaves} />{r.count > 1 ? ` (${count(r.count)})` : ""}</td><td>{r.rail === null ? "?" : r.rail < 0 ? "several" : r.rail}</td>{columns.map(c => { const cell = r.ports.find(p => p.rail === c.rail && p.plane === c.plane); return <td class="num">{cell ? cell.odd ? <b class="bad">{count(cell.count)}*</b> : count(cell.count) : ""}</td>; })}</tr>)}</tbody></table></div>
    {moved ? <><p class="small">* {plural(moved, "port")} on another leaf:</p><ul class="small gaps">{misplaced.slice(0, MOST).map(m => <li><a href={`#/findings?rule=${enc(m.rule)}&state=all`}><code>{m.rule}</code></a> <Said text={`${m.port} at ${m.leaf}:${m.leaf_port}: ${m.said}`} most={300} /></li>)}</ul>{misplaced.length > MOST ? <p class="small muted">and {count(misplaced.length - MOST)} more, among the findings</p> : null}</> : null}
    {open.filter(([k]) => k).map(([k, why]) => <p class="small dunno">{plural(k, "compute port")}: {why}</p>)}
    {n.hosts_not_read ? <p class="small dunno">{plural(n.hosts_not_read, "host")} not read: ports not known</p> : null}
  </section>;
}
