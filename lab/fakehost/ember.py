"""The invented site `ember`: hosts with 8 GPUs, 8 rails, a storage card and a management port."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from lab.fakehost.model import (
    ACS_OFF,
    Faults,
    Function,
    Gpu,
    HostModel,
    Neighbor,
    Netdev,
    Nic,
    RootBus,
    with_faults,
)

RAIL_BUSES = (0x18, 0x29, 0x3A, 0x5B, 0x98, 0xA9, 0xBA, 0xDB)
CPUS = ("0-55,112-167", "56-111,168-223")
HOSTS_PER_POD = 128  # ports of a leaf that go to hosts
FIRMWARE = "28.43.2026"
MODULES = (
    *("ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia", "nvidia_modeset"),
    *("nvidia_peermem", "nvidia_uvm", "rdma_cm"),
)

MELLANOX, NVIDIA, INTEL, BROADCOM, SAMSUNG, ASPEED = 0x15B3, 0x10DE, 0x8086, 0x1000, 0x144D, 0x1A03
BRIDGE = 0x060400


def _address(bus: int, device: int = 0, function: int = 0) -> str:
    return f"0000:{bus:02x}:{device:02x}.{function}"


def _system_functions(bus: int) -> tuple[Function, ...]:
    """What each root bus of the CPU has of its own."""
    devices = ((0, 0x09A2), (1, 0x09A4), (2, 0x09A3), (4, 0x0B23))
    return tuple(
        Function(_address(bus, 0, number), INTEL, device, 0x088000, "inside", revision=0x04)
        for number, device in devices
    )


def _switch(nic_bus: int) -> Function:
    """Root port - switch - NIC, GPU and an NVMe drive, each behind its own port of the switch."""
    devices = (
        Function(
            _address(nic_bus), MELLANOX, 0x1021, 0x020000, "endpoint", "mlx5_core",
            subsystem=(MELLANOX, 0x0041), read_request=4096, ats=False, virtual_functions=8,
        ),
        Function(
            _address(nic_bus + 1), NVIDIA, 0x2330, 0x030200, "endpoint", "nvidia",
            subsystem=(NVIDIA, 0x16C1), revision=0xA1, ats=False,
        ),
        Function(
            _address(nic_bus + 2), SAMSUNG, 0xA824, 0x010802, "endpoint", "nvme",
            subsystem=(SAMSUNG, 0xA801), generation=4, generation_max=4, width=4, width_max=4,
        ),
    )  # fmt: skip
    ports = tuple(
        Function(
            _address(nic_bus - 1, number), BROADCOM, 0xC030, BRIDGE, "downstream", "pcieport",
            revision=0xB0, max_payload_supported=2048, read_request=128, acs=ACS_OFF,
            below=(device,),
        )
        for number, device in enumerate(devices)
    )  # fmt: skip
    upstream = Function(
        _address(nic_bus - 2), BROADCOM, 0xC030, BRIDGE, "upstream", "pcieport", revision=0xB0,
        max_payload_supported=2048, read_request=128, below=ports,
    )  # fmt: skip
    return _root_port(nic_bus - 3, 1, (upstream,))


def _root_port(bus: int, device: int, below: tuple[Function, ...]) -> Function:
    return Function(
        _address(bus, device), INTEL, 0x352A, BRIDGE, "root_port", "pcieport", revision=0x04,
        max_payload_supported=2048, read_request=128, acs=ACS_OFF, below=below,
    )  # fmt: skip


def _storage_card() -> Function:
    functions = tuple(
        Function(
            _address(0x84, 0, number), MELLANOX, 0x1021, 0x020000, "endpoint", "mlx5_core",
            subsystem=(MELLANOX, 0x0023), read_request=4096, ats=False, virtual_functions=8,
        )
        for number in (0, 1)
    )  # fmt: skip
    return _root_port(0x80, 3, functions)


def _chipset() -> tuple[Function, ...]:
    """The first root bus: the management NIC, the BMC's display and the chipset."""
    management = Function(
        _address(0x03), INTEL, 0x1563, 0x020000, "endpoint", "ixgbe", subsystem=(INTEL, 0x001D),
        generation=3, generation_max=3, width=4, width_max=4,
    )  # fmt: skip
    display = Function(_address(0x05), ASPEED, 0x2000, 0x030000, "plain", "ast", revision=0x52)
    bmc = Function(
        _address(0x04), ASPEED, 0x1150, BRIDGE, "to_pci", revision=0x06, generation=2,
        generation_max=2, width=1, width_max=1, below=(display,),
    )  # fmt: skip
    return (
        *_system_functions(0),
        _root_port(0, 0x1C, (management,)),
        _root_port(0, 0x1D, (bmc,)),
        Function(_address(0, 0x14), INTEL, 0x1BCD, 0x0C0330, "plain", "xhci_hcd", revision=0x11),
        Function(_address(0, 0x1F), INTEL, 0x1B81, 0x060100, "plain", revision=0x11),
        Function(_address(0, 0x1F, 4), INTEL, 0x1BC9, 0x0C0500, "plain", "i801_smbus"),
    )


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    buses = [RootBus("0000:00", 0, _chipset())]
    for rail, nic_bus in enumerate(RAIL_BUSES):
        bus = nic_bus - 3
        functions = (*_system_functions(bus), _switch(nic_bus))
        buses.append(RootBus(f"0000:{bus:02x}", rail // 4, functions))
    buses.append(RootBus("0000:80", 1, (*_system_functions(0x80), _storage_card())))
    return tuple(buses)


def _mac(number: int, place: int) -> int:
    """Unique per host and port; stays below the vendor's prefix up to host 24,575."""
    return 0x5C2573A00000 + number * 0x100 + place * 0x10


def mac_text(mac: int) -> str:
    """5c:25:73:a0:01:00."""
    return ":".join(f"{mac >> shift & 0xFF:02x}" for shift in range(40, -1, -8))


def _guid(mac: int) -> str:
    """The card's GUID as the kernel prints it: prefix, 03 00, the rest."""
    whole = (mac >> 24) << 40 | 0x03 << 32 | (mac & 0xFFFFFF)
    return ":".join(f"{whole >> shift & 0xFFFF:04x}" for shift in (48, 32, 16, 0))


def _leaf(number: int, rail: int) -> Neighbor:
    """A SONiC leaf per rail and pod; two hosts share a port that is split in two."""
    place = (number - 1) % HOSTS_PER_POD
    leaf = rail + 1 + 8 * ((number - 1) // HOSTS_PER_POD)
    return Neighbor(
        f"ember-leaf{leaf:02d}",
        mac_text(0x5C2573C00000 + leaf * 0x100),
        "SONiC Software Version: SONiC.202411.0 - HwSku: Mellanox-SN5600-V256 - "
        "Distribution: Debian 12.8 - Kernel: 6.1.0-22-2-amd64",
        f"198.51.{100 + leaf // 200}.{20 + leaf % 200}",
        f"etp{place // 2 + 1}{'ab'[place % 2]}",
        f"Ethernet{place * 4}",
    )


def _cumulus(system: str, chassis: int, model: str, port: str, purpose: str) -> Neighbor:
    return Neighbor(
        system, mac_text(0x5C2573D00000 + chassis * 0x100),
        f"Cumulus Linux version 5.11.1 running on Nvidia {model}",
        f"198.51.100.{200 + chassis}", port, purpose,
    )  # fmt: skip


def _rail(number: int, rail: int) -> Nic:
    bus, mac = RAIL_BUSES[rail], _mac(number, rail)
    return Nic(
        f"enp{bus}s0np0", _address(bus), mac_text(mac), rail + 3, 9000, 400_000,
        port_name="p0", neighbor=_leaf(number, rail), name=f"mlx5_{rail}", guid=_guid(mac),
        image_guid=_guid(mac), rate="400 Gb/sec (4X NDR)", firmware=FIRMWARE,
        address_v4=(10, 21 + number // 256, rail, number % 256), psid="MT_0000000838",
        part_number="MCX75310AAS-NEA_Ax",
        description="NVIDIA ConnectX-7 HHHL Adapter card; 400GbE / NDR IB (default mode); "
        "Single-port OSFP; PCIe 5.0 x16; Crypto Disabled; Secure Boot Enabled;",
    )  # fmt: skip


def _storage(number: int, port: int) -> Nic:
    mac = _mac(number, 8 + port)
    leaf = _cumulus(
        f"cinder-leaf{port + 1:02d}", port + 1, "SN5600", f"swp{number}s0",
        f"to ember-h{number:03d} storage",
    )  # fmt: skip
    return Nic(
        f"enp132s0f{port}np{port}", _address(0x84, 0, port), mac_text(mac), port + 11, 9000,
        200_000, port_name=f"p{port}", neighbor=leaf, name=f"mlx5_{8 + port}", guid=_guid(mac),
        image_guid=_guid(_mac(number, 8)), rate="200 Gb/sec (4X HDR)", firmware=FIRMWARE,
        address_v4=(10, 41 + number // 256, port, number % 256), psid="MT_0000000834",
        part_number="MCX755106AS-HEA_Ax",
        description="NVIDIA ConnectX-7 HHHL Adapter Card; 200GbE (default mode) / NDR200 IB; "
        "Dual-port QSFP112; PCIe 5.0 x16 with x16 PCIe extension option; Crypto Disabled; "
        "Secure Boot Enabled",
    )  # fmt: skip


def _gpu(number: int, place: int) -> Gpu:
    serial = 1654024001733 + place * 10_000 + (number - 1) * 100_000
    uuid = f"5e0b1f{place}0-27c4-4d1e-9a3b-6f2{place}{0xC08D4E11 + number - 1:08x}"
    return Gpu(_address(RAIL_BUSES[place] + 1), place, str(serial), f"GPU-{uuid}")


def hgx_h100(
    number: int, faults: Faults | Mapping[tuple[str, str], Any] | None = None
) -> HostModel:
    """Host `number` of the site, with faults such as ("0000:29:00.0", "width"): 8."""
    management = Netdev(
        "eno1", _address(0x03), mac_text(0x5C2573B00000 + number), 2,
        neighbor=_cumulus("ember-oob01", 99, "SN2201", f"swp{number}", "management"),
    )  # fmt: skip
    loopback = Netdev("lo", "", "00:00:00:00:00:00", 1, mtu=65536)
    host = HostModel(
        name=f"ember-h{number:03d}",
        number=number,
        operating_system="Ubuntu 22.04.5 LTS",
        boot_id=f"5f0c3d1e-7a2b-4c4d-8e9f-{number:012x}",
        gpu_driver="570.86.15",
        cpus=CPUS,
        buses=_buses(),
        nics=(*(_rail(number, rail) for rail in range(8)), *(_storage(number, p) for p in (0, 1))),
        netdevs=(management, loopback),
        gpus=tuple(_gpu(number, place) for place in range(8)),
        modules=MODULES,
    )
    return with_faults(host, faults) if faults else host
