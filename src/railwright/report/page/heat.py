"""The columns of the heat map: any fact of a port, and its counters."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb

from railwright.report.page.encode import MOST_WORDS, as_json, column, plain_words
from railwright.report.page.fabric import Blocks
from railwright.schema.counters import counters
from railwright.store.duck import quote
from railwright.toml import load_toml

ONE_BYTE = 253  # values of a counter that are kept as they are
MOST_COUNTERS = 24
# Of a large fabric fewer: a counter whose values all differ costs 185 kB at 100,000 ports.
MANY_PORTS, FEWER_COUNTERS = 20_000, 20
FEW_WORDS = 12  # more stand in a block of their own
_KEYS = {
    "port": ("device", "port"),
    "pci": ("pci",),
    "end": ("device", "device_port"),
}


class Spec(NamedTuple):
    """One entry of columns.toml, or a counter."""

    id: str
    title: str
    unit: str
    group: str
    query: str  # idx, value, whether there is none
    most: int = MOST_WORDS  # of more distinct numbers three digits are kept


@cache
def shipped() -> list[dict[str, Any]]:
    """The entries of columns.toml."""
    return cast(
        "list[dict[str, Any]]",
        load_toml((Path(__file__).parent / "columns.toml").read_text(), "columns.toml")["column"],
    )


def _query(entry: dict[str, Any]) -> str:
    by = entry["by"]
    keys = _KEYS.get(by, (by,))
    mine = {"port": "port", "device_port": "port", "name": "netdev", "netdev": "netdev"}
    same = " AND ".join(f"v.{key} = p.{mine.get(key, key)}" for key in keys)
    listed = ", ".join(("target", *keys))
    value, none = entry["value"], entry.get("none", "false")
    chosen = value if entry.get("aggregate") else f"any_value({value})"
    return (
        f"SELECT p.idx, v.value, v.is_none FROM page_port AS p INNER JOIN ("
        f"SELECT {listed}, {chosen} AS value, bool_or({none}) AS is_none "
        f"FROM {entry['table']} GROUP BY {listed}) AS v ON v.target = p.target AND {same}"
    )


def _facts() -> list[Spec]:
    return [
        Spec(one["id"], one["title"], one.get("unit", ""), one["group"], _query(one))
        for one in shipped()
    ]


_COUNTED = """
CREATE OR REPLACE TEMP TABLE page_counter AS
SELECT p.idx, 'RDMA counters' AS family, c.counter, c.value
FROM rdma_counter AS c
INNER JOIN page_port AS p ON p.target = c.target AND p.device = c.device AND p.port = c.port
WHERE c.value IS NOT NULL
UNION ALL
SELECT p.idx, 'Port counters', c.counter, c.value
FROM netdev_counter AS c
INNER JOIN page_port AS p ON p.target = c.target AND p.netdev = c.netdev
WHERE c.value IS NOT NULL AND c.counter IN ({names})
"""
_NAMES = "SELECT family, counter FROM page_counter GROUP BY ALL HAVING max(value) > 0 ORDER BY ALL"


def _counters(database: duckdb.DuckDBPyConnection, most: int) -> list[Spec]:
    """Those that have counted anything, the ones that should not first."""
    judged = {name: one.direction for (_, name), one in counters().items()}
    database.execute(_COUNTED.format(names=", ".join(map(quote, judged))))
    found = database.execute(_NAMES).fetchall()
    order = {"rising is bad": 0, "information": 1, "traffic": 2}
    found.sort(key=lambda one: (order.get(judged.get(one[1], ""), 1), *one))
    return [
        Spec(
            f"{family[0].lower()}.{name}",
            name,
            "",
            family,
            f"SELECT idx, any_value(value), false FROM page_counter WHERE family = {quote(family)} "
            f"AND counter = {quote(name)} GROUP BY idx",
            ONE_BYTE,
        )
        for family, name in sorted(found[:most])
    ]


def heat(database: duckdb.DuckDBPyConnection, count: int, blocks: Blocks) -> list[dict[str, Any]]:
    """A description of each column; its codes go to a block of their own."""
    told = []
    most = FEWER_COUNTERS if count > MANY_PORTS else MOST_COUNTERS
    for spec in [*_facts(), *_counters(database, most)]:
        values: list[tuple[Any, bool | None]] = [(None, None)] * count
        for place, value, is_none in database.execute(spec.query).fetchall():
            values[place] = (value, is_none)
        found = column(values, count, spec.most)
        read = sum(value is not None for value, _ in values)
        if not read:
            continue
        blocks[f"heat.{spec.id}"] = found.codes
        words = plain_words(found.words)
        if len(words) > FEW_WORDS:
            blocks[f"words.{spec.id}"] = as_json(words)
        is_number = all(isinstance(word, int | float) for word in found.words)
        told.append(
            {
                **spec._asdict(),
                "kind": "number" if is_number else "text",
                "codes": found.kind,
                "width": found.width,
                "words": words if len(words) <= FEW_WORDS else None,
                "read": read,
                "none": sum(1 for value, none in values if value is None and none),
            }
        )
        del told[-1]["query"], told[-1]["most"]
    return told
