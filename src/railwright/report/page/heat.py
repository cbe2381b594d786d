"""The columns of the heat map: any fact of a port, and its counters."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb

from railwright.report.page.encode import (
    FIRST,
    NONE,
    NOT_COLLECTED,
    Value,
    as_json,
    in_planes,
    packed,
    plain_words,
    width_of,
)
from railwright.report.page.fabric import Blocks
from railwright.schema.counters import counters
from railwright.schema.table import one_table, table_names
from railwright.schema.value_state import is_none
from railwright.store.duck import quote, read_sql
from railwright.toml import load_toml

MOST_WORDS = 60_000  # distinct numbers of a fact that are kept as they are
ONE_BYTE = 253  # values of a counter that are kept as they are
MOST_COUNTERS = 24
# Of a large fabric fewer: a counter whose values all differ costs 185 kB at 100,000 ports.
MANY_PORTS, FEWER_COUNTERS = 20_000, 20
FEW_WORDS = 12  # more stand in a block of their own
_KEYS = {"port": ("device", "port"), "pci": ("pci",), "end": ("device", "device_port")}
_MINE = {"port": "port", "device_port": "port", "name": "netdev", "netdev": "netdev"}


_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UBIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
)


class Spec(NamedTuple):
    """One entry of columns.toml, or a counter."""

    id: str
    title: str
    unit: str
    group: str


@cache
def shipped() -> list[dict[str, Any]]:
    """The entries of columns.toml."""
    text = (Path(__file__).parent / "columns.toml").read_text("utf-8")
    return cast("list[dict[str, Any]]", load_toml(text, "columns.toml")["column"])


def _is_key(table: str, keys: tuple[str, ...]) -> bool:
    """Whether a machine has one row at most for each: then there is nothing to put together."""
    return table in table_names() and set(one_table(table).key) <= {"target", *keys}


def _make_facts(
    database: duckdb.DuckDBPyConnection, table: str, by: str, entries: list[dict[str, Any]]
) -> None:
    """page_fact: idx, then value and whether there is none of each entry."""
    keys = _KEYS.get(by, (by,))
    same = " AND ".join(f"v.{key} = p.{_MINE.get(key, key)}" for key in keys)
    listed = ", ".join(("target", *keys))
    is_single = _is_key(table, keys) and not any(one.get("aggregate") for one in entries)
    said = []
    for number, one in enumerate(entries):
        value, none = one["value"], one.get("none", "false")
        if "of" in one:
            none = f"{none} OR ({is_none(table, one['of'])})"
        if not is_single:
            value = value if one.get("aggregate") else f"any_value({value})"
            none = f"bool_or({none})"
        said.append(f"{value} AS value_{number}, {none} AS none_{number}")
    group = "" if is_single else f"GROUP BY {listed}"
    database.execute(
        "CREATE OR REPLACE TEMP TABLE page_fact AS "
        f"SELECT p.idx, v.* EXCLUDE ({listed}) FROM page_port AS p LEFT JOIN ("
        f"SELECT {listed}, {', '.join(said)} FROM {table} {group}"
        f") AS v ON v.target = p.target AND {same}"
    )


def _facts(database: duckdb.DuckDBPyConnection) -> Iterator[tuple[Spec, str]]:
    """In the order of columns.toml, with the SELECT of each; one table is read at once."""
    for (table, by), group in groupby(shipped(), key=lambda one: (one["table"], one["by"])):
        entries = list(group)
        _make_facts(database, table, by, entries)
        for number, one in enumerate(entries):
            spec = Spec(one["id"], one["title"], one.get("unit", ""), one["group"])
            yield spec, f"SELECT idx, value_{number} AS value, none_{number} AS none FROM page_fact"


_FAMILIES = {
    "rdma_counter": ("RDMA counters", "p.device = c.device AND p.port = c.port"),
    "netdev_counter": ("Port counters", "p.netdev = c.netdev"),
}
_COUNTED = """
SELECT counter FROM {table} WHERE counter IN ({names}) GROUP BY counter HAVING max(value) > 0
"""
_ROWS = """
CREATE OR REPLACE TEMP TABLE page_counter AS
SELECT p.idx, c.counter, c.value
FROM {table} AS c INNER JOIN page_port AS p ON p.target = c.target AND {same}
WHERE c.value IS NOT NULL AND c.counter IN ({names})
"""
_ORDER = {"rising is bad": 0, "information": 1, "traffic": 2}


def _counters(database: duckdb.DuckDBPyConnection, count: int) -> Iterator[tuple[Spec, str]]:
    """Those that have counted anything, the ones that should not before the others."""
    judged = {name: _ORDER[one.direction] for (_, name), one in counters().items()}
    listed = ", ".join(map(quote, judged))
    found = [
        (judged[name], table, name)
        for table in _FAMILIES
        for (name,) in database.execute(_COUNTED.format(table=table, names=listed)).fetchall()
    ]
    most = FEWER_COUNTERS if count > MANY_PORTS else MOST_COUNTERS
    kept = sorted(found)[:most]
    for table, (family, same) in _FAMILIES.items():
        names = sorted(name for _, own, name in kept if own == table)
        if names:
            chosen = ", ".join(map(quote, names))
            database.execute(_ROWS.format(table=table, same=same, names=chosen))
        for name in names:
            mine = f"(FROM page_counter WHERE counter = {quote(name)})"
            query = (
                "SELECT p.idx, c.value, false AS none FROM page_port AS p "
                f"LEFT JOIN {mine} AS c ON c.idx = p.idx"
            )
            yield Spec(f"{table[0]}.{name}", name, "", family), query


_ROUNDED = read_sql(__file__, "views/rounded.sql")
_BY_WORD = read_sql(__file__, "views/by_word.sql")
_ONCE = """
CREATE OR REPLACE TEMP TABLE page_value AS
SELECT idx, any_value(value) AS value, bool_or(none) AS none FROM page_value GROUP BY idx
"""
_COUNTED_WORDS = "SELECT count(DISTINCT value), min(value) FROM page_value"


def heat(database: duckdb.DuckDBPyConnection, count: int, blocks: Blocks) -> list[dict[str, Any]]:
    """A description of each column; its codes go to a block of their own."""
    told = []
    for specs, most in ((_facts(database), MOST_WORDS), (_counters(database, count), ONE_BYTE)):
        for spec, query in specs:
            found = column_of(database, query, count, most)
            if not found.read:
                continue
            words = plain_words(found.words)
            blocks[f"heat.{spec.id}"] = found.codes
            if len(words) > FEW_WORDS:
                blocks[f"words.{spec.id}"] = as_json(words)
            told.append(
                {
                    **spec._asdict(),
                    "kind": "number" if found.is_number else "text",
                    "codes": "words" if found.words else "rounded",
                    "width": found.width,
                    "words": words if len(words) <= FEW_WORDS else None,
                    "read": found.read,
                    "none": found.none,
                }
            )
    return told


class Column(NamedTuple):
    """A value for each port, as codes."""

    words: list[Value]  # [] = codes are numbers with three significant digits
    codes: bytes
    width: int
    is_number: bool
    read: int
    none: int


def column_of(database: duckdb.DuckDBPyConnection, query: str, count: int, most: int) -> Column:
    """Rows of idx, value and whether there is none, one for each port, as codes."""
    database.execute(f"CREATE OR REPLACE TEMP TABLE page_value AS {query}")
    [rows] = database.execute("SELECT count(*) FROM page_value").fetchone() or [0]
    if rows != count:  # a damaged snapshot: a port stands there once
        database.execute(_ONCE)
    [kind] = database.execute("SELECT any_value(typeof(value)) FROM page_value").fetchone() or [""]
    is_number = str(kind).split("(")[0] in _NUMBERS
    if kind in ("DOUBLE", "FLOAT"):  # a reading that is no number is not known
        database.execute("UPDATE page_value SET value = NULL WHERE NOT isfinite(value)")
    words, least = database.execute(_COUNTED_WORDS).fetchone() or (0, None)
    if is_number and words > most and least is not None and least >= 0:
        [(digits, read, none)] = database.execute(_ROUNDED).fetchall()
        return Column([], in_planes(bytes.fromhex(digits), 2), 2, is_number, read, none)
    return _by_word(database.execute(_BY_WORD).fetchall(), count, is_number=is_number)


def _by_word(rows: list[tuple[Any, ...]], count: int, *, is_number: bool) -> Column:
    """The commonest first: it stands everywhere but where the others are, and these are told."""
    words = sorted({value for value, *_ in rows if value is not None})
    code_of = {word: code for code, word in enumerate(words, FIRST)}
    codes, read, none = [NOT_COLLECTED] * count, 0, 0
    for place, (value, has_none, ports, places) in enumerate(rows):
        code = code_of[value] if value is not None else NONE if has_none else NOT_COLLECTED
        read += ports if value is not None else 0
        none += ports if code == NONE else 0
        if not place:
            codes = [code] * count
        for idx in places or ():
            codes[idx] = code
    width = width_of(len(words))
    return Column(words, packed(codes, width), width, is_number, read, none)
