"""Ends of links as objects: only those that a question is about, never all of a fabric."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import NamedTuple

import duckdb

from railwright.errors import NotReadError, UsageError
from railwright.fabric.infiniband import INFINIBAND, ports_of
from railwright.schema.table import tables
from railwright.store.duck import read_sql
from railwright.text import plain

LINK = read_sql(__file__, "link.sql")  # makes the table `link`: two ends in a row


class End(NamedTuple):
    """A row of link_end, or an InfiniBand port, which is in no link."""

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
        port = f"{self.target}:{self.device_name}"
        return tuple(dict.fromkeys((*whole, port))) if self.device else whole

    @property
    def rdma_port(self) -> tuple[str, str, int]:
        """Machine, device and number of port."""
        return self.target, self.device, self.device_port or 0

    @property
    def device_name(self) -> str:
        """The RDMA port that it is the end of."""
        return f"{self.device}/{self.device_port}"


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


_PORTS_NOT_READ = read_sql(__file__, "ports_not_read.sql")


def expect_read(database: duckdb.DuckDBPyConnection, target: str) -> None:
    """Of a machine that did not answer nobody can say what it has."""
    row = database.execute("SELECT status FROM target WHERE target = ?", [target]).fetchone()
    if row is not None and row[0] not in ("reached", "incomplete"):
        raise NotReadError(
            f"{target} was not read: {row[0]}", do=f"Try again: railwright collect -w {target}"
        )
    if database.execute(
        _PORTS_NOT_READ, {"target": target, "probe": tables()["rdma_port"].fed_by}
    ).fetchone():
        raise NotReadError(
            f"the RDMA ports of {target} were not read",
            do=f"railwright show {target} shows why; railwright collect -w {target} tries again.",
        )


def _infiniband_ends(database: duckdb.DuckDBPyConnection, target: str) -> dict[str, End]:
    """By network device, if the port has one."""
    found = {}
    for device, port, netdev in ports_of(database, target):
        row = dict.fromkeys(End._fields) | {"target": target, "kind": INFINIBAND, "device": device}
        end = End(**{**row, "port": f"{device}/{port}", "device_port": port})  # type: ignore[arg-type]
        found[netdev or end.port] = end
    return found


def _listed(end: End) -> str:
    if end.kind == INFINIBAND:
        return f"{end.port} ({INFINIBAND})"
    return f"{end.device} ({end.port})"


def _members(
    database: duckdb.DuckDBPyConnection, target: str, bond: str, ends: list[End]
) -> list[End]:
    """The ends of a bond, by the name of its network device."""
    rows = database.execute(
        "SELECT name FROM netdev WHERE target = ? AND master = ?", [target, bond]
    ).fetchall()
    names = {name for (name,) in rows}
    return [end for end in ends if end.port in names]


def no_machine(typed: str, known: Collection[str]) -> UsageError:
    """A machine that the snapshot does not have."""
    lower = {name.lower(): name for name in sorted(known)}
    near = [lower[one] for one in get_close_matches(typed.lower(), lower, 3)]
    return UsageError(
        f"unknown host or switch {plain(typed)!r}",
        do=f"Did you mean {' or '.join(near)}?" if near else "To list them: railwright facts",
    )


def find_ends(database: duckdb.DuckDBPyConnection, text: str) -> list[End]:
    """`gpu001:mlx5_0`, `gpu001:ens1np0`; `gpu001` alone where it has one; several of a bond."""
    target, _, thing = text.partition(":")
    known = [name for (name,) in database.execute("SELECT target FROM target").fetchall()]
    if target not in known:
        raise no_machine(target, known)
    of_target = ends_of(database, [target]).get(target, {})
    ends = [end for end in of_target.values() if end.kind == "host"]
    ends += (netdevs := _infiniband_ends(database, target)).values()
    if not ends:
        expect_read(database, target)
        raise UsageError(
            f"no Ethernet or InfiniBand port of an RDMA device was collected from {target}",
            why="A path starts and ends at such a port.",
            do=f"To see what was collected and what is unknown: railwright show {target}",
        )
    device = thing.removesuffix("/1")
    found = [end for end in ends if thing in (end.port, end.device_name)]
    found = found or [end for end in ends if device == end.device]
    found = found or ([netdevs[thing]] if thing in netdevs else [] if thing else ends)
    found = found or _members(database, target, thing, ends)
    if not found or (len(found) > 1 and len({end.rdma_port for end in found}) > 1):
        has = ", ".join(sorted(map(_listed, ends)))
        what = (
            f"unknown port {thing!r} of {target}"
            if thing
            else f"{target} has {len(ends)} RDMA ports"
        )
        raise UsageError(what, do=f"Choose one of {has}, e.g. {target}:{ends[0].device}.")
    return sorted(found, key=lambda end: end.port)
