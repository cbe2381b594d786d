"""HGX A100 with HDR InfiniBand: 8 GPUs and 8 ConnectX-6 behind two layers of PCIe switches.

Bus numbers and NUMA nodes are those of a DGX A100: two EPYC processors, four nodes per socket. The
storage card is Ethernet; its two ports are one bond and hence one RDMA device.
"""

from functools import lru_cache

from lab.fleet import identity, platform, ports
from lab.fleet.dmi import DGX_A100, amd_roots
from lab.fleet.identity import BASALT, mac_text
from lab.fleet.model import (
    ACS_OFF,
    Faults,
    Function,
    Gpu,
    HostModel,
    Netdev,
    Nic,
    RootBus,
    with_faults,
)
from lab.fleet.platform import BROADCOM, MELLANOX, NVIDIA, address
from lab.fleet.port_model import Firmware, Link, Optic
from lab.fleet.software import MODULE_NAMES, SYSCTLS, modules
from lab.fleet.switches import storage_leaf
from lab.fleet.system_model import Bond, Cpu, Kernel, MemoryNode, Mount
from lab.fleet.traffic import infiniband_traffic, roce_traffic

FIRMWARE = "20.39.3004"
RELEASE = "5.15.0-1063-nvidia"
DRIVER = "23.10-3.2.2"
GPU_DRIVER = "535.183.01"
NIC_BUSES = (0x0C, 0x12, 0x4B, 0x54, 0x8D, 0x94, 0xBA, 0xCC)
GPU_BUSES = (0x07, 0x0F, 0x47, 0x4E, 0x87, 0x90, 0xB7, 0xBD)
# Root bus, bus of the outer switch, NUMA node: two GPUs and two NICs each.
COMPLEXES = ((0x00, 0x01, 3), (0x40, 0x41, 1), (0x80, 0x81, 7), (0xA0, 0xB1, 5))
HOSTS_PER_SUBNET = 4000  # a subnet manager has 49,151 addresses to give
CPUS = tuple(f"{16 * n}-{16 * n + 15},{128 + 16 * n}-{143 + 16 * n}" for n in range(8))
STORAGE = ("enp225s0f0np0", "enp225s0f1np1")

_CPU = Cpu(
    vendor="AuthenticAMD", model="AMD EPYC 7742 64-Core Processor", family=23, model_number=49,
    stepping=0, cores_per_socket=64, max_mhz=3414, min_mhz=1500, virtualization="AMD-V",
    idle_states=(("POLL", 0, False), ("C1", 1, False), ("C2", 400, True)), base_mhz=2250,
    l3_kb=16_384, l3_instances=32,
)  # fmt: skip
_FLASH = Firmware(release_date="7.12.2023", uefi="14.32.17", pxe="3.7.201")
_LINK = Link(raw_errors=(51_288, 70_413, 66_204, 39_055), raw_ber=(1, 10), link_down=1)


def _bridge(place: str, kind: str, below: tuple[Function, ...]) -> Function:
    return Function(
        place, BROADCOM, 0xC010, platform.BRIDGE, kind, "pcieport", revision=0xB0, generation=4,
        generation_max=4, max_payload=512, max_payload_supported=2048, read_request=128,
        acs=ACS_OFF if kind == "downstream" else None, below=below,
    )  # fmt: skip


def _complex(root: int, outer: int, devices: tuple[Function, ...]) -> Function:
    """Root port - switch - one more switch per device: a GPU and a NIC have several between."""
    branches = []
    for number, device in enumerate(devices):
        bus = int(device.address[5:7], 16)
        port = _bridge(address(bus - 1), "downstream", (device,))
        inner = _bridge(address(bus - 2), "upstream", (port,))
        branches.append(_bridge(address(outer + 1, 4 * number), "downstream", (inner,)))
    upstream = _bridge(address(outer), "upstream", tuple(branches))
    return platform.amd_root_port(root, 1, (upstream,))


def _gpu_function(bus: int) -> Function:
    return Function(
        address(bus), NVIDIA, 0x20B2, 0x030200, "endpoint", "nvidia", subsystem=(NVIDIA, 0x147F),
        revision=0xA1, generation=4, generation_max=4, max_payload=512, ats=False,
    )  # fmt: skip


def _nic_function(place: str, class_code: int, subsystem: int) -> Function:
    return Function(
        place, MELLANOX, 0x101B, class_code, "endpoint", "mlx5_core",
        subsystem=(MELLANOX, subsystem), generation=4, generation_max=4, max_payload=512,
        read_request=4096, ats=False,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    buses = []
    for number, (root, outer, numa) in enumerate(COMPLEXES):
        devices = tuple(
            device
            for place in (2 * number, 2 * number + 1)
            for device in (
                _gpu_function(GPU_BUSES[place]),
                _nic_function(address(NIC_BUSES[place]), platform.INFINIBAND, 0x0006),
            )
        )
        functions = (*platform.amd_functions(root), _complex(root, outer, devices))
        buses.append(RootBus(f"0000:{root:02x}", numa, functions))
    card = tuple(
        _nic_function(address(0xE1, 0, port), platform.ETHERNET, 0x0009) for port in (0, 1)
    )
    single = (
        (0x20, 2, 1, (platform.management_card(0x21),)),
        (0x20, 2, 3, (platform.bmc(0x22),)),
        (0x60, 0, 1, (platform.drive(0x61),)),
        (0xE0, 6, 1, card),
    )
    for root in sorted({entry[0] for entry in single}):
        mine = [entry for entry in single if entry[0] == root]
        slots = (platform.amd_root_port(root, device, below) for _, _, device, below in mine)
        functions = (*platform.amd_functions(root), *slots)
        buses.append(RootBus(f"0000:{root:02x}", mine[0][1], functions))
    return amd_roots(sorted(buses, key=lambda bus: bus.name))


def _rail(number: int, rail: int) -> Nic:
    mac = identity.mac(BASALT, number, rail)
    guid = identity.guid(mac)
    text, v4 = identity.ipoib_address(guid), identity.rail_address(BASALT, number, rail)
    traffic = infiniband_traffic(number, rail)
    place = (number - 1) % HOSTS_PER_SUBNET
    return Nic(
        f"ib{rail}", address(NIC_BUSES[rail]), text, rail + 3, 4092, 200_000,
        addresses=ports.addresses(text, v4), driver="mlx5_core[ib_ipoib]", driver_version=DRIVER,
        name=f"mlx5_{rail}", guid=guid, image_guid=guid, rate="200 Gb/sec (4X HDR)",
        address_v4=v4, firmware=FIRMWARE, psid="MT_0000000223", chip="MT4123", family="ConnectX6",
        part_number="MCX653105A-HDA_Ax",
        description="ConnectX-6 VPI adapter card; HDR IB (200Gb/s) and 200GbE; "
        "single-port QSFP56; PCIe4.0 x16; tall bracket; ROHS R6",
        serial=identity.card_serial(BASALT, number, rail), link_layer="InfiniBand",
        lid=2 + place * 8 + rail, sm_lid=1, optic=ports.optic_200g(BASALT, number, rail),
        link=_LINK, qos=ports.INFINIBAND_QOS, flash=_FLASH, gids=ports.infiniband_gids(guid),
        counters=traffic.counters, hw_counters=traffic.hw_counters,
        statistics=traffic.statistics, pkeys=(0xFFFF,), order_number="MCX653105A-HDAT",
        product="ConnectX-6 VPI adapter card, HDR IB (200Gb/s) and 200GbE, single-port QSFP56",
        uid=identity.card_uid(mac, rail), parameter_set="connectx6",
    )  # fmt: skip


def _storage_optic(number: int, port: int) -> Optic:
    return Optic(
        form="QSFP28",
        part_number="MFA1A00-C010",
        serial=identity.optic_serial(BASALT, number, 8 + port),
        revision="B2",
        length_m=10.0,
        reach_om4_m=0,
        lanes=(),
        max_power_w=2.5,
    )


def _storage(number: int) -> tuple[Nic, Netdev, Netdev]:
    """The RDMA device of the bond on the first port, the second port, and the bond itself."""
    macs = [identity.mac(BASALT, number, 8 + port) for port in (0, 1)]
    text, v4 = mac_text(macs[0]), identity.rail_address(BASALT, number, 8)
    traffic = roce_traffic(number, 8)
    first = Nic(
        STORAGE[0], address(0xE1), text, 11, 9000, 100_000, port_name="p0",
        neighbor=storage_leaf(BASALT, number, 0), master="bond0", driver="mlx5_core",
        driver_version=DRIVER, name="mlx5_bond_0", guid=identity.guid(macs[0]),
        image_guid=identity.guid(macs[0]), rate="100 Gb/sec (4X EDR)", address_v4=v4,
        firmware=FIRMWARE, psid="MT_0000000225", chip="MT4123", family="ConnectX6",
        part_number="MCX653106A-HDA_Ax",
        description="ConnectX-6 VPI adapter card; HDR IB (200Gb/s) and 200GbE; "
        "dual-port QSFP56; PCIe4.0 x16; tall bracket; ROHS R6",
        parameters={f"LINK_TYPE_P{port}": ("ETH(2)", "ETH(2)") for port in (1, 2)},
        serial=identity.card_serial(BASALT, number, 8), optic=_storage_optic(number, 0),
        link=Link(), flash=_FLASH, gids=ports.roce_gids(text, v4, "bond0"),
        counters=traffic.counters, hw_counters=traffic.hw_counters,
        statistics=traffic.statistics, ports=2, order_number="MCX653106A-HDAT",
        product="ConnectX-6 VPI adapter card, HDR IB (200Gb/s) and 200GbE, dual-port QSFP56",
        uid=identity.card_uid(macs[0], 8), parameter_set="connectx6",
    )  # fmt: skip
    second = Netdev(
        STORAGE[1], address(0xE1, 0, 1), text, 12, 9000, 100_000, port_name="p1",
        neighbor=storage_leaf(BASALT, number, 1), master="bond0", driver="mlx5_core",
        driver_version=DRIVER, permanent_mac=mac_text(macs[1]),
    )  # fmt: skip
    bond = Netdev(
        "bond0", "", text, 13, 9000, 200_000, addresses=ports.addresses(text, v4),
        driver="bonding", driver_version=RELEASE,
    )  # fmt: skip
    return first, second, bond


def _memory(number: int) -> tuple[MemoryNode, ...]:
    """Four nodes per socket."""
    return tuple(
        MemoryNode(
            node, CPUS[node], 128_814 + node * 11, 101_000 - (number * 37 + node * 501) % 9000,
            tuple(10 if n == node else 12 if n // 4 == node // 4 else 32 for n in range(8)),
        )
        for node in range(8)
    )  # fmt: skip


def _kernel(number: int) -> Kernel:
    return Kernel(
        release=RELEASE,
        command_line=f"BOOT_IMAGE=/boot/vmlinuz-{RELEASE} "
        f"root=UUID={identity.root_uuid(BASALT, number)} ro console=tty0 "
        "console=ttyS0,115200n8 amd_iommu=on iommu=pt pcie_aspm=off numa_balancing=disable quiet",
        modules=modules(GPU_DRIVER, DRIVER),
        sysctls=SYSCTLS,
        network_mounts=(
            Mount("/home/shared", "nfs", "2001:db8:20::7", "rdma"),
            Mount("/scratch", "lustre", "198.51.100.21"),
        ),
        next_arguments="pci=realloc=off",
        library_settings=(
            ("/etc/nccl.conf", "NCCL_IB_HCA", "=" + ",".join(f"mlx5_{n}" for n in range(8))),
        ),
    )


def _gpu(number: int, place: int) -> Gpu:
    return Gpu(
        address(GPU_BUSES[place]),
        place,
        identity.gpu_serial(BASALT, number, place),
        identity.gpu_uuid(BASALT, number, place),
        "NVIDIA A100-SXM4-80GB",
    )


def hgx_a100_infiniband(number: int, faults: Faults | None = None) -> HostModel:
    """Host `number` of the site `basalt`."""
    identity.checked(number)
    rails = tuple(_rail(number, rail) for rail in range(8))
    storage, second, bond = _storage(number)
    management = ports.management_port(BASALT, number, RELEASE, address(0x21))
    routes = (
        *ports.management_routes("eno1", identity.management_address(BASALT, number)),
        *ports.connected_routes(rails),
        *ports.connected_routes((storage,), "bond0"),
    )
    host = HostModel(
        name=BASALT.host(number), number=number, operating_system="Ubuntu 22.04.4 LTS",
        boot_id=identity.boot_id(BASALT, number), gpu_driver=GPU_DRIVER, cpus=CPUS,
        buses=_buses(), nics=(*rails, storage),
        netdevs=(management, second, bond, ports.loopback()),
        gpus=tuple(_gpu(number, place) for place in range(8)), modules=MODULE_NAMES,
        server_model="DGX A100", dmi=DGX_A100, cpu=_CPU, memory=_memory(number),
        kernel=_kernel(number), routes=routes, rules=ports.RULES,
        bonds=(Bond("bond0", "802.3ad 4", STORAGE),), firmware_tools="4.26.1-6",
    )  # fmt: skip
    return with_faults(host, faults) if faults else host
