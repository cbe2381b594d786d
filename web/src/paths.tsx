// Hop by hop, data and the CNP that answers it: which hop breaks lossless.
import { report, type End, type Packet, type Side, type Stop } from "./data";
import { Command, Said } from "./parts";
import { count, plural, seen } from "./text";

const kind = (o: Side) => (o.broken.length ? "broken" : o.unknown.length ? "unknown" : "");
const Remarks = ({ of }: { of: Side }) => <>{of.broken.map(b => <div class="bad">Fault: <Said text={b} /></div>)}{of.unknown.map(b => <div class="dunno">Inconclusive: <Said text={b} /></div>)}</>;
const Port = ({ label, e }: { label: string; e: End }) => <div class="says">{label} <b class="mono"><Said text={e.ports} most={70} /></b>{e.count > 1 ? ` and ${count(e.count - 1)} more` : ""}: <Said text={e.does.join(", ")} most={600} /><Remarks of={e} /></div>;
const Host = ({ n, name, of }: { n: number; name: string; of: Side }) => <div class={`hop ${kind(of)}`}><b>{n} <span class="mono"><Said text={name} /></span></b><div class="says"><Said text={of.does.join(", ")} most={600} /></div><Remarks of={of} /></div>;

function Group({ n, g }: { n: number; g: Stop }) {
  const all: Side[] = [...g.in, ...g.out, { does: [], broken: g.broken, unknown: g.unknown }], worst = all.some(e => e.broken.length) ? "broken" : all.some(e => e.unknown.length) ? "unknown" : "";
  return <div class={`hop ${worst}`}><b>{n} <span class="mono"><Said text={g.switches} most={80} /></span></b> <span class="small muted">{g.count > 1 ? `${g.count} switches, ` : ""}{g.tier === null ? "tier not known" : `tier ${g.tier}`}</span>
    {g.in.map(e => <Port label="in" e={e} />)}{g.out.map(e => <Port label="out" e={e} />)}<Remarks of={all.at(-1)!} /></div>;
}

const VERDICTS: Record<string, [string, string]> = { broken: ["fault", "high"], unknown: ["inconclusive", "unknown"], ok: ["no fault", "low"] };
const verdict = (p: Packet) => VERDICTS[p.verdict] ?? [p.verdict, "unknown"];

function Way({ p }: { p: Packet }) {
  const first = p.remarks.find(r => r.broken) ?? p.remarks[0];
  return <section class="card"><h2>{p.packet === "data" ? "Data" : p.packet}: <span class="mono"><Said text={p.from} /> → <Said text={p.to} /></span></h2>
    <p class="small"><span class={`chip ${verdict(p)[1]}`}>{verdict(p)[0]}</span> {p.dscp === null ? "DSCP not known" : `DSCP ${p.dscp} (${p.dscp_from})`}{first ? <>; first at hop {first.hop}, <Said text={first.at} />: <Said text={first.what} /></> : null}{p.class_not_judged ? <>; class, PFC and ECN not judged: <Said text={p.class_not_judged} /></> : null}</p>
    <Host n={0} name={p.from} of={p.sender} />
    {p.lost ? <div class="hop unknown"><Said text={p.lost} /></div> : null}
    {p.hops.map((level, i) => { const total = level.reduce((s, g) => s + g.count, 0); return <div>{total > 1 ? <p class="small muted">Hop {i + 1}: one of {plural(total, "switch", "switches")}{level.length > 1 ? `, in ${level.length} groups that differ` : ", all alike"}</p> : null}{level.map(g => <Group n={i + 1} g={g} />)}</div>; })}
    <Host n={p.hops.length + 1} name={p.to} of={p.receiver} /></section>;
}

const worst = (packets: Packet[]) => (packets.some(p => p.verdict === "broken") ? "fault" : packets.some(p => p.verdict !== "ok") ? "inconclusive" : "no fault");

export function Paths({ query, go }: { query: URLSearchParams; go: (hash: string) => void }) {
  const { paths, hops, infiniband } = report.core, i = Math.min(Number(query.get("path") ?? 0) || 0, Math.max(0, paths.length - 1));
  return <>
    <h1>Paths</h1>
    {paths.length ? <>
      <div class="tools noprint"><label>path <select value={String(i)} onChange={e => go(`#/paths?path=${e.currentTarget.value}`)}>{paths.map((p, k) => <option value={String(k)}>{seen(p[0]?.from, 40)} → {seen(p[0]?.to, 40)}: {worst(p)}</option>)}</select></label></div>
      <div class="two">{paths[i].map(p => <Way p={p} />)}</div></> : <p>No path is shown: {hops.length ? "name two ports, railwright report --path 'gpu001:mlx5_0 gpu002:mlx5_0'." : "no switch was read."}</p>}
    {hops.length ? <section class="card"><h2>All hops, in classes</h2><p class="small muted">{plural(hops.reduce((s, h) => s + h.ports, 0), "switch port")} in {plural(hops.length, "class", "classes")}: those that do the same are one. The rare ones are the ones to look at.</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Classes of hops"><table class="small"><thead><tr><th>tier</th><th>facing</th><th>system</th><th class="num">ports</th><th>does</th><th>findings</th><th>switches</th></tr></thead><tbody>{hops.map(h => <tr class={h.with_findings || h.with_unknown ? "on" : ""}><td>{h.tier ?? "?"}</td><td>{h.facing ?? "?"}</td><td>{h.system ?? "?"}</td><td class="num">{count(h.ports)}</td>
        <td>{h.differs.length ? <b><Said text={h.differs.join(", ")} most={300} /></b> : <Said text={h.does.join(", ")} most={300} />}</td><td>{h.with_findings ? `${count(h.with_findings)}: ${h.rules.join(", ")}` : h.with_unknown ? `${count(h.with_unknown)} inconclusive` : "none"}</td><td class="mono"><Said text={h.switches} most={60} /></td></tr>)}</tbody></table></div></section> : null}
    {infiniband ? <p class="small">{plural(infiniband, "InfiniBand port")}: their switches are not collected.</p> : null}
    <p class="small">Any other pair:</p><Command text="railwright path HOST:DEVICE HOST:DEVICE" />
  </>;
}
