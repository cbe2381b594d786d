"""`railwright check --by`: the same findings, put together by host, leaf or rail."""

from collections import Counter
from typing import Any, NamedTuple

from railwright.check.findings import Findings
from railwright.check.places import Place, aside, place_words
from railwright.check.remedy import Subject, fix_of
from railwright.check.rule import SEVERITIES
from railwright.nodes import is_machine_name
from railwright.report.console import plain
from railwright.report.screen import Screen, number_of, wrapped
from railwright.store.duck import read_sql

GROUPINGS = ("rule", "host", "leaf", "rail")
MOST = 6  # findings of one group on a terminal; a pipe gets all
INDENT = 12
STYLES = {"blocker": "bold red", "high": "red", "medium": "yellow", "low": "", "info": "dim"}
_GROUPED = read_sql(__file__, "views/check/grouped.sql")


class One(NamedTuple):
    """An open finding, with what it may be put together by."""

    host: str
    leaf: str | None
    rail: int | None
    rule: str
    severity: str
    rank: int
    observed: str | None
    expected: str | None
    detail: str | None
    cost_gbps: float | None
    others: int  # findings that follow from it
    subject: str
    kind: str
    place: Place


def open_findings(findings: Findings) -> list[One]:
    """All of them, the worst first."""
    wide = len(One._fields) - 1
    rows = findings.database.execute(_GROUPED).fetchall()
    return [One._make((*row[:wide], Place(*row[wide:]))) for row in rows]


def _groups(found: list[One], by: str) -> list[tuple[str, list[One]]]:
    """(title, findings), the worst group first; those that belong to none come last."""
    groups: dict[Any, list[One]] = {}
    for one in found:
        groups.setdefault(getattr(one, by), []).append(one)

    def order(key: Any) -> tuple[bool, int, float, Any]:
        cost = sum(one.cost_gbps or 0 for one in groups[key])
        return (key is None, min(one.rank for one in groups[key]), -cost, key)

    return [(_title(by, key), groups[key]) for key in sorted(groups, key=order)]


def _title(by: str, key: Any) -> str:
    if key is None:
        return f"no {by} known"
    return f"rail {key}" if by == "rail" else plain(key)


def summary(found: list[One]) -> str:
    """`2 findings: 1 high, 1 medium; costs 162 Gb/s`."""
    counts = Counter(one.severity for one in found)
    said = ", ".join(f"{counts[one]:,} {one}" for one in SEVERITIES if one in counts)
    priced = [one.cost_gbps for one in found if one.cost_gbps is not None]
    cost = ""
    if sum(priced):
        least = "at least " if len(priced) < len(found) else ""
        cost = f"; costs {least}{sum(priced):,.0f} Gb/s"
    return f"{number_of(len(found), 'finding')}: {said}{cost}"


def print_grouped(screen: Screen, findings: Findings, by: str) -> None:
    """Each group with its findings below it."""
    for title, found in _groups(open_findings(findings), by):
        screen.line()
        screen.heading(title, f"  {summary(found)}")
        most = MOST if screen.is_terminal else len(found)
        for one in found[:most]:
            _print_one(screen, findings, one)
        if len(found) > most:
            more = f"and {len(found) - most:,} more: railwright check --by {by} | cat"
            screen.line(f"  {more}", "dim")


def _print_one(screen: Screen, findings: Findings, one: One) -> None:
    rule = findings.rules[one.rule]
    where = place_words(one.host, one.subject, one.kind, one.place)
    said = plain(rule.said(one.observed, one.expected))
    head = f"{one.severity:<10}{rule.id}  {said[:1].upper()}{said[1:]}"
    for part in wrapped(screen, head, 2):
        screen.line(part, STYLES[one.severity])
    others = f"; also explains {number_of(one.others, 'finding')}" if one.others else ""
    more = aside(one.detail, where)
    for part in wrapped(screen, f"{where}{f'; {more}' if more else ''}{others}", INDENT):
        screen.line(part, "dim")
    subject = Subject(one.kind, one.place, one.expected, findings.never_touch)
    fix = fix_of(rule.do, rule.fix, subject)
    if fix and is_machine_name(one.host):
        screen.line(f"{' ' * INDENT}fix: {fix}  # on {one.host}")
