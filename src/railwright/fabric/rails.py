"""Which leaf has which rail: counts of host ports, and the ports on another rail's leaf."""

from collections import defaultdict
from typing import NamedTuple

import duckdb

# One row per leaf and column; several planes of a rail are columns of their own.
_CELLS = """
SELECT a.peer, e.rail, e.plane, count(*)::BIGINT, s.rail, s.plane, a.peer_kind = 'stranger'
FROM own_end AS e JOIN adjacency AS a USING (target, port)
LEFT JOIN switch_place AS s ON s.target = a.peer
WHERE e.kind = 'host' AND e.rail IS NOT NULL AND a.peer_kind IN ('switch', 'stranger')
GROUP BY ALL ORDER BY ALL
"""
_ODD = """
SELECT e.target || ':' || e.device, e.rail, e.plane, a.peer || ':' || a.peer_port, s.rail, s.plane
FROM own_end AS e JOIN adjacency AS a USING (target, port)
JOIN switch_place AS s ON s.target = a.peer
WHERE e.kind = 'host' AND (s.rail >= 0 AND e.rail <> s.rail OR s.plane >= 0 AND e.plane <> s.plane)
ORDER BY ALL
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


class Odd(NamedTuple):
    """A port on a leaf of another rail or plane."""

    port: str
    rail: int
    plane: int
    leaf: str
    leaf_rail: int
    leaf_plane: int


class Rails(NamedTuple):
    """The matrix."""

    hosts: int
    ports: int
    unread: int
    alone: int
    columns: list[Column]
    rows: list[LeafRow]
    odd: list[Odd]


def rails(database: duckdb.DuckDBPyConnection) -> Rails:
    """All leaves, those with equal counts as one row."""
    counts: dict[str, dict[Column, int]] = defaultdict(dict)
    places: dict[str, tuple[int | None, int | None]] = {}
    for leaf, rail, plane, count, leaf_rail, leaf_plane, _ in database.execute(_CELLS).fetchall():
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
    odd = [Odd(*row) for row in database.execute(_ODD).fetchall()]
    hosts, ports, unread, alone = total
    return Rails(hosts, ports, unread, alone, columns, rows, odd)
