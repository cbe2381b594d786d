"""`railwright facts`: what a snapshot holds, folded, with the denominator of every count.

SQL counts; Python only sees groups. A host of which something is not known is never left out: each
heading says of how many hosts everything in its section is known, and why not of the others.
"""

import time
from typing import NamedTuple

import duckdb

from railwright.intent.roles import make_site_ports
from railwright.intent.site import Site
from railwright.report.collected import is_whole
from railwright.report.console import plain
from railwright.report.machines import Machines
from railwright.report.screen import (
    Screen,
    age,
    cut,
    folded,
    in_phrases,
    number_of,
    padded,
    widths,
    with_hosts,
    wrapped,
)
from railwright.report.section import Section, query
from railwright.report.sections import HEARD_SWITCHES, LLDP, SECTIONS
from railwright.report.switches import print_switches
from railwright.store.snapshot import Snapshot

MOST_ROWS = 20  # of one section on a terminal; a pipe gets all
UNKNOWN = "unknown"
_TARGETS = query("targets")


class Group(NamedTuple):
    """Hosts that have the same, and how many things."""

    cells: tuple[str | None, ...]
    things: int  # how many; per host where the section says so
    hosts: tuple[str, ...]


class Targets(NamedTuple):
    """The denominator."""

    everyone: list[str]
    reached: int
    incomplete: int
    missed: int
    out_of_service: int


def print_overview(
    screen: Screen, snapshot: Snapshot, now: float | None = None, site: Site | None = None
) -> bool:
    """The overview, with the site's roles; True when nothing that should be known is missing."""
    with snapshot.database() as database:
        database.execute(make_site_ports(site))
        targets, switches = _targets(database, "host"), _targets(database, "switch")
        _print_head(screen, snapshot, time.time() if now is None else now)
        if targets.everyone or not switches.everyone:
            _print_reached(screen, targets, "host" if switches.everyone else "target")
        if switches.everyone:
            _print_reached(screen, switches, "switch", "switches")
        if not targets.everyone and not switches.everyone:
            screen.line("Nothing was asked for: this snapshot has no targets.")
            return True
        _print_unknown(screen, database, sorted(targets.everyone + switches.everyone))
        print_switches(screen, database)
        whole = is_whole(database)
        machines = Machines(database, len(targets.everyone))
        for section in SECTIONS if targets.everyone else ():
            machines.ask(section)
            _print_section(screen, database, section, targets, machines)
            if section is LLDP:
                _print_switches(screen, database)
        return whole


def _targets(database: duckdb.DuckDBPyConnection, kind: str) -> Targets:
    found = database.execute(_TARGETS, {"kind": kind}).fetchone()
    assert found is not None  # noqa: S101 (an aggregate always has a row)
    return Targets(found[0] or [], *found[1:])


def _print_head(screen: Screen, snapshot: Snapshot, now: float) -> None:
    started = snapshot.run.get("started")
    old = f", {age(now - started)} old" if isinstance(started, (int, float)) else ""
    screen.heading(f"Snapshot {snapshot.name}", f"{old}, in {snapshot.path.parent}")


def _print_reached(screen: Screen, targets: Targets, *noun: str) -> None:
    parts = [f"{targets.reached:,} reached"]
    if targets.incomplete:
        parts.append(f"{targets.incomplete:,} incomplete")
    parts.append(f"{targets.missed:,} not reached")
    parts.append(f"{targets.out_of_service:,} out of service")
    screen.line(f"{number_of(len(targets.everyone), *noun)}: {', '.join(parts)}")


# ---- what is not known

_UNREACHED = query("unreached")
_UNANSWERED = query("unanswered")


def _print_unknown(
    screen: Screen, database: duckdb.DuckDBPyConnection, everyone: list[str]
) -> None:
    found = [
        *database.execute(_UNREACHED).fetchall(),
        *database.execute(_UNANSWERED).fetchall(),
    ]
    screen.line()
    if not found:
        screen.heading("Not known", ": nothing; every probe answered on every host")
        return
    screen.heading("Not known")
    title = ("hosts", "answer")
    rows = [(f"{len(names):,}", answer) for answer, _, _, names in found]
    columns = widths([title, *rows])
    screen.line("  " + padded(title, columns, 1), "dim")
    indent = columns[0] + 4
    for row, (_, said, different, names) in zip(rows, found, strict=True):
        lines = with_hosts(screen, "  " + padded(row, columns, 1), names, everyone, indent)
        why = plain(said or "") + (f" (one of {different} reasons)" if different > 1 else "")
        # Behind the hosts where there is room, else on a line of its own.
        if not screen.is_terminal or len(lines[-1]) + 2 + len(why) <= screen.width:
            lines[-1] += f"  {why}"
            why = ""
        for line in lines:
            screen.line(line)
        for line in wrapped(screen, why, indent):
            screen.line(line, "dim")


# ---- sections


def shown_table(database: duckdb.DuckDBPyConnection, section: Section) -> list[str]:
    """`shown`: target, the section's columns as c0, c1 ..., and how many things are like that.

    `has_holes` is true where something of such a thing was not read.
    """
    names = [f"c{place}" for place in range(len(section.columns))]
    holes = " OR ".join(f"{name} IS NULL" for name in names)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE shown AS SELECT *, {holes} AS has_holes, count(*) AS n "
        f"FROM ({section.query}) AS things(target, {', '.join(names)}) "
        "SEMI JOIN machine USING (target) GROUP BY ALL"
    )
    return names


# Hosts of a group by their examples, with what tells two sets of hosts apart.
_HOSTS = "list(target), row(sum(len(members)), bit_xor(members_key))"


def _groups(
    database: duckdb.DuckDBPyConnection, section: Section, names: list[str], machines: Machines
) -> list[Group]:
    """What is known first, the largest group first."""
    columns = ", ".join(names)
    by = f"{columns}, n" if section.each else columns
    things = "sum(n * len(members))::BIGINT"
    found = database.execute(
        f"SELECT {columns}, {'n' if section.each else things}, {_HOSTS} "
        f"FROM shown JOIN machine USING (target) GROUP BY {by}, has_holes "
        f"ORDER BY has_holes, {things} DESC, {by}"
    ).fetchall()
    return [Group(row[: len(names)], row[-3], machines.names(*row[-2:])) for row in found]


_NOT_KNOWN = query("not_known")


def _gaps(
    database: duckdb.DuckDBPyConnection, section: Section, machines: Machines
) -> dict[str, tuple[str, ...]]:
    """Why not everything is known -> hosts; '' -> hosts that have no such thing, which is known."""
    probes = {"finders": list(section.found_by), "tellers": list(section.told_by)}
    found = database.execute(_NOT_KNOWN, probes).fetchall()
    return {why: machines.names(*hosts) for why, *hosts in found}


def _print_section(
    screen: Screen,
    database: duckdb.DuckDBPyConnection,
    section: Section,
    targets: Targets,
    machines: Machines,
) -> None:
    names = shown_table(database, section)
    groups = _groups(database, section, names, machines)
    gaps = _gaps(database, section, machines)
    without = gaps.pop("", ())
    if without:
        groups.append(Group((section.none, *[""] * (len(names) - 1)), 0, without))
    _print_heading(screen, section, gaps, len(targets.everyone))
    if groups:
        _print_groups(screen, section, groups, targets)


def _print_heading(
    screen: Screen, section: Section, gaps: dict[str, tuple[str, ...]], total: int
) -> None:
    unknown = sum(len(hosts) for hosts in gaps.values())
    said = f": known on {total - unknown:,} of {number_of(total, 'host')}"
    reasons = (f"{len(hosts):,} {why}" for why, hosts in gaps.items())
    why = f"not known: {', '.join(reasons)}" if unknown else ""
    screen.line()
    if not why or len(section.title) + len(said) + len(why) + 2 <= screen.width:
        screen.heading(section.title, said + (f"; {why}" if why else ""))
    else:
        screen.heading(section.title, said)
        for line in wrapped(screen, in_phrases(why), 2):
            screen.line(line)


def _row(section: Section, group: Group) -> tuple[str, ...]:
    counted = [f"{group.things:,}" if group.things else ""] if section.things else []
    if all(cell is None for cell in group.cells):
        cells = [UNKNOWN, *[""] * (len(group.cells) - 1)]
    else:
        cells = [UNKNOWN if cell is None else plain(cell) for cell in group.cells]
    return f"{len(group.hosts):,}", *counted, *cells


def _print_groups(screen: Screen, section: Section, groups: list[Group], targets: Targets) -> None:
    numbers = ("hosts", section.things) if section.things else ("hosts",)
    title = (*numbers, *section.columns)
    rows = [_row(section, group) for group in groups]
    columns = widths([title, *rows])
    indent = 2 + sum(columns[: len(numbers)]) + 2 * len(numbers)
    screen.line("  " + padded(title, columns, len(numbers)), "dim")
    most = MOST_ROWS if screen.is_terminal else len(rows)
    for row, group in list(zip(rows, groups, strict=True))[:most]:
        line = "  " + padded(row, columns, len(numbers))
        for part in with_hosts(screen, line, group.hosts, targets.everyone, indent):
            screen.line(part, "yellow" if None in group.cells else "")
    if len(rows) > most:
        screen.line(f"  and {len(rows) - most:,} more: railwright facts | cat", "dim")


def _print_switches(screen: Screen, database: duckdb.DuckDBPyConnection) -> None:
    names = [plain(name) for (name,) in database.execute(HEARD_SWITCHES).fetchall()]
    if names:
        said = f"  heard: {number_of(len(names), 'switch')}  "
        screen.line(said + cut(screen, folded(tuple(sorted(names))), len(said)))
