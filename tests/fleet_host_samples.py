"""Hosts of the shared samples: a model of the fleet, changed until it is the sample's host."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.fleet import hgx_a100_infiniband, hgx_h100
from lab.fleet.model import Function, Gpu, HostModel, RootBus
from lab.fleet.port_model import GidEntry
from lab.fleet.render import kernel, lspci, nvidia_smi
from lab.fleet.system_model import Cpu, MemoryNode, Module

SHARED = Path(__file__).parents[2] / "shared"
SAMPLES = SHARED / "formats" / "samples"

Faults = dict[tuple[str, str], Any]


def ember(faults: Faults | None = None, number: int = 1, **kernel_values: str) -> HostModel:
    host = hgx_h100(number, faults)
    return replace(host, kernel=replace(host.kernel, **kernel_values))


def rails(host: HostModel, *places: int) -> HostModel:
    return replace(host, nics=tuple(host.nics[place] for place in places))


def infiniband(**values: Any) -> Any:
    """A port of the InfiniBand samples."""
    nic = hgx_a100_infiniband(1).nics[0]
    guid = values.get("guid", "5c25:7303:00b0:0140")
    gids = (GidEntry(0, f"fe80:0000:0000:0000:{guid}", "IB/RoCE v1"),)
    usual = {
        "name": "mlx5_10", "address": "0000:e1:00.0", "netdev": "ibp225s0", "guid": guid,
        "image_guid": guid, "lid": 37, "gids": gids,
    }  # fmt: skip
    return replace(nic, **(usual | values))


def paragraphs(host: HostModel, *addresses: str, domains: bool = False, root: bool = True) -> str:
    found = lspci.paragraphs(host, root=root)
    text = "".join(found[f"0000:{address}"] for address in addresses)
    return text if domains else re.sub(r"^0000:", "", text, flags=re.MULTILINE)


def degraded(address: str, **values: Any) -> Faults:
    return {(f"0000:{address}", name): value for name, value in values.items()}


def without_numa() -> HostModel:
    host = ember(
        degraded("84:00.0", max_payload=512) | degraded("84:00.1", max_payload=512),
        pciutils="3.8.0",
    )
    return replace(host, buses=tuple(replace(bus, numa=-1) for bus in host.buses))


def old_card() -> HostModel:
    """A ConnectX-6 in place of the fourth card of host 2."""
    host = ember(number=2, pciutils="3.5.2")
    function = Function(
        "0000:3b:00.0", 0x15B3, 0x101B, 0x020700, "endpoint", "mlx5_core", subsystem=(0x15B3, 6),
        generation=4, generation_max=4, width=8, virtual_functions=8,
    )  # fmt: skip
    card = infiniband(address="0000:3b:00.0", serial="MT2231X0C118", uid=host.nics[3].uid)
    buses = (*host.buses, RootBus("0000:3a", 0, (function,)))
    return replace(host, buses=buses, nics=(*host.nics[:3], card, *host.nics[4:]))


def bridge(address: str, kind: str, below: tuple[Function, ...], **values: Any) -> Function:
    """A root port, or a port of a switch."""
    vendor, device, revision = (0x8086, 0x352A, 4) if kind == "root_port" else (0x1000, 0xC030, 176)
    return Function(
        f"0000:{address}", vendor, device, 0x060400, kind, "pcieport", revision=revision,
        max_payload_supported=2048, read_request=128, acs=None if kind == "upstream" else 0,
        below=below, **values,
    )  # fmt: skip


def endpoint(address: str) -> Function:
    return Function(f"0000:{address}", 0x10DE, 0x2330, 0x030200, "endpoint", "nvidia")


def slow_uplink() -> HostModel:
    host = ember(pciutils="3.8.0")
    ports = (
        bridge("99:00.0", "downstream", (endpoint("9a:00.0"),)),
        bridge("99:01.0", "downstream", (endpoint("9b:00.0"),)),
    )
    top = bridge("97:01.0", "root_port", (bridge("98:00.0", "upstream", ports, generation=4),))
    return replace(host, buses=(RootBus("0000:97", 1, (top,)),), nics=())


def topology(
    gpus: dict[str, str],
    nics: dict[str, str],
    buses: tuple[RootBus, ...],
    product: str,
    **values: Any,
) -> str:
    """GPUs and NICs by number or name with their addresses."""
    host = hgx_h100(1)
    cards = tuple(replace(host.nics[0], name=name, address=at) for name, at in nics.items())
    boards = tuple(Gpu(at, int(n), "", "", product) for n, at in gpus.items())
    host = replace(host, gpus=boards, nics=cards, buses=buses, **values)
    return nvidia_smi.topology(host)


def switched(bus: str, numa: int, *groups: tuple[str, ...]) -> RootBus:
    """A root port with a switch, below it one more switch for each group of devices."""
    inner = []
    for number, group in enumerate(groups):
        ports = tuple(
            bridge(f"{bus}:{number:x}{place}.0", "downstream", (endpoint(device),))
            for place, device in enumerate(group)
        )
        upstream = bridge(f"{bus}:{number:x}f.0", "upstream", ports)
        inner.append(bridge(f"{bus}:{number:x}e.0", "downstream", (upstream,)))
    outer = bridge(f"{bus}:fd.0", "upstream", tuple(inner))
    return RootBus(f"0000:{bus}", numa, (bridge(f"{bus}:fc.0", "root_port", (outer,)),))


def a100_topology() -> str:
    buses = tuple(
        switched(f"{c}0", c // 2, (f"{c}1:00.0", f"{c}2:00.0"), (f"{c}3:00.0",)) for c in range(4)
    )
    gpus = {str(n): f"0000:{n // 2}{n % 2 + 1}:00.0" for n in range(8)}
    names = ("mlx5_0", "mlx5_1", "mlx5_6", "mlx5_7")
    nics = {name: f"0000:{c}3:00.0" for c, name in enumerate(names)}
    cpus = ("0-63,128-191", "64-127,192-255")
    return topology(gpus, nics, buses, "NVIDIA A100-SXM4-80GB", gpu_driver="525.1", cpus=cpus)


def far_topology() -> str:
    slot = [
        bridge(f"{b}:01.0", "root_port", (endpoint(f"{b}:00.0"),)) for b in ("a1", "a2", "b1", "b2")
    ]
    card = bridge("c1:01.0", "root_port", (endpoint("c1:00.0"), endpoint("c1:00.1")))
    buses = (
        RootBus("0000:a0", 0, tuple(slot[:2])),
        RootBus("0000:b0", 1, tuple(slot[2:])),
        RootBus("0000:c0", 1, (card,)),
    )
    gpus = {str(n): f"0000:{b}:00.0" for n, b in enumerate(("a1", "a2", "b1", "b2"))}
    nics = {f"mlx5_{n}": f"0000:c1:00.{n}" for n in (0, 1)}
    return topology(gpus, nics, buses, "NVIDIA L40S", cpus=("0-31", "32-63"))


def lone_topology() -> str:
    buses = (RootBus("0000:00", -1, (endpoint("00:04.0"), endpoint("00:05.0"))),)
    gpus = {"0": "0000:00:04.0", "1": "0000:00:05.0"}
    one = Cpu(sockets=1, cores_per_socket=24, threads_per_core=1)
    return topology(gpus, {}, buses, "NVIDIA A40", gpu_driver="470.1", cpu=one)


def four_topology() -> str:
    buses = tuple(switched(f"{c}0", c // 2, (f"{c}1:00.0", f"{c}2:00.0")) for c in range(4))
    gpus = {str(c): f"0000:{c}1:00.0" for c in range(4)}
    names = ("mlx5_bond_0", "rocep41s0", "mlx5_4", "mlx5_5")
    nics = {name: f"0000:{c}2:00.0" for c, name in enumerate(names)}
    return topology(gpus, nics, buses, "NVIDIA H100 80GB HBM3", cpus=("0-47", "48-95"))


def lossy() -> HostModel:
    expected = json.loads((SAMPLES / "rdma/statistic-json-good-and-lossy.json").read_text())
    known = {name: value for name, value in expected[1].items() if name not in ("ifname", "port")}
    return rails(ember({("mlx5_3", "hw_counters"): known}), 0, 3)


def firmware(place: int, **values: Any) -> HostModel:
    host = ember({(f"mlx5_{place}", f"flash.{name}"): value for name, value in values.items()})
    return rails(host, place)


def waiting_firmware() -> HostModel:
    faults = {("mlx5_1", "firmware"): "28.41.1000", ("mlx5_1", "flash.stored"): "28.43.2026"}
    return rails(ember(faults), 0, 1)


def odd_gids() -> HostModel:
    host = rails(ember(number=2), 0, 1, 8)
    first, second, storage = host.nics
    more = "2001:0db8:0021:0000:5e25:73ff:fea0:0200"
    extra = (
        GidEntry(4, more, "IB/RoCE v1", first.netdev),
        GidEntry(5, more, "RoCE v2", first.netdev),
    )
    return replace(
        host,
        nics=(
            replace(first, gids=first.gids + extra),
            replace(second, gids=second.gids[:2]),
            storage,
        ),
    )


def dual_port() -> HostModel:
    host = rails(ember({("mlx5_9", "up"): False}), 8, 9)
    ports = [replace(nic, product="ConnectX-7 dual port") for nic in host.nics]
    return replace(host, nics=(*ports, infiniband(product="")))


def fabric() -> HostModel:
    second = infiniband(
        name="mlx5_11", guid="5c25:7303:00b0:0180", image_guid="5c25:7303:00b0:0180", lid=65535,
        sm_lid=0, chip="MT4129", firmware="28.39.3560", rate="400 Gb/sec (4X NDR)",
    )  # fmt: skip
    return replace(ember(), nics=(infiniband(), second))


def amd() -> HostModel:
    cpus = tuple(f"{16 * n}-{16 * n + 15}" for n in range(8))
    model = Cpu(
        "AuthenticAMD", "AMD EPYC 9554 64-Core Processor", 25, 17, 1, 2, 64, 1, 3762.988, 1500,
        "AMD-V", l3_kb=32_768, l3_instances=16,
    )  # fmt: skip
    memory = tuple(MemoryNode(n, part, 100, 50, (10,) * 8) for n, part in enumerate(cpus))
    return replace(ember(), cpu=model, cpus=cpus, memory=memory)


def four_nodes() -> HostModel:
    sizes = ((257551, 200122), (0, 0), (258041, 190233), (258030, 201113))
    memory = tuple(
        MemoryNode(
            n, f"{16 * n}-{16 * n + 15}", *sizes[n],
            tuple(10 if n == m else 12 if n // 2 == m // 2 else 32 for m in range(4)),
        )
        for n in range(4)
    )  # fmt: skip
    return replace(ember(), memory=memory)


def log_of(name: str) -> str:
    """Messages of the model are printed as they are."""
    messages = tuple((SAMPLES / f"dmesg/{name}.txt").read_text().splitlines())
    return "\n".join(kernel.dmesg(ember(messages=messages)).splitlines()[-len(messages) :])


def boot_log() -> str:
    """The lines of the two cards that the sample has, without their times."""
    host = ember(degraded("29:00.0", generation=4, width=8))
    cards = [line for line in kernel.dmesg(host).splitlines() if "mlx5_core 0000:18:00.0:" in line]
    cards += [line for line in kernel.dmesg(host).splitlines() if "0000:29:00.0: 1" in line]
    return "\n".join(cards)


def said(module: Any, host: HostModel, command: str) -> str:
    return next(told.stdout for told in module.commands(host) if told.command == command)


INBOX = (
    Module("mlx5_ib", 458752),
    Module("ib_uverbs", 188416, ("rdma_ucm", "mlx5_ib")),
    Module("nvidia", 54026240, ("nvidia_uvm", "nvidia_modeset"), 209),
    Module("mlx5_core", 2158592, ("mlx5_ib",)),
    Module("acpi_ipmi", 20480),
)
