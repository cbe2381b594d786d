"""Ends of links as objects: only those that a question is about, never all of a fabric."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

import duckdb

from railwright.errors import UsageError
from railwright.store.duck import read_sql

LINK = read_sql(__file__, "link.sql")  # makes the table `link`: two ends in a row


class End(NamedTuple):
    """A row of link_end."""

    target: str
    port: str
    kind: str
    system: str | None
    device: str
    tier: int | None
    peer: str | None
    peer_port: str | None
    peer_kind: str | None
    is_up: bool | None
    speed_mbps: int | None
    fec: str | None
    mtu: int | None
    trust: str | None
    dscp_classes: str | None
    pfc_mask: int | None
    device_port: int | None

    @property
    def name(self) -> str:
        """As people write it."""
        return f"{self.target}:{self.port}"

    @property
    def subjects(self) -> tuple[str, ...]:
        """As rules name it: the end, a silent machine as a whole, the RDMA port behind it."""
        whole = (self.name, f"{self.target}:*")
        return (*whole, f"{self.target}:{self.device}/{self.device_port}") if self.device else whole


class ClassFacts(NamedTuple):
    """A row of port_class, but for its key."""

    pfc: bool | None = None
    is_lossless: bool | None = None
    headroom_bytes: int | None = None
    has_shared_headroom: bool | None = None
    queue: int | None = None
    scheduler: str | None = None
    weight: int | None = None
    ecn_enabled: bool | None = None
    red_enabled: bool | None = None
    ecn_minimum_bytes: int | None = None
    ecn_maximum_bytes: int | None = None
    ecn_probability_percent: int | None = None


COLUMNS = ", ".join(End._fields)
CLASS_COLUMNS = ", ".join(ClassFacts._fields)
CLASS_FACT = read_sql(__file__, "class_fact.sql")  # makes the view `class_fact`


Ends = dict[str, dict[str, End]]  # by machine and port


def ends_of(database: duckdb.DuckDBPyConnection, targets: Iterable[str]) -> Ends:
    """All ends of some machines."""
    rows = database.execute(
        f"SELECT {COLUMNS} FROM link_end WHERE target IN (SELECT unnest(?::VARCHAR[]))",
        [sorted(targets)],
    ).fetchall()
    found: Ends = {}
    for row in rows:
        found.setdefault(row[0], {})[row[1]] = End(*row)
    return found


def classes_of(
    database: duckdb.DuckDBPyConnection, targets: Iterable[str], classes: Iterable[int]
) -> dict[tuple[str, str, int], ClassFacts]:
    """What the ports of some switches do with some classes."""
    database.execute(CLASS_FACT)
    rows = database.execute(
        f"SELECT target, port, class, {CLASS_COLUMNS} FROM class_fact WHERE "
        "target IN (SELECT unnest(?::VARCHAR[])) AND class IN (SELECT unnest(?::INTEGER[]))",
        [sorted(targets), sorted(classes)],
    ).fetchall()
    return {row[:3]: ClassFacts(*row[3:]) for row in rows}


def find_end(database: duckdb.DuckDBPyConnection, text: str) -> End:
    """`gpu001:mlx5_0`, `gpu001:ens1np0`; `gpu001` alone where it has one end."""
    target, _, thing = text.partition(":")
    known = [name for (name,) in database.execute("SELECT target FROM target").fetchall()]
    if target not in known:
        near = get_close_matches(target, known, 3)
        raise UsageError(
            f"no machine {target!r} in this snapshot",
            do=f"Did you mean {' or '.join(near)}?" if near else "railwright facts lists them.",
        )
    of_target = ends_of(database, [target]).get(target, {})
    ends = [end for end in of_target.values() if end.kind == "host"]
    if not ends:
        raise UsageError(
            f"{target} has no Ethernet port of an RDMA device that was read",
            why="A path begins and ends at such a port of a host.",
            do=f"railwright show {target} tells what it has, and what was not read.",
        )
    device = thing.removesuffix("/1")
    found = [end for end in ends if thing in (end.port, end.device) or device == end.device]
    found = found or ([] if thing else ends)
    if len(found) != 1:
        has = ", ".join(sorted(f"{end.device} ({end.port})" for end in ends))
        what = f"{target} has no {thing!r}" if thing else f"{target} has {len(ends)} such ports"
        raise UsageError(what, do=f"Name one of {has}: {target}:{ends[0].device}.")
    return found[0]
