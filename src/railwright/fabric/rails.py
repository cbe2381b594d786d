"""Which leaf has which rail: counts of host ports. Whether one is misplaced is for the rules."""

from collections import defaultdict
from typing import NamedTuple

import duckdb

from railwright.store.duck import read_sql

_PORTS = read_sql(__file__, "rail_ports.sql")
_COUNTS = read_sql(__file__, "rail_counts.sql")
_SIZES = """
SELECT rail, count(*) FROM site_port WHERE role = 'compute' AND rail IS NOT NULL
GROUP BY rail ORDER BY rail
"""

Column = tuple[int, int]  # rail and plane


class LeafRow(NamedTuple):
    """Leaves with the same counts."""

    leaves: tuple[str, ...]
    rail: int | None
    plane: int | None
    counts: dict[Column, int]


class Rails(NamedTuple):
    """The matrix."""

    sizes: list[tuple[int, int]]  # rail and its compute ports, whether their leaf is known or not
    columns: list[Column]
    rows: list[LeafRow]
    hosts: int = 0
    ports: int = 0
    unread: int = 0  # of an end LLDP was not read
    alone: int = 0  # no neighbor at an end
    infiniband: int = 0
    bare: int = 0  # no network device here
    without_rail: int = 0


def rails(database: duckdb.DuckDBPyConnection) -> Rails:
    """All leaves, those with equal counts as one row."""
    counts: dict[str, dict[Column, int]] = defaultdict(dict)
    places: dict[str, tuple[int | None, int | None]] = {}
    for leaf, rail, plane, count, leaf_rail, leaf_plane in database.execute(_PORTS).fetchall():
        counts[leaf][rail, plane] = count
        places[leaf] = (leaf_rail, leaf_plane)
    alike: dict[object, list[str]] = defaultdict(list)
    for leaf, cells in counts.items():
        alike[places[leaf], tuple(sorted(cells.items()))].append(leaf)
    rows = [
        LeafRow(tuple(sorted(leaves)), *places[leaves[0]], counts[leaves[0]])
        for leaves in alike.values()
    ]
    rows.sort(key=lambda row: (min(row.counts), row.leaves))
    columns = sorted({column for row in rows for column in row.counts})
    sizes = database.execute(_SIZES).fetchall()
    return Rails(sizes, columns, rows, *(database.execute(_COUNTS).fetchone() or ()))
