"""What one thing of a machine is called: its PCI address, its RDMA device, its network device."""

from collections.abc import Iterable
from typing import NamedTuple

import duckdb

from railwright.store.duck import read_sql

_ALIKE = read_sql(__file__, "names_of_things.sql")
SEPARATORS = "/#[:+"  # what stands behind a thing's name in a subject: mlx5_1/1, ens1#3
_DOMAIN = "0000:"


class Asked(NamedTuple):
    """What somebody typed, as subjects may have it."""

    names: frozenset[str]  # of the thing, in small letters
    rest: str  # what stands behind the name: /1, #3


def things_of(database: duckdb.DuckDBPyConnection, target: str) -> list[frozenset[str]]:
    """Every network function, GPU and switch port of a machine with all its names."""
    rows = database.execute(_ALIKE, {"target": target}).fetchall()
    return [frozenset(filter(None, names)) for (names,) in rows]


def all_names(things: Iterable[frozenset[str]], name: str) -> frozenset[str]:
    """The names of whatever is called so; of what has no other name, this one."""
    return frozenset({name}).union(*(one for one in things if name in one))


def asked_for(things: list[frozenset[str]], typed: str) -> Asked:
    """A thing by any of its names, in large or small letters, without the PCI domain too."""
    wanted = typed.lower()
    found: list[tuple[str, frozenset[str]]] = []
    for names in things:
        lower = frozenset(name.lower() for name in names)
        short = {name.removeprefix(_DOMAIN) for name in lower if name.startswith(_DOMAIN)}
        for name in lower | short:
            behind = wanted[len(name) :]
            if wanted.startswith(name) and behind[:1] in ("", *SEPARATORS):
                found.append((behind, lower))
    rest = min((behind for behind, _ in found), key=len, default="")
    named = [names for behind, names in found if behind == rest]
    return Asked(frozenset().union(*named), rest) if named else Asked(frozenset({wanted}), "")


def is_asked(asked: Asked, subject: str) -> bool:
    """Whether a subject, without its machine, is that thing or something of it."""
    said = subject.lower()
    if not asked.rest and not asked.names.isdisjoint(said.split("+")):
        return True  # of a pair one end is enough
    return any(
        said.startswith(name + asked.rest)
        and said[len(name + asked.rest) :][:1] in ("", *SEPARATORS)
        for name in asked.names
    )


def names_in(things: Iterable[frozenset[str]], subject: str) -> frozenset[str]:
    """All names of whatever a subject, without its machine, begins with or pairs."""
    parts = subject.split("+")
    found: frozenset[str] = frozenset()
    for names in things:
        for name in names:
            if any(p.startswith(name) and p[len(name) :][:1] in ("", *SEPARATORS) for p in parts):
                found |= names
    return found
