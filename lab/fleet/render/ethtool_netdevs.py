"""Which network devices a host's tools can be asked about, and what drives them."""

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import lru_cache

from lab.fleet.model import Function, HostModel, Netdev, Nic, is_mlx5, netdev_is_here

# Generations other than ConnectX-7 and BlueField-3.
_LANE_GIGABITS = {"CONNECTX4": 25, "CONNECTX5": 25, "CONNECTX6": 50, "BLUEFIELD2": 50, "E810": 25}
# Devices of a hypervisor; the last one sits on no PCI bus.
PARAVIRTUAL = ("virtio_net", "hv_netvsc")


def ports(host: HostModel) -> Iterator[Nic]:
    """Every function of an mlx5 card, also one whose port has no RDMA device of its own.

    Two ports in a bond share one RDMA device, so the second one is but a netdev of the model.
    """
    yield from filter(is_mlx5, host.nics)
    for netdev in host.netdevs:
        sibling = _sibling(host, netdev)
        if sibling is not None:
            yield _port(netdev, sibling)


def _sibling(host: HostModel, netdev: Netdev) -> Nic | None:
    if netdev.driver != "mlx5_core":
        return None
    card = netdev.address.rpartition(".")[0]
    return next((nic for nic in host.nics if nic.address.rpartition(".")[0] == card), None)


def _port(netdev: Netdev, sibling: Nic) -> Nic:
    """The other port of a card: alike, but with its own module and less traffic."""
    own = {item.name: getattr(netdev, item.name) for item in fields(Netdev)}
    head = sibling.optic.serial.rstrip("0123456789")
    digits = sibling.optic.serial[len(head) :] or "0"
    serial = f"{head}{int(digits) + 1:0{len(digits)}d}"
    less = {name: value * 97 // 100 for name, value in sibling.statistics.items()}
    return replace(sibling, **own, optic=replace(sibling.optic, serial=serial), statistics=less)


def physical(host: HostModel) -> Iterator[Netdev]:
    """Every network device of some hardware that is in the host's own network namespace."""
    of_cards = {nic.netdev: nic for nic in ports(host)}
    for netdev in (*host.nics, *host.netdevs):
        hardware = netdev.address or netdev.driver in PARAVIRTUAL
        if netdev.netdev and hardware and netdev_is_here(netdev):
            yield of_cards.get(netdev.netdev, netdev)


def roce_nics(host: HostModel) -> Iterator[Nic]:
    """Those of them that are Ethernet ports of an mlx5 card."""
    for netdev in physical(host):
        if isinstance(netdev, Nic) and netdev.link_layer == "Ethernet" and is_mlx5(netdev):
            yield netdev


def driver_of(host: HostModel, netdev: Netdev) -> str:
    """The name of the driver; a plain card's may only be known from its PCI function."""
    if netdev.driver or isinstance(netdev, Nic):
        return netdev.driver or "mlx5_core"
    waiting: list[Function] = [function for bus in host.buses for function in bus.functions]
    while waiting:
        function = waiting.pop()
        if function.address == netdev.address:
            return function.driver
        waiting += function.below
    return ""


@lru_cache(maxsize=256)
def _gigabits(description: str) -> int:
    """The fastest Ethernet speed that a card's product text names; 0 = none."""
    return max((int(speed) for speed in re.findall(r"(\d+)GbE", description)), default=0)


def card_speed(nic: Nic) -> int:
    """Mb/s that the card can do, however fast it runs now."""
    return _gigabits(nic.description) * 1000 or nic.speed


def lane_gigabits(nic: Nic) -> int:
    """Gb/s that one lane of a card's generation can do."""
    return _LANE_GIGABITS.get(nic.family.upper().removesuffix("DX").removesuffix("LX"), 100)
