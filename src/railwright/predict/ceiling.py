"""The ceiling of one port in one slot: what perftest can reach, and what binds it.

Everything here is said a second time as SQL (`macros.py`) for whole fleets; both are made of the
data in `hardware/`, and a test holds them equal. A value that is not known is None and makes what
depends on it None, unless it cannot matter: a wire that is slower than PCIe with the smallest
payload binds, whatever the payload is.
"""

from dataclasses import dataclass
from typing import Literal

from railwright.hardware.measurements import measurements
from railwright.hardware.overheads import overhead
from railwright.hardware.pcie import LEAST_PAYLOAD, acknowledgements, generations

Protocol = Literal["RoCE over IPv4", "RoCE over IPv6", "InfiniBand"]
Operation = Literal["write", "read", "send"]
Basis = Literal["calculated", "validated", "unvalidated"]

MESSAGE = 65536  # bytes: what perftest sends unless told otherwise (perftest_parameters.h)
RDMA_MTUS = (256, 512, 1024, 2048, 4096)  # bytes
LEAST_MTU = RDMA_MTUS[0]
# The largest of them that fits a network device's MTU less this (Linux include/rdma/ib_addr.h,
# iboe_get_mtu).
NETDEV_HEADERS = 96
# What was seen of ceilings: RoCE 0.98 to 1.00, InfiniBand EDR 0.972, PCIe 0.97 (hardware/
# measurements.toml). The alarm is a little below the least of them; judgement.
LOW, HIGH, ALARM = 0.96, 1.00, 0.95


def headers(protocol: Protocol, *, vlan: bool = False, subnets: bool = False) -> int:
    """Bytes around the payload of each packet on the wire."""
    if protocol == "InfiniBand":
        return overhead("lrh", "bth", "icrc", "vcrc") + (overhead("grh") if subnets else 0)
    address = "ipv4" if protocol == "RoCE over IPv4" else "ipv6"
    whole = overhead("ethernet_gap", "ethernet", address, "udp", "bth", "icrc")
    return whole + (overhead("vlan") if vlan else 0)


def once(operation: Operation) -> int:
    """Bytes that a message has beyond the headers of its packets."""
    return {"write": overhead("reth"), "read": 2 * overhead("aeth"), "send": 0}[operation]


def wire(
    rate: float | None, mtu: int | None, per_packet: int | None, extra: int, message: int = MESSAGE
) -> float | None:
    """Gb/s of data that a port carries."""
    if rate is None or mtu is None or per_packet is None:
        return None
    packets = -(-message // mtu)
    return rate * message / (message + packets * per_packet + extra)


def line(gts: float | None, width: int | None) -> float | None:
    """Gb/s of a PCIe link behind its encoding, one direction."""
    if gts not in generations() or not width:
        return None
    return gts * width * generations()[gts].encoding


def _skips() -> float:
    return overhead("pcie_skip") / overhead("pcie_skip_every")


def into_memory(gbps: float | None, payload: int | None) -> float | None:
    """Gb/s that a card writes to memory over a link of so many Gb/s: posted writes."""
    if gbps is None or payload is None:
        return None
    return gbps * (1 - _skips()) * payload / (payload + overhead("pcie_write"))


def from_memory(gbps: float | None, payload: int | None) -> float | None:
    """Gb/s that a card reads from memory: completions."""
    if gbps is None or payload is None:
        return None
    return gbps * (1 - _skips()) * payload / (payload + overhead("pcie_completion"))


def both_ways(
    gts: float | None, width: int | None, payload: int | None, request: int | None
) -> float | None:
    """Gb/s of each direction while both are in use.

    Writes share the way up with requests to read, and both ways carry acknowledgements.
    """
    gbps = line(gts, width)
    if gbps is None or gts is None or width is None or payload is None or not request:
        return None
    between = acknowledgements().get((gts, width, payload))
    if between is None:
        return None
    left = gbps * (1 - _skips() - 2 * overhead("pcie_link_packet") / between)
    up = left / (1 + overhead("pcie_write") / payload + overhead("pcie_read_request") / request)
    down = left / (1 + overhead("pcie_completion") / payload)
    return min(up, down)


def least_known(
    one: float | None, one_floor: float | None, other: float | None, other_floor: float | None
) -> float | None:
    """The smaller of two; also where one is not known, but is above the other in any case."""
    if one is not None and other is not None:
        return min(one, other)
    if one is not None and other_floor is not None and other_floor >= one:
        return one
    if other is not None and one_floor is not None and one_floor >= other:
        return other
    return None


@dataclass(frozen=True)
class Slot:
    """The narrowest link between a card and memory; None = not known."""

    gts: float | None
    width: int | None
    max_payload: int | None
    max_read_request: int | None = None


@dataclass(frozen=True)
class Port:
    """A port as it runs, or as it will."""

    rate_gbps: float | None
    mtu: int | None
    protocol: Protocol
    vlan: bool = False


@dataclass(frozen=True)
class Ceiling:
    """Gb/s of data, one direction, large messages; None = not known."""

    write: float | None
    read: float | None
    send: float | None
    both: float | None  # each direction while both are in use
    wire: float | None  # what the port alone would let through in a write
    pcie: float | None  # what PCIe alone would
    binding: Literal["port", "PCIe"] | None
    basis: Basis | None

    @property
    def alarm(self) -> float | None:
        """Below this something is wrong."""
        return None if self.write is None else ALARM * self.write


def basis(port: Port, slot: Slot, binding: str | None) -> Basis | None:
    """How much stands behind a ceiling: a measurement of the same kind, the formula, or less."""
    if binding is None:
        return None
    layer = "InfiniBand" if port.protocol == "InfiniBand" else "Ethernet"
    kind = (layer, port.rate_gbps) if binding == "port" else (slot.gts, slot.width)
    seen = (one for one in measurements().values() if one.bound_by == binding)
    for one in seen:
        measured = (one.link_layer, one.rate_gbps) if binding == "port" else (one.gts, one.width)
        if measured == kind:
            return "validated"
    return "calculated" if binding == "port" else "unvalidated"


def unmeasured(binding: str | None) -> Basis | None:
    """What stands behind reads and sends: nearly all that was published are writes."""
    if binding is None:
        return None
    return "calculated" if binding == "port" else "unvalidated"


def ceiling(port: Port, slot: Slot) -> Ceiling:
    """What perftest can reach with messages of 64 KiB, two queue pairs and memory near the card."""
    gbps = line(slot.gts, slot.width)
    ways = [f(gbps, slot.max_payload) for f in (into_memory, from_memory)]
    pcie = None if ways[0] is None or ways[1] is None else min(ways[0], ways[1])
    floor = into_memory(gbps, LEAST_PAYLOAD)
    around = headers(port.protocol, vlan=port.vlan)

    def of(operation: Operation) -> tuple[float | None, float | None]:
        own = wire(port.rate_gbps, port.mtu, around, once(operation))
        lowest = wire(port.rate_gbps, LEAST_MTU, around, once(operation))
        return own, least_known(own, lowest, pcie, floor)

    own, write = of("write")
    binding: Literal["port", "PCIe"] | None = None
    if write is not None:
        binding = "port" if own is not None and write == own else "PCIe"
    duplex = both_ways(slot.gts, slot.width, slot.max_payload, slot.max_read_request)
    both = None if duplex is None or own is None else min(duplex, own)
    return Ceiling(
        write, of("read")[1], of("send")[1], both, own, pcie, binding, basis(port, slot, binding)
    )
