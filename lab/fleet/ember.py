"""The invented site `ember`: hosts with 8 GPUs, 8 rails, a storage card and a management port."""

from dataclasses import replace
from functools import lru_cache

from lab.fleet import identity, platform, ports
from lab.fleet.dmi import SUPERMICRO_821GE, intel_roots
from lab.fleet.identity import EMBER, Site, mac_text
from lab.fleet.model import (
    ACS_OFF,
    Faults,
    Function,
    Gpu,
    HostModel,
    Nic,
    RootBus,
    with_faults,
)
from lab.fleet.platform import BROADCOM, MELLANOX, NVIDIA, address
from lab.fleet.port_model import Firmware, Link
from lab.fleet.software import MODULE_NAMES, SYSCTLS, library_settings, modules
from lab.fleet.switches import leaf, storage_leaf
from lab.fleet.system_model import AcpiNode, Kernel, MemoryNode, Mount
from lab.fleet.traffic import roce_traffic

RAIL_BUSES = (0x18, 0x29, 0x3A, 0x5B, 0x98, 0xA9, 0xBA, 0xDB)
CPUS = ("0-55,112-167", "56-111,168-223")
FIRMWARE = "28.43.2026"
RELEASE = "6.8.0-45-generic"
# The vendor's driver package: it has the ECN and traffic-class files that the kernel's own lacks.
DRIVER = "24.10-1.1.4"
GPU_DRIVER = "570.86.15"

_RAIL_FLASH = Firmware(release_date="12.12.2024")
_STORAGE_FLASH = Firmware(release_date="12.12.2024", available=FIRMWARE)
_STORAGE_LINK = Link(lanes=2, raw_errors=(51_288, 70_413), raw_ber=(1, 10))


def _switch(nic_bus: int) -> Function:
    """Root port - switch - NIC, GPU and an NVMe drive, each behind its own port of the switch."""
    devices = (
        Function(
            address(nic_bus), MELLANOX, 0x1021, platform.ETHERNET, "endpoint", "mlx5_core",
            subsystem=(MELLANOX, 0x0041), read_request=4096, ats=False, virtual_functions=8,
        ),
        Function(
            address(nic_bus + 1), NVIDIA, 0x2330, 0x030200, "endpoint", "nvidia",
            subsystem=(NVIDIA, 0x16C1), revision=0xA1, ats=False,
        ),
        platform.drive(nic_bus + 2),
    )  # fmt: skip
    downstream = tuple(
        Function(
            address(nic_bus - 1, number), BROADCOM, 0xC030, platform.BRIDGE, "downstream",
            "pcieport", revision=0xB0, max_payload_supported=2048, read_request=128, acs=ACS_OFF,
            below=(device,),
        )
        for number, device in enumerate(devices)
    )  # fmt: skip
    upstream = Function(
        address(nic_bus - 2), BROADCOM, 0xC030, platform.BRIDGE, "upstream", "pcieport",
        revision=0xB0, max_payload_supported=2048, read_request=128, below=downstream,
    )  # fmt: skip
    return platform.intel_root_port(nic_bus - 3, 1, (upstream,))


def _storage_card() -> Function:
    functions = tuple(
        Function(
            address(0x84, 0, number), MELLANOX, 0x1021, platform.ETHERNET, "endpoint", "mlx5_core",
            subsystem=(MELLANOX, 0x0023), read_request=4096, ats=False, virtual_functions=8,
        )
        for number in (0, 1)
    )  # fmt: skip
    return platform.intel_root_port(0x80, 3, functions)


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    root = (
        platform.intel_root_port(0, 0x1C, (platform.management_card(0x03),)),
        platform.intel_root_port(0, 0x1D, (platform.bmc(0x04),)),
    )
    buses = [RootBus("0000:00", 0, platform.chipset(0, root))]
    for rail, nic_bus in enumerate(RAIL_BUSES):
        bus = nic_bus - 3
        functions = (*platform.intel_functions(bus), _switch(nic_bus))
        buses.append(RootBus(f"0000:{bus:02x}", rail // 4, functions))
    storage = (*platform.intel_functions(0x80), _storage_card())
    buses.append(RootBus("0000:80", 1, storage))
    return intel_roots(buses)


@lru_cache(maxsize=1)
def _uncore() -> tuple[RootBus, ...]:
    """The two root buses of each CPU that hold nothing but parts of the CPU itself."""
    buses = []
    for numa, first in ((0, 0x7E), (1, 0xFE)):
        functions = platform.intel_uncore(first)
        for bus in (first, first + 1):
            own = tuple(f for f in functions if f.address.startswith(f"0000:{bus:02x}:"))
            # UC06 and UC07 of the first CPU, UC16 and UC17 of the second.
            number = 16 * numa + 6 + bus - first
            node = AcpiNode(rf"\_SB_.UC{number:02X}", str(number))
            buses.append(RootBus(f"0000:{bus:02x}", numa, own, acpi=node))
    return tuple(buses)


def with_uncore(host: HostModel) -> HostModel:
    """The host with the 400 functions inside its CPUs: as many bytes as a real one answers."""
    return replace(host, buses=(*host.buses, *_uncore()))


def _rail(site: Site, number: int, rail: int) -> Nic:
    bus, mac = RAIL_BUSES[rail], identity.mac(site, number, rail)
    text, v4 = mac_text(mac), identity.rail_address(site, number, rail)
    traffic = roce_traffic(number, rail)
    netdev = f"enp{bus}s0np0"
    # 3 is a number that the kernel gave and took back.
    return Nic(
        netdev, address(bus), text, rail + 4, 9000, 400_000,
        port_name="p0", neighbor=leaf(site, number, rail),
        addresses=ports.addresses(text, v4), driver="mlx5_core", driver_version=DRIVER,
        arp=ports.RAIL_ARP, name=f"mlx5_{rail}", guid=identity.guid(mac),
        image_guid=identity.guid(mac), rate="400 Gb/sec (4X NDR)", firmware=FIRMWARE,
        address_v4=v4, psid="MT_0000000838", part_number="MCX75310AAS-NEA_Ax",
        description="NVIDIA ConnectX-7 HHHL Adapter card; 400GbE / NDR IB (default mode); "
        "Single-port OSFP; PCIe 5.0 x16; Crypto Disabled; Secure Boot Enabled;",
        serial=identity.card_serial(site, number, rail), optic=ports.fibre(site, number, rail),
        link=ports.link_400g(number, rail), flash=_RAIL_FLASH,
        gids=ports.roce_gids(text, v4, netdev), counters=traffic.counters,
        hw_counters=traffic.hw_counters, statistics=traffic.statistics,
        order_number="MCX75310AAS-NEAT",
        product="NVIDIA ConnectX-7 HHHL Adapter card, 400GbE / NDR IB (default mode), "
        "Single-port OSFP, PCIe 5.0 x16, Crypto Disabled, Secure Boot Enabled",
        uid=identity.card_uid(mac, rail),
    )  # fmt: skip


def _storage(site: Site, number: int, port: int) -> Nic:
    place = 8 + port
    mac, card = identity.mac(site, number, place), identity.mac(site, number, 8)
    text, v4 = mac_text(mac), identity.rail_address(site, number, place)
    traffic = roce_traffic(number, place)
    netdev = f"enp132s0f{port}np{port}"
    return Nic(
        netdev, address(0x84, 0, port), text, port + 12, 9000, 200_000, port_name=f"p{port}",
        neighbor=storage_leaf(site, number, port), addresses=ports.addresses(text, v4),
        driver="mlx5_core", driver_version=DRIVER, arp=ports.RAIL_ARP, name=f"mlx5_{place}",
        guid=identity.guid(mac), image_guid=identity.guid(card), rate="200 Gb/sec (2X NDR)",
        firmware=FIRMWARE, address_v4=v4, psid="MT_0000000834", part_number="MCX755106AS-HEA_Ax",
        description="NVIDIA ConnectX-7 HHHL Adapter Card; 200GbE (default mode) / NDR200 IB; "
        "Dual-port QSFP112; PCIe 5.0 x16 with x16 PCIe extension option; Crypto Disabled; "
        "Secure Boot Enabled",
        serial=identity.card_serial(site, number, 8), optic=ports.copper(site, number, place),
        link=_STORAGE_LINK, flash=_STORAGE_FLASH, gids=ports.roce_gids(text, v4, netdev),
        counters=traffic.counters, hw_counters=traffic.hw_counters,
        statistics=traffic.statistics, ports=2, order_number="MCX755106AS-HEAT",
        product="NVIDIA ConnectX-7 Adapter Card, 200GbE / NDR200, Dual-port QSFP112, "
        "PCIe 5.0x16 with x16 PCIe extension option, Crypto Disabled, Secure Boot Enabled",
        uid=identity.card_uid(card, 8), parameter_set="MT_0000000834",
    )  # fmt: skip


def _gpu(site: Site, number: int, place: int) -> Gpu:
    return Gpu(
        address(RAIL_BUSES[place] + 1),
        place,
        identity.gpu_serial(site, number, place),
        identity.gpu_uuid(site, number, place),
    )


def _memory(number: int) -> tuple[MemoryNode, ...]:
    """The samples' host 1 has little left on its second node."""
    used = (number - 1) * 1009 % 40_000
    return (
        MemoryNode(0, CPUS[0], 1_031_882, 902_113 - used, (10, 21)),
        MemoryNode(1, CPUS[1], 1_032_154, 18_822 + used, (21, 10)),
    )


def _kernel(site: Site, number: int) -> Kernel:
    root = identity.root_uuid(site, number)
    return Kernel(
        # As NVSHMEM's guide has them: jobs here let GPUs drive the NIC.
        gpu_driver_options=(
            ("EnableStreamMemOPs", "1"),
            ("RegistryDwords", '"PeerMappingOverride=1;"'),
        ),
        release=RELEASE,
        command_line=f"BOOT_IMAGE=/boot/vmlinuz-{RELEASE} root=UUID={root} ro iommu=pt "
        "intel_iommu=on pci=realloc=off processor.max_cstate=1 intel_idle.max_cstate=0 "
        "hugepagesz=1G hugepages=64 numa_balancing=disable console=tty0 console=ttyS1,115200n8",
        modules=modules(GPU_DRIVER, DRIVER),
        sysctls=SYSCTLS,
        network_mounts=(Mount("/home", "nfs4", "198.51.100.20", "tcp"),),
        managed_by="Ansible",
        library_settings=library_settings(8),
    )


def netdevs_of(*groups: tuple[Nic, ...]) -> tuple[str, ...]:
    """Ethernet ports by name: what somebody wrote into a file stays when a card goes."""
    return tuple(n.netdev for group in groups for n in group if n.link_layer == "Ethernet")


def hgx_host(site: Site, number: int) -> HostModel:
    """An HGX H100 of any site."""
    identity.checked(number)
    rails = tuple(_rail(site, number, rail) for rail in range(8))
    storage = tuple(_storage(site, number, port) for port in (0, 1))
    routes, rules = ports.rail_routes(rails)
    management = identity.management_address(site, number)
    return HostModel(
        name=site.host(number),
        number=number,
        operating_system="Ubuntu 22.04.5 LTS",
        boot_id=identity.boot_id(site, number),
        gpu_driver=GPU_DRIVER,
        cpus=CPUS,
        buses=_buses(),
        nics=(*rails, *storage),
        netdevs=(ports.management_port(site, number, RELEASE), ports.loopback()),
        gpus=tuple(_gpu(site, number, place) for place in range(8)),
        modules=MODULE_NAMES,
        dmi=SUPERMICRO_821GE,
        memory=_memory(number),
        kernel=replace(_kernel(site, number), qos_unit=netdevs_of(rails, storage)),
        routes=(
            *ports.management_routes("eno1", management),
            *routes,
            *ports.connected_routes(storage),
        ),
        rules=rules,
    )


def hgx_h100(number: int, faults: Faults | None = None) -> HostModel:
    """Host `number` of the site, with faults such as ("0000:29:00.0", "width"): 8."""
    host = hgx_host(EMBER, number)
    return with_faults(host, faults) if faults else host
