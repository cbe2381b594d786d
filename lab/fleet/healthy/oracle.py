"""Bare-metal GPU shapes of Oracle's cloud: one board, with H100 or with MI300X.

Buses of the NICs and numbers of their RDMA devices are those that the provider's own tools ship;
bridges and ids of the H100 shape are those of its topology file, where the top bridge of every GPU
says 5.0 GT/s and is well. The buses of the two front-end ports are not told, only their place in
the order of the RDMA devices.
"""

from dataclasses import replace
from functools import lru_cache

from lab.fleet import platform, ports
from lab.fleet.dmi import ORACLE_GPU, intel_roots
from lab.fleet.healthy import cards, slots
from lab.fleet.healthy.cards import Socket
from lab.fleet.healthy.host import (
    Board,
    Network,
    Software,
    assembled,
    collectives,
    gpus,
    management,
    management_routes,
)
from lab.fleet.healthy.parts import CX6_DX, CX7_400G, CX7_OCI, Part
from lab.fleet.healthy.slots import PEX
from lab.fleet.healthy.who import Who
from lab.fleet.model import Function, HostModel, Nic, RootBus
from lab.fleet.port_model import Qos
from lab.fleet.system_model import Module

NICS = (0x0C, 0x2A, 0x41, 0x58, 0x86, 0xA5, 0xBD, 0xD5)
FRONT_END = (0x1F, 0x9C)
# What the provider's Kubernetes policies set (captures/k8s-objects/oci-hpc-oke-…-policy.yaml).
MTU = 4220
# Its NCCL settings: DSCP 10 and ECT(1) in one number. Flow control of the shape is not told.
TRAFFIC_CLASS = 41
_QOS = Qos(
    pfc=(False,) * 8, buffer_bytes=(262_016, 0, 0, 0, 0, 0, 0, 0), priority_buffer=(0,) * 8,
    priority_class=(1, 0, 2, 3, 4, 5, 6, 7), class_scheduler=("vendor",) * 8,
    class_bandwidth=(0,) * 8, default_tos=None, traffic_class=0, cable_length_m=7,
)  # fmt: skip
_SINGLE = replace(CX6_DX, ports=1)


def _pair(nic: int, card: tuple[Function, ...], below: Function) -> Function:
    """Root port - switch - a switch for the NIC, and what the GPU is behind."""
    lower = replace(PEX, subsystem=(platform.BROADCOM, 0x1003))
    # The topology file has the lower of two max_link_speed (NCCL topo/xml.cc).
    upper = replace(PEX, subsystem=(platform.BROADCOM, 0x0072), generation=2)
    inner = slots.pex(nic - 2, ((0, card),))
    downstream = tuple(
        slots.bridge(slots.at(nic - 3, device), "downstream", (part,), lower)
        for device, part in enumerate((inner, below))
    )
    top = slots.bridge(slots.at(nic - 4), "upstream", downstream, upper)
    return platform.intel_root_port(nic - 5, 1, (top,))


def _root(bus: int, numa: int, port: Function) -> RootBus:
    return RootBus(f"0000:{bus:02x}", numa, (*platform.intel_functions(bus), port))


@lru_cache(maxsize=2)
def _buses(part: Part, instinct: bool) -> tuple[RootBus, ...]:
    root = (platform.intel_root_port(0, 0x1D, (platform.bmc(0x03),)),)
    buses = [RootBus("0000:00", 0, platform.chipset(0, root))]
    for place, nic in enumerate(NICS):
        gpu = slots.gpu(nic + 3, 0x2330, 0x16C1)
        below = slots.instinct(nic + 1) if instinct else slots.pex(nic + 1, ((0, (gpu,)),))
        buses.append(_root(nic - 5, place // 4, _pair(nic, slots.card(part, nic), below)))
    for numa, bus in enumerate(FRONT_END):
        port = platform.intel_root_port(bus - 1, 1, slots.card(_SINGLE, bus))
        buses.append(_root(bus - 1, numa, port))
    return intel_roots(sorted(buses, key=lambda bus: bus.name))


def _ports(who: Who, part: Part, numbers: tuple[int, ...]) -> tuple[Nic, ...]:
    """The rails: one network per function."""
    found = []
    for place, bus in enumerate(NICS):
        for port in range(part.ports):
            network = place * part.ports + port
            at = Socket(
                part, slots.at(bus, 0, port), f"mlx5_{numbers[network]}", f"rdma{network}", place,
                4 + network, port, network=network,
            )  # fmt: skip
            nic = cards.rail(who, at, len(NICS) * part.ports)
            found.append(replace(nic, mtu=MTU, qos=_QOS))
    return tuple(found)


def _front_end(who: Who, numbers: tuple[int, int]) -> tuple[Nic, Nic]:
    """eth0 is the way in; eth1 has a network of its own."""
    first, second = (
        cards.front_end(
            who,
            Socket(
                _SINGLE, slots.at(bus), f"mlx5_{numbers[place]}", f"eth{place}", 8 + place,
                2 + place, network=20 + place,
            ),
            mtu=9000,
        )
        for place, bus in enumerate(FRONT_END)
    )  # fmt: skip
    way_in = management(who, first)
    assert isinstance(way_in, Nic)
    gids = ports.roce_gids(first.mac, who.management(), first.netdev)
    return replace(way_in, address_v4=who.management(), gids=gids), second


def oci_h100(who: Who) -> HostModel:
    """BM.GPU.H100.8: each ConnectX-7 is two functions of 200 Gb/s."""
    numbers = (0, 1, *range(3, 11), *range(12, 18))
    rails, front = _ports(who, CX7_OCI, numbers), _front_end(who, (2, 11))
    routes, rules = ports.rail_routes(rails)
    found = (*management_routes(who, "eth0"), *routes, *ports.connected_routes(front[1:]))
    board = Board(ORACLE_GPU, _buses(CX7_OCI, False), server_model="BM.GPU.H100.8")
    return assembled(
        who, board, Network((*rails, *front), (), found, rules),
        Software(settings=collectives((nic.name for nic in rails), TRAFFIC_CLASS)),
        gpus(who, (slots.at(bus + 3) for bus in NICS), "NVIDIA H100 80GB HBM3"),
    )  # fmt: skip


def mi300x(who: Who) -> HostModel:
    """BM.GPU.MI300X.8: the same slots with one function of 400 Gb/s each, and no NVIDIA driver."""
    rails, front = _ports(who, CX7_400G, (0, 2, 3, 4, 5, 7, 8, 9)), _front_end(who, (1, 6))
    routes, rules = ports.rail_routes(rails)
    found = (*management_routes(who, "eth0"), *routes, *ports.connected_routes(front[1:]))
    board = Board(ORACLE_GPU, _buses(CX7_400G, True), server_model="BM.GPU.MI300X.8")
    driver = Module("amdgpu", 19_714_048, references=96, version="6.10.5")
    return assembled(
        who, board, Network((*rails, *front), (), found, rules),
        Software(
            gpu_driver="", more=(driver,),
            settings=collectives((nic.name for nic in rails), TRAFFIC_CLASS),
        ),
    )  # fmt: skip
