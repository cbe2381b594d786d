"""Switches in the reports: the kinds of a fleet in groups, and one of them with its ports."""

import duckdb

from railwright.nodes import fold
from railwright.report.adapters import Facts
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, number_of, padded, widths, with_hosts
from railwright.report.tree import NOT_READ
from railwright.store.duck import read_sql

_KINDS = read_sql(__file__, "views/facts/switches.sql")
_TITLE = ("switches", "system", "model", "version", "ports", "up")
_PORTS = read_sql(__file__, "views/show/switch_ports.sql")
_PORT_TITLE = ("ports", "link", "speed", "FEC", "MTU", "trust", "PFC on", "hears")


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


def print_switch(screen: Screen, facts: Facts) -> bool:
    """One switch and its ports; True where something in it was not read."""
    about = facts.rows(
        "SELECT string_agg(DISTINCT system, ', '), max(model) FILTER (model <> ''), max(version), "
        "max(hostname) FILTER (hostname <> '') FROM switch WHERE target = $target"
    )[0]
    said = [plain(part) for part in about[:3] if part]
    named = [f"calls itself {plain(about[3])}"] if about[3] else []
    screen.line(", ".join([*said, *named]) or "Which system it has was not read.")
    found = facts.rows(_PORTS)
    if not found:
        return False
    groups: dict[tuple[str, ...], list[str]] = {}
    for port, is_up, speed, *cells, heard in found:
        link = None if is_up is None else ("up" if is_up else "down")
        rate = None if speed is None else f"{speed / 1000:g}G"
        key = (*(_cell(cell) for cell in (link, rate, *cells)), _cell(heard or ""))
        groups.setdefault(key, []).append(plain(port))
    rows = [(fold(names), *key) for key, names in groups.items()]
    columns = widths([_PORT_TITLE, *rows])
    screen.line()
    screen.heading(number_of(len(found), "port"))
    screen.line(cut(screen, "  " + padded(_PORT_TITLE, columns)), "dim")
    for row in rows:
        screen.line(cut(screen, "  " + padded(row, columns)), "yellow" if NOT_READ in row else "")
    return any(NOT_READ in row for row in rows)
