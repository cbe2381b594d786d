// Every finding: filtered by the address, with what it rests on and what to type.
import { useEffect, useMemo, useState } from "preact/hooks";
import { SEVERITIES, report, type Evidence, type Finding, type RuleText } from "./data";
import { Chip, Command, Machine, Prose, Said, enc } from "./parts";
import { count, gbps, plural, seen } from "./text";
import { title } from "./verdict";

const PAGE = 100;
const id = (f: Finding) => `${f.rule} ${f.subject}`;
const address = (f: Finding) => `#/findings?id=${enc(id(f))}&state=${enc(f.state)}`;
const rest = (f: Finding) => (f.subject.startsWith(f.target + ":") ? f.subject.slice(f.target.length + 1) : "");
const State = ({ f }: { f: Finding }) => (f.state === "open" ? null : <span class="chip state">{f.state}</span>);

export function FindingRows({ found, of }: { found: Finding[]; of: string }) {
  if (!found.length) return <p class="small">None.</p>;
  return <table><thead><tr><th>severity</th><th>rule</th><th>where</th><th>observed</th><th>expected</th><th class="num">cost, Gb/s</th></tr></thead><tbody>{found.map(f => <tr>
    <td><Chip severity={f.severity} /> <State f={f} /></td><td><a href={address(f)}>{seen(title(f.rule))}</a> <code>{f.rule}</code></td>
    <td class="mono"><Said text={f.subject === of ? "" : rest(f)} most={60} /></td><td><Said text={f.observed} most={120} /></td><td><Said text={f.expected} most={80} /></td><td class="num">{f.cost_gbps === null ? "" : gbps(f.cost_gbps)}</td></tr>)}</tbody></table>;
}

function matching(q: string, rule: string, severity: string, state: string): Finding[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return report.findings.filter(f => (!rule || f.rule === rule) && (!severity || f.severity === severity) && (state === "all" || f.state === state)
    && words.every(w => `${f.rule} ${f.subject} ${f.observed} ${f.expected} ${f.device} ${f.netdev} ${f.link_partner} ${title(f.rule)}`.toLowerCase().includes(w)));
}

export function Findings({ query, go }: { query: URLSearchParams; go: (hash: string) => void }) {
  const of = (name: string, usual = "") => query.get(name) ?? usual, q = of("q"), rule = of("rule"), severity = of("severity"), state = of("state", "open"), page = Number(of("page", "0")) || 0;
  const set = (changes: Record<string, string>) => {
    const next = new URLSearchParams(query);
    for (const name in changes) if (changes[name]) next.set(name, changes[name]); else next.delete(name);
    if (!("id" in changes) && !("page" in changes)) { next.delete("id"); next.delete("page"); }
    go(`#/findings?${next}`);
  };
  const shown = useMemo(() => matching(q, rule, severity, state), [q, rule, severity, state]), chosen = shown.find(f => id(f) === of("id"));
  const states = [...new Set(["open", ...report.findings.map(f => f.state)])], rules = [...new Set(report.findings.map(f => f.rule))].sort();
  return <>
    <h1>Findings</h1>
    <div class="tools noprint" role="search">
      <input type="search" aria-label="Search in findings" placeholder="host, device, rule, words" value={q} onInput={e => set({ q: e.currentTarget.value })} />
      <label>severity <select value={severity} onChange={e => set({ severity: e.currentTarget.value })}><option value="">all</option>{SEVERITIES.map(s => <option value={s}>{s}</option>)}</select></label>
      <label>rule <select value={rule} onChange={e => set({ rule: e.currentTarget.value })}><option value="">all</option>{rules.map(r => <option value={r}>{r}</option>)}</select></label>
      <label>state <select value={state} onChange={e => set({ state: e.currentTarget.value })}><option value="all">all</option>{states.map(s => <option value={s}>{s}</option>)}</select></label>
      <span class="muted small" role="status">{plural(shown.length, "finding")}</span>
    </div>
    <div class={chosen ? "cols" : ""}>
      <div><table class="list"><thead><tr><th>severity</th><th>rule</th><th>where</th><th>observed</th><th>expected</th><th class="num">cost, Gb/s</th></tr></thead>
        <tbody>{shown.slice(page * PAGE, (page + 1) * PAGE).map(f => <tr class={f === chosen ? "on" : ""}>
          <td><Chip severity={f.severity} /> <State f={f} /></td>
          <td><a href={`#/findings?${new URLSearchParams({ ...Object.fromEntries(query), id: id(f) })}`}><code>{f.rule}</code></a></td>
          <td class="mono wrap"><Said text={f.subject} most={60} /></td><td><Said text={f.observed} most={90} /></td><td><Said text={f.expected} most={60} /></td><td class="num">{f.cost_gbps === null ? "" : gbps(f.cost_gbps)}</td></tr>)}</tbody></table>
        {shown.length > PAGE ? <p class="tools noprint"><button type="button" disabled={!page} onClick={() => set({ page: String(page - 1) })}>Previous</button><span class="small muted">{count(page * PAGE + 1)} to {count(Math.min(shown.length, (page + 1) * PAGE))} of {count(shown.length)}</span><button type="button" disabled={(page + 1) * PAGE >= shown.length} onClick={() => set({ page: String(page + 1) })}>Next</button></p> : null}
      </div>
      {chosen ? <Detail key={id(chosen)} f={chosen} /> : null}
    </div>
  </>;
}

function Detail({ f }: { f: Finding }) {
  const [texts, setTexts] = useState<RuleText | null>(null), [facts, setFacts] = useState<Evidence | null>(null), rule = report.rules.get(f.rule);
  useEffect(() => { report.texts().then(all => setTexts(all[f.rule] ?? null)); report.explained().then(all => setFacts(all[id(f)] ?? null)); }, []);
  const row = (name: string, value: string | null | undefined) => (value ? <tr><th scope="row">{name}</th><td><Said text={value} most={2000} /></td></tr> : null);
  return <aside class="card" aria-label="The finding">
    <p><Chip severity={f.severity} /> <code>{f.rule}</code> <State f={f} /></p><h2>{seen(title(f.rule))}</h2>
    <table class="small"><tbody>
      <tr><th scope="row">where</th><td class="mono"><Machine name={f.target} /> <Said text={rest(f)} /></td></tr>
      {row("device", [f.device, f.netdev, f.pci].filter(Boolean).join(", "))}{row("switch port", f.switch_port)}{row("rail", f.rail === null ? "" : String(f.rail))}{row("link partner", f.link_partner)}
      <tr><th scope="row">observed</th><td><Said text={f.observed} most={2000} /></td></tr><tr><th scope="row">expected</th><td><Said text={f.expected} most={2000} /></td></tr>
      {row("detail", f.detail)}{row("cost", f.cost_gbps === null ? "" : `${gbps(f.cost_gbps)} Gb/s`)}{row("because of", f.cause ? `${f.cause} at ${f.cause_subject}` : "")}
      {row("waived", f.waiver ? `${f.waiver.reason} (${f.waiver.owner}${f.waiver.expires ? `, until ${f.waiver.expires}` : ""})` : "")}{row("repair", rule ? [rule.action, rule.setting].filter(Boolean).join(", ") : "")}{row("disturbs", rule?.disturbs)}
    </tbody></table>
    {f.commands.length ? <><h3>Commands</h3>{f.commands.map(c => <Command text={c.command} />)}</> : null}
    <h3>What to do</h3><Prose text={rule?.do ?? ""} />
    {texts ? <><h3>Why it matters</h3><Prose text={texts.why} /><h3>Exceptions</h3><Prose text={texts.wrong} /></> : null}
    <h3>What it rests on</h3>
    {facts ? <Facts facts={facts} /> : null}
    <Command text={`railwright explain ${f.rule} --subject ${quoted(f.subject)}`} />
    {texts ? <><details class="small"><summary>SQL of the rule</summary><pre>{texts.sql}</pre></details><p class="small muted">Sources: {texts.sources.map(s => seen(s, 200)).join("; ")}</p></> : null}
  </aside>;
}
// What a shell takes for more than a word is quoted, as `check` does it.
const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'"'"'`)}'`);

function Facts({ facts }: { facts: Evidence }) {
  return <>{facts.inputs.filter(i => i.rows.length).slice(0, 8).map(i => { const names = Object.keys(i.rows[0].values); return <div class="scroll facts" tabIndex={0} role="region" aria-label={`Facts of ${i.table}`}><table class="small"><caption>{i.table}</caption><thead><tr>{names.map(n => <th>{n}</th>)}</tr></thead>
    <tbody>{i.rows.slice(0, 12).map(r => <tr>{names.map(n => <td class={r.deciding.includes(n) ? "deciding" : ""}>{r.none.includes(n) ? <i>none</i> : r.values[n] === null ? <i>not collected</i> : <Said text={String(r.values[n])} most={60} />}</td>)}</tr>)}</tbody></table></div>; })}
    {facts.lines.map(a => <figure class="said"><figcaption class="small muted">Lines that say it, of <code>{seen(a.command, 300)}</code></figcaption><pre>{a.lines.map(l => seen(l, 200)).join("\n")}</pre></figure>)}
    <details class="small"><summary>Evidence</summary>{facts.evidence.map(e => <Command text={e.command} />)}</details></>;
}
