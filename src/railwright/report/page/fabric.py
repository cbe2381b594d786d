"""Machines, ports and links of the page: what stands where, as lists of equal length."""

from typing import Any

import duckdb

from railwright.report.page.encode import packed, plain_words
from railwright.store.duck import read_sql

_PLACES = read_sql(__file__, "places.sql")
_TREES = read_sql(__file__, "trees.sql")
_HOSTS = """
SELECT h.target, h.status, h.out_of_service, h.write_gbps, h.wire_gbps, h.pace_gbps,
    page_level(m.worst, m.unknown > 0, h.status IN ('reached', 'incomplete'),
               h.out_of_service <> '') AS level,
    m.failed, m.unknown
FROM page_host AS h INNER JOIN page_machine AS m ON m.target = h.target ORDER BY h.idx
"""
_SWITCHES = """
SELECT s.target, s.status, s.tier, s.rail, s.plane, s.pod, s.down_links, s.up_links, s.down_mbps,
    s.up_mbps, s.system, s.model,
    page_level(m.worst, m.unknown > 0, s.status IN ('reached', 'incomplete'),
               s.out_of_service <> '') AS level,
    m.failed, m.unknown
FROM page_switch AS s INNER JOIN page_machine AS m ON m.target = s.target ORDER BY s.idx
"""
_SWITCH_NAMES = (
    *("name", "status", "tier", "rail", "plane", "pod", "down", "up", "down_mbps", "up_mbps"),
    *("system", "model", "level", "failed", "unknown"),
)
_PORTS = """
SELECT p.host, coalesce(p.device, p.netdev, p.peer), p.port, p.pci, p.netdev, p.rail, s.idx,
    p.peer_port, l.level
FROM page_port AS p
INNER JOIN page_level_of AS l ON l.idx = p.idx
LEFT JOIN page_switch AS s ON s.target = p.peer
ORDER BY p.idx
"""
# Links that go up or across: how many there are to each switch, and how many of them are up.
_UPLINKS = """
SELECT a.idx, b.idx, count(*), count(*) FILTER (e.is_up), bool_and(e.is_up IS NOT NULL)
FROM link_end AS e
INNER JOIN page_switch AS a ON a.target = e.target
INNER JOIN page_switch AS b ON b.target = e.peer
WHERE e.kind = 'switch' AND e.facing IN ('up', 'side') GROUP BY 1, 2 ORDER BY 1, 2
"""
_INFO = """
SELECT h.idx, o.operating_system, o.kernel, d.gpu_driver_version
FROM page_host AS h
LEFT JOIN host AS o ON o.target = h.target
LEFT JOIN (SELECT target, min(driver_version) AS gpu_driver_version FROM gpu GROUP BY target) AS d
    ON d.target = h.target
ORDER BY h.idx
"""

Blocks = dict[str, bytes]


def make_places(database: duckdb.DuckDBPyConnection) -> None:
    """The tables that all views of the page rest on."""
    database.execute(_PLACES)


def _codes(values: list[Any]) -> tuple[list[Any], list[int]]:
    """Words, and for each value 1 + its place among them; 0 = not known."""
    known: dict[Any, int] = {}
    codes = [0 if v is None else known.setdefault(v, len(known) + 1) for v in values]
    return list(known), codes


def hosts(database: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Name, status, ceiling and level of each host; the trees that they share."""
    rows = database.execute(_HOSTS).fetchall()
    names = ("name", "status", "away", "write", "wire", "pace", "level", "failed", "unknown")
    found: dict[str, Any] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    for name in ("write", "wire", "pace"):
        found[name] = [None if v is None else round(v, 1) for v in found[name]]
    trees, tree_of = [], [0] * len(rows)
    for tree, members in database.execute(_TREES).fetchall():
        trees.append(tree)
        for host in members:
            tree_of[host] = len(trees)
    infos, info_of = _codes([tuple(row[1:]) for row in database.execute(_INFO).fetchall()])
    return {**found, "trees": trees, "tree": tree_of, "infos": infos, "info": info_of}


def switches(database: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Name, place and level of each switch, also of those that were only heard of."""
    rows = database.execute(_SWITCHES).fetchall()
    found: dict[str, Any] = {name: [row[i] for row in rows] for i, name in enumerate(_SWITCH_NAMES)}
    found["links"] = [list(row) for row in database.execute(_UPLINKS).fetchall()]
    return found


def ports(database: duckdb.DuckDBPyConnection, blocks: Blocks) -> dict[str, Any]:
    """Each port's host, name, rail, leaf and level; the long columns go to blocks."""
    rows = database.execute(_PORTS).fetchall()
    columns = list(zip(*rows, strict=True)) if rows else [()] * 9
    host, device, number, pci, netdev, rail, peer, peer_port, level = columns
    many = [1 if n is None else n for n in number]
    names = [d if n == 1 else f"{d}/{n}" for d, n in zip(device, many, strict=True)]
    said = {}
    for name, values in (("name", names), ("pci", pci), ("netdev", netdev), ("far", peer_port)):
        words, codes = _codes(list(values))
        said[name] = plain_words(words)
        blocks[f"port.{name}"] = packed(codes, 4)
    blocks["port.host"] = packed(list(host), 4)
    blocks["port.peer"] = packed([0 if one is None else one + 1 for one in peer], 4)
    blocks["port.rail"] = packed([0 if one is None or one < 0 else one + 1 for one in rail], 2)
    blocks["port.level"] = packed(list(level), 1)
    return {"count": len(rows), **said}
