"""Every link once, with what rules say of its two ends."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from railwright.check.findings import Findings
from railwright.check.rule import Rule, shipped
from railwright.fabric.ends import LINK

_HERE = Path(__file__).parent
_COUNTS = """
SELECT count(*), count(*) FILTER (peer_kind = 'switch' AND a_tier = 0 OR role = 'host'),
       count(*) FILTER (role = 'fabric'), count(*) FILTER (peer_kind = 'stranger'),
       count(*) FILTER (told_by = 'both'), count(*) FILTER (trouble <> ''),
       count(*) FILTER (is_down), count(*) FILTER (len(found) > 0), count(*) FILTER (is_unknown)
FROM judged_link
"""
_LINKS = """
SELECT a_target || ':' || a_port, b_target || ':' || b_port,
       coalesce(a_tier::VARCHAR, '?') || '-' || coalesce(b_tier::VARCHAR, '?'),
       speed_mbps, told_by, is_down, trouble, found, unknown
FROM judged_link
WHERE ($hosts IS NULL OR list_contains($hosts::VARCHAR[], a_target)
       OR list_contains($hosts::VARCHAR[], b_target))
  AND ($role = '' OR $role = CASE WHEN role = 'fabric' THEN 'fabric'
                                  WHEN a_tier = 0 OR role = 'host' THEN 'host' END)
  AND (is_odd OR NOT $only_odd)
ORDER BY len(found) = 0, NOT is_odd, a_tier, a_target, length(a_port), a_port
"""


class Counts(NamedTuple):
    """How many links there are."""

    links: int
    host: int
    fabric: int
    stranger: int
    told_by_both: int
    doubtful: int
    down: int
    with_findings: int
    with_unknown: int


class Found(NamedTuple):
    """What a rule has found at an end."""

    rule: str
    at: str
    said: str


class Link(NamedTuple):
    """One link."""

    a: str
    b: str
    tiers: str
    speed_mbps: int | None
    told_by: str
    is_down: bool
    trouble: str
    found: list[Found]
    unknown: list[str]  # rules that cannot tell


def rules_of_links() -> dict[str, Rule]:
    """Those about an end of a link, and about the cable and modules of a host's port."""
    return {
        name: rule
        for name, rule in shipped().items()
        if (rule.subject.kind == "end" or rule.topic == "link")
        and not rule.preview
        and not rule.baseline
    }


def say_of_ends(findings: Findings) -> None:
    """The table `end_said`: findings and unknowns of every end that has some."""
    stopped = [one.rule for one in findings.stopped()]
    findings.database.execute(
        "CREATE OR REPLACE TEMP TABLE stopped_rule AS SELECT unnest(?::VARCHAR[]) AS rule",
        [stopped],
    )
    findings.database.execute((_HERE / "end_said.sql").read_text("utf-8"))


def make_links(findings: Findings) -> Counts:
    """The table `judged_link`, and what is in it."""
    say_of_ends(findings)
    for file in (LINK, _HERE / "judged_link.sql"):
        findings.database.execute(file.read_text("utf-8"))
    return Counts(*(findings.database.execute(_COUNTS).fetchone() or (0,) * 9))


def links(
    findings: Findings, hosts: list[str] | None, role: str, *, only_odd: bool
) -> Iterator[Link]:
    """The links that are asked for, those with findings first."""
    asked = {"hosts": hosts, "role": role, "only_odd": only_odd}
    rows: duckdb.DuckDBPyConnection = findings.database.execute(_LINKS, asked)
    while many := rows.fetchmany(10_000):
        for row in many:
            one = Link(*row)
            yield one._replace(found=[_found(findings, each) for each in row[-2]])


def _found(findings: Findings, one: dict[str, str]) -> Found:
    said = findings.rules[one["rule"]].said(one["observed"], one["expected"])
    return Found(one["rule"], one["at"], said)
