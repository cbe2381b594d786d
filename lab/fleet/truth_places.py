"""Where everything of a host is, walked over once more for the truth.

The renderers and the writer of /sys have walks of their own: two derivations are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from lab.fleet.model import Function, HostModel, Netdev, Nic, netdev_is_here

Row = dict[str, object]
Rows = list[Row]
Tables = dict[str, Rows]

MELLANOX, NVIDIA = 0x15B3, 0x10DE
# GT/s per lane of each PCIe generation.
GIGATRANSFERS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}


@dataclass(frozen=True)
class Placed:
    """A PCI function with its place: what is above it, from the root down."""

    function: Function
    above: tuple[Function, ...]
    root_bus: str
    numa: int
    group: int

    @property
    def link(self) -> tuple[int, int]:
        """Generation and width; a port shows the link that it is the upper end of."""
        shown = self.function
        if shown.kind in ("root_port", "downstream"):
            if not shown.below:
                return 1, 0
            shown = shown.below[0]
        return shown.generation, shown.width

    @property
    def is_nic(self) -> bool:
        """A network function of the RDMA vendor, virtual or not."""
        return self.function.vendor == MELLANOX and self.function.class_code >> 16 == 0x02

    @property
    def is_gpu(self) -> bool:
        """A GPU."""
        return self.function.vendor == NVIDIA and self.function.class_code >> 16 == 0x03


def placed(host: HostModel) -> dict[str, Placed]:
    """Every PCI function by its address.

    IOMMU groups are numbered in the order of the tree: each function of a root bus has one of its
    own, and all that is below it share the next.
    """
    found: dict[str, Placed] = {}
    group = 0
    for bus in host.buses:
        for function in bus.functions:
            found[function.address] = Placed(function, (), bus.name, bus.numa, group)
            group += 1
            lower = list(_lower(function, ()))
            for child, above in lower:
                found[child.address] = Placed(child, above, bus.name, bus.numa, group)
            group += 1 if lower else 0
    return found


def _lower(
    function: Function, above: tuple[Function, ...]
) -> Iterator[tuple[Function, tuple[Function, ...]]]:
    path = (*above, function)
    for child in function.below:
        yield child, path
        yield from _lower(child, path)


def here(host: HostModel) -> list[Netdev]:
    """Network devices of the host's own namespace, in the order of their numbers."""
    found = [netdev for netdev in (*host.nics, *host.netdevs) if netdev_is_here(netdev)]
    return sorted(found, key=lambda netdev: netdev.index)


def ports(host: HostModel) -> dict[str, Nic]:
    """Every function of an RDMA card by its PCI address.

    Two ports in a bond have one RDMA device: the second is a plain netdev of the model. It is like
    its sibling, with a module of the next serial number and 97 % of the traffic.
    """
    found = {nic.address: nic for nic in host.nics}
    slots = {address.rpartition(".")[0]: nic for address, nic in reversed(found.items())}
    for netdev in host.netdevs:
        sibling = slots.get(netdev.address.rpartition(".")[0])
        if sibling is not None and netdev.driver == "mlx5_core":
            found[netdev.address] = _second(netdev, sibling)
    return found


def _second(netdev: Netdev, sibling: Nic) -> Nic:
    serial = sibling.optic.serial
    digits = serial[len(serial.rstrip("0123456789")) :]
    following = serial[: len(serial) - len(digits)] + f"{int(digits) + 1:0{len(digits)}d}"
    own = {field.name: getattr(netdev, field.name) for field in fields(Netdev)}
    return replace(
        sibling,
        **own,
        optic=replace(sibling.optic, serial=following),
        statistics={name: value * 97 // 100 for name, value in sibling.statistics.items()},
    )


def asked_nics(host: HostModel) -> dict[str, Nic]:
    """What the firmware tools are asked about: every function but those made by another one."""
    spots = placed(host)
    return {pci: nic for pci, nic in ports(host).items() if not spots[pci].function.physical}


def opened_nics(host: HostModel) -> dict[str, Nic]:
    """Those of them that the firmware tools can open."""
    return {pci: nic for pci, nic in asked_nics(host).items() if nic.firmware_access}


def asked_netdevs(host: HostModel) -> list[Netdev]:
    """What tools are asked about that want a network device: those with a device behind them.

    A port of an RDMA card is given as a Nic, also where it has no RDMA device of its own.
    """
    cards = {nic.netdev: nic for nic in ports(host).values()}
    return [cards.get(netdev.netdev, netdev) for netdev in here(host) if netdev.address]


def ethernet_ports(host: HostModel) -> list[Nic]:
    """Ethernet ports of RDMA cards in the host's own namespace."""
    return [
        netdev
        for netdev in asked_netdevs(host)
        if isinstance(netdev, Nic) and netdev.link_layer == "Ethernet"
    ]


def vendor_driver(host: HostModel, netdev: Netdev) -> bool:
    """Whether the card's driver is the vendor's package; the kernel's own has its version."""
    return netdev.driver_version != host.kernel.release


def words(text: str) -> tuple[str, ...]:
    """A long list of names, written as text."""
    return tuple(text.split())


def cpu_list(numbers: list[int]) -> str:
    """0, 1, 2, 8 -> 0-2,8."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{a}-{b}" if a != b else str(a) for a, b in parts)


def cpu_numbers(text: str) -> list[int]:
    """0-2,8 -> 0, 1, 2, 8."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def cpu_total(host: HostModel) -> int:
    """All logical CPUs."""
    return host.cpu.sockets * host.cpu.cores_per_socket * host.cpu.threads_per_core
