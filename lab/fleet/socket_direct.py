"""A two-socket server whose one card has a leg in each socket (Socket Direct).

One cage, one serial number, one system image GUID; two PCI functions, two RDMA devices and two
netdevs, each x16 on its own socket. Both hear the same switch port.
"""

from functools import lru_cache

from lab.fleet import identity, platform, ports
from lab.fleet.dmi import POWEREDGE_R750XA, intel_roots
from lab.fleet.identity import SLATE, mac_text
from lab.fleet.model import Faults, Function, Gpu, HostModel, Nic, RootBus, with_faults
from lab.fleet.platform import MELLANOX, NVIDIA, address
from lab.fleet.port_model import Firmware, Link
from lab.fleet.software import MODULE_NAMES, SYSCTLS, library_settings, modules
from lab.fleet.switches import leaf
from lab.fleet.system_model import Cpu, Kernel, MemoryNode, without_services
from lab.fleet.traffic import roce_traffic

FIRMWARE = "20.39.3004"
RELEASE = "5.14.0-503.11.1.el9_5.x86_64"
DRIVER = "23.10-3.2.2"
GPU_DRIVER = "550.144.03"
# Root bus and bus of each leg; root bus and buses of the GPUs of each socket.
LEGS = ((0x16, 0x17), (0xC9, 0xCA))
GPUS = ((0x30, 0x31), (0x4A, 0x4B), (0xB0, 0xB1), (0xE2, 0xE3))
CPUS = ("0-31,64-95", "32-63,96-127")

_CPU = Cpu(
    model="Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz", model_number=106, stepping=6,
    cores_per_socket=32, max_mhz=3400, base_mhz=2600, l3_kb=49_152,
)  # fmt: skip
_FLASH = Firmware(release_date="7.12.2023", uefi="14.32.17", pxe="3.7.201")
_LINK = Link(raw_errors=(1288, 413, 2204, 955), raw_ber=(1, 12))


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    root = (
        platform.intel_root_port(0, 0x1C, (platform.management_card(0x03),), generation_max=4),
        platform.intel_root_port(0, 0x1D, (platform.bmc(0x04),), generation_max=4),
    )
    buses = [RootBus("0000:00", 0, platform.chipset(0, root))]
    for socket, (bus, leg) in enumerate(LEGS):
        card = Function(
            address(leg), MELLANOX, 0x101B, platform.ETHERNET, "endpoint", "mlx5_core",
            subsystem=(MELLANOX, 0x0010), generation=3, generation_max=3, read_request=4096,
            ats=False,
        )  # fmt: skip
        port = platform.intel_root_port(bus, 2, (card,), generation_max=4)
        buses.append(RootBus(f"0000:{bus:02x}", socket, (*platform.intel_functions(bus), port)))
    for place, (bus, gpu) in enumerate(GPUS):
        card = Function(
            address(gpu), NVIDIA, 0x20B5, 0x030200, "endpoint", "nvidia",
            subsystem=(NVIDIA, 0x1533), revision=0xA1, generation=4, generation_max=4, ats=False,
        )  # fmt: skip
        port = platform.intel_root_port(bus, 2, (card,), generation_max=4)
        functions = (*platform.intel_functions(bus), port)
        buses.append(RootBus(f"0000:{bus:02x}", place // 2, functions))
    return intel_roots(sorted(buses, key=lambda bus: bus.name))


def _leg(number: int, socket: int) -> Nic:
    card = identity.mac(SLATE, number, 0)
    mac = card + 4 * socket
    text, v4 = mac_text(mac), identity.rail_address(SLATE, number, socket)
    traffic = roce_traffic(number, socket)
    bus = LEGS[socket][1]
    netdev = f"enp{bus}s0np0"
    return Nic(
        netdev, address(bus), text, socket + 3, 9000, 200_000, port_name="p0",
        neighbor=leaf(SLATE, number, 0, 1), addresses=ports.addresses(text, v4),
        driver="mlx5_core", driver_version=DRIVER, arp=ports.RAIL_ARP, name=f"mlx5_{socket}",
        guid=identity.guid(mac), image_guid=identity.guid(card), rate="200 Gb/sec (4X HDR)",
        address_v4=v4, firmware=FIRMWARE, psid="MT_0000000226", chip="MT4123", family="ConnectX6",
        part_number="MCX654105A-HCA_Ax",
        description="ConnectX-6 VPI adapter card; HDR IB (200Gb/s) and 200GbE; "
        "single-port QSFP56; Socket Direct 2x PCIe3.0 x16; tall bracket; ROHS R6",
        parameters={"LINK_TYPE_P1": ("ETH(2)", "ETH(2)")},
        serial=identity.card_serial(SLATE, number, 0), optic=ports.optic_200g(SLATE, number, 0),
        link=_LINK, flash=_FLASH, gids=ports.roce_gids(text, v4, netdev),
        counters=traffic.counters, hw_counters=traffic.hw_counters,
        statistics=traffic.statistics, order_number="MCX654105A-HCAT",
        product="ConnectX-6 VPI adapter card, HDR IB (200Gb/s) and 200GbE, single-port QSFP56, "
        "Socket Direct 2x PCIe3.0/4.0x16, tall bracket",
        uid=identity.card_uid(card, 0), parameter_set="connectx6",
    )  # fmt: skip


def _kernel(number: int) -> Kernel:
    return Kernel(
        release=RELEASE,
        command_line=f"BOOT_IMAGE=(hd0,gpt2)/vmlinuz-{RELEASE} "
        f"root=UUID={identity.root_uuid(SLATE, number)} ro "
        "crashkernel=1G-4G:192M,4G-64G:256M,64G-:512M intel_iommu=on iommu=pt pcie_aspm=off quiet",
        modules=modules(GPU_DRIVER, DRIVER),
        sysctls=SYSCTLS,
        secure_boot=True,
        lockdown="integrity",
        services=without_services("nvidia-fabricmanager"),
        library_settings=library_settings(2),
    )


def socket_direct(number: int, faults: Faults | None = None) -> HostModel:
    """Host `number` of the site `slate`."""
    identity.checked(number)
    legs = tuple(_leg(number, socket) for socket in (0, 1))
    gpus = tuple(
        Gpu(
            address(bus), place, identity.gpu_serial(SLATE, number, place),
            identity.gpu_uuid(SLATE, number, place), "NVIDIA A100 80GB PCIe",
        )
        for place, (_, bus) in enumerate(GPUS)
    )  # fmt: skip
    routes, rules = ports.rail_routes(legs)
    host = HostModel(
        name=SLATE.host(number), number=number, operating_system="Rocky Linux 9.5 (Blue Onyx)",
        boot_id=identity.boot_id(SLATE, number), gpu_driver=GPU_DRIVER, cpus=CPUS,
        buses=_buses(), nics=legs,
        netdevs=(ports.management_port(SLATE, number, RELEASE), ports.loopback()), gpus=gpus,
        modules=MODULE_NAMES, server_model="PowerEdge R750xa", dmi=POWEREDGE_R750XA, cpu=_CPU,
        memory=(
            MemoryNode(0, CPUS[0], 515_411, 480_220 - number % 4000, (10, 20)),
            MemoryNode(1, CPUS[1], 516_064, 470_115 - number % 4000, (20, 10)),
        ),
        kernel=_kernel(number),
        routes=(
            *ports.management_routes("eno1", identity.management_address(SLATE, number)), *routes,
        ),
        rules=rules, firmware_tools="4.18.0-106",
    )  # fmt: skip
    return with_faults(host, faults) if faults else host
