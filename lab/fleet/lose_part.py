"""Hosts that have lost a part, in the ways in which real machines lose it.

    parts(host)                  every part that could be lost
    WAYS[part.kind]              how it can be lost
    lost(host, part, way)        the host without it
    losses(host)                 all of them: (part, way, host)

A card is all functions of its slot, and the bridges that it has of its own: a ConnectX-8 takes what
is behind its switch with it. Where the machine was started without the part, the kernel numbers
RDMA devices and GPUs without it too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lab.fleet.lose_port import (
    cable_pulled,
    down,
    down_without_address,
    module_unplugged,
    netdev_missing,
    rdma_missing,
)
from lab.fleet.model import Function, HostModel, Nic, netdev_is_here, rdma_is_here
from lab.fleet.pci_change import Path, changed, paths, whole, without
from lab.fleet.platform import MELLANOX, NVIDIA
from lab.fleet.render.ethtool_netdevs import ports

# Vendor and device of bridges that are part of a GPU: an MI300X has two.
_OF_GPUS = ((0x1022, 0x1500), (0x1002, 0x1501))
_GPU_VENDORS = (NVIDIA, 0x1002)
_NETWORK, _DISPLAY, _ACCELERATOR = 0x02, 0x03, 0x12


@dataclass(frozen=True)
class Part:
    """Something of a host that can be lost."""

    kind: str  # nic, gpu, switch, rdma, netdev, port, module, cable
    name: str  # slot, PCI address, RDMA device or netdev


# ---- what there is


def _is_nic(function: Function) -> bool:
    return function.class_code >> 16 == _NETWORK


def _is_gpu(function: Function) -> bool:
    """A board's own display is not one."""
    shown = function.class_code >> 16 in (_DISPLAY, _ACCELERATOR)
    return shown and function.vendor in _GPU_VENDORS


def _slot(address: str) -> str:
    return address.rpartition(".")[0]


def _owner(bridge: Function) -> str:
    """nic or gpu, where a bridge belongs to the card below it; '' = to a switch or the CPU."""
    if bridge.kind not in ("upstream", "downstream"):
        return ""
    if bridge.vendor == MELLANOX:
        return "nic"
    return "gpu" if (bridge.vendor, bridge.device) in _OF_GPUS else ""


def parts(host: HostModel) -> tuple[Part, ...]:
    """Cards, GPUs, switches; RDMA devices, netdevs, ports, modules and cables."""
    found: dict[Part, None] = {}
    for path in paths(host.buses):
        function = path[-1]
        if _is_nic(function) and not function.physical:
            found[Part("nic", _slot(function.address))] = None
        elif _is_gpu(function):
            found[Part("gpu", function.address)] = None
        elif function.kind == "upstream" and not _owner(function):
            found[Part("switch", function.address)] = None
    for nic in host.nics:
        found |= dict.fromkeys(_of_port(host, nic))
    plain = [netdev for netdev in host.netdevs if netdev.address]
    found |= {Part("netdev", netdev.netdev): None for netdev in plain}
    found |= {Part("port", netdev.netdev): None for netdev in plain if netdev.up}
    return tuple(found)


def _of_port(host: HostModel, nic: Nic) -> Iterator[Part]:
    """Of IPoIB the RDMA device is what it is made of: it cannot go alone."""
    if rdma_is_here(host, nic) and nic.link_layer == "Ethernet":
        yield Part("rdma", nic.name)
    if not netdev_is_here(nic):
        return
    yield Part("netdev", nic.netdev)
    if nic.up:
        yield Part("port", nic.netdev)
    if nic.optic.kind != "none":
        yield Part("module", nic.netdev)
        yield Part("cable", nic.netdev)


# ---- cards, GPUs and switches


def _tops(host: HostModel, part: Part) -> list[Path]:
    """Paths to what is lost: the part, or the uppermost bridge that it has of its own."""
    found: dict[str, Path] = {}
    for path in paths(host.buses):
        if _belongs(host, part, path[-1]):
            top = path
            while len(top) > 1 and _owner(top[-2]) == part.kind:
                top = top[:-1]
            found[top[-1].address] = top
    if not found:
        raise KeyError(f"{host.name} has no {part.kind} {part.name}")
    return list(found.values())


def _belongs(host: HostModel, part: Part, function: Function) -> bool:
    if part.kind != "nic":
        return function.address == part.name
    return _slot(function.address) in _halves(host, part.name)


def _halves(host: HostModel, slot: str) -> set[str]:
    """The slots of one card: a Socket Direct card has two, with one system image GUID."""
    guids = {nic.image_guid for nic in host.nics if _slot(nic.address) == slot}
    return {slot, *(_slot(nic.address) for nic in host.nics if nic.image_guid in guids)}


def _gone(host: HostModel, addresses: set[str]) -> HostModel:
    """The host without these functions, and without what drivers made of those below them."""
    buses = without(host.buses, addresses)
    left = {path[-1].address for path in paths(buses)}
    netdevs = tuple(n for n in host.netdevs if not n.address or n.address in left)
    nics = tuple(nic for nic in host.nics if nic.address in left)
    names = {netdev.netdev for netdev in (*nics, *netdevs)}
    lost = [n for n in (*host.nics, *host.netdevs) if n.netdev not in names]
    texts = {text.partition("/")[0] for netdev in lost for text in netdev.addresses}
    bonds = tuple(
        replace(bond, members=tuple(member for member in bond.members if member in names))
        for bond in host.bonds
    )
    return replace(
        host, buses=buses, nics=nics, netdevs=netdevs, bonds=bonds,
        gpus=tuple(gpu for gpu in host.gpus if gpu.address in left),
        routes=tuple(route for route in host.routes if route.netdev in names),
        rules=tuple(rule for rule in host.rules if rule.source not in texts),
    )  # fmt: skip


def _said(host: HostModel, *lines: str) -> HostModel:
    kernel = replace(host.kernel, messages=(*host.kernel.messages, *lines))
    return replace(host, kernel=kernel)


def _fallen(tops: list[Path]) -> Iterator[str]:
    """What the GPU driver says of each GPU that is lost."""
    for top in tops:
        for function in whole(top[-1]):
            if function.driver == "nvidia":
                place = _slot(function.address)
                yield (
                    f"NVRM: Xid (PCI:{place}): 79, pid='<unknown>', name=<unknown>, "
                    "GPU has fallen off the bus."
                )


def removed(host: HostModel, part: Part) -> HostModel:
    """While the system ran: the port above contained an error, and the kernel took all below out.

    Names stay, and so does the port, with nothing behind it.
    """
    tops = _tops(host, part)
    lines = [
        f"pcieport {top[-2].address}: DPC: containment event, status:0x1f01 source:0x0000"
        for top in tops
        if len(top) > 1
    ]
    return _said(_gone(host, {top[-1].address for top in tops}), *lines, *_fallen(tops))


def missing_at_boot(host: HostModel, part: Part) -> HostModel:
    """Not found when the machine was started: the port above is there, its bus empty."""
    tops = _tops(host, part)
    return _started(_gone(host, {top[-1].address for top in tops}), host)


def missing_with_its_port(host: HostModel, part: Part) -> HostModel:
    """The same, and the firmware hides the port that has no link."""
    tops = _tops(host, part)
    return _started(_gone(host, {top[max(len(top) - 2, 0)].address for top in tops}), host)


def _started(now: HostModel, before: HostModel) -> HostModel:
    """Another boot: RDMA devices and GPUs are numbered without what is lost."""
    lost = [nic.name for nic in before.nics if nic.name not in {n.name for n in now.nics}]
    nics = tuple(replace(nic, name=_renumbered(nic.name, lost)) for nic in now.nics)
    gpus = tuple(replace(gpu, number=place) for place, gpu in enumerate(now.gpus))
    boot = f"{int(now.boot_id[:8], 16) ^ 0xA5A5A5A5:08x}{now.boot_id[8:]}"
    return replace(now, nics=nics, gpus=gpus, boot_id=boot, uptime_s=5_421.75)


def _renumbered(name: str, lost: list[str]) -> str:
    """mlx5_5 is mlx5_4 where mlx5_3 is lost; names that nobody numbered stay."""
    head = name.rstrip("0123456789")
    if head == name:
        return name
    own = int(name[len(head) :])
    before = [n for n in lost if n.rstrip("0123456789") == head and int(n[len(head) :]) < own]
    return f"{head}{own - len(before)}"


def dead(host: HostModel, part: Part) -> HostModel:
    """Listed, and every register reads ones: its port is not one that takes things out.

    The driver has given up: no netdev, no RDMA device, and no tool opens it.
    """
    tops = _tops(host, part)
    silent = {function.address for top in tops for function in whole(top[-1])}
    buses = changed(host.buses, lambda f: (replace(f, dead=True),) if f.address in silent else (f,))
    cards = [
        replace(nic, without_rdma=True, without_netdev=True, firmware_access=False, up=False)
        for nic in ports(host)
        if nic.address in silent
    ]
    lines = [
        f"mlx5_core {nic.address}: mlx5_health_try_recover:381:(pid 1140): health recovery flow "
        "aborted, PCI reads still not working"
        for nic in cards
    ]
    others = tuple(nic for nic in host.nics if nic.address not in silent)
    plain = tuple(n for n in host.netdevs if n.address not in silent)
    names = {netdev.netdev for netdev in (*others, *plain)}
    bonds = tuple(
        replace(bond, members=tuple(member for member in bond.members if member in names))
        for bond in host.bonds
    )
    now = replace(host, buses=buses, nics=(*others, *cards), netdevs=plain, bonds=bonds)
    return _said(now, *lines, *_fallen(tops))


Way = Callable[[HostModel, Part], HostModel]
_OF_CARDS: tuple[Way, ...] = (removed, missing_at_boot, missing_with_its_port, dead)


def _by_name(way: Callable[[HostModel, str], HostModel]) -> Way:
    def lose(host: HostModel, part: Part) -> HostModel:
        return way(host, part.name)

    return lose


_WAYS: dict[str, dict[str, Way]] = {
    **{kind: {way.__name__: way for way in _OF_CARDS} for kind in ("nic", "gpu", "switch")},
    "rdma": {"rdma_missing": _by_name(rdma_missing)},
    "netdev": {"netdev_missing": _by_name(netdev_missing)},
    "port": {"down": _by_name(down), "down_without_address": _by_name(down_without_address)},
    "module": {"module_unplugged": _by_name(module_unplugged)},
    "cable": {"cable_pulled": _by_name(cable_pulled)},
}
WAYS = {kind: tuple(ways) for kind, ways in _WAYS.items()}


def lost(host: HostModel, part: Part, way: str) -> HostModel:
    """The host without the part."""
    return _WAYS[part.kind][way](host, part)


def losses(host: HostModel) -> Iterator[tuple[Part, str, HostModel]]:
    """Every part, lost in every way."""
    for part in parts(host):
        for way in WAYS[part.kind]:
            yield part, way, lost(host, part, way)
