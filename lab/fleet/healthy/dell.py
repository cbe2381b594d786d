"""Two servers of Dell's: the XE9680 with 8 H100, and an R750 that serves storage.

The XE9680 is the machine of captures/lspci/gpud-h100-host-vvv.txt: buses, bridges, part numbers and
what is below which switch. Its front-end cards are below the switches of GPU 0 and GPU 4, as near
to a GPU as the rails. What it is called and how its ports are configured is not in that capture:
RDMA devices are numbered as another fleet of XE9680 has them, the management comes on a VLAN.
"""

from functools import lru_cache

from lab.fleet import platform, ports
from lab.fleet.dmi import POWEREDGE_R750, POWEREDGE_XE9680, intel_roots
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
from lab.fleet.healthy.parts import BF2_2X100G, CX6_DX, CX7_400G
from lab.fleet.healthy.who import Who
from lab.fleet.model import Function, HostModel, Netdev, Nic, RootBus
from lab.fleet.system_model import Cpu

# Root buses of the eight switches; GPU and NIC are four and five buses further.
ROOTS = (0x15, 0x37, 0x48, 0x59, 0x97, 0xB7, 0xC7, 0xD7)
FRONT_END = (0x15, 0x97)  # those that hold a front-end card too
# Sockets with nothing but functions of the CPU: no root port is shown where no card is.
EMPTY = ((0x26, 0), (0xA7, 1))
RDMA_NUMBERS = (0, 3, 4, 5, 6, 9, 10, 11)  # the front-end cards are 1, 2 and 7, 8
VLAN = 100
# Dell numbers CPUs alternately: even ones are the first socket's.
CPUS = tuple(",".join(map(str, range(socket, 224, 2))) for socket in (0, 1))


@lru_cache(maxsize=1)
def _xe9680_buses() -> tuple[RootBus, ...]:
    root = (
        slots.chipset_port(0x0C, 0x1BBC, slots.lom(0x01)),
        slots.chipset_port(0x0E, 0x1BBE, (slots.idrac(0x02),)),
    )
    buses = [RootBus("0000:00", 0, platform.chipset(0, root))]
    for place, bus in enumerate(ROOTS):
        below = [
            (0x00, (platform.drive(bus + 3),)),
            (0x01, (slots.gpu(bus + 4, 0x2330, 0x16C1),)),
            (0x02, slots.card(CX7_400G, bus + 5)),
            (0x1F, (slots.pex_management(bus + 7 if bus in FRONT_END else bus + 6),)),
        ]
        if bus in FRONT_END:
            below.insert(3, (0x03, slots.card(CX6_DX, bus + 6)))
        port = platform.intel_root_port(bus, 1, (slots.pex(bus + 1, tuple(below)),))
        buses.append(RootBus(_name(bus), place // 4, (*platform.intel_functions(bus), port)))
    for bus, numa in EMPTY:
        buses.append(RootBus(_name(bus), numa, platform.intel_functions(bus)))
    board = platform.intel_root_port(0x80, 1, slots.nvswitches(0x80))
    buses.append(RootBus(_name(0x80), 1, (*platform.intel_functions(0x80), board)))
    return intel_roots(sorted(buses, key=lambda bus: bus.name))


def _name(bus: int) -> str:
    return f"0000:{bus:02x}"


def _front_end(who: Who, card: int) -> tuple[Nic, Nic]:
    """Port 1 has no cable on either card; port 0 of the first carries the management's VLAN."""
    bus, first = FRONT_END[card] + 6, (1, 7)[card]
    made = [
        cards.front_end(
            who,
            Socket(
                CX6_DX, slots.at(bus, 0, port), f"mlx5_{first + port}",
                f"enp{bus}s0f{port}np{port}", 8 + card, 12 + 2 * card + port, port,
            ),
        )
        for port in (0, 1)
    ]  # fmt: skip
    used = made[0] if card else cards.without_address(made[0])
    return used, cards.unplugged(made[1])


def dell_xe9680(who: Who) -> HostModel:
    """8 H100, 8 ConnectX-7, two ConnectX-6 Dx of two ports, two gigabit ports without a cable."""
    rails = tuple(
        cards.rail(
            who,
            Socket(
                CX7_400G, slots.at(bus + 5), f"mlx5_{RDMA_NUMBERS[place]}",
                f"enp{bus + 5}s0np0", place, 4 + place,
            ),
        )
        for place, bus in enumerate(ROOTS)
    )  # fmt: skip
    front = (*_front_end(who, 0), *_front_end(who, 1))
    unused = tuple(
        plain(who, Plain(name, slots.at(1, 0, port), 2 + port, "tg3", up=False, port=port))
        for port, name in enumerate(("eno8303", "eno8403"))
    )
    lower = front[0]
    vlan = management(
        who,
        Netdev(
            f"{lower.netdev}.{VLAN}", "", lower.mac, 20, speed=lower.speed, lower=lower.netdev,
            driver="802.1Q VLAN Support", driver_version="1.8",
        ),
    )  # fmt: skip
    routes, rules = ports.rail_routes(rails)
    found = (*management_routes(who, vlan.netdev), *routes, *ports.connected_routes((front[2],)))
    board = Board(POWEREDGE_XE9680, _xe9680_buses(), cpus=CPUS, server_model="PowerEdge XE9680")
    return assembled(
        who, board, Network((*rails, *front), (*unused, vlan), found, rules),
        Software(settings=collectives(nic.name for nic in rails)),
        gpus(who, (slots.at(bus + 4) for bus in ROOTS), "NVIDIA H100 80GB HBM3"),
    )  # fmt: skip


# ---- R750

_ICE_LAKE = Cpu(
    model="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", model_number=106, stepping=6,
    cores_per_socket=32, max_mhz=3200, base_mhz=2000, l3_kb=49_152,
)  # fmt: skip
_R750_CPUS = tuple(",".join(map(str, range(socket, 128, 2))) for socket in (0, 1))


@lru_cache(maxsize=1)
def _r750_buses() -> tuple[RootBus, ...]:
    ocp = tuple(
        Function(
            slots.at(0x31, 0, port), slots.BROADCOM_NIC, 0x16D7, platform.ETHERNET, "endpoint",
            "bnxt_en", subsystem=(slots.BROADCOM_NIC, 0x4146), generation=3, generation_max=3,
            width=8, width_max=8,
        )
        for port in (0, 1)
    )  # fmt: skip
    root = (
        slots.chipset_port(0x1C, 0xA190, slots.lom(0x04)),
        slots.chipset_port(0x1D, 0xA198, (slots.idrac(0x02),)),
    )
    buses = [RootBus("0000:00", 0, platform.chipset(0, root))]
    filled = (
        (0x30, 0, 2, ocp),
        (0x65, 0, 2, (platform.drive(0x66),)),
        (0x97, 1, 2, (platform.drive(0x98),)),
        (0xB0, 1, 2, slots.card(BF2_2X100G, 0xB1)),
    )
    for bus, numa, device, below in filled:
        port = platform.intel_root_port(bus, device, below, generation_max=4)
        buses.append(RootBus(_name(bus), numa, (*platform.intel_functions(bus), port)))
    return intel_roots(buses)


def storage_r750(who: Who) -> HostModel:
    """No GPU: two RoCE ports of a BlueField-2, management on the OCP card, gigabit ports unused.

    Cards and names are those of a machine that NVIDIA's own test data show.
    """
    storage = tuple(
        cards.rail(
            who,
            Socket(
                BF2_2X100G, slots.at(0xB1, 0, port), f"mlx5_{port}", f"enp177s0f{port}np{port}",
                0, 6 + port, port, network=port,
            ),
        )
        for port in (0, 1)
    )  # fmt: skip
    unused = tuple(
        plain(who, Plain(name, slots.at(4, 0, port), 2 + port, "tg3", up=False, port=port))
        for port, name in enumerate(("eno8303", "eno8403"))
    )
    ocp = tuple(
        plain(
            who,
            Plain(
                name, slots.at(0x31, 0, port), 4 + port, "bnxt_en", 10_000, not port, 2 + port
            ),
        )
        for port, name in enumerate(("eno12399np0", "eno12409np1"))
    )  # fmt: skip
    board = Board(
        POWEREDGE_R750, _r750_buses(), _ICE_LAKE, _R750_CPUS, "Rocky Linux 9.5 (Blue Onyx)",
        "PowerEdge R750",
    )  # fmt: skip
    routes = (*management_routes(who, ocp[0].netdev), *ports.connected_routes(storage))
    return assembled(
        who, board, Network(storage, (*unused, management(who, ocp[0]), ocp[1]), routes),
        Software(gpu_driver=""),
    )  # fmt: skip
