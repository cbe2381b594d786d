"""The RDMA ports of one host on a few lines: role, QoS, optics. Equal ports are one line."""

from typing import Any

from railwright.check.machine import NOTHING, OfMachine
from railwright.nodes import fold
from railwright.report.adapters import Facts
from railwright.report.console import plain
from railwright.report.folded_table import print_folded
from railwright.report.screen import Screen, cut, padded, widths
from railwright.report.tree import MARK, NOT_READ, marked
from railwright.schema.value_state import with_states
from railwright.store.duck import read_sql

QOS_PORTS = read_sql(__file__, "views/show/ports.sql").replace(
    "{modules}", with_states("mlxlink_port", "part_number", "temperature_c")
)
_TITLE = ("ports", "role", "GPU", "trust", "PFC on", "FEC", "module/cable", "hottest")
_DISAGREEMENTS = """
SELECT fact, subject, value_a || ' (' || source_a || ')', value_b || ' (' || source_b || ')'
FROM disagreement WHERE target = $target ORDER BY ALL
"""


# The cells of the query that a finding may mark.
_CELLS = ("role", "gpu", "trust", "pfc", "fec", "module")


def print_ports(screen: Screen, facts: Facts, of: OfMachine = NOTHING) -> bool:
    """The block; True where something in it was not read."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    hottest: dict[tuple[Any, ...], list[str]] = {}
    for name, *cells, temperature in facts.rows(QOS_PORTS):
        device = name.partition("/")[0]
        key = tuple(
            marked(_cell(cell), of.is_marked(kind, device))
            for kind, cell in zip(_CELLS, cells, strict=True)
        )
        groups.setdefault(key, []).append(plain(name))
        hottest.setdefault(key, []).append(NOT_READ if temperature is None else temperature)
    if not groups:
        return False
    rows = [(fold(names), *key, _hottest(hottest[key])) for key, names in groups.items()]
    screen.line()
    screen.heading("RDMA ports", ": role inferred from slot and type of card")
    styles = ["yellow" if _is_odd(row) else "" for row in rows]
    print_folded(screen, _TITLE, rows, styles)
    return any(NOT_READ in row for row in rows)


def _is_odd(row: tuple[str, ...]) -> bool:
    return NOT_READ in row or any(cell.endswith(MARK) for cell in row)


def _cell(value: object) -> str:
    return NOT_READ if value is None else plain(str(value)) or "-"


def _hottest(values: list[str]) -> str:
    """The hottest of those that were read; one that was not is said."""
    read = [int(value.split()[0]) for value in values if value.endswith(" C")]
    text = f"{max(read)} C" if read else values[0]
    missing = values.count(NOT_READ)
    return f"{text}, {missing} {NOT_READ}" if read and missing else text


def print_disagreements(screen: Screen, facts: Facts) -> None:
    """What two sources of this host do not agree about."""
    rows = [tuple(plain(cell) for cell in row) for row in facts.rows(_DISAGREEMENTS)]
    if not rows:
        return
    screen.line()
    screen.heading("Two sources disagree")
    columns = widths(rows)
    for row in rows:
        screen.line(cut(screen, "  " + padded(row, columns)), "yellow")
