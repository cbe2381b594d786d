"""`railwright facts`: what a snapshot holds, folded, with the denominator of every count.

SQL counts; Python only sees groups. A host of which something is not known is never left out: each
heading says of how many hosts everything in its section is known, and why not of the others.
"""

import time

import duckdb

from railwright.intent.roles import make_site_ports
from railwright.intent.site import Site
from railwright.report.collected import is_whole
from railwright.report.console import plain
from railwright.report.overview_facts import (
    Group,
    Targets,
    Told,
    asked,
    told_sections,
    unanswered,
)
from railwright.report.screen import (
    Screen,
    cut,
    folded,
    how_old,
    in_phrases,
    number_of,
    padded,
    widths,
    with_hosts,
    wrapped,
)
from railwright.report.section import Section, query
from railwright.report.sections import HEARD_SWITCHES, LLDP
from railwright.report.switches import print_switches
from railwright.store.snapshot import Snapshot

MOST_ROWS = 20  # of one section on a terminal; a pipe gets all
UNKNOWN = "unknown"
_WITHOUT_RDMA = query("without_rdma")


def print_overview(
    screen: Screen, snapshot: Snapshot, now: float | None = None, site: Site | None = None
) -> bool:
    """The overview, with the site's roles; True when nothing that should be known is missing."""
    with snapshot.database() as database:
        database.execute(make_site_ports(site))
        targets, switches = asked(database, "host"), asked(database, "switch")
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
        (without,) = database.execute(_WITHOUT_RDMA).fetchone() or (False,)
        if without and targets.reached:
            screen.line()
            screen.line("No RDMA NIC on any of these hosts: nothing to count of it.")
        for told in told_sections(database, targets):
            # Fifteen tables that say "none" do not answer anything.
            if without and not any(group.things for group in told.groups):
                continue
            _print_section(screen, told, targets)
            if told.section is LLDP:
                _print_switches(screen, database)
        return whole


def _print_head(screen: Screen, snapshot: Snapshot, now: float) -> None:
    old = how_old(snapshot, now)
    screen.heading(f"Snapshot {snapshot.name}", f"{old}, in {snapshot.path.parent}")


def _print_reached(screen: Screen, targets: Targets, *noun: str) -> None:
    parts = [f"{targets.reached:,} reached"]
    if targets.incomplete:
        parts.append(f"{targets.incomplete:,} incomplete")
    parts.append(f"{targets.missed:,} not reached")
    parts.append(f"{targets.out_of_service:,} out of service")
    screen.line(f"{number_of(len(targets.everyone), *noun)}: {', '.join(parts)}")


# ---- what is not known


def _print_unknown(
    screen: Screen, database: duckdb.DuckDBPyConnection, everyone: list[str]
) -> None:
    found = unanswered(database)
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


def _print_section(screen: Screen, told: Told, targets: Targets) -> None:
    _print_heading(screen, told.section, told.gaps, len(targets.everyone))
    if told.groups:
        _print_groups(screen, told.section, told.groups, targets)


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
