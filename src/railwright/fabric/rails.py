"""Which leaf has which rail: counts of host ports. Whether one is misplaced is for the rules."""

from collections import defaultdict
from typing import NamedTuple

import duckdb

# One row per leaf and column; several planes of a rail are columns of their own.
_CELLS = """
SELECT a.peer, e.rail, e.plane, count(*)::BIGINT, s.rail, s.plane
FROM own_end AS e JOIN adjacency AS a USING (target, port)
LEFT JOIN switch_place AS s ON s.target = a.peer
WHERE e.kind = 'host' AND e.rail IS NOT NULL AND a.peer_kind IN ('switch', 'stranger')
GROUP BY ALL ORDER BY ALL
"""
_COUNTS = """
SELECT count(DISTINCT e.target), count(*), count(*) FILTER (a.peer IS NULL),
       count(*) FILTER (a.peer = '')
FROM own_end AS e JOIN adjacency AS a USING (target, port)
WHERE e.kind = 'host' AND e.rail IS NOT NULL
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

    hosts: int
    ports: int
    unread: int
    alone: int
    columns: list[Column]
    rows: list[LeafRow]


def rails(database: duckdb.DuckDBPyConnection) -> Rails:
    """All leaves, those with equal counts as one row."""
    counts: dict[str, dict[Column, int]] = defaultdict(dict)
    places: dict[str, tuple[int | None, int | None]] = {}
    for leaf, rail, plane, count, leaf_rail, leaf_plane in database.execute(_CELLS).fetchall():
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
    total = database.execute(_COUNTS).fetchone() or (0, 0, 0, 0)
    hosts, ports, unread, alone = total
    return Rails(hosts, ports, unread, alone, columns, rows)
