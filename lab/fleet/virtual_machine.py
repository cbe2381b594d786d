"""A virtual machine with 8 GPUs and 8 InfiniBand virtual functions handed through.

The PCI tree is flat: each device is alone in a PCI domain below the hypervisor's bus, with no port
above it, as Hyper-V shows them. GPUs tell no NUMA node, all NICs tell node 0. A virtual function
says nothing about its link, and the firmware tools cannot open it.
"""

from functools import lru_cache

from lab.fleet import identity, ports
from lab.fleet.dmi import AZURE_VM
from lab.fleet.identity import MIST, mac_text
from lab.fleet.model import Faults, Function, Gpu, HostModel, Netdev, Nic, RootBus, with_faults
from lab.fleet.platform import INFINIBAND, MELLANOX, NVIDIA
from lab.fleet.port_model import Firmware, Link, Optic
from lab.fleet.software import MODULE_NAMES, SYSCTLS, modules
from lab.fleet.system_model import Cpu, Kernel, MemoryNode, without_services
from lab.fleet.traffic import infiniband_traffic

FIRMWARE = "28.42.1000"
RELEASE = "5.15.0-1074-azure"
DRIVER = "24.10-0.7.0"
GPU_DRIVER = "550.144.03"
CPUS = ("0-47", "48-95")
GPU_DOMAINS = (1, 2, 3, 8, 9, 0xA, 0xB, 0xC)
NIC_DOMAINS = tuple(range(0x101, 0x109))

_BUS = "LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00"
_CPU = Cpu(
    cores_per_socket=48, threads_per_core=1, max_mhz=0, min_mhz=0, virtualization="",
    hypervisor="Microsoft", governor="", idle_states=(), turbo=False,
)  # fmt: skip


def _place(domain: int) -> str:
    return f"{domain:04x}:00:00.0"


def _root(domain: int, numa: int, function: Function, kind: int) -> RootBus:
    """Hyper-V names the channel of each device by a GUID that begins with its kind."""
    channel = f"{kind:08x}-{domain:04x}-0000-3130-444531444243"
    return RootBus(f"{domain:04x}:00", numa, (function,), f"{_BUS}/{channel}")


@lru_cache(maxsize=1)
def _buses() -> tuple[RootBus, ...]:
    gpus = (
        _root(
            domain, -1,
            Function(
                _place(domain), NVIDIA, 0x2330, 0x030200, "endpoint", "nvidia",
                subsystem=(NVIDIA, 0x16C1), revision=0xA1, ats=False,
            ),
            0x47505500,
        )
        for domain in GPU_DOMAINS
    )  # fmt: skip
    nics = (
        _root(
            domain, 0,
            Function(
                _place(domain), MELLANOX, 0x101E, INFINIBAND, "endpoint", "mlx5_core",
                subsystem=(MELLANOX, 0x0041), generation=0, width=0, ats=False, virtual=True,
            ),
            0x47504900,
        )
        for domain in NIC_DOMAINS
    )  # fmt: skip
    return (*gpus, *nics)


def _nic(number: int, rail: int) -> Nic:
    mac = identity.mac(MIST, number, rail)
    guid = identity.guid(mac)
    text, v4 = identity.ipoib_address(guid), identity.rail_address(MIST, number, rail)
    traffic = infiniband_traffic(number, rail)
    return Nic(
        f"ib{rail}", _place(NIC_DOMAINS[rail]), text, rail + 3, 4092, 400_000,
        addresses=ports.addresses(text, v4), driver="mlx5_core[ib_ipoib]", driver_version=DRIVER,
        name=f"mlx5_{rail}", guid=guid, image_guid=identity.guid(mac + 8),
        rate="400 Gb/sec (4X NDR)", address_v4=v4, firmware=FIRMWARE, psid="MT_0000000838",
        chip="MT4126", link_layer="InfiniBand", lid=2 + (number - 1) % 4000 * 8 + rail, sm_lid=1,
        optic=Optic(kind="none"), link=Link(), qos=ports.INFINIBAND_QOS, flash=Firmware(),
        gids=ports.infiniband_gids(guid), counters=traffic.counters,
        hw_counters=traffic.hw_counters, statistics=traffic.statistics, pkeys=(0x8001, 0x7FFF),
        firmware_access=False,
    )  # fmt: skip


def _kernel(number: int) -> Kernel:
    return Kernel(
        release=RELEASE,
        command_line=f"BOOT_IMAGE=/boot/vmlinuz-{RELEASE} "
        f"root=UUID={identity.root_uuid(MIST, number)} ro console=tty1 console=ttyS0 "
        "earlyprintk=ttyS0 nvme_core.io_timeout=240 panic=-1",
        modules=modules(GPU_DRIVER, DRIVER),
        sysctls=SYSCTLS,
        secure_boot=None,
        lockdown="",
        services=without_services("lldpd"),
        library_settings=(
            ("/etc/nccl.conf", "NCCL_IB_PCI_RELAXED_ORDERING", "1"),
            ("/etc/nccl.conf", "NCCL_TOPO_FILE", "/opt/topology/ndv5-topo.xml"),
        ),
    )


def passthrough_vm(number: int, faults: Faults | None = None) -> HostModel:
    """Machine `number` of the site `mist`."""
    identity.checked(number)
    nics = tuple(_nic(number, rail) for rail in range(8))
    mac = mac_text(identity.management_mac(MIST, number))
    address = identity.management_address(MIST, number)
    eth0 = Netdev(
        "eth0", "", mac, 2, speed=80_000, driver="hv_netvsc", driver_version=RELEASE,
        addresses=ports.addresses(mac, address, identity.management_network(address)[1]),
    )  # fmt: skip
    gpus = tuple(
        Gpu(
            _place(domain), place, identity.gpu_serial(MIST, number, place),
            identity.gpu_uuid(MIST, number, place),
        )
        for place, domain in enumerate(GPU_DOMAINS)
    )  # fmt: skip
    host = HostModel(
        name=MIST.host(number), number=number, operating_system="Ubuntu 22.04.5 LTS",
        boot_id=identity.boot_id(MIST, number), gpu_driver=GPU_DRIVER, cpus=CPUS, buses=_buses(),
        nics=nics, netdevs=(eth0, ports.loopback()), gpus=gpus, modules=MODULE_NAMES,
        server_model="Virtual Machine", dmi=AZURE_VM, cpu=_CPU,
        memory=(
            MemoryNode(0, CPUS[0], 951_244, 900_012 - number % 4000, (10, 21)),
            MemoryNode(1, CPUS[1], 951_892, 899_410 - number % 4000, (21, 10)),
        ),
        kernel=_kernel(number),
        routes=(*ports.management_routes("eth0", address), *ports.connected_routes(nics)),
        rules=ports.RULES, virtual=True,
    )  # fmt: skip
    return with_faults(host, faults) if faults else host
