"""The fact tables as data: every column with its type, unit, meaning and source.

One TOML file per table in `tables/`. NULL means *not read*; where "read, and there is none" exists,
the column says in `none` what it looks like. Where NULL may mean that too, `none_when` says in SQL
when it does (`value_state`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from railwright.errors import RailwrightError
from railwright.toml import load_toml

TYPES = frozenset({"VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN", "TIMESTAMP"})


@dataclass(frozen=True)
class Column:
    """One column: what it holds, in which unit, and which command or file it came from."""

    name: str
    type: str
    meaning: str
    source: str
    unit: str = ""
    none: str = ""  # for people
    none_value: str = ""  # the literal that stands for none; of a text with `none = "'' …"`, that
    # When NULL means that there is none: a condition over the columns of the same row, and over
    # those of another table's row with the same key (table -> condition).
    none_when: str = ""
    none_in: dict[str, str] = field(default_factory=dict, hash=False)
    volatile: bool = False  # changes by itself: a counter, a temperature; `diff` leaves it out
    identity: bool = False  # a serial, a MAC, an address: in this, machines of one kind differ


@dataclass(frozen=True)
class Table:
    """One fact table: a singular noun, one row per thing that its key names."""

    name: str
    meaning: str
    key: tuple[str, ...]
    # The probe whose answers fill it; "several" = those of `probes`, and the column `probe` says
    # which; "evidence", "derived"; "run" = has its own times.
    fed_by: str
    columns: tuple[Column, ...]
    after: tuple[str, ...] = ()  # derived tables that this derived table reads
    # Without which its rows are not known, if it reads others for more; () = all that it reads.
    rests_on: tuple[str, ...] = ()
    whole: bool = False  # derived from all machines at once: one is held against the others
    probes: tuple[str, ...] = ()  # whose answers fill it
    optional: bool = False  # filled by what somebody gives: a host without it has no gap
    machines: str = "host"  # which kind of machine its probes ask: host or switch

    def column_types(self) -> dict[str, str]:
        """Column name -> DuckDB type, in order."""
        return {column.name: column.type for column in self.columns}


TARGET = Column("target", "VARCHAR", "the machine, as the operator named it", "the target list")
PROBE = Column("probe", "VARCHAR", "the probe whose answer says this", "the evidence row")
NOT_A_PROBE = ("run", "evidence", "derived")
READ_AT = Column(
    "read_at",
    "TIMESTAMP",
    "when this machine was read, by its probe; UTC, the machine's clock",
    "the evidence row",
)


def _names(data: dict[str, object], key: str) -> tuple[str, ...]:
    found = data.get(key, [])
    if not isinstance(found, list):
        raise RailwrightError(f"{key} must be a list of names")
    return tuple(map(str, found))


def _column(entry: dict[str, Any]) -> Column:
    column = Column(**entry)
    if column.type == "VARCHAR" and column.none.startswith("''") and not column.none_value:
        return replace(column, none_value="''")
    return column


def _table(name: str, data: dict[str, object]) -> Table:
    raw = data.get("column")
    if not isinstance(raw, list):
        raise RailwrightError(f"table {name} has no columns")
    columns = tuple(_column(entry) for entry in raw)
    fed_by = str(data["fed_by"])
    if fed_by != "run":  # rows about the run itself have their own times
        columns = (TARGET, READ_AT, *([PROBE] if fed_by == "several" else []), *columns)
    table = Table(
        name,
        str(data["meaning"]),
        _names(data, "key"),
        fed_by,
        columns,
        after=_names(data, "after"),
        rests_on=_names(data, "rests_on"),
        whole=data.get("whole") is True,
        probes=_names(data, "probes") or (() if fed_by in NOT_A_PROBE else (fed_by,)),
        optional=data.get("optional") is True,
        machines=str(data.get("machines", "host")),
    )
    names = [column.name for column in columns]
    unknown = [part for part in table.key if part not in names]
    bad = [column.name for column in columns if column.type not in TYPES]
    if unknown or bad or len(set(names)) != len(names) or not table.key:
        raise RailwrightError(f"table {name}: bad key {unknown}, bad type {bad} or a name twice")
    return table


_QUOTED = re.compile(r"'[^']*'")
_WORD = re.compile(r"[a-z_]\w*")
_SQL_WORDS = frozenset({"and", "or", "not", "like", "in", "is", "null", "true", "false"})
_LITERAL = re.compile(r"-?\d+|'[^']*'")


def _names_in(condition: str) -> set[str]:
    return set(_WORD.findall(_QUOTED.sub("", condition))) - _SQL_WORDS


def _wrong_none(table: Table, others: dict[str, Table]) -> Iterator[str]:
    """What a table says about its missing values that it cannot mean."""
    for column in table.columns:
        unknown = _names_in(column.none_when) - set(table.column_types())
        if unknown:
            yield f"none_when of {column.name} names {', '.join(sorted(unknown))}"
        if column.none_value and not (
            _LITERAL.fullmatch(column.none_value)
            and column.none.startswith(column.none_value.strip("'"))
        ):
            yield f"none of {column.name} does not begin with its none_value {column.none_value}"
        for name, condition in column.none_in.items():
            other = others.get(name)
            if other is None or not set(other.key) <= set(table.column_types()):
                yield f"none_in of {column.name}: {name} has no row of the same key"
            elif unknown := _names_in(condition) - set(other.column_types()):
                yield f"none_in of {column.name} names {', '.join(sorted(unknown))}"


def _read(file: Path) -> Table:
    return _table(file.stem, load_toml(file.read_text("utf-8"), file.name))


def load_tables(folder: Path) -> dict[str, Table]:
    """The tables that a folder describes, by name."""
    found = {file.stem: _read(file) for file in sorted(folder.glob("*.toml"))}
    for name, table in found.items():
        if wrong := list(_wrong_none(table, found)):
            raise RailwrightError(f"table {name}: {'; '.join(wrong)}")
    return found


FOLDER = Path(__file__).parent / "tables"


@cache
def table_names() -> list[str]:
    """The fact tables; their descriptions take a third of a second to read, and few need them."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


@cache
def one_table(name: str) -> Table:
    """One fact table, for who needs no other."""
    return _read(FOLDER / f"{name}.toml")


@cache
def tables() -> dict[str, Table]:
    """All fact tables by name."""
    return load_tables(FOLDER)


def feeding_probes(machines: str = "host") -> list[str]:
    """The probes that fill tables: one that was not asked on such a machine leaves a gap there."""
    asked = (t for t in tables().values() if t.machines == machines and not t.optional)
    return sorted({probe for table in asked for probe in table.probes})


@cache
def intent_tables() -> dict[str, Table]:
    """What the operator wants, as tables that rules read beside the facts."""
    return load_tables(Path(__file__).parent / "intent_tables")
