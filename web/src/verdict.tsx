// What is wrong, what it costs a job, what nobody knows: to decide in ten seconds whom to call.
import { AWAY, INFO, NOT_READ, OK, PARTLY, SEVERITIES, report, type Block } from "./data";
import { Chip, Command, Said, Square, enc, grow } from "./parts";
import { count, gbps, plural, seen } from "./text";

export const title = (rule: string) => report.rules.get(rule)?.title ?? rule;
export function costOf(b: Block): string {
  if (!b.cost_gbps) return "";
  return `${b.priced < b.subjects ? "at least " : ""}${count(Math.round(b.cost_gbps))} Gb/s`;
}
export function where(b: Block): string {
  if (b.kind === "host" || b.kind === "switch") return plural(b.hosts, b.kind, b.kind === "switch" ? "switches" : "hosts");
  return `${plural(b.subjects, b.kind)} on ${plural(b.hosts, b.kind === "end" ? "machine" : "host")}`;
}

export function headline(): string {
  const { head } = report.core, found = SEVERITIES.filter(s => head.severities[s]);
  const total = found.reduce((sum, s) => sum + head.severities[s]!, 0);
  const first = total ? `${plural(total, "finding")}: ${found.map(s => `${count(head.severities[s]!)} ${s}`).join(", ")}` : head.decided ? "No findings" : "No result";
  return `${first}${head.expired ? `; ${plural(head.expired, "waiver")} expired` : ""}${head.open ? `; ${plural(head.open, "check")} inconclusive` : ""}${head.stopped ? `; ${plural(head.stopped, "rule")} could not be run` : ""}.`;
}
export function scope(): string {
  const h = report.core.head, parts = [`${count(h.reached)} of ${plural(h.hosts + h.not_asked, "host")}`];
  if (h.switches) parts.push(`${count(h.talked)} of ${plural(h.switches, "switch", "switches")}`);
  parts.push(plural(h.ports, "compute port"), plural(h.links, "link"));
  return parts.join(", ") + (h.away ? `; ${count(h.away)} excluded` : "");
}

export function Verdict() {
  const { head, profile, title: snapshot } = report.core;
  return <>
    <h1 class="headline">{headline()}</h1>
    <p class="muted">{scope()}. {plural(head.rules, "rule")}: {count(head.decided)} checks decided, {count(head.inconclusive)} inconclusive{head.open === head.inconclusive ? "" : ` (${count(head.open)} open)`}, {count(head.not_applicable)} not applicable. Snapshot <Said text={snapshot} />, profile <code>{seen(profile)}</code>.</p>
    <Hosts />
    <div class="cols">
      <First />
      <div><Pace /><Gaps /><Aside /></div>
    </div>
  </>;
}

function Hosts() {
  const kinds: [string, number, number[]][] = [["no finding", OK, [OK, INFO]], ["no finding, not all decided", PARTLY, [PARTLY]], ["with findings", 4, [2, 3, 4, 5]], ["not read", NOT_READ, [NOT_READ]], ["out of service", AWAY, [AWAY]]];
  const numbers = kinds.map(([, , levels]) => report.core.hosts.level.filter(l => levels.includes(l)).length);
  return <>
    <div class="bar" aria-hidden="true">{kinds.map(([, level], i) => (numbers[i] ? <span class={`l${level}`} ref={grow(numbers[i])} /> : null))}</div>
    <ul class="legend" aria-label="Hosts">{kinds.map(([name, level], i) => (numbers[i] ? <li><Square level={level} />{plural(numbers[i], "host")} {name}</li> : null))}</ul>
  </>;
}

function First() {
  const { blocks } = report.core;
  return <section class="card" aria-labelledby="first"><h2 id="first">Fix first</h2>
    <ol class="first">{blocks.map(b => <First1 b={b} />)}</ol>
    {blocks.length ? null : <p>{report.core.head.decided ? "Nothing." : "No result: every check was inconclusive or did not apply."}</p>}
  </section>;
}
function First1({ b }: { b: Block }) {
  const rule = report.rules.get(b.rule), under = b.under.reduce((sum, u) => sum + u.findings, 0), hosts = [...new Set(b.groups.map(g => g.hosts))];
  return <li>
    <span><Chip severity={b.severity} /></span>
    <span class="what"><a href={`#/findings?rule=${enc(b.rule)}`}>{seen(title(b.rule))}</a></span>
    <span class="cost">{costOf(b) || <span class="muted">not priced</span>}</span>
    <span class="more"><code>{b.rule}</code>, {where(b)}: <Said text={hosts.slice(0, 3).join(", ")} most={90} />{hosts.length > 3 ? ", …" : ""}
      {b.groups.slice(0, 3).map(g => <><br />{g.subjects > 1 ? `${count(g.subjects)} × ` : ""}<Said text={g.says} most={160} /></>)}
      {under ? <><br />also explains {plural(under, "finding")}</> : null}{rule ? <> <span class="chip state">repair disturbs: {rule.disturbs}</span></> : null}</span>
  </li>;
}

function Pace() {
  const { steps, unknown, basis } = report.core.head.pace, full = steps.at(-1)?.gbps ?? 0;
  return <section class="card" aria-labelledby="pace"><h2 id="pace">Pace of a job</h2>
    <p class="small muted">A collective is as fast as its slowest compute port.</p>
    {steps.length ? <table><thead class="visually-hidden"><tr><th>hosts</th><th>pace</th><th>Gb/s per port, and the slowest</th></tr></thead><tbody>{(steps.length > 6 ? [...steps.slice(0, 5), steps.at(-1)!] : steps).map(s => <tr>
      <td class="num">{s.without ? `without ${count(s.without)}` : "all hosts"}</td>
      <td class="wide"><div class="bar thin" aria-hidden="true"><span class={s.gbps < full ? "l4" : "l0"} ref={grow(s.gbps)} /><span ref={grow(Math.max(0, full - s.gbps))} /></div></td>
      <td class="num"><b>{gbps(s.gbps)}</b> Gb/s{s.gbps < full || steps.length === 1 || !s.gbps ? <div class="small muted slowest"><Said text={`${s.slowest}: ${s.limited_by}`} most={60} /></div> : null}</td></tr>)}</tbody></table> : <p class="small">Not known of any host.</p>}
    {unknown ? <p class="small">Not known, may be slower: <Said text={unknown} most={120} /></p> : null}
    <p class="small muted">{basis}. <a href="#/heat?column=ceiling">Every port</a></p>
  </section>;
}

function Gaps() {
  const { inconclusive } = report.core;
  return <section class="card" aria-labelledby="gaps"><h2 id="gaps">Inconclusive</h2>
    {inconclusive.length ? <ul class="small gaps">{inconclusive.map(g => <li><b>{plural(g.machines, "machine")}</b>: <Said text={g.why} /> ({plural(g.checks, "check")} of {plural(g.rules.length, "rule")})<br /><Said text={g.hosts} most={100} />
      {g.do ? <><br /><Said text={g.do} /></> : null}{g.accept.length ? <details><summary>accept it</summary>{g.accept.slice(0, 4).map(a => <Command text={a} />)}</details> : null}</li>)}</ul> : <p class="small">Nothing.</p>}
  </section>;
}

function Aside() {
  const { excluded, waived, expired } = report.core;
  if (!excluded.length && !waived.length && !expired.length) return null;
  return <section class="card" aria-labelledby="aside"><h2 id="aside">Excluded and waived</h2><ul class="small gaps">
    {excluded.map(e => <li><b>{plural(e.machines, "machine")}</b> out of service, <Said text={e.reason} most={120} />: <Said text={e.hosts} most={80} />, {plural(e.findings, "finding")}, {count(e.inconclusive)} inconclusive</li>)}
    {waived.map(w => <li>{count(w.count)} {w.state} until {w.until} by <Said text={w.owner} most={40} />: <code>{seen(w.rule)}</code> on <Said text={w.hosts} most={80} />: <Said text={w.reason} most={160} /></li>)}
    {expired.map(w => <li><b>expired</b> on {w.until}: <code>{seen(w.rule)}</code> on <Said text={w.subjects.join(", ")} most={80} /> (<Said text={w.owner} most={40} />)</li>)}
  </ul></section>;
}
