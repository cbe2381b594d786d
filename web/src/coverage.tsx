// Every rule and how it went: where trust comes from.
import { report } from "./data";
import { Chip, enc } from "./parts";
import { count, seen } from "./text";

export function Coverage() {
  const { rules } = report.core, sum = (of: "ok" | "fail" | "unknown" | "other") => count(rules.reduce((total, r) => total + r[of], 0));
  return <>
    <h1>What was checked</h1>
    <p class="muted small">Inconclusive: the rule could not judge, because something was not collected or contradicts itself. Not applicable: it has nothing to say of that subject.</p>
    <div class="scroll tall" tabIndex={0} role="region" aria-label="Rules"><table class="list"><thead><tr><th>rule</th><th>worst</th><th class="num">ok</th><th class="num">fault</th><th class="num">inconclusive</th><th class="num">not applicable</th><th>title</th></tr></thead>
      <tbody>{rules.map(r => <tr class={r.unknown || r.trouble ? "on" : ""}><td>{r.fail ? <a href={`#/findings?rule=${enc(r.id)}&state=all`}><code>{r.id}</code></a> : <code>{r.id}</code>}</td><td><Chip severity={r.severity} /></td>{(["ok", "fail", "unknown", "other"] as const).map(k => <td class="num">{count(r[k])}</td>)}<td class="small">{r.trouble ? <b>{seen(r.trouble, 100)}</b> : seen(r.title)}</td></tr>)}</tbody>
      <tfoot><tr><th colSpan={2}>all</th><td class="num">{sum("ok")}</td><td class="num">{sum("fail")}</td><td class="num">{sum("unknown")}</td><td class="num">{sum("other")}</td><td /></tr></tfoot></table></div>
  </>;
}
