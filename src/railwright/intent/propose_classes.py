"""The classes of a proposed site file: node sets, and what is in their slots.

By the model of the machine and never by the cards that are in it: a host that lost one stays in its
class, and is held to it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.errors import RailwrightError
from railwright.intent.site import PARTS, SLOT
from railwright.node_sets import unfold
from railwright.nodes import fold
from railwright.store.duck import read_sql
from railwright.text import plain
from railwright.toml import toml_text

FEWEST = 4  # hosts that a class must rest on, as for a majority: three are no group


class Part(NamedTuple):
    """A card that members of a class have in a slot."""

    slot: str
    kind: str
    part: str | None
    functions: int | None
    rdma_devices: int | None
    netdevs: int | None
    links: int | None
    votes: int
    is_expected: bool


class Proposed(NamedTuple):
    """A class, its members and what most of them are."""

    name: str
    reason: str
    hosts: list[str]
    compute_nics: int | None
    port_rate_gbps: float | None
    numa_nodes: int | None


_CLASSES = read_sql(__file__, "classes.sql")
_PARTS = """
    SELECT slot, kind, part, functions, rdma_devices, netdevs, links, votes, is_expected
    FROM expected_part
    WHERE class = ? AND kind IN ('nic', 'gpu') ORDER BY kind, slot, votes DESC, part
"""


def _parts(database: duckdb.DuckDBPyConnection, name: str) -> list[Part]:
    """One part per slot: what most have there, or what is seen there most."""
    found: dict[str, Part] = {}
    for row in database.execute(_PARTS, [name]).fetchall():
        found.setdefault(row[0], Part(*row))
    return list(found.values())


def _slot(part: Part, members: int) -> str:
    # Which card it is may not have been read, or be no id: then any of the kind will do.
    card = part.part if part.part and PARTS.fullmatch(part.part) else ""
    said = {"at": part.slot, "kind": part.kind, "part": card}
    counts = {"functions": part.functions}
    if part.kind == "nic":
        counts |= {
            "rdma_devices": part.rdma_devices,
            "netdevs": part.netdevs,
            "links": part.links,
        }
    numbers = {name: value for name, value in counts.items() if value in SLOT[name]}
    inner = ", ".join(f"{key} = {toml_text(value)}" for key, value in {**said, **numbers}.items())
    return f"  {{ {inner} }},  # {part.votes:,} of {members:,}"


def _doubt(proposed: Proposed, parts: list[Part]) -> str:
    """Why somebody has to look before it counts; '' = it rests on most of four or more."""
    if len(proposed.hosts) < FEWEST:
        return f"it rests on fewer than {FEWEST} hosts"
    if any(not part.is_expected for part in parts):
        return "its hosts differ: delete the slots that are not meant to be filled"
    return ""


def _written(names: list[str]) -> tuple[str, list[str]]:
    """(node set, names that no node set can say)."""
    text = fold(names)
    try:
        same = set(unfold(text)) == set(names)
    except RailwrightError:
        same = False
    return (text, []) if same else ("", names)


def _lines(proposed: Proposed, parts: list[Part], hosts: str) -> Iterator[str]:
    yield ""
    yield f"[[class]]  # {len(proposed.hosts):,} hosts; {plain(proposed.reason)}"
    yield f"name = {toml_text(proposed.name)}"
    yield f"hosts = {toml_text(hosts)}"
    doubt = _doubt(proposed, parts)
    if doubt:
        yield f"unconfirmed = true  # {doubt}; remove this line once you have read the class"
    said = {
        "gpus": sum(part.kind == "gpu" for part in parts) or None,
        "compute_nics": proposed.compute_nics,
        "port_rate_gbps": proposed.port_rate_gbps,
        "numa_nodes": proposed.numa_nodes,
    }
    for name, value in said.items():
        yield f"{name} = {value:.0f}" if value else f"# {name} = ?  # could not be told"
    yield "slots = ["
    yield from (_slot(part, len(proposed.hosts)) for part in parts)
    yield "]"


def classes(database: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The lines of all classes, and the hosts that are in none."""
    lost = []
    for row in database.execute(_CLASSES).fetchall():
        proposed = Proposed(*row)
        hosts, unwritten = _written(proposed.hosts)
        lost += unwritten
        if hosts:
            yield from _lines(proposed, _parts(database, proposed.name), hosts)
    none = database.execute(
        "SELECT t.target FROM target t LEFT JOIN host_class c USING (target) "
        "WHERE t.kind = 'host' AND c.class IS NULL ORDER BY t.target"
    ).fetchall()
    lost += [name for (name,) in none]
    hosts, unwritten = _written(lost) if lost else ("", [])
    if unwritten:
        yield ""
        yield f"# In no class, and no node set can name all of them: {fold(lost)}"
    elif lost:
        yield ""
        yield f"[[class]]  # nothing tells what these are: {fold(lost)}"
        yield 'name = "not told"'
        yield f"hosts = {toml_text(hosts)}"
        yield "unconfirmed = true  # say what they are: another class, or one of their own"
