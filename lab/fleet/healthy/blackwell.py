"""DGX B200 and HGX B300: NICs two switches away from their GPU, and functions that look like NICs.

Buses of the B200, its names and the order of its RDMA devices are those that users of such machines
print; of the B300 only the distances and the buses of its NICs are known, and the rest is drawn
from the data sheet of the ConnectX-8, which has a switch of its own.
"""

from dataclasses import replace
from functools import lru_cache

from lab.fleet import platform, ports
from lab.fleet.dmi import DGX_B200, SUPERMICRO_B300, intel_roots
from lab.fleet.healthy import cards, slots
from lab.fleet.healthy.cards import Socket
from lab.fleet.healthy.host import (
    Board,
    Network,
    Plain,
    Software,
    assembled,
    collectives,
    gpus,
    management,
    management_routes,
    plain,
)
from lab.fleet.healthy.parts import BF3_B3220, CX7_DGX, CX8_800G, NVLINK_BRIDGE
from lab.fleet.healthy.slots import Chip
from lab.fleet.healthy.who import Who
from lab.fleet.model import Function, HostModel, Nic, RootBus
from lab.fleet.system_model import Bond, Cpu

B200_NICS = (0x18, 0x40, 0x4F, 0x5E, 0x9A, 0xC0, 0xCE, 0xDC)  # GPUs are three buses further
B200_NUMBERS = (4, 7, 8, 9, 10, 13, 14, 15)
B200_STORAGE = ((0x29, 5), (0xAA, 11))  # bus, number of the first RDMA device
B300_NICS = (0x11, 0x2F, 0x46, 0x5D, 0x8B, 0xAA, 0xC2, 0xDA)
B300_FRONT_END = ((0x20, 4), (0x9B, 6))
BRIDGE_BUS = 0x06  # of the NVLink management; not seen
# The storage cards of a DGX come with one port of each sort.
MIXED = {"LINK_TYPE_P1": ("IB(1)", "IB(1)"), "LINK_TYPE_P2": ("ETH(2)", "ETH(2)")}
CX8_BRIDGE = 0x197C
DATA_DIRECT = 0x2100
# NVLink management is slot 14 of the DGX.
BRIDGE_NAMES = tuple(f"ibs14f{number}" for number in range(4))
_XEON = Cpu(model="Intel(R) Xeon(R) Platinum 8570", model_number=207, stepping=2)


def _pair(nic: int, card: tuple[Function, ...], gpu: Function) -> Function:
    """Root port - switch - NIC, and one more switch - GPU."""
    inner = slots.pex(nic + 1, ((0, (gpu,)),))
    outer = slots.pex(nic - 2, ((0, card), (1, (inner,))))
    return platform.intel_root_port(nic - 3, 1, (outer,))


def _deep(bus: int) -> Function:
    """A storage card of the DGX: two switches above it."""
    card = slots.card(BF3_B3220, bus, infiniband=(0,))
    inner = slots.pex(bus - 2, ((0, card),))
    return platform.intel_root_port(bus - 5, 1, (slots.pex(bus - 4, ((0, (inner,)),)),))


def _bridges() -> Function:
    """Four functions of one device, InfiniBand by their class, alone below a port of the CPU."""
    functions = slots.card(NVLINK_BRIDGE, BRIDGE_BUS, infiniband=(0, 1, 2, 3))
    return slots.chipset_port(0x0E, 0x1BBE, functions)


def _root(bus: int, numa: int, port: Function) -> RootBus:
    return RootBus(f"0000:{bus:02x}", numa, (*platform.intel_functions(bus), port))


@lru_cache(maxsize=1)
def _b200_buses() -> tuple[RootBus, ...]:
    uplink = tuple(
        Function(
            slots.at(0x82, 0, port), platform.INTEL, 0x1592, platform.ETHERNET, "endpoint", "ice",
            subsystem=(platform.INTEL, 0x0001), generation=4, generation_max=4,
        )
        for port in (0, 1)
    )  # fmt: skip
    root = (
        slots.chipset_port(0x0C, 0x1BBC, (platform.management_card(0x0B),)),
        _bridges(),
        platform.intel_root_port(0, 0x1D, (platform.bmc(0x03),)),
    )
    buses = [RootBus("0000:00", 0, platform.chipset(0, root))]
    for place, bus in enumerate(B200_NICS):
        card = slots.card(CX7_DGX, bus, infiniband=(0,))
        pair = _pair(bus, card, slots.gpu(bus + 3, 0x2901, 0x1999))
        buses.append(_root(bus - 3, place // 4, pair))
    buses += [_root(bus - 5, place, _deep(bus)) for place, (bus, _) in enumerate(B200_STORAGE)]
    buses.append(_root(0x81, 1, platform.intel_root_port(0x81, 1, uplink, generation_max=5)))
    return intel_roots(sorted(buses, key=lambda bus: bus.name))


def _managing(who: Who, first: int, names: tuple[str, ...], index: int) -> tuple[Nic, ...]:
    """NVLink management: RDMA devices and netdevs of InfiniBand, and never a link."""
    return tuple(
        cards.unplugged(
            cards.infiniband(
                who,
                Socket(
                    NVLINK_BRIDGE, slots.at(BRIDGE_BUS, 0, port), f"mlx5_{first + port}",
                    names[port], 12, index + port, port,
                ),
                0xFFFF,
            )
        )
        for port in range(4)
    )  # fmt: skip


def _lid(who: Who, place: int) -> int:
    """16 ports of a host at most."""
    return 2 + (who.number - 1) * 16 + place


def dgx_b200(who: Who) -> HostModel:
    """8 B200, 8 InfiniBand rails, two BlueField-3 with a storage and a management port each."""
    rails = tuple(
        cards.infiniband(
            who,
            Socket(
                CX7_DGX, slots.at(bus), f"mlx5_{B200_NUMBERS[place]}", f"ibp{bus}s0", place,
                10 + place,
            ),
            _lid(who, place),
        )
        for place, bus in enumerate(B200_NICS)
    )  # fmt: skip
    storage, uplinks = [], []
    for card, (bus, first) in enumerate(B200_STORAGE):
        ib = Socket(
            BF3_B3220, slots.at(bus), f"mlx5_{first}", f"ibp{bus}s0f0", 8 + card, 18 + card,
        )  # fmt: skip
        ethernet = Socket(
            BF3_B3220, slots.at(bus, 0, 1), f"mlx5_{first + 1}", f"enp{bus}s0f1np1", 8 + card,
            20 + card, 1,
        )  # fmt: skip
        made = cards.infiniband(who, ib, _lid(who, 8 + card))
        storage.append(replace(made, parameters=MIXED))
        uplink = cards.without_address(cards.front_end(who, ethernet))
        uplinks.append(replace(uplink, parameters=MIXED))
    names = tuple(nic.netdev for nic in uplinks)
    uplinks = [cards.enslaved(nic, "bond0", uplinks[0].mac) for nic in uplinks]
    bond = management(who, cards.bond("bond0", uplinks[0], 30, members=2))
    others = tuple(
        plain(who, Plain(name, address, index, driver, speed, up=False, port=index - 2))
        for name, address, index, driver, speed in (
            ("eno3", slots.at(0x0B), 2, "ixgbe", 10_000),
            ("ens6f0np0", slots.at(0x82), 3, "ice", 100_000),
            ("ens6f1np1", slots.at(0x82, 0, 1), 4, "ice", 100_000),
        )
    )
    routes = (
        *management_routes(who, "bond0"), *ports.connected_routes((*rails, *storage)),
    )  # fmt: skip
    board = Board(
        DGX_B200, _b200_buses(), _XEON, operating_system="Ubuntu 24.04.2 LTS",
        server_model="DGX B200",
    )  # fmt: skip
    return assembled(
        who, board,
        Network(
            (*_managing(who, 0, BRIDGE_NAMES, 5), *rails, *storage, *uplinks), (*others, bond),
            routes, bonds=(Bond("bond0", "802.3ad 4", names),),
        ),
        Software(settings=collectives((nic.name for nic in rails), traffic_class=0)),
        gpus(who, (slots.at(bus + 3) for bus in B200_NICS), "NVIDIA B200"),
    )  # fmt: skip


# ---- HGX B300


def _supernic(nic: int) -> Function:
    """Root port Gen5 - the ConnectX-8's own switch Gen6: the NIC; GPU and Data Direct deeper."""
    own = Chip(platform.MELLANOX, CX8_BRIDGE, 6)
    direct = Function(
        slots.at(nic + 4), platform.MELLANOX, DATA_DIRECT, slots.DMA_CONTROLLER, "endpoint",
        "mlx5_ib", subsystem=(platform.MELLANOX, 0x0041), generation=6, generation_max=6, ats=False,
    )  # fmt: skip
    gpu = slots.gpu(nic + 3, 0x3182, 0x20E6, generation=6)
    near = (
        slots.bridge(slots.at(nic + 2), "downstream", (gpu,), own),
        slots.bridge(slots.at(nic + 2, 1), "downstream", (direct,), own),
    )
    inner = slots.bridge(slots.at(nic + 1), "upstream", near, own)
    card = slots.card(CX8_800G, nic, infiniband=(0,))
    lower = (
        slots.bridge(slots.at(nic - 1), "downstream", card, own),
        slots.bridge(slots.at(nic - 1, 1), "downstream", (inner,), own),
    )
    uplink = replace(own, generation=5, generation_max=6)
    upstream = slots.bridge(slots.at(nic - 2), "upstream", lower, uplink)
    return platform.intel_root_port(nic - 3, 1, (upstream,))


@lru_cache(maxsize=1)
def _b300_buses() -> tuple[RootBus, ...]:
    root = (
        slots.chipset_port(0x0C, 0x1BBC, (platform.management_card(0x03),)),
        _bridges(),
        platform.intel_root_port(0, 0x1D, (platform.bmc(0x04),)),
    )
    buses = [RootBus("0000:00", 0, platform.chipset(0, root))]
    buses += [_root(bus - 3, place // 4, _supernic(bus)) for place, bus in enumerate(B300_NICS)]
    for numa, (bus, _) in enumerate(B300_FRONT_END):
        card = slots.card(BF3_B3220, bus)
        buses.append(_root(bus - 1, numa, platform.intel_root_port(bus - 1, 1, card)))
    return intel_roots(sorted(buses, key=lambda bus: bus.name))


def hgx_b300(who: Who) -> HostModel:
    """8 B300, 8 ConnectX-8 of 800 Gb/s, two BlueField-3 in slots of the host."""
    numbers = (0, 1, 2, 3, 8, 9, 10, 11)  # in the order of the bus, the BlueField-3 between
    rails = tuple(
        cards.infiniband(
            who,
            Socket(
                CX8_800G, slots.at(bus), f"mlx5_{numbers[place]}", f"ibp{bus}s0", place, 3 + place
            ),
            _lid(who, place),
        )
        for place, bus in enumerate(B300_NICS)
    )  # fmt: skip
    front = tuple(
        cards.front_end(
            who,
            Socket(
                BF3_B3220, slots.at(bus, 0, port), f"mlx5_{first + port}",
                f"enp{bus}s0f{port}np{port}", 8 + card, 11 + 2 * card + port, port,
                network=8 + 2 * card + port,
            ),
            mtu=9000,
        )
        for card, (bus, first) in enumerate(B300_FRONT_END)
        for port in (0, 1)
    )  # fmt: skip
    names = tuple(f"ibp{BRIDGE_BUS}s0f{port}" for port in range(4))
    eno = management(who, plain(who, Plain("eno1", slots.at(3), 2, "ixgbe", 10_000)))
    routes = (*management_routes(who, "eno1"), *ports.connected_routes((*rails, *front)))
    board = Board(
        SUPERMICRO_B300, _b300_buses(), _XEON, operating_system="Ubuntu 24.04.2 LTS",
        server_model="HGX B300 8-GPU",
    )  # fmt: skip
    return assembled(
        who, board, Network((*_managing(who, 12, names, 15), *rails, *front), (eno,), routes),
        Software(settings=collectives((nic.name for nic in rails), traffic_class=0)),
        gpus(who, (slots.at(bus + 3) for bus in B300_NICS), "NVIDIA B300 SXM6 AC"),
    )  # fmt: skip
