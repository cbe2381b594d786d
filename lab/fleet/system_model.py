"""What a host is besides its cards: processors, memory nodes, kernel, addresses, configuration."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dmi:
    """What /sys/class/dmi/id tells everybody; None = the firmware does not give it: no file."""

    sys_vendor: str | None
    product_name: str | None
    product_sku: str | None
    product_family: str | None
    product_version: str | None
    board_vendor: str | None
    board_name: str | None
    board_version: str | None
    chassis_vendor: str | None
    chassis_version: str | None
    chassis_asset_tag: str | None
    bios_vendor: str | None
    bios_version: str | None
    bios_date: str | None


@dataclass(frozen=True)
class AcpiNode:
    """How the firmware's tables name a root bridge."""

    path: str  # \_SB_.PC00
    uid: str
    hid: str = "PNP0A08"  # a PCI Express root bridge: PCI Firmware Specification 3.3


@dataclass(frozen=True)
class Cpu:
    """The processors, all of one kind."""

    vendor: str = "GenuineIntel"
    model: str = "Intel(R) Xeon(R) Platinum 8480C"
    family: int = 6
    model_number: int = 143
    stepping: int = 8
    sockets: int = 2
    cores_per_socket: int = 56
    threads_per_core: int = 2
    max_mhz: int = 3800
    min_mhz: int = 800
    virtualization: str = "VT-x"
    hypervisor: str = ""  # '' = bare metal
    governor: str = "performance"
    slow_cpus: tuple[int, ...] = ()  # on the governor "powersave" instead
    idle_states: tuple[tuple[str, int, bool], ...] = (  # name, latency in us, disabled
        ("POLL", 0, False),
        ("C1", 1, False),
        ("C1E", 2, False),
        ("C6", 290, True),
    )
    base_mhz: int = 2000
    l3_kb: int = 107_520  # of one instance
    l3_instances: int = 2
    turbo: bool = True
    architecture: str = "x86_64"  # x86_64, aarch64
    governors: tuple[tuple[int, str], ...] = ()  # of single CPUs, whatever the others have
    # (CPU, idle state, disabled) where it is not as `idle_states` says.
    idle_switched: tuple[tuple[int, int, bool], ...] = ()


@dataclass(frozen=True)
class MemoryNode:
    """A NUMA node."""

    number: int
    cpus: str  # 0-55,112-167
    total_mb: int
    free_mb: int
    distances: tuple[int, ...]


@dataclass(frozen=True)
class Module:
    """A loaded kernel module."""

    name: str
    size: int
    users: tuple[str, ...] = ()
    references: int = 0  # beyond its users
    version: str = ""


@dataclass(frozen=True)
class Route:
    """One route of one table."""

    destination: str  # 10.21.0.0/24, default
    netdev: str
    gateway: str = ""
    source: str = ""
    table: str = "main"
    protocol: str = "kernel"
    metric: int = 0


@dataclass(frozen=True)
class RoutingRule:
    """A policy routing rule."""

    priority: int
    source: str  # all, 10.21.0.1
    table: str


@dataclass(frozen=True)
class Bond:
    """Several ports as one."""

    netdev: str
    mode: str  # 802.3ad 4
    members: tuple[str, ...]
    hash_policy: str = "layer3+4 1"
    lacp_rate: str = "fast 1"
    miimon: int = 100


@dataclass(frozen=True)
class Service:
    """A service as systemd has it."""

    name: str  # without .service
    load: str = "loaded"  # loaded, masked, not-found
    active: str = "active"
    sub: str = "running"
    file: str = "enabled"  # '' = there is no file


def no_service(name: str) -> Service:
    """One that is not installed."""
    return Service(name, "not-found", "inactive", "dead", "")


# Of a host with NVSwitches and the NICs' vendor's packages. openibd loads modules and ends; the
# subnet manager is installed along with it, and runs elsewhere.
SERVICES = (
    Service("nvidia-fabricmanager"),
    no_service("nvidia-imex"),
    Service("nvidia-persistenced"),
    Service("openibd", sub="exited"),
    no_service("opensm"),
    Service("opensmd", active="inactive", sub="dead", file="disabled"),
    Service("lldpd"),
    no_service("lldpad"),
)


def without_services(*names: str) -> tuple[Service, ...]:
    """The same without those."""
    return tuple(no_service(one.name) if one.name in names else one for one in SERVICES)


@dataclass(frozen=True)
class Mount:
    """A file system that a server has."""

    point: str
    file_system: str  # nfs4, lustre
    server: str
    protocol: str = ""  # tcp, rdma; '' = its type does not say


@dataclass(frozen=True)
class Kernel:
    """Release, command line, limits and settings."""

    release: str = "5.15.0-126-generic"
    command_line: str = (
        "BOOT_IMAGE=/boot/vmlinuz-5.15.0-126-generic root=/dev/mapper/vg0-root ro "
        "iommu=pt intel_iommu=on pci=realloc=off numa_balancing=disable "
        "intel_idle.max_cstate=1 processor.max_cstate=1 console=tty0 console=ttyS1,115200"
    )
    modules: tuple[Module, ...] = ()
    sysctls: tuple[tuple[str, str], ...] = ()  # net.core.rmem_max, 16777216
    daemons: tuple[str, ...] = ()  # units that start jobs, and start at boot
    services: tuple[Service, ...] = SERVICES  # in the order in which they are asked for
    limits: tuple[tuple[str, str, str, str], ...] = (  # domain, type, item, value
        ("*", "soft", "memlock", "unlimited"),
        ("*", "hard", "memlock", "unlimited"),
    )
    # (file, name, value), in the order of precedence: the first one wins.
    library_settings: tuple[tuple[str, str, str], ...] = (
        ("/etc/nccl.conf", "NCCL_IB_GID_INDEX", "3"),
        ("/etc/nccl.conf", "NCCL_IB_HCA", "=mlx5_0,mlx5_1,mlx5_2,mlx5_3"),
        ("/etc/nccl.conf", "NCCL_IB_TC", "106"),
    )
    gpu_driver_open: bool = True  # the open kernel modules: these can do dma-buf
    # (file, line) of what is loaded at boot.
    boot_modules: tuple[tuple[str, str], ...] = (
        ("/etc/modules-load.d/nvidia-peermem.conf", "nvidia-peermem"),
        ("/usr/lib/modules-load.d/rdma.conf", "ib_umad"),
    )
    # Options of the GPU driver that differ from its own: name -> value; a text has its quotes.
    gpu_driver_options: tuple[tuple[str, str], ...] = ()
    # Whether the peer memory module found the RDMA stack that it was built for; the kernel's own
    # stack keeps no registry.
    peer_memory_registered: bool = True
    network_mounts: tuple[Mount, ...] = ()
    next_arguments: str = ""  # what the next boot has beyond the command line of this one
    secure_boot: bool | None = False  # None = the machine has no EFI
    lockdown: str = "none"  # '' = the kernel was built without
    managed_by: str = ""  # a tool that says so in the files that it writes
    qos_unit: tuple[str, ...] = ()  # netdevs of which a unit of the site sets trust and PFC at boot
    messages: tuple[str, ...] = ()  # what dmesg has beyond the usual lines of a boot
    # Releases of tools whose wording changed; these are Ubuntu 22.04's.
    pciutils: str = "3.7.0"
    util_linux: str = "2.37.2"
