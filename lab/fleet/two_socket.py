"""A server with 4 GPUs and 4 x 400G over two sockets and no PCIe switch, in an OpenShift cluster.

PCI addresses, names of netdevs and firmware settings are those of a cluster that its operators
wrote about. Each card has made one virtual function; a pod has taken its netdev. The driver is the
kernel's own: no ECN files, no traffic class, no RDMA-CM folder.
"""

from functools import lru_cache

from lab.fleet import identity, platform, ports
from lab.fleet.dmi import CRAY_XD665, amd_roots
from lab.fleet.identity import GARNET, mac_text
from lab.fleet.model import Faults, Function, Gpu, HostModel, Nic, RootBus, with_faults
from lab.fleet.platform import MELLANOX, NVIDIA, address
from lab.fleet.port_model import Firmware, Qos
from lab.fleet.software import MODULE_NAMES, SYSCTLS, modules
from lab.fleet.switches import leaf
from lab.fleet.system_model import Cpu, Kernel, MemoryNode, without_services
from lab.fleet.traffic import roce_traffic

FIRMWARE = "28.37.1014"
RELEASE = "5.14.0-427.50.1.el9_4.x86_64"
GPU_DRIVER = "550.144.03"
NIC_BUSES = (0x03, 0x23, 0xA3, 0xC3)
CPUS = ("0-47,96-143", "48-95,144-191")

_CPU = Cpu(
    vendor="AuthenticAMD", model="AMD EPYC 9454 48-Core Processor", family=25, model_number=17,
    stepping=1, cores_per_socket=48, max_mhz=3810, min_mhz=1500, virtualization="AMD-V",
    idle_states=(("POLL", 0, False), ("C1", 1, False), ("C2", 800, False)), base_mhz=2750,
    l3_kb=32_768, l3_instances=16,
)  # fmt: skip
# The cluster never touched it: factory values, and PCP as the port's trust.
_QOS = Qos(
    dcbx="os", trust="pcp", pfc=(False,) * 8, buffer_bytes=(262_016, 0, 0, 0, 0, 0, 0, 0),
    priority_buffer=(0,) * 8, priority_class=(1, 0, 2, 3, 4, 5, 6, 7),
    class_scheduler=("vendor",) * 8, class_bandwidth=(0,) * 8, default_tos=None, traffic_class=0,
    app_dscps=(),
)  # fmt: skip
_FLASH = Firmware(release_date="8.8.2023", uefi="14.30.13", pxe="3.7.102")
_PARAMETERS = {
    "NUM_OF_VFS": ("1", "1"),
    "DCBX_WILLING_P1": ("True(1)", "True(1)"),
    "QOS_TRUST_STATE_P1": ("TRUST_PCP(1)", "TRUST_PCP(1)"),
}


def _nic_functions(bus: int) -> tuple[Function, Function]:
    """The card and its virtual function."""
    place = address(bus)
    card = Function(
        place, MELLANOX, 0x1021, platform.ETHERNET, "endpoint", "mlx5_core",
        subsystem=(MELLANOX, 0x0041), max_payload=512, read_request=512, ats=False,
        virtual_functions=1, made_functions=1,
    )  # fmt: skip
    virtual = Function(
        address(bus, 0, 1), MELLANOX, 0x101E, platform.ETHERNET, "endpoint", "mlx5_core",
        subsystem=(MELLANOX, 0x0041), generation=0, width=0, ats=False, virtual=True,
        physical=place,
    )  # fmt: skip
    return card, virtual


def _gpu_function(bus: int) -> Function:
    return Function(
        address(bus), NVIDIA, 0x2330, 0x030200, "endpoint", "nvidia", subsystem=(NVIDIA, 0x16C1),
        revision=0xA1, max_payload=512, ats=False,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    buses = []
    for place, nic in enumerate(NIC_BUSES):
        root = nic & 0xE0
        slots = (
            platform.amd_root_port(root, 1, _nic_functions(nic), generation_max=5),
            platform.amd_root_port(root, 3, (_gpu_function(nic + 3),), generation_max=5),
        )
        functions = (*platform.amd_functions(root, 5), *slots)
        buses.append(RootBus(f"0000:{root:02x}", place // 2, functions))
    other = (
        platform.amd_root_port(0x40, 1, (platform.management_card(0x41),), 5),
        platform.amd_root_port(0x40, 3, (platform.bmc(0x42),), 5),
        platform.amd_root_port(0x40, 5, (platform.drive(0x44),), 5),
    )
    buses.append(RootBus("0000:40", 0, (*platform.amd_functions(0x40, 5), *other)))
    return amd_roots(sorted(buses, key=lambda bus: bus.name))


def _card(number: int, rail: int) -> Nic:
    mac = identity.mac(GARNET, number, rail)
    text, v4 = mac_text(mac), identity.rail_address(GARNET, number, rail)
    traffic = roce_traffic(number, rail)
    netdev = f"eno{rail + 5}np0"
    return Nic(
        netdev, address(NIC_BUSES[rail]), text, rail + 3, 9000, 400_000, port_name="p0",
        neighbor=leaf(GARNET, number, rail, 4), addresses=ports.addresses(text, v4),
        driver="mlx5_core", driver_version=RELEASE, name=f"mlx5_{rail}", guid=identity.guid(mac),
        image_guid=identity.guid(mac), rate="400 Gb/sec (4X NDR)", address_v4=v4,
        firmware=FIRMWARE, psid="MT_0000000838", part_number="MCX75310AAS-NEA_Ax",
        description="NVIDIA ConnectX-7 HHHL Adapter card; 400GbE / NDR IB (default mode); "
        "Single-port OSFP; PCIe 5.0 x16; Crypto Disabled; Secure Boot Enabled;",
        parameters=_PARAMETERS, serial=identity.card_serial(GARNET, number, rail),
        optic=ports.fibre(GARNET, number, rail), link=ports.link_400g(number, rail), qos=_QOS,
        flash=_FLASH, gids=ports.roce_gids(text, v4, netdev), counters=traffic.counters,
        hw_counters=traffic.hw_counters, statistics=traffic.statistics,
        order_number="MCX75310AAS-NEAT",
        product="NVIDIA ConnectX-7 HHHL Adapter card, 400GbE / NDR IB (default mode), "
        "Single-port OSFP, PCIe 5.0 x16, Crypto Disabled, Secure Boot Enabled",
        uid=identity.card_uid(mac, rail), parameter_set="cluster",
    )  # fmt: skip


def _virtual(number: int, rail: int, card: Nic) -> Nic:
    """The virtual function of a card: its netdev is in a pod, its RDMA device is seen by all."""
    mac = identity.mac(GARNET, number, 8 + rail) | 0x02 << 40  # given by the driver, not the vendor
    text, v4 = mac_text(mac), identity.rail_address(GARNET, number, 4 + rail)
    traffic = roce_traffic(number, 8 + rail)
    return Nic(
        f"eno{rail + 5}v0", address(NIC_BUSES[rail], 0, 1), text, rail + 7, 9000, 400_000,
        addresses=ports.addresses(text, v4), driver="mlx5_core", driver_version=RELEASE,
        name=f"mlx5_{rail + 4}", guid=identity.guid(mac), image_guid=card.image_guid,
        rate=card.rate, address_v4=v4, firmware=FIRMWARE, psid=card.psid, chip="MT4126",
        serial=card.serial, in_pod=True, optic=card.optic, link=card.link, qos=_QOS, flash=_FLASH,
        gids=ports.roce_gids(text, v4, ""), counters=traffic.counters,
        hw_counters=traffic.hw_counters, statistics=traffic.statistics, uid=card.uid,
        firmware_access=False,
    )  # fmt: skip


def _memory(number: int) -> tuple[MemoryNode, ...]:
    return (
        MemoryNode(0, CPUS[0], 773_512, 701_000 - number % 5000, (10, 32)),
        MemoryNode(1, CPUS[1], 774_126, 698_000 - number % 5000, (32, 10)),
    )


def _kernel(number: int) -> Kernel:
    return Kernel(
        release=RELEASE,
        command_line=f"BOOT_IMAGE=(hd1,gpt3)/boot/ostree/rhcos/vmlinuz-{RELEASE} ignition.platform"
        f".id=metal root=UUID={identity.root_uuid(GARNET, number)} rw rootflags=prjquota "
        "amd_iommu=on iommu=pt pci=realloc systemd.unified_cgroup_hierarchy=1",
        modules=modules(GPU_DRIVER),
        sysctls=SYSCTLS,
        limits=(("*", "-", "memlock", "unlimited"),),
        services=without_services("openibd", "opensmd"),  # the kernel's own drivers
        library_settings=(),  # the pods bring their own
        pciutils="3.7.0",
    )


def two_socket_4x400g(number: int, faults: Faults | None = None) -> HostModel:
    """Host `number` of the site `garnet`."""
    identity.checked(number)
    cards = tuple(_card(number, rail) for rail in range(4))
    virtual = tuple(_virtual(number, rail, card) for rail, card in enumerate(cards))
    gpus = tuple(
        Gpu(
            address(bus + 3), place, identity.gpu_serial(GARNET, number, place),
            identity.gpu_uuid(GARNET, number, place),
        )
        for place, bus in enumerate(NIC_BUSES)
    )  # fmt: skip
    routes = (
        *ports.management_routes("eno1", identity.management_address(GARNET, number)),
        *ports.connected_routes(cards),
    )
    host = HostModel(
        name=GARNET.host(number), number=number,
        operating_system="Red Hat Enterprise Linux CoreOS 417.94.202501071621-0",
        boot_id=identity.boot_id(GARNET, number), gpu_driver=GPU_DRIVER, cpus=CPUS,
        buses=_buses(), nics=(*cards, *virtual),
        netdevs=(
            ports.management_port(GARNET, number, RELEASE, address(0x41)), ports.loopback(),
        ),
        gpus=gpus, modules=MODULE_NAMES, server_model="HGX H100 4-GPU", dmi=CRAY_XD665, cpu=_CPU,
        memory=_memory(number), kernel=_kernel(number), routes=routes, rules=ports.RULES,
        labels={"node-role.kubernetes.io/worker": "", "nvidia.com/gpu.count": "4"},
    )  # fmt: skip
    return with_faults(host, faults) if faults else host
