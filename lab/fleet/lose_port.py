"""Ports of a host that lose something while their card stays: a device, the link, the module."""

from collections.abc import Callable
from dataclasses import replace

from lab.fleet.model import HostModel, Netdev, Nic
from lab.fleet.port_model import Optic

# GIDs of the link-local address: RoCE keeps them while the netdev is there.
_DEFAULT_GIDS = 2


def _named(host: HostModel, name: str) -> Netdev:
    for netdev in (*host.nics, *host.netdevs):
        if netdev.netdev == name or (isinstance(netdev, Nic) and netdev.name == name):
            return netdev
    raise KeyError(f"{host.name} has no {name}")


def _changed_nic(host: HostModel, name: str, change: Callable[[Nic], Nic]) -> HostModel:
    nic = _named(host, name)
    if not isinstance(nic, Nic):
        raise KeyError(f"{host.name} has no RDMA port {name}")
    return replace(host, nics=tuple(change(n) if n is nic else n for n in host.nics))


def _unrouted(host: HostModel, netdev: Netdev) -> HostModel:
    """Without what the system knew by the addresses of a netdev."""
    texts = {text.partition("/")[0] for text in (*netdev.addresses, *netdev.dynamic)}
    return replace(
        host,
        routes=tuple(route for route in host.routes if route.netdev != netdev.netdev),
        rules=tuple(rule for rule in host.rules if rule.source not in texts),
    )


def rdma_missing(host: HostModel, name: str) -> HostModel:
    """RoCE is off for this function, or its driver failed: the netdev works, RDMA does not."""
    return _changed_nic(host, name, lambda nic: replace(nic, without_rdma=True))


def netdev_missing(host: HostModel, name: str) -> HostModel:
    """The function has no netdev; a RoCE device is then down and has no GIDs."""
    netdev = _named(host, name)
    bonds = tuple(
        replace(bond, members=tuple(member for member in bond.members if member != netdev.netdev))
        for bond in host.bonds
    )
    host = replace(_unrouted(host, netdev), bonds=bonds)
    if not isinstance(netdev, Nic):
        return replace(host, netdevs=tuple(n for n in host.netdevs if n is not netdev))
    if netdev.link_layer == "InfiniBand":
        return _changed_nic(host, name, lambda nic: replace(nic, without_netdev=True))

    def gone(nic: Nic) -> Nic:
        return replace(nic, without_netdev=True, gids=(), up=False, master="", addresses=())

    return _changed_nic(host, name, gone)


def _without_link(host: HostModel, netdev: Netdev) -> HostModel:
    """The device of a bond lives on while another port of it has a link."""
    others = {n.netdev for n in (*host.nics, *host.netdevs) if n.up and n is not netdev}
    members = [bond.members for bond in host.bonds if netdev.netdev in bond.members]
    carried = any(member in others for one in members for member in one)

    def change(now: Netdev) -> Netdev:
        if now is not netdev:
            return now
        if isinstance(now, Nic) and carried and now.name.startswith("mlx5_bond"):
            return replace(now, up=False, rdma_up=True)
        return replace(now, up=False)

    return _each(host, change)


def _each(host: HostModel, change: Callable[[Netdev], Netdev]) -> HostModel:
    nics = tuple(nic for nic in map(change, host.nics) if isinstance(nic, Nic))
    return replace(host, nics=nics, netdevs=tuple(map(change, host.netdevs)))


def down(host: HostModel, name: str) -> HostModel:
    """No link, and the system keeps the address, as for one that is configured by hand."""
    return _without_link(host, _named(host, name))


def down_without_address(host: HostModel, name: str) -> HostModel:
    """No link, and the system took the address away: NetworkManager and networkd do."""
    netdev = _named(host, name)
    host = _without_link(_unrouted(host, netdev), netdev)

    def change(now: Netdev) -> Netdev:
        if now.netdev != netdev.netdev:
            return now
        if isinstance(now, Nic) and now.link_layer == "Ethernet" and not now.master:
            return replace(now, addresses=(), dynamic=(), gids=now.gids[:_DEFAULT_GIDS])
        return replace(now, addresses=(), dynamic=())

    return _each(host, change)


def module_unplugged(host: HostModel, name: str) -> HostModel:
    """The cage is empty."""
    host = down(host, name)
    return _changed_nic(host, name, lambda nic: replace(nic, optic=Optic(kind="none")))


def cable_pulled(host: HostModel, name: str) -> HostModel:
    """The far end is out: the module is there and can be read, its receivers see no light."""
    host = down(host, name)

    def dark(nic: Nic) -> Nic:
        lanes = tuple(replace(lane, rx_mw=0.0) for lane in nic.optic.lanes)
        return replace(nic, optic=replace(nic.optic, lanes=lanes))

    return _changed_nic(host, name, dark)
