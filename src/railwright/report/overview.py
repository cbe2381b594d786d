"""`railwright facts`: what a snapshot holds, folded, with the denominator of every count.

SQL counts; Python only sees groups. A host of which something is not known is never left out: each
heading says of how many hosts everything in its section is known, and why not of the others.
"""

import time
from typing import NamedTuple

import duckdb

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
from railwright.report.section import Section
from railwright.report.sections import LLDP, SECTIONS, SWITCHES
from railwright.report.switches import print_switches
from railwright.store.duck import identifier, quote
from railwright.store.snapshot import Snapshot

MOST_ROWS = 20  # of one section on a terminal; a pipe gets all
UNKNOWN = "unknown"


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


def print_overview(screen: Screen, snapshot: Snapshot, now: float | None = None) -> bool:
    """The overview; True when nothing that should be known is missing."""
    with snapshot.database() as database:
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
    found = database.execute(
        "SELECT list(target ORDER BY target), count(*) FILTER (status = 'reached'), "
        "count(*) FILTER (status = 'incomplete' AND out_of_service = ''), "
        "count(*) FILTER (status NOT IN ('reached', 'incomplete') AND out_of_service = ''), "
        "count(*) FILTER (status <> 'reached' AND out_of_service <> '') FROM target "
        "WHERE kind = ?",
        [kind],
    ).fetchone()
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

# Of what ssh said only the last line: before it stand banners and warnings.
_UNREACHED = r"""
SELECT answer, mode(said), count(DISTINCT said), list(target ORDER BY target)
FROM (SELECT target,
          CASE out_of_service WHEN '' THEN status ELSE 'out of service, ' || status END AS answer,
          CASE out_of_service WHEN '' THEN regexp_extract(rtrim(words, E'\r\n\t '), '[^\r\n]*$')
                              ELSE out_of_service END AS said
      FROM target WHERE status <> 'reached')
GROUP BY answer ORDER BY answer LIKE 'out of service%', answer
"""
# Probes that fail in the same way on the same hosts are one line. Sets of hosts are compared by
# size and hash: a list of all for each probe would not fit into memory.
_UNANSWERED = """
WITH gaps AS (
    SELECT DISTINCT probe, status AS answer, target FROM gap WHERE status <> 'not reached'
), failed AS (
    SELECT probe, status AS answer, mode(reason) AS said, count(DISTINCT reason) AS different
    FROM gap WHERE status <> 'not reached' GROUP BY probe, status
), hosts AS (
    SELECT probe, answer, count(*) AS number, bit_xor(hash(target)) AS mark
    FROM gaps GROUP BY probe, answer
), alike AS (
    SELECT answer, said, different, min(probe) AS probe,
           string_agg(probe, ', ' ORDER BY probe) AS probes
    FROM failed JOIN hosts USING (probe, answer) GROUP BY answer, said, different, number, mark
)
SELECT answer, probes || CASE said WHEN '' THEN '' ELSE ': ' END || said, different,
       list(target ORDER BY target) AS targets
FROM alike JOIN gaps USING (probe, answer) GROUP BY answer, probes, said, different
ORDER BY len(targets) DESC, 1, 2
"""


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


def _shown_table(database: duckdb.DuckDBPyConnection, section: Section) -> list[str]:
    """`shown`: target, the section's columns as c0, c1 ..., and how many things are like that."""
    names = [f"c{place}" for place in range(len(section.columns))]
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE shown AS SELECT *, count(*) AS n "
        f"FROM ({section.query}) AS things(target, {', '.join(names)}) "
        "SEMI JOIN machine USING (target) GROUP BY ALL"
    )
    return names


def _holes(names: list[str]) -> str:
    return " OR ".join(f"{identifier(name)} IS NULL" for name in names)


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
        f"FROM shown JOIN machine USING (target) GROUP BY {by} "
        f"ORDER BY {_holes(names)}, {things} DESC, {by}"
    ).fetchall()
    return [Group(row[: len(names)], row[-3], machines.names(*row[-2:])) for row in found]


# Of every target: NULL where all is known, '' where it is known to have no such thing, else why
# not. Only what finds the things can make a host unknown as a whole; what tells more about them
# matters on hosts that have some.
_JUDGED = """
WITH lacking AS (
    SELECT target, list_contains($finders, probe) AS finds, probe || ' ' || status AS why,
           CASE WHEN status NOT IN ('not asked', 'not reached') THEN status END AS status
    FROM silent WHERE list_contains($finders || $tellers, probe)
), reason AS (
    SELECT target, min(why) FILTER (NOT finds) AS teller, bool_or(status IS NOT NULL) AS answered,
           min(why) FILTER (finds AND status IS DISTINCT FROM 'absent') AS finder
    FROM lacking GROUP BY target
), seen AS (
    SELECT target, bool_or({holes}) AS has_holes FROM shown GROUP BY target
), judged AS (
    SELECT t.target, t.members, t.members_key, CASE
        WHEN seen.has_holes THEN coalesce(reason.teller, 'values not read')
        WHEN seen.target IS NOT NULL THEN NULL
        WHEN t.status <> 'reached' AND reason.answered IS NOT TRUE
            THEN CASE t.out_of_service WHEN '' THEN 'not reached' ELSE 'out of service' END
        WHEN len($finders) = 0 THEN 'not told'
        ELSE coalesce(reason.finder, '') END AS why
    FROM machine AS t LEFT JOIN reason USING (target) LEFT JOIN seen USING (target)
)
SELECT why, {hosts} FROM judged WHERE why IS NOT NULL GROUP BY why
ORDER BY sum(len(members)) DESC, why
"""


def _gaps(
    database: duckdb.DuckDBPyConnection, section: Section, names: list[str], machines: Machines
) -> dict[str, tuple[str, ...]]:
    """Why not everything is known -> hosts; '' -> hosts that have no such thing, which is known."""
    query = _JUDGED.replace("{holes}", _holes(names)).replace("{hosts}", _HOSTS)
    for name, probes in (("$finders", section.found_by), ("$tellers", section.told_by)):
        query = query.replace(name, f"[{', '.join(map(quote, probes))}]::VARCHAR[]")
    found = database.execute(query).fetchall()
    return {why: machines.names(*hosts) for why, *hosts in found}


def _print_section(
    screen: Screen,
    database: duckdb.DuckDBPyConnection,
    section: Section,
    targets: Targets,
    machines: Machines,
) -> None:
    names = _shown_table(database, section)
    groups = _groups(database, section, names, machines)
    gaps = _gaps(database, section, names, machines)
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
    names = [plain(name) for (name,) in database.execute(SWITCHES).fetchall()]
    if names:
        said = f"  heard: {number_of(len(names), 'switch')}  "
        screen.line(said + cut(screen, folded(tuple(sorted(names))), len(said)))
