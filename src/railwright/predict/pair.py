"""The ceiling between two ports: whatever is least at either end, or between them.

What the switches between them carry is not looked at: `railwright path` is for that.
"""

from dataclasses import dataclass

import duckdb

from railwright.errors import UsageError
from railwright.fabric.ends import expect_read, no_machine
from railwright.hardware.pcie import LEAST_PAYLOAD, link_words
from railwright.predict.ceiling import (
    ALARM,
    HIGH,
    LEAST_MTU,
    LOW,
    Basis,
    Operation,
    Port,
    Protocol,
    Slot,
    basis,
    both_ways,
    from_memory,
    headers,
    into_memory,
    once,
    unmeasured,
    wire,
)

_COLUMNS = (
    "target, device, port, link_layer, state, rate_gbps, mtu, is_ipv4, gts, width, line_gbps, "
    "narrowest_hop, max_payload, completion_payload, max_read_request, latency_class, unknown"
)


@dataclass(frozen=True)
class End:
    """A row of port_ceiling, as far as a pair needs it."""

    target: str
    device: str
    port: int
    link_layer: str | None
    state: str | None
    rate_gbps: float | None
    mtu: int | None
    is_ipv4: bool | None
    gts: float | None
    width: int | None
    line_gbps: float | None
    narrowest_hop: str | None
    max_payload: int | None
    completion_payload: int | None
    max_read_request: int | None
    latency_class: str | None
    unknown: str

    @property
    def name(self) -> str:
        """gpu001:mlx5_0/1."""
        return f"{self.target}:{self.device}/{self.port}"


@dataclass(frozen=True)
class Constraint:
    """One of those that a transfer cannot exceed."""

    what: str
    gbps: float | None
    floor: float | None  # what it is at least, where it is not known
    basis: Basis | None


@dataclass(frozen=True)
class Direction:
    """What can be reached from one port to the other; Gb/s of data, None = not known."""

    source: str
    destination: str
    write: float | None
    read: float | None  # by the destination, of the source's memory
    send: float | None
    binding: str
    others: tuple[Constraint, ...]  # the rest, the least first
    low: float | None
    high: float | None
    alarm: float | None
    basis: Basis | None
    read_send_basis: Basis | None


@dataclass(frozen=True)
class Pair:
    """Two ports."""

    directions: tuple[Direction, Direction]
    both: float | None  # each direction while both are in use
    unknown: tuple[str, ...]


def find_port(database: duckdb.DuckDBPyConnection, text: str) -> End:
    """`gpu001:mlx5_0`, `gpu001:mlx5_0/1` or `gpu001:ens1np0` of port_ceiling."""
    target, _, thing = text.partition(":")
    known = [n for (n,) in database.execute("SELECT target FROM target").fetchall()]
    if target not in known:
        raise no_machine(target, known)
    rows = database.execute(
        f"SELECT netdev, {_COLUMNS} FROM port_ceiling WHERE target = ? ORDER BY device, port",
        [target],
    ).fetchall()
    ends = [(row[0], End(*row[1:])) for row in rows]
    found = [
        end
        for netdev, end in ends
        if thing in (netdev, end.device, f"{end.device}/{end.port}") or not thing
    ]
    if not ends:
        expect_read(database, target)
        raise UsageError(
            f"no RDMA port was collected from {target}", do=f"To see why: railwright show {target}"
        )
    if len(found) != 1:
        has = ", ".join(end.name for _, end in ends)
        raise UsageError(
            f"{text!r} does not name exactly one RDMA port",
            why="A pair consists of two ports.",
            do=f"Choose one of {has}.",
        )
    return found[0]


def _slot(end: End) -> str:
    if end.gts is None or end.width is None:
        return "a PCIe path that was not read"
    return f"PCIe {link_words(end.gts, end.width)} at {end.narrowest_hop}"


def _least(one: int | float | None, other: int | float | None) -> int | float | None:
    return None if one is None or other is None else min(one, other)


def _protocol(source: End, destination: End) -> Protocol | None:
    """What both ends speak; None = of one of them it is not known."""
    if source.link_layer == destination.link_layer == "InfiniBand":
        return "InfiniBand"
    if source.link_layer != destination.link_layer or source.link_layer is None:
        return None
    if source.is_ipv4 is None or destination.is_ipv4 is None:
        return None
    return "RoCE over IPv4" if source.is_ipv4 and destination.is_ipv4 else "RoCE over IPv6"


def _pcie_basis(end: End) -> Basis | None:
    known = end.gts is not None and end.width is not None
    slot = Slot(end.gts, end.width, end.max_payload)
    return basis(Port(None, None, "RoCE over IPv4"), slot, "PCIe") if known else None


def _constraints(source: End, destination: End, operation: Operation) -> list[Constraint]:
    rate, mtu = (
        _least(source.rate_gbps, destination.rate_gbps),
        _least(source.mtu, destination.mtu),
    )
    protocol = _protocol(source, destination)
    around = headers(protocol) if protocol else None
    extra = once(operation)
    size = None if mtu is None else int(mtu)
    speed = "not read" if rate is None else f"{rate:g} Gb/s"
    said = f"the port rate, {speed} at RDMA MTU {mtu or '?'}"
    behind = basis(Port(rate, size, protocol), Slot(None, None, None), "port") if protocol else None
    return [
        Constraint(
            *(said, wire(rate, size, around, extra), wire(rate, LEAST_MTU, around, extra), behind)
        ),
        Constraint(
            f"{_slot(source)}, over which {source.name} reads its memory",
            from_memory(source.line_gbps, source.completion_payload),
            from_memory(source.line_gbps, LEAST_PAYLOAD),
            _pcie_basis(source),
        ),
        Constraint(
            f"{_slot(destination)}, over which {destination.name} writes its memory",
            into_memory(destination.line_gbps, destination.max_payload),
            into_memory(destination.line_gbps, LEAST_PAYLOAD),
            _pcie_basis(destination),
        ),
    ]


def _lowest(constraints: list[Constraint]) -> float | None:
    """The least of all; None where one that is not known might be less."""
    known = [one.gbps for one in constraints if one.gbps is not None]
    if not known:
        return None
    unknown = [one.floor for one in constraints if one.gbps is None]
    least = min(known)
    return least if all(floor is not None and floor >= least for floor in unknown) else None


def _order(gbps: float | None) -> float:
    """For sorting: what is not known comes last."""
    return float("inf") if gbps is None else gbps


def _direction(source: End, destination: End) -> Direction:
    constraints = _constraints(source, destination, "write")
    write = _lowest(constraints)
    ordered = sorted(constraints, key=lambda one: _order(one.gbps))
    binding = ordered[0] if write is not None else None
    direct = source.latency_class == destination.latency_class == "direct"
    return Direction(
        source=source.name,
        destination=destination.name,
        write=write,
        read=_lowest(_constraints(source, destination, "read")),
        send=_lowest(_constraints(source, destination, "send")),
        binding=binding.what if binding else "",
        others=tuple(ordered[1:]) if write is not None else tuple(ordered),
        low=LOW * write if write is not None and direct else None,
        high=HIGH * write if write is not None else None,
        alarm=ALARM * write if write is not None and direct else None,
        basis=binding.basis if binding else None,
        read_send_basis=unmeasured("port" if binding is constraints[0] else "PCIe")
        if binding
        else None,
    )


def pair(one: End, other: End) -> Pair:
    """Both directions between two ports."""
    if one == other:
        raise UsageError(
            f"{one.name} is given twice",
            why="Packets from a port to itself do not leave the host.",
            do="Name two different ports.",
        )
    if one.link_layer != other.link_layer and None not in (one.link_layer, other.link_layer):
        raise UsageError(
            f"{one.name} is {one.link_layer}, {other.name} is {other.link_layer}",
            why="The two cannot communicate.",
            do="Name two ports of the same fabric.",
        )
    ways = (_direction(one, other), _direction(other, one))
    duplex = [
        both_ways(end.gts, end.width, end.max_payload, end.max_read_request) for end in (one, other)
    ]
    wires = _constraints(one, other, "write")[0].gbps
    whole = [*duplex, wires]
    both = min(gbps for gbps in whole if gbps is not None) if None not in whole else None
    missing = tuple(f"{end.name}: {end.unknown}" for end in (one, other) if end.unknown)
    return Pair(ways, both, missing)
