"""The head of `railwright check`: how much was judged, of how much, and what came out."""

import time
from typing import NamedTuple

from railwright.check.engine import RunState
from railwright.check.findings import Account, Findings
from railwright.check.rule import SEVERITIES
from railwright.nodes import fold
from railwright.report.pace import pace_line, pace_of
from railwright.report.screen import Screen, cut, how_old, number_of, wrapped
from railwright.store.duck import read_sql

_MACHINES = read_sql(__file__, "views/check/machines.sql")
_PORTS = "SELECT count(*) FROM site_port WHERE role = 'compute'"
_LINKS = """
SELECT count(DISTINCT least((target, port), (peer, peer_port))) FROM link_end
WHERE peer <> '' AND peer_port <> ''
"""
_SEVERITIES = """
SELECT severity, count(*) FROM finding WHERE verdict = 'fail' AND state = 'open' GROUP BY severity
"""


class Machines(NamedTuple):
    """What there was to judge."""

    hosts: int
    reached: int
    switches: int
    talked: int
    away: int
    not_asked: int


def judged(accounts: list[Account]) -> int:
    """How many verdicts there are that are either ok or not."""
    return sum(one.ok + one.fail for one in accounts)


def print_head(screen: Screen, findings: Findings, accounts: list[Account], against: str) -> None:
    """What was looked at, by how many rules, and the totals."""
    snapshot = findings.snapshot
    old = how_old(snapshot, time.time())
    screen.heading(f"Snapshot {snapshot.name}", f"{old}, against the {against}")
    screen.line(_scope(findings))
    if findings.on:
        these = "it" if len(findings.on) == 1 else "them"
        only = f"Only findings of {fold(findings.on)} and of links to {these}, compared with all"
        screen.line(cut(screen, f"{only} peers"))
    ran = [one for one in accounts if one.state is RunState.RAN]
    unknown = sum(one.unknown for one in accounts)
    screen.line(
        f"{number_of(len(ran), 'rule')}: {judged(accounts):,} checks decided, "
        f"{unknown:,} inconclusive, "
        f"{sum(one.not_applicable for one in accounts):,} not applicable"
    )
    later = [one for one in accounts if one.state is RunState.SKIPPED]
    if later:
        screen.line(
            f"{number_of(len(later), 'rule')} skipped: they need an earlier snapshot (--before)",
            "dim",
        )
    if totals := _totals(findings):
        screen.line(totals)
    if not findings.on and (said := pace_line(pace_of(findings))):
        for part in wrapped(screen, said, 0):
            screen.line(part)


def machines(findings: Findings) -> Machines:
    """How many there were, and how many of them were read."""
    [row] = findings.database.execute(_MACHINES).fetchall()
    return Machines(*row)


def compute_ports(findings: Findings) -> int:
    """Ports of hosts that carry what GPUs exchange."""
    [[ports]] = findings.database.execute(_PORTS).fetchall()
    return int(ports)


def links(findings: Findings) -> int:
    """Links of which both ends are known."""
    [[found]] = findings.database.execute(_LINKS).fetchall()
    return int(found)


def severities(findings: Findings) -> dict[str, int]:
    """How many open findings there are of each, the worst first."""
    counts = dict(findings.database.execute(_SEVERITIES).fetchall())
    return {one: counts[one] for one in SEVERITIES if one in counts}


def _scope(findings: Findings) -> str:
    """`30 of 32 hosts, 4 of 4 switches, 240 compute ports, 512 links; 1 excluded`."""
    seen = machines(findings)
    parts = [f"{seen.reached:,} of {number_of(seen.hosts + seen.not_asked, 'host')}"]
    if seen.switches:
        parts.append(f"{seen.talked:,} of {number_of(seen.switches, 'switch')}")
    parts += [number_of(compute_ports(findings), "compute port")]
    parts += [number_of(links(findings), "link")]
    away = f"; {seen.away:,} excluded" if seen.away else ""
    return f"Checked: {', '.join(parts)}{away}"


def _totals(findings: Findings) -> str:
    """`17 findings: 1 blocker, 2 high, 14 info`; nothing where nothing was found."""
    counts = severities(findings)
    said = [f"{count:,} {one}" for one, count in counts.items()]
    return f"{number_of(sum(counts.values()), 'finding')}: {', '.join(said)}" if said else ""
