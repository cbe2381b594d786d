"""What a healthy host has beside its cards: kernel, processors, memory, settings."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lab.fleet import identity, ports
from lab.fleet.healthy.who import Who
from lab.fleet.model import Gpu, HostModel, Netdev, Nic, RootBus
from lab.fleet.software import MODULE_NAMES, SYSCTLS, modules
from lab.fleet.switches import management_switch
from lab.fleet.system_model import (
    SERVICES,
    Bond,
    Cpu,
    Dmi,
    Kernel,
    MemoryNode,
    Module,
    Route,
    RoutingRule,
    without_services,
)

Settings = tuple[tuple[str, str, str], ...]
RELEASE = "6.8.0-45-generic"
GPU_DRIVER = "570.86.15"
XEON = Cpu()
XEON_CPUS = ("0-55,112-167", "56-111,168-223")
EPYC = Cpu(
    vendor="AuthenticAMD", model="AMD EPYC 9534 64-Core Processor", family=25, model_number=17,
    stepping=1, cores_per_socket=64, threads_per_core=2, max_mhz=3718, min_mhz=1500,
    virtualization="AMD-V", base_mhz=2450, l3_kb=32_768, l3_instances=16,
    idle_states=(("POLL", 0, False), ("C1", 1, False), ("C2", 800, True)),
)  # fmt: skip
EPYC_CPUS = ("0-63,128-191", "64-127,192-255")
GRACE = Cpu(
    vendor="ARM", model="Neoverse-V2", family=0, model_number=0, stepping=0, cores_per_socket=72,
    threads_per_core=1, max_mhz=3447, min_mhz=81, virtualization="", base_mhz=3447,
    l3_kb=116_736, l3_instances=2, turbo=False, architecture="aarch64",
    idle_states=(("WFI", 1, False),),
)  # fmt: skip
GRACE_CPUS = ("0-71", "72-143")


def memory(cpus: tuple[str, ...], number: int, total_mb: int = 1_031_882) -> tuple[MemoryNode, ...]:
    """A node per entry, most of it free."""
    return tuple(
        MemoryNode(
            node, listed, total_mb + node * 272, total_mb - 129_769 - number % 4000,
            tuple(10 if other == node else 21 for other in range(len(cpus))),
        )
        for node, listed in enumerate(cpus)
    )  # fmt: skip


def loaded(gpu_driver: str = GPU_DRIVER, driver: str = "24.10-1.1.4") -> tuple[Module, ...]:
    """Modules of a host with NVIDIA's GPUs, or without any."""
    found = modules(gpu_driver or "0", driver)
    if gpu_driver:
        return found
    return tuple(
        replace(module, users=tuple(u for u in module.users if not u.startswith("nvidia")))
        for module in found
        if not module.name.startswith("nvidia")
    )


def collectives(devices: Iterable[str], traffic_class: int = 106) -> Settings:
    """What /etc/nccl.conf says: which devices, and how packets of RoCE are marked."""
    listed = ",".join(devices)
    rows = [("NCCL_IB_HCA", f"={listed}")]
    if traffic_class:
        rows += [("NCCL_IB_GID_INDEX", "3"), ("NCCL_IB_TC", str(traffic_class))]
    return tuple(("/etc/nccl.conf", name, value) for name, value in sorted(rows))


@dataclass(frozen=True)
class Software:
    """What an operator chose."""

    gpu_driver: str = GPU_DRIVER  # '' = no NVIDIA driver
    iommu: str = "intel_iommu=on"
    more: tuple[Module, ...] = ()
    release: str = RELEASE
    settings: Settings = ()


def kernel(who: Who, chosen: Software) -> Kernel:
    """As the vendors' guides have it: IOMMU passes through, no deep sleep, no balancing."""
    root, release = identity.root_uuid(who.site, who.own), chosen.release
    words = (
        f"BOOT_IMAGE=/boot/vmlinuz-{release} root=UUID={root} ro iommu=pt {chosen.iommu} "
        "numa_balancing=disable console=tty0 console=ttyS1,115200n8"
    )
    at_boot = Kernel().boot_modules
    return Kernel(
        release=release,
        command_line=" ".join(words.split()),
        modules=(*loaded(chosen.gpu_driver), *chosen.more),
        sysctls=SYSCTLS,
        services=SERVICES
        if chosen.gpu_driver
        else without_services("nvidia-fabricmanager", "nvidia-persistenced"),
        library_settings=chosen.settings,
        boot_modules=at_boot if chosen.gpu_driver else at_boot[1:],
    )


def gpus(who: Who, addresses: Iterable[str], product: str) -> tuple[Gpu, ...]:
    """GPUs as the driver numbers them."""
    return tuple(
        Gpu(
            address, place, identity.gpu_serial(who.site, who.own, place),
            identity.gpu_uuid(who.site, who.own, place), product,
        )
        for place, address in enumerate(addresses)
    )  # fmt: skip


@dataclass(frozen=True)
class Plain:
    """A port that is not made for RDMA."""

    netdev: str
    address: str
    index: int
    driver: str
    speed: int = 1000
    up: bool = True
    port: int = 0  # tells it from the other such ports of its host


def plain(who: Who, at: Plain) -> Netdev:
    """Its MAC follows the management port's."""
    mac = identity.mac_text(identity.management_mac(who.site, who.own) + at.port * 0x8000)
    return Netdev(
        at.netdev, at.address, mac, at.index, speed=at.speed, up=at.up, driver=at.driver,
        driver_version=RELEASE, addresses=(f"{identity.link_local(mac)}/64",) if at.up else (),
        neighbor=management_switch(who.site, who.own) if at.up else None,
    )  # fmt: skip


def management(who: Who, netdev: Netdev) -> Netdev:
    """The same with the address by which people come."""
    address = who.management()
    _, prefix, _ = identity.management_network(address)
    return replace(netdev, addresses=ports.addresses(netdev.mac, address, prefix))


def management_routes(who: Who, netdev: str) -> tuple[Route, ...]:
    """The default route and the network of the management."""
    return ports.management_routes(netdev, who.management())


@dataclass(frozen=True)
class Board:
    """What a host is built on."""

    dmi: Dmi
    buses: tuple[RootBus, ...]
    cpu: Cpu = XEON
    cpus: tuple[str, ...] = XEON_CPUS
    operating_system: str = "Ubuntu 22.04.5 LTS"
    server_model: str = "HGX H100 8-GPU"


@dataclass(frozen=True)
class Network:
    """Ports of all sorts, and how packets find their way."""

    nics: tuple[Nic, ...]
    netdevs: tuple[Netdev, ...] = ()
    routes: tuple[Route, ...] = ()
    rules: tuple[RoutingRule, ...] = ports.RULES
    bonds: tuple[Bond, ...] = ()


def assembled(
    who: Who, board: Board, network: Network, chosen: Software, cards: tuple[Gpu, ...] = ()
) -> HostModel:
    """The whole host; `cards` are the GPUs that NVIDIA's driver knows."""
    system = kernel(who, chosen)
    return HostModel(
        name=who.name, number=who.own, operating_system=board.operating_system,
        boot_id=identity.boot_id(who.site, who.own), gpu_driver=chosen.gpu_driver,
        cpus=board.cpus, buses=board.buses, nics=tuple(sorted(network.nics, key=_probed)),
        netdevs=(*network.netdevs, ports.loopback()), gpus=cards,
        modules=MODULE_NAMES if chosen.gpu_driver else tuple(m.name for m in system.modules),
        server_model=board.server_model, dmi=board.dmi, cpu=board.cpu,
        memory=memory(board.cpus, who.number), kernel=system, routes=network.routes,
        rules=network.rules, bonds=network.bonds,
    )  # fmt: skip


def _probed(nic: Nic) -> tuple[str, int]:
    """RDMA devices in the order of their numbers: mlx5_2 before mlx5_10."""
    head = nic.name.rstrip("0123456789")
    return head, int(nic.name[len(head) :])
