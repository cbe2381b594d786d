"""The tables that NVUE prints without `-o json`, brought into the tree that it prints with it.

A table has a heading and, below it, a rule of dashes that shows where each column begins: cells may
be empty and may hold blanks, so only the rule tells them apart. There are two kinds:

    a tree, with nesting by indentation and the columns `operational` and `applied`
    a list, often below a title that is underlined with `====`; `No Data` where it is empty
"""

import re
from typing import NamedTuple

from railwright.parse.switch_values import Node

_RULE = re.compile(r" *-+(?: +-+)+ *")
_DASHES = re.compile(r"-+")
_UNDERLINE = re.compile(r" *={4,} *")
_BRACKETS = re.compile(r"\[([^\[\]]{1,60})\]")
_NO_DATA = "No Data"
_MOST_COLUMNS = 30
# A list belongs where its columns say: titles differ between releases. The most telling first.
_PLACES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"pcp", "dscp", "switch-prio"}), "prio-map"),
    (frozenset({"switch-prio", "traffic-class", "scheduler-weight"}), "tc-map"),
    (frozenset({"name", "mode", "size", "switch-priorities"}), "pool"),
    (frozenset({"switch-priority", "rx-pause-frames"}), "pfc-stats"),
    (frozenset({"traffic-class", "tx-frames"}), "egress-queue-stats"),
    (frozenset({"traffic-class", "ecn", "min th", "max th"}), "traffic-class"),
    (frozenset({"traffic-class", "mode", "bw-percent"}), "traffic-class"),
    (frozenset({"traffic-class", "status", "deadlock-count"}), "status"),
    (frozenset({"switch-priority", "traffic-class"}), "switch-priority"),
    (frozenset({"802.1p", "switch-priority"}), "pcp"),
    (frozenset({"dscp", "switch-priority"}), "dscp"),
)
# In JSON these columns have longer names.
_LONG_NAMES = {"min th": "min-threshold", "max th": "max-threshold"}
# Some releases leave the operational cell of this setting empty, though it is in force.
_APPLIED_COUNTS = frozenset({"state", "enable"})
_CUT = "\u2026"  # NVUE cuts what is too wide for the screen


class Table(NamedTuple):
    """One table: the cells of each row, and how far its first cell is indented."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[int, tuple[str, ...]]]
    says_none: bool = False  # `No Data`


def _cells(line: str, starts: list[int]) -> tuple[str, ...] | None:
    """The cells of a row; None where it does not fit the rule above it."""
    if any(line[start - 1 : start].strip() for start in starts[1:]):
        return None
    ends = [*starts[1:], len(line)]
    return tuple(line[start:end].strip() for start, end in zip(starts, ends, strict=True))


def tables_of(text: str) -> list[Table]:
    """All tables of an answer, in order. A title without columns is a table without rows.

    What stands behind the last line break was cut short: 26 would read as 2.
    """
    lines = [line.rstrip() for line in text.split("\n")[:-1] if line.strip()]
    tables: list[Table] = []
    title, starts = "", [0]
    is_open = False
    for line, below in zip(lines, [*lines, ""][1:], strict=True):
        if _UNDERLINE.fullmatch(below):
            title, is_open = line.strip(), False
        elif _UNDERLINE.fullmatch(line):
            tables.append(Table(title, (), []))
        elif _RULE.fullmatch(below):
            starts = [dashes.start() for dashes in _DASHES.finditer(below)]
            names = _cells(line, starts)
            is_open = names is not None and len(starts) <= _MOST_COLUMNS
            tables.append(Table(title, tuple(name.lower() for name in names or ()), []))
        elif line.strip() == _NO_DATA and tables:
            tables[-1] = tables[-1]._replace(says_none=True)
        elif is_open and not _RULE.fullmatch(line):
            cells = _cells(line, starts)
            indent = len(line) - len(line.lstrip()) - starts[0]
            if cells is not None:
                tables[-1].rows.append((indent, cells))
    return tables


def _grow(tree: Node, table: Table, column: int, applied: int | None) -> None:
    """Put the rows of an indented table into the tree."""
    path: list[tuple[int, Node]] = [(-1, tree)]
    for indent, cells in table.rows:
        while len(path) > 1 and path[-1][0] >= indent:
            path.pop()
        name, value = cells[0], cells[column]
        if not value and applied is not None and name in _APPLIED_COUNTS:
            value = cells[applied]
        branch = path[-1][1]
        bracket = _BRACKETS.fullmatch(name)
        if bracket:  # `[switch-priority]  3`: one line for each key of the same place
            place = branch.setdefault(bracket[1], {})
            if value and isinstance(place, dict):
                place[value] = {}
        elif value:
            branch[name] = value
        elif not any(cells[1:]):
            deeper: Node = {}
            branch[name] = deeper
            path.append((indent, deeper))


def _entry(columns: tuple[str, ...], cells: tuple[str, ...]) -> Node:
    return {
        _LONG_NAMES.get(name, name): cell
        for name, cell in zip(columns, cells, strict=True)
        if name and cell and _CUT not in cell
    }


def _place(columns: tuple[str, ...]) -> str | None:
    names = set(columns)
    return next((place for needed, place in _PLACES if needed <= names), None)


def _port_statistics(table: Table) -> Node:
    """`ECN Marked Packets  n/a  0`: JSON has the two directions first."""
    names = [cells[0].lower().replace(" ", "-") for _, cells in table.rows]
    received, sent = table.columns.index("receive"), table.columns.index("transmit")
    return {
        "rx": {name: row[1][received] for name, row in zip(names, table.rows, strict=True)},
        "tx": {name: row[1][sent] for name, row in zip(names, table.rows, strict=True)},
    }


def _words(columns: tuple[str, ...], cells: tuple[str, ...]) -> str:
    """A row as one text, without the number in front of it."""
    named = zip(columns, cells, strict=True)
    return " ".join(cell for name, cell in named if name and cell)


def says_no_data(text: str) -> bool:
    """Whether there is nothing but `No Data`, below an echo of the command."""
    return text.strip().endswith(_NO_DATA) and not tables_of(text)


def tree_of(tables: list[Table]) -> Node:
    """What the tables say, as `-o json` would."""
    tree: Node = {}
    for table in tables:
        place = _place(table.columns)
        running = [table.columns.index(n) for n in ("operational", "running") if n in table.columns]
        if running:
            applied = table.columns.index("applied") if "applied" in table.columns else None
            _grow(tree, table, running[0], applied)
        elif place is not None:
            entries = {
                cells[0]: _entry(table.columns, cells) for _, cells in table.rows if cells[0]
            }
            tree.setdefault(place, entries)
        elif {"counter", "receive", "transmit"} <= set(table.columns):
            tree["port-stats"] = _port_statistics(table)
        elif table.title.lower() == "exception list" and (table.rows or table.says_none):
            tree["exception-list"] = [_words(table.columns, cells) for _, cells in table.rows]
    return tree
