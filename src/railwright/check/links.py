"""Every link once, with what rules say of its two ends."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.check.findings import Findings
from railwright.check.places import aside
from railwright.check.rule import Rule, shipped
from railwright.fabric.ends import LINK
from railwright.fabric.infiniband import count_ports
from railwright.store.duck import read_sql

_END_SAID = read_sql(__file__, "end_said.sql")
_JUDGED_LINK = read_sql(__file__, "judged_link.sql")
_COUNTS = read_sql(__file__, "link_counts.sql")
_LINKS = read_sql(__file__, "links_asked.sql")


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
    half: int  # ports without a known link partner
    infiniband: int  # ports of which no link is known
    ends: int  # of links that LLDP may tell


class Found(NamedTuple):
    """What a rule has found at an end."""

    rule: str
    at: str
    said: str


class Link(NamedTuple):
    """One link."""

    a: str
    b: str  # '' where the link partner is not known
    tiers: str
    speed_mbps: int | None
    told_by: str
    is_down: bool
    trouble: str
    is_unread: bool  # a machine at one end was not read
    is_unknown: bool
    found: list[Found]
    unknown: list[str]  # rules that cannot tell


def rules_of_links() -> dict[str, Rule]:
    """Those about an end of a link, about the cable and modules of a host's port, what a packet
    meets there, and their causes.

    Without its causes a rule would say more here than in a check of everything.
    """
    usual = {n: r for n, r in shipped().items() if not r.preview and not r.baseline}
    found = {
        name
        for name, rule in usual.items()
        if rule.subject.kind == "end" or rule.topic == "link" or rule.on_path
    }
    waiting = sorted(found)
    while waiting:
        causes = {name for name in usual[waiting.pop()].implied_by if name in usual} - found
        found |= causes
        waiting += sorted(causes)
    return {name: rule for name, rule in usual.items() if name in found}


def say_of_ends(findings: Findings) -> None:
    """The table `end_said`: findings and unknowns of every end that has some."""
    stopped = [one.rule for one in findings.stopped()]
    findings.database.execute(
        "CREATE OR REPLACE TEMP TABLE stopped_rule AS SELECT unnest(?::VARCHAR[]) AS rule",
        [stopped],
    )
    findings.database.execute(_END_SAID)


def make_links(findings: Findings) -> Counts:
    """The table `judged_link`, and what is in it."""
    say_of_ends(findings)
    findings.database.execute(LINK)
    findings.database.execute(_JUDGED_LINK)
    (ends,) = findings.database.execute("SELECT count(*) FROM link_end").fetchone() or (0,)
    of_links = findings.database.execute(_COUNTS).fetchone() or (0,) * 10
    return Counts._make((*of_links, count_ports(findings.database), ends))


def links(
    findings: Findings, hosts: list[str] | None, role: str, *, only_odd: bool
) -> Iterator[Link]:
    """The links that are asked for, those with findings first."""
    asked = {"hosts": hosts, "role": role, "only_odd": only_odd}
    rows: duckdb.DuckDBPyConnection = findings.database.execute(_LINKS, asked)
    while many := rows.fetchmany(10_000):
        for row in many:
            one = Link(*row)
            yield one._replace(found=[_found(findings, each, one.a, one.b) for each in row[-2]])


_MACHINES = """
SELECT target FROM target
UNION SELECT a_target FROM judged_link
UNION SELECT b_target FROM judged_link
"""


def machines(findings: Findings) -> set[str]:
    """Every machine that a link may be asked of: those at the far ends too, read or not."""
    rows = findings.database.execute(_MACHINES).fetchall()
    return {name for (name,) in rows if name}


def _found(findings: Findings, one: dict[str, str], *ends: str) -> Found:
    said = findings.rules[one["rule"]].said(one["observed"], one["expected"])
    more = aside(one["detail"], *ends)
    return Found(one["rule"], one["at"], f"{said} ({more})" if more else said)
