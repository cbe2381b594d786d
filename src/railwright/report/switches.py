"""Switches in the reports: the kinds of a fleet in groups, and one of them with its ports."""

import duckdb

from railwright.check.machine import NOTHING, OfMachine
from railwright.nodes import fold
from railwright.report.adapters import Facts
from railwright.report.console import plain
from railwright.report.folded_table import print_folded
from railwright.report.machine_findings import print_findings
from railwright.report.screen import Screen, number_of, padded, widths, with_hosts, wrapped
from railwright.report.tree import MARK, NOT_READ, marked
from railwright.store.duck import read_sql

_KINDS = read_sql(__file__, "views/facts/switches.sql")
_TITLE = ("switches", "system", "model", "version", "ports", "up")
SWITCH_PORTS = read_sql(__file__, "views/show/switch_ports.sql")
_PORT_TITLE = ("ports", "link", "speed", "FEC", "MTU", "trust", "PFC on", "LLDP neighbor")


def _cell(value: object) -> str:
    return NOT_READ if value is None else plain(str(value)) or "-"


def kinds_of_switches(database: duckdb.DuckDBPyConnection) -> list[dict[str, object]]:
    """The same groups for programs; null is unknown."""
    names = ("system", "model", "version", "ports", "up")
    return [
        {
            **{
                name: int(cell) if name in ("ports", "up") and cell is not None else cell
                for name, cell in zip(names, cells, strict=True)
            },
            "switches": sorted(found),
        }
        for *cells, found in database.execute(_KINDS).fetchall()
    ]


def print_switches(screen: Screen, database: duckdb.DuckDBPyConnection) -> None:
    """Which switches there are, in groups of the same."""
    found = database.execute(_KINDS).fetchall()
    if not found:
        return
    everyone = sorted(name for *_, names in found for name in names)
    rows = [(f"{len(names):,}", *(_cell(cell) for cell in cells)) for *cells, names in found]
    columns = widths([_TITLE, *rows])
    screen.line()
    screen.heading("Switches", f": {len(everyone):,} answered")
    screen.line("  " + padded(_TITLE, columns, 1), "dim")
    for row, (*_, names) in zip(rows, found, strict=True):
        line = "  " + padded(row, columns, 1)
        for part in with_hosts(screen, line, names, everyone, 4):
            screen.line(part, "yellow" if NOT_READ in row else "")


# The cells that a finding may mark, in the order of the title.
_CELLS = ("state", "speed", "fec", "mtu", "trust", "pfc", "neighbor")


def print_switch(screen: Screen, facts: Facts, of: OfMachine | None = None) -> bool:
    """One switch and its ports; True where something in it was not read."""
    about = facts.rows(
        "SELECT string_agg(DISTINCT system, ', '), max(model) FILTER (model <> ''), max(version), "
        "max(hostname) FILTER (hostname <> '') FROM switch WHERE target = $target"
    )[0]
    said = [plain(part) for part in about[:3] if part]
    named = [f"hostname {plain(about[3])}"] if about[3] else []
    screen.line(", ".join([*said, *named]) or "System not collected.")
    if of is not None:
        print_findings(screen, of)
    of = of or NOTHING
    found = facts.rows(SWITCH_PORTS)
    if not found:
        return False
    groups: dict[tuple[str, ...], list[str]] = {}
    for port, is_up, speed, *cells, heard in found:
        link = None if is_up is None else ("up" if is_up else "down")
        rate = None if speed is None else f"{speed / 1000:g}G"
        texts = (*(_cell(cell) for cell in (link, rate, *cells)), _cell(heard or ""))
        key = tuple(
            marked(text, of.is_marked(kind, port)) for kind, text in zip(_CELLS, texts, strict=True)
        )
        name = marked(plain(port), of.is_marked("name", port))
        groups.setdefault(key, []).append(name)
    rows = [(_folded(names), *key) for key, names in groups.items()]
    screen.line()
    screen.heading(number_of(len(found), "port"))
    odd = [NOT_READ in row or any(cell.endswith(MARK) for cell in row) for row in rows]
    print_folded(screen, _PORT_TITLE, rows, ["yellow" if one else "" for one in odd])
    _print_not_reported(screen, facts, [row[2:7] for row in rows])
    return any(NOT_READ in row for row in rows)


def _folded(names: list[str]) -> str:
    """Ports with a finding of their own apart: Ethernet[0,4] Ethernet8 !"""
    odd = [name for name in names if name.endswith(MARK)]
    usual = [name for name in names if not name.endswith(MARK)]
    return ",".join([fold(usual), *odd] if usual else odd)


_NOT_REPORTED = """
SELECT system, string_agg(replace(fact, '_', ' '), ', ' ORDER BY fact) FROM switch_fact
WHERE target = $target AND state = 'not_reported' GROUP BY system
"""


def _print_not_reported(screen: Screen, facts: Facts, rows: list[tuple[str, ...]]) -> None:
    """What the system never prints, and which columns nobody collected."""
    for system, names in facts.rows(_NOT_REPORTED):
        screen.line()
        for line in wrapped(screen, f"Not reported by {plain(system)}: {names}", 0):
            screen.line(line)
    titles = _PORT_TITLE[2:7]
    missing = [title for n, title in enumerate(titles) if any(row[n] == NOT_READ for row in rows)]
    if missing:
        screen.line()
        for line in wrapped(screen, f"Not collected ({NOT_READ}): {', '.join(missing)}", 0):
            screen.line(line, "yellow")
