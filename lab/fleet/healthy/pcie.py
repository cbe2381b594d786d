"""A server whose GPUs are PCIe cards in slots of the CPUs: no switch, no NVLink.

Its DMI is that of a machine seen; no listing of a server with L40S was found, so the slots are
drawn from what such boards have: every card on a root port of its own.
"""

from functools import lru_cache

from lab.fleet import platform, ports
from lab.fleet.dmi import SUPERMICRO_4125GS, amd_roots
from lab.fleet.healthy import cards, slots
from lab.fleet.healthy.cards import Socket
from lab.fleet.healthy.host import (
    EPYC,
    EPYC_CPUS,
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
from lab.fleet.healthy.parts import CX7_400G
from lab.fleet.healthy.who import Who
from lab.fleet.model import HostModel, RootBus

ROOTS = (0x00, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0)
NICS = (0x21, 0x61, 0xA1, 0xE1)  # on every second root complex, beside a GPU


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    buses = []
    for place, root in enumerate(ROOTS):
        gpu = slots.gpu(root + 2, 0x26B9, 0x1851, generation=4)
        ports_ = [platform.amd_root_port(root, 3, (gpu,), 5)]
        if root + 1 in NICS:
            card = slots.card(CX7_400G, root + 1)
            ports_.insert(0, platform.amd_root_port(root, 1, card, 5))
        if root == ROOTS[0]:
            ports_.append(platform.amd_root_port(root, 5, (platform.management_card(0x03),), 5))
            ports_.append(platform.amd_root_port(root, 7, (platform.bmc(0x04),), 5))
        functions = (*platform.amd_functions(root, 5), *ports_)
        buses.append(RootBus(f"0000:{root:02x}", place // 4, functions))
    return amd_roots(buses)


def pcie_l40s(who: Who) -> HostModel:
    """8 L40S and 4 ConnectX-7: two GPUs to each, of which one is on the same root complex."""
    rails = tuple(
        cards.rail(
            who,
            Socket(
                CX7_400G, slots.at(bus), f"mlx5_{place}", f"enp{bus}s0np0", place, 3 + place
            ),
            len(NICS),
        )
        for place, bus in enumerate(NICS)
    )  # fmt: skip
    eno = management(who, plain(who, Plain("eno1", slots.at(3), 2, "ixgbe", 10_000)))
    routes, rules = ports.rail_routes(rails)
    board = Board(SUPERMICRO_4125GS, _buses(), EPYC, EPYC_CPUS, server_model="AS -4125GS-TNRT2")
    return assembled(
        who, board, Network(rails, (eno,), (*management_routes(who, "eno1"), *routes), rules),
        Software(iommu="amd_iommu=on", settings=collectives(nic.name for nic in rails)),
        gpus(who, (slots.at(root + 2) for root in ROOTS), "NVIDIA L40S"),
    )  # fmt: skip
