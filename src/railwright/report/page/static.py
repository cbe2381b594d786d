"""Verdict and findings as plain HTML: what a mail shows, a printer, a browser without scripts."""

import html
from collections.abc import Iterator
from typing import Any

from railwright.report.screen import number_of
from railwright.text import plain

MOST_STEPS = 6  # of the pace
LONGEST = 2_000  # signs of one value


def escaped(text: Any) -> str:
    """A machine's words as text, whatever they are."""
    said = plain("not collected" if text is None else str(text))
    cut = f"{said[:LONGEST]}… ({len(said):,} characters)" if len(said) > LONGEST else said
    return html.escape(cut)


def headline(core: dict[str, Any]) -> str:
    """`8 findings on 7 hosts and 1 switch; 1,124 checks inconclusive.`"""
    head = core["head"]
    count = sum(head["severities"].values())
    if count:
        said = number_of(count, "finding")
        parts = [f"{said}: " + ", ".join(f"{n:,} {s}" for s, n in head["severities"].items())]
    else:
        parts = ["No findings" if head["decided"] else "No result"]
    if head["expired"]:
        parts.append(f"{number_of(head['expired'], 'waiver')} expired")
    if head["open"]:
        parts.append(f"{number_of(head['open'], 'check')} inconclusive")
    if head["stopped"]:
        parts.append(f"{number_of(head['stopped'], 'rule')} could not be run")
    return "; ".join(parts) + "."


def inconclusive(head: dict[str, Any]) -> str:
    """`1,124 inconclusive (282 open)`: of the others a waiver or somebody's word is known."""
    count, left = head["inconclusive"], head["open"]
    return f"{count:,} inconclusive" + ("" if count == left else f" ({left:,} open)")


def scope(core: dict[str, Any]) -> str:
    """`30 of 32 hosts, 14 of 14 switches, 240 compute ports, 480 links; 1 excluded`."""
    head = core["head"]
    parts = [f"{head['reached']:,} of {number_of(head['hosts'] + head['not_asked'], 'host')}"]
    if head["switches"]:
        parts.append(f"{head['talked']:,} of {number_of(head['switches'], 'switch')}")
    parts += [number_of(head["ports"], "compute port"), number_of(head["links"], "link")]
    away = f"; {head['away']:,} excluded" if head["away"] else ""
    return ", ".join(parts) + away


def _cost(block: dict[str, Any]) -> str:
    if not block["cost_gbps"]:
        return "not priced"
    least = "at least " if block["priced"] < block["subjects"] else ""
    return f"{least}{block['cost_gbps']:,.0f} Gb/s"


def _blocks(core: dict[str, Any]) -> Iterator[str]:
    titles = {rule["id"]: rule for rule in core["rules"]}
    yield '<section class="card"><h2>Findings</h2>\n'
    for block in core["blocks"]:
        rule = titles[block["rule"]]
        yield '<article class="block">'
        yield f'<h3><span class="chip {block["severity"]}">{block["severity"]}</span> '
        yield f"{escaped(rule['title'])} <code>{escaped(block['rule'])}</code> "
        yield f'<span class="cost">{_cost(block)}</span></h3>\n<table>'
        yield "<thead><tr><th>number</th><th>finding</th><th>where</th></tr></thead><tbody>"
        for group in block["groups"]:
            yield f'<tr><td class="num">{group["subjects"]:,}</td><td>{escaped(group["says"])}'
            for one in group["examples"]:
                said = "; ".join(filter(None, (one["where"], one["aside"])))
                yield f"<br><small>{escaped(said)}</small>"
                yield f"<br><code>{escaped(one['fix'])}</code>" if one["fix"] else ""
            yield f"</td><td><bdi>{escaped(group['hosts'])}</bdi></td></tr>\n"
        yield f"</tbody></table><p>Repair disturbs: {escaped(rule['disturbs'])}.</p>"
        yield f"<p>{escaped(rule['do'])}</p></article>\n"
    if not core["blocks"]:
        yield "<p>None.</p>"
    yield "</section>\n"


def _pace(core: dict[str, Any]) -> Iterator[str]:
    pace = core["head"]["pace"]
    yield '<section class="card"><h2>Pace of a job</h2>\n'
    yield "<p>A collective is as fast as its slowest compute port.</p>\n<table><tbody>"
    steps = pace["steps"]
    for step in steps if len(steps) <= MOST_STEPS else [*steps[: MOST_STEPS - 1], steps[-1]]:
        who = "all hosts" if not step["without"] else f"without {step['without']:,}"
        yield f'<tr><td>{who}</td><td class="num">{step["gbps"]:,.1f} Gb/s</td>'
        yield f"<td>{escaped(step['slowest'])}: {escaped(step['limited_by'])}</td></tr>\n"
    yield f"</tbody></table><p>{escaped(pace['basis'])}"
    if pace["unknown"]:
        yield f"; not known: <bdi>{escaped(pace['unknown'])}</bdi>"
    yield "</p></section>\n"


def _gaps(core: dict[str, Any]) -> Iterator[str]:
    yield '<section class="card"><h2>Inconclusive</h2>\n<ul>'
    for gap in core["inconclusive"]:
        do = f"<br>{escaped(gap['do'])}" if gap["do"] else ""
        yield f"<li>{number_of(gap['machines'], 'machine')}: {escaped(gap['why'])} "
        yield f"({number_of(gap['checks'], 'check')}): <bdi>{escaped(gap['hosts'])}</bdi>"
        yield f"{do}</li>\n"
    yield "</ul></section>\n" if core["inconclusive"] else "</ul><p>Nothing.</p></section>\n"


def _aside(core: dict[str, Any]) -> Iterator[str]:
    if not core["excluded"] and not core["waived"] and not core["expired"]:
        return
    yield '<section class="card"><h2>Excluded and waived</h2>\n<ul>'
    for one in core["excluded"]:
        yield f"<li>out of service, {escaped(one['reason'])}: <bdi>{escaped(one['hosts'])}</bdi>, "
        yield f"{number_of(one['findings'], 'finding')}, {one['inconclusive']:,} inconclusive"
        yield "</li>\n"
    for one in core["waived"]:
        yield f"<li>{one['count']:,} {escaped(one['state'])} until {escaped(one['until'])} by "
        yield f"{escaped(one['owner'])}: {escaped(one['rule'])} on <bdi>{escaped(one['hosts'])}"
        yield f"</bdi>: {escaped(one['reason'])}</li>\n"
    for one in core["expired"]:
        yield f"<li>expired on {escaped(one['until'])}: {escaped(one['rule'])} on "
        yield f"<bdi>{escaped(', '.join(one['subjects']))}</bdi> ({escaped(one['owner'])}): "
        yield f"{escaped(one['reason'])}</li>\n"
    yield "</ul></section>\n"


def static(core: dict[str, Any]) -> Iterator[str]:
    """What is there before any script runs."""
    head = core["head"]
    yield f'<main class="static">\n<h1>{escaped(headline(core))}</h1>\n'
    yield f"<p>{escaped(scope(core))}. {number_of(head['rules'], 'rule')}: "
    yield f"{head['decided']:,} checks decided, "
    yield f"{inconclusive(head)}, {head['not_applicable']:,} not applicable. "
    yield f"Snapshot {escaped(core['title'])}, profile {escaped(core['profile'])}.</p>\n"
    for part in (_blocks, _pace, _gaps, _aside):
        yield from part(core)
    yield "</main>\n"
