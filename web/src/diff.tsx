// What changed between two snapshots, as `railwright diff` tells it.
import { report } from "./data";
import { Said } from "./parts";

export function Diff() {
  const found = report.core.changes;
  if (!found) return <><h1>Diff</h1><p>No earlier snapshot was named: <code>railwright report --before previous</code>.</p></>;
  const { before, now, moved, rows, missing } = found;
  return <>
    <h1>Diff</h1>
    <p class="muted">From <Said text={before} /> to <Said text={now} />, causes first. Counters and readings are left out.</p>
    {rows.length || moved.length ? <table class="list"><thead><tr><th>machines</th><th>change</th></tr></thead><tbody>
      {moved.map(m => <tr><td><Said text={m.hosts} most={160} /></td><td><Said text={`${m.before} before, ${m.now} now`} /></td></tr>)}
      {rows.map(([hosts, text]) => <tr><td><Said text={hosts} most={160} /></td><td><Said text={text} most={300} /></td></tr>)}</tbody></table> : <p>Nothing changed.</p>}
    {missing.length ? <section class="card"><h2>Not compared</h2><ul class="small gaps">{missing.map(m => <li><Said text={m.what} /> ({m.side}): <Said text={m.hosts} most={160} /></li>)}</ul></section> : null}
  </>;
}
