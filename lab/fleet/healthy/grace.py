"""A compute tray of a GB200 NVL72: Arm, no PCIe switch, and every part in a PCI domain of its own.

Addresses, names and part numbers are NVIDIA's own: a table of its north-south guide, and the data
its management software is tested with. GPU and NIC are never nearer than the same socket.
"""

from functools import lru_cache

from lab.fleet import platform, ports
from lab.fleet.dmi import GB200_TRAY, by_domain
from lab.fleet.healthy import cards, slots
from lab.fleet.healthy.cards import Socket
from lab.fleet.healthy.host import (
    GRACE,
    GRACE_CPUS,
    Board,
    Network,
    Software,
    assembled,
    collectives,
    gpus,
    management,
    management_routes,
)
from lab.fleet.healthy.parts import BF3_B3240, CX7_MEZZANINE
from lab.fleet.healthy.slots import Chip
from lab.fleet.healthy.who import Who
from lab.fleet.model import Function, HostModel, Nic, RootBus

# Domain and number of the RDMA device, then the same of the BlueField-3's first ports.
RAILS = ((0x00, 0), (0x02, 1), (0x10, 4), (0x12, 5))
FRONT_END = ((0x06, 2), (0x16, 6))
GPUS = (0x08, 0x09, 0x18, 0x19)
CX7_BRIDGE, BF3_BRIDGE, ROOT_PORT = 0x1979, 0x197B, 0x22B1
RELEASE = "6.8.0-1021-nvidia-64k"


def _root(domain: int, below: tuple[Function, ...]) -> RootBus:
    """The first Grace has the domains below 0x10."""
    chip = Chip(platform.NVIDIA, ROOT_PORT)
    port = slots.bridge(slots.at(0, 0, 0, domain), "root_port", below, chip)
    return RootBus(f"{domain:04x}:00", domain // 0x10, (port,))


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    buses = []
    for domain, _ in RAILS:
        functions = slots.card(CX7_MEZZANINE, 3, infiniband=(0,), domain=domain)
        buses.append(_root(domain, (slots.nic_bridges(CX7_BRIDGE, 1, domain, functions),)))
    for domain, _ in FRONT_END:
        functions = slots.card(BF3_B3240, 3, domain=domain)
        buses.append(_root(domain, (slots.nic_bridges(BF3_BRIDGE, 1, domain, functions),)))
    buses += [_root(domain, (slots.gpu(1, 0x2941, 0x2046, domain=domain),)) for domain in GPUS]
    return by_domain(sorted(buses, key=lambda bus: bus.name))


def _prefix(domain: int) -> str:
    """P2 of the domain 0002, nothing of the first; in decimal."""
    return f"P{domain}" if domain else ""


def _front_end(who: Who, card: int) -> tuple[Nic, Nic]:
    domain, first = FRONT_END[card]
    one, other = (
        cards.front_end(
            who,
            Socket(
                BF3_B3240, slots.at(3, 0, port, domain), f"mlx5_{first + port}",
                f"en{_prefix(domain)}p3s0f{port}np{port}", 4 + card, 6 + 2 * card + port, port,
                network=4 + 2 * card + port,
            ),
            mtu=9000,
        )
        for port in (0, 1)
    )  # fmt: skip
    return one, other


def gb200_tray(who: Who) -> HostModel:
    """4 GPUs, 4 InfiniBand rails, two BlueField-3 of two ports; people come by the first."""
    rails = tuple(
        cards.infiniband(
            who,
            Socket(
                CX7_MEZZANINE, slots.at(3, 0, 0, domain), f"mlx5_{number}",
                f"ib{_prefix(domain)}p3s0", place, 2 + place,
            ),
            2 + (who.number - 1) * 4 + place,
        )
        for place, (domain, number) in enumerate(RAILS)
    )  # fmt: skip
    front = (*_front_end(who, 0), *_front_end(who, 1))
    way_in = management(who, cards.without_address(front[0]))
    assert isinstance(way_in, Nic)
    routes = (
        *management_routes(who, way_in.netdev), *ports.connected_routes((*rails, *front[1:])),
    )  # fmt: skip
    board = Board(
        GB200_TRAY, _buses(), GRACE, GRACE_CPUS, "Ubuntu 24.04.2 LTS", "GB200 NVL",
    )  # fmt: skip
    settings = collectives((nic.name for nic in rails), traffic_class=0)
    return assembled(
        who, board, Network((*rails, way_in, *front[1:]), (), routes),
        Software(iommu="", release=RELEASE, settings=settings),
        gpus(who, (slots.at(1, 0, 0, domain) for domain in GPUS), "NVIDIA GB200"),
    )  # fmt: skip
