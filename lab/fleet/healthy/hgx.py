"""An HGX H100 in four lives: SLAAC rails, bonded rails, an E810 as way in, a Kubernetes node.

The layout is that of the site `ember`: eight switches with a GPU and a NIC each. What differs is
what operators make of such a host.
"""

from dataclasses import replace

from lab.fleet import ember, identity, kubernetes, platform, ports
from lab.fleet.healthy import cards, slots
from lab.fleet.healthy.cards import Socket
from lab.fleet.healthy.host import RELEASE, management, management_routes
from lab.fleet.healthy.parts import CX7_2X200G, E810_XXV
from lab.fleet.healthy.who import Who
from lab.fleet.model import Function, HostModel, Netdev, Nic, RootBus
from lab.fleet.pci_change import changed
from lab.fleet.port_model import GidEntry
from lab.fleet.switches import leaf
from lab.fleet.system_model import Bond, Route

RAILS = 8
STORAGE_BUS = 0x84


def _without_rails(host: HostModel) -> tuple[Route, ...]:
    rails = {nic.netdev for nic in host.nics[:RAILS]}
    return tuple(route for route in host.routes if route.netdev not in rails)


# ---- SLAAC


def _global(nic: Nic, prefix: str) -> str:
    """2001:db8:2:1:5e25:73ff:fea0:100 of the prefix and the MAC address."""
    tail = ":".join(f"{part:x}" for part in identity.interface_id(nic.mac))
    return f"{prefix}:{tail}"


def _slaac(who: Who, rail: int, nic: Nic) -> Nic:
    """A rail that a router gave its only address; GIDs 2 and 3 are made of it."""
    prefix = who.advertised(rail)
    words = [f"{int(part, 16):04x}" for part in prefix.split(":")]
    tail = ":".join(f"{part:04x}" for part in identity.interface_id(nic.mac))
    gid = f"{':'.join(words)}:{tail}"
    kinds = ((2, "IB/RoCE v1"), (3, "RoCE v2"))
    gids = (*nic.gids[:2], *(GidEntry(index, gid, kind, nic.netdev) for index, kind in kinds))
    return replace(
        nic, addresses=nic.addresses[1:], dynamic=(f"{_global(nic, prefix)}/64",), gids=gids
    )


def hgx_h100_slaac(who: Who) -> HostModel:
    """IPv6 alone on the rails; each leaf advertises itself, so each rail has a default route."""
    host = ember.hgx_host(who.site, who.own)
    rails = tuple(_slaac(who, rail, nic) for rail, nic in enumerate(host.nics[:RAILS]))
    told = tuple(
        # The metric that Linux gives what routers tell (IP6_RT_PRIO_USER).
        Route("default", nic.netdev, identity.link_local(nic.neighbor.chassis), "", "main", "ra",
              1024)
        for nic in rails
        if nic.neighbor is not None
    )  # fmt: skip
    settings = (
        ("/etc/nccl.conf", "NCCL_IB_ADDR_FAMILY", "AF_INET6"),
        *host.kernel.library_settings,
    )
    return replace(
        host, nics=(*rails, *host.nics[RAILS:]), routes=(*_without_rails(host), *told),
        rules=ports.RULES, kernel=replace(host.kernel, library_settings=settings),
    )  # fmt: skip


# ---- bonded rails


def _two_ports(function: Function) -> tuple[Function, ...]:
    """A ConnectX-7 of two ports in place of one; no storage card."""
    if function.vendor != platform.MELLANOX:
        return (function,)
    bus = int(function.address[5:7], 16)
    return () if bus == STORAGE_BUS else slots.card(CX7_2X200G, bus)


def hgx_h100_bonded(who: Who) -> HostModel:
    """RoCE over LAG: two ports of a card are a bond and one RDMA device, mlx5_bond_N."""
    host = ember.hgx_host(who.site, who.own)
    nics: list[Nic] = []
    netdevs: list[Netdev] = []
    bonds: list[Bond] = []
    for rail, bus in enumerate(ember.RAIL_BUSES):
        first, second = (
            cards.rail(
                who,
                Socket(
                    CX7_2X200G, slots.at(bus, 0, port), f"mlx5_bond_{rail}",
                    f"enp{bus}s0f{port}np{port}", rail, 4 + 3 * rail + port, port,
                ),
            )
            for port in (0, 1)
        )  # fmt: skip
        # Each port goes to a leaf of its own, which is what the bond is for.
        first = replace(first, neighbor=leaf(who.site, who.own, rail, 2 * RAILS))
        second = replace(second, neighbor=leaf(who.site, who.own, RAILS + rail, 2 * RAILS))
        name = f"bond{rail}"
        upper = cards.bond(name, first, 6 + 3 * rail, members=2)
        netdevs.append(replace(upper, addresses=first.addresses, arp=first.arp))
        nics.append(cards.enslaved(first, name, first.mac))
        netdevs.append(cards.as_netdev(cards.enslaved(second, name, first.mac)))
        bonds.append(Bond(name, "802.3ad 4", (first.netdev, second.netdev)))
    routes, rules = ports.rail_routes(
        tuple(replace(nic, netdev=f"bond{rail}") for rail, nic in enumerate(nics))
    )
    names = ",".join(nic.name for nic in nics)
    settings = tuple(
        (file, name, f"={names}" if name == "NCCL_IB_HCA" else value)
        for file, name, value in host.kernel.library_settings
    )
    gone = {nic.netdev for nic in host.nics}
    kept = tuple(route for route in host.routes if route.netdev not in gone)
    return replace(
        host, buses=_without_empty(changed(host.buses, _two_ports)), nics=tuple(nics),
        netdevs=(*host.netdevs, *netdevs), routes=(*kept, *routes), rules=rules,
        bonds=tuple(bonds), kernel=replace(host.kernel, library_settings=settings),
    )  # fmt: skip


def _without_empty(buses: tuple[RootBus, ...]) -> tuple[RootBus, ...]:
    """Firmware hides a root port that has no card."""
    return changed(buses, lambda f: () if f.kind == "root_port" and not f.below else (f,))


# ---- in-band management on an E810


def _other_card(function: Function) -> tuple[Function, ...]:
    """The storage card's slot holds an E810 instead."""
    bus, number = int(function.address[5:7], 16), int(function.address[-1])
    if bus != STORAGE_BUS:
        return (function,)
    return (slots.card(E810_XXV, STORAGE_BUS)[number],)


def hgx_h100_e810(who: Who) -> HostModel:
    """irdma loads itself with the driver of the card, whether anybody wants RDMA there or not."""
    host = ember.hgx_host(who.site, who.own)
    members = []
    for port in (0, 1):
        at = Socket(
            E810_XXV, slots.at(STORAGE_BUS, 0, port), f"irdma{port}", f"enp132s0f{port}", 8,
            12 + port, port,
        )  # fmt: skip
        nic = cards.front_end(who, at)
        members.append(
            replace(
                nic, driver_version=RELEASE, port_name="", gids=(replace(nic.gids[1], index=0),)
            )
        )
    names = tuple(nic.netdev for nic in members)
    enslaved = tuple(cards.enslaved(nic, "bond0", members[0].mac) for nic in members)
    bond = management(who, cards.bond("bond0", members[0], 14, members=2))
    eno, loopback = host.netdevs
    unused = replace(eno, up=False, addresses=(), neighbor=None)
    gone = {nic.netdev for nic in host.nics[RAILS:]} | {eno.netdev}
    kept = tuple(route for route in host.routes if route.netdev not in gone)
    return replace(
        host, buses=changed(host.buses, _other_card), nics=(*host.nics[:RAILS], *enslaved),
        netdevs=(unused, bond, loopback), routes=(*management_routes(who, "bond0"), *kept),
        # What bonding starts with, but for the mode.
        bonds=(Bond("bond0", "802.3ad 4", names, "layer2 0", "slow 0"),),
    )  # fmt: skip


# ---- a Kubernetes node


def kubernetes_moved(who: Who) -> HostModel:
    """RDMA namespaces are exclusive, and pods hold all eight rails: netdevs and RDMA devices."""
    host = ember.hgx_host(who.site, who.own)
    taken = tuple(kubernetes.in_pod(nic) for nic in host.nics[:RAILS])
    return replace(
        host, nics=(*taken, *host.nics[RAILS:]), routes=_without_rails(host), rules=ports.RULES,
        rdma_namespaces="exclusive", labels=kubernetes.labels(host),
        kernel=replace(host.kernel, library_settings=()),
    )  # fmt: skip
