"""Machines, ports and links of the page: what stands where, as lists of equal length."""

from typing import Any

import duckdb

from railwright.report.page.encode import packed, plain_words
from railwright.store.duck import read_sql

_PLACES = read_sql(__file__, "views/places.sql")
_TREES = read_sql(__file__, "views/trees.sql")
_HOSTS = read_sql(__file__, "views/hosts.sql")
_SWITCHES = read_sql(__file__, "views/switches.sql")
_SWITCH_NAMES = (
    *("name", "status", "tier", "rail", "plane", "pod", "down", "up", "down_mbps", "up_mbps"),
    *("system", "model", "level", "failed", "unknown"),
)
_PORTS = read_sql(__file__, "views/ports.sql")
_UPLINKS = read_sql(__file__, "views/uplinks.sql")
_INFO = read_sql(__file__, "views/systems.sql")

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
    infos, info_of = _codes(database.execute(_INFO).fetchall())
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
