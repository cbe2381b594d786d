// One switch: what is found there, where its links go, which host ports it has.
import { LEVELS, report } from "./data";
import { FindingRows } from "./findings";
import { Command, Machine, Said, Square, enc } from "./parts";
import { count, number, plural, seen } from "./text";

export function SwitchPage({ name }: { name: string }) {
  const i = report.switchIndex.get(name);
  if (i === undefined) return <><h1>No such switch</h1><p>No switch is called <Said text={name} />.</p></>;
  const s = report.core.switches, found = report.byTarget.get(name) ?? [], ports: number[] = [];
  for (let k = 0; k < report.ports; k++) if (report.peer[k] === i + 1) ports.push(k);
  ports.sort((a, b) => report.level[b] - report.level[a] || a - b);
  const facts = [
    s.status[i], s.tier[i] === null ? "tier not known" : `tier ${s.tier[i]}`, s.rail[i] === null ? "" : `rail ${s.rail[i]}`, s.plane[i] ? `plane ${s.plane[i]}` : "",
    s.system[i] ? `${s.system[i]} on ${seen(s.model[i], 60)}` : "",
    s.down[i] ? `${plural(s.down[i]!, "downlink")} (${number(s.down_mbps[i]! / 1e3)} Gb/s), ${plural(s.up[i] ?? 0, "uplink")} (${number((s.up_mbps[i] ?? 0) / 1e3)} Gb/s)` : "",
    s.unknown[i] ? `${plural(s.unknown[i], "check")} inconclusive` : "",
  ];
  return <>
    <h1><Said text={name} most={80} /></h1>
    <p class="muted">{facts.filter(Boolean).join(", ")}</p>
    <section class="card"><h2>Findings</h2><FindingRows found={found} of={name} /></section>
    <Uplinks i={i} />
    {ports.length ? <section class="card"><h2>Host ports</h2><div class="scroll" tabIndex={0} role="region" aria-label="Host ports"><table><thead><tr><th>port</th><th>host</th><th>NIC</th><th>worst finding</th></tr></thead><tbody>{ports.map(k => <tr>
      <td class="mono"><Said text={report.farPort(k)} most={40} /></td><td><Machine name={report.hostName(k)} /></td><td class="mono"><Said text={report.portName(k)} most={40} /></td><td><Square level={report.level[k]} /> {LEVELS[report.level[k]]}</td></tr>)}</tbody></table></div></section> : null}
    <section class="card"><h2>More</h2><Command text={`railwright show ${name}`} /><p class="small"><a href={`#/findings?q=${enc(name)}&state=all`}>All findings that name it</a></p></section>
  </>;
}

function Uplinks({ i }: { i: number }) {
  const s = report.core.switches, mine = s.links.filter(l => l[0] === i), below = s.links.filter(l => l[1] === i);
  if (!mine.length && !below.length) return null;
  const row = (other: number, links: number, up: number, known: boolean) => <tr><td><Machine name={s.name[other]} /></td><td class="num">{count(links)}</td><td class="num">{known ? count(up) : `${count(up)}, others not read`}</td></tr>;
  const table = (title: string, rows: typeof mine, side: 0 | 1) => rows.length ? <section class="card"><h2>{title}</h2><div class="scroll" tabIndex={0} role="region" aria-label={title}><table><thead><tr><th>switch</th><th class="num">links</th><th class="num">up</th></tr></thead><tbody>{rows.map(l => row(l[side], l[2], l[3], l[4]))}</tbody></table></div></section> : null;
  return <>{table("Uplinks", mine, 1)}{table("Downlinks to switches", below, 0)}</>;
}
