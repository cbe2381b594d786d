"""`--format markdown`: the verdict for a ticket, with the numbers of terminal and page."""

from collections.abc import Iterator
from typing import Any

from railwright.check.findings import Findings
from railwright.report.pace import pace_line, pace_of
from railwright.report.page.static import headline, scope
from railwright.report.page.verdict import rules, verdict
from railwright.report.screen import number_of
from railwright.text import plain

# What Markdown would make of a machine's words: cells, code, HTML, links and pictures.
_MARKDOWN = str.maketrans(
    {"\\": "\\\\", "|": "\\|", "`": "\\`", "<": "&lt;", ">": "&gt;", "!": "\\!"}
)


def cell(text: str | None) -> str:
    """Text of a machine that cannot break out of where it stands."""
    if text is None:
        return "not collected"
    return plain(text).translate(_MARKDOWN).replace("](", "]\\(") or "''"


def as_markdown(findings: Findings, profile: str, status: int) -> Iterator[str]:  # noqa: ARG001
    """One section per rule, the worst first; then what is inconclusive, excluded and waived."""
    pace = pace_of(findings)
    told = {**verdict(findings, pace), "rules": rules(findings)}
    yield f"# Findings of {plain(findings.snapshot.title)} (profile {profile})\n\n"
    yield f"**{headline(told)}** {scope(told)}.\n"
    if not findings.on and (line := pace_line(pace)):
        yield f"\n{cell(line)}.\n"
    texts = {rule.id: rule for rule in findings.rules.values()}
    for block in told["blocks"]:
        rule = texts[block["rule"]]
        yield f"\n## {rule.id} {rule.title} ({block['severity']})\n\n{_count(block)}\n\n"
        yield f"{rule.why}\n\n{rule.do}\n\n"
        yield "| subjects | severity | observed | expected | where | hosts |\n"
        yield "|---|---|---|---|---|---|\n"
        for group in block["groups"]:
            said = (group["observed"], group["expected"], _where(group), group["hosts"])
            values = " | ".join(map(cell, said))
            yield f"| {group['subjects']:,} | {group['severity']} | {values} |\n"
        examples = [one for group in block["groups"] for one in group["examples"]]
        fixes = dict.fromkeys(one["fix"] for one in examples if one["fix"])
        for fix in fixes:
            yield f"\n    {plain(fix)}\n"
        for one in block["under"]:
            yield f"\nAlso explains {one['findings']:,} {one['severity']} {one['rule']}.\n"
    yield from _table(
        "Inconclusive",
        ("checks", "why", "machines"),
        ((f"{gap['checks']:,}", gap["why"], gap["hosts"]) for gap in told["inconclusive"]),
    )
    yield from _table(
        "Excluded",
        ("out of service", "machines", "findings", "inconclusive"),
        (
            (one["reason"], one["hosts"], f"{one['findings']:,}", f"{one['inconclusive']:,}")
            for one in told["excluded"]
        ),
    )
    yield from _table(
        "Waived",
        ("findings", "what", "until", "by", "machines", "reason"),
        (
            (
                f"{w['count']:,} {w['state']}",
                w["rule"],
                w["until"],
                w["owner"],
                w["hosts"],
                w["reason"],
            )
            for w in told["waived"]
        ),
    )
    yield from _table("Expired waivers", ("what", "on", "by", "subjects", "reason"), _expired(told))


def _expired(told: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for one in told["expired"]:
        yield (one["rule"], one["until"], one["owner"], ", ".join(one["subjects"]), one["reason"])


def _count(block: dict[str, Any]) -> str:
    """`1 NIC on 1 host, costs 162 Gb/s.`"""
    where = number_of(block["hosts"], "machine" if block["kind"] == "end" else "host")
    if block["kind"] in ("host", "switch"):
        said = number_of(block["hosts"], block["kind"])
    else:
        said = f"{number_of(block['subjects'], block['kind'])} on {where}"
    if block["cost_gbps"]:
        least = "at least " if block["priced"] < block["subjects"] else ""
        said += f", costs {least}{block['cost_gbps']:,.0f} Gb/s"
    return f"{said}."


def _where(group: dict[str, Any]) -> str:
    """Subjects and what is peculiar to each, of many the first ones."""
    some = [
        f"{one['subject']} ({one['aside']})" if one["aside"] else one["subject"]
        for one in group["examples"]
    ]
    left = group["subjects"] - len(some)
    return "; ".join(some) + (f"; and {left:,} more" if left else "")


def _table(title: str, names: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        if not number:
            yield f"\n## {title}\n\n| {' | '.join(names)} |\n|{'---|' * len(names)}\n"
        yield f"| {' | '.join(map(cell, row))} |\n"
