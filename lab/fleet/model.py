"""What a host consists of: plain frozen records, and faults that change single values of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar

from lab.fleet.port_model import Firmware, GidEntry, Link, Optic, Qos
from lab.fleet.system_model import AcpiNode, Bond, Cpu, Dmi, Kernel, MemoryNode, Route, RoutingRule

# Access Control Services as a BIOS switches them on: SrcValid, ReqRedir, CmpltRedir, UpstreamFwd.
ACS_ON = 0x1D
ACS_OFF = 0x00

# The place of a function in PCI Express, with the number that its capability carries; `plain` is a
# function without that capability.
KINDS = {
    "endpoint": 0,
    "root_port": 4,
    "upstream": 5,
    "downstream": 6,
    "to_pci": 7,
    "inside": 9,
    "plain": -1,
}

# (subject, field) -> value. The subject is a PCI address, an RDMA device, a netdev or "host".
Faults = Mapping[tuple[str, str], Any]
Model = TypeVar("Model")


@dataclass(frozen=True)
class Function:
    """One PCI function. Its link is the one to the port above it: the port shows the same."""

    address: str
    vendor: int
    device: int
    class_code: int
    kind: str
    driver: str = ""
    subsystem: tuple[int, int] = (0, 0)
    revision: int = 0
    generation: int = 5
    width: int = 16
    generation_max: int = 5
    width_max: int = 16
    max_payload: int = 256
    max_payload_supported: int = 512
    read_request: int = 512
    relaxed_ordering: bool = True
    acs: int | None = None  # the control register; None = without the capability
    ats: bool | None = None  # whether it is on; None = without the capability
    errors: tuple[int, int, int] = (0, 0, 0)  # counted since boot: correctable, nonfatal, fatal
    virtual_functions: int = 0  # that it could make
    made_functions: int = 0  # virtual functions that it has made
    virtual: bool = False  # a virtual function: its link status reads zero
    physical: str = ""  # of a virtual function: the one that made it; '' in a virtual machine
    below: tuple["Function", ...] = ()
    # It no longer answers: every register reads ones, while the kernel keeps what it knew.
    dead: bool = False


@dataclass(frozen=True)
class RootBus:
    """A root bus of one NUMA node."""

    name: str  # 0000:15
    numa: int  # -1 = the firmware does not say
    functions: tuple[Function, ...]
    above: str = ""  # folders between /sys/devices and pci0000:15; a hypervisor's bus has some
    acpi: AcpiNode | None = None  # None = the firmware's tables do not name it


@dataclass(frozen=True)
class Neighbor:
    """What the other end of a cable says through LLDP."""

    system: str
    chassis: str
    description: str
    management: str
    port: str
    port_description: str
    management_v6: str = ""


@dataclass(frozen=True)
class Netdev:
    """A network device; of an RDMA port or of its own."""

    netdev: str
    address: str  # PCI; '' = virtual
    mac: str
    index: int
    mtu: int = 1500
    speed: int = 10_000  # Mb/s
    up: bool = True
    port_name: str = ""
    neighbor: Neighbor | None = None
    addresses: tuple[str, ...] = ()  # 10.21.0.1/24, fe80::…/64
    master: str = ""  # the bond it belongs to
    driver: str = ""
    driver_version: str = ""
    permanent_mac: str = ""  # '' = `mac`; a bond gives its members one in common
    lower: str = ""  # of a VLAN: the netdev that it is on
    dynamic: tuple[str, ...] = ()  # addresses that router advertisements gave: 2001:db8:…/64
    # Neighbors that do not answer: address, FAILED or INCOMPLETE.
    unresolved: tuple[tuple[str, str], ...] = ()
    arp: tuple[tuple[str, int], ...] = (  # /proc/sys/net/ipv4/conf/<netdev>/
        ("arp_announce", 0),
        ("arp_filter", 0),
        ("arp_ignore", 0),
        ("rp_filter", 2),
    )
    enabled: bool = True  # `ip link set up`
    # How often its carrier came and went; None = twice, and once more while it is away.
    carrier_changes: int | None = None


@dataclass(frozen=True)
class Nic(Netdev):
    """One function of an RDMA card: its RDMA device, its port, its netdev, its firmware."""

    name: str = ""  # mlx5_0
    guid: str = ""
    image_guid: str = ""  # the same on all functions of one card
    rate: str = ""
    address_v4: tuple[int, int, int, int] = (0, 0, 0, 0)
    firmware: str = ""
    psid: str = ""
    chip: str = "MT4129"
    family: str = "ConnectX7"
    part_number: str = ""
    description: str = ""
    # Firmware parameters that differ from this site's usual ones: name -> (current, next boot).
    parameters: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    serial: str = ""  # of the card
    link_layer: str = "Ethernet"  # Ethernet, InfiniBand
    lid: int = 0
    sm_lid: int = 0
    active_mtu: int = 4096
    max_mtu: int = 4096
    # The netdev lives in another network namespace; where RDMA namespaces are exclusive, the RDMA
    # device does too: `netdev_is_here` and `rdma_is_here` tell.
    in_pod: bool = False
    # The whole function is a guest's: the host has neither its netdev nor its RDMA device, while
    # the firmware tools still reach it. Its PCI function says vfio-pci.
    in_guest: bool = False
    # The driver has made only one of the two.
    without_rdma: bool = False
    without_netdev: bool = False
    rdma_up: bool | None = None  # None = as the port; a bond's device is up while one port is
    optic: Optic = field(default_factory=Optic)
    link: Link = field(default_factory=Link)
    qos: Qos = field(default_factory=Qos)
    flash: Firmware = field(default_factory=Firmware)
    gids: tuple[GidEntry, ...] = ()
    # Values of counters that are not zero, by name.
    counters: Mapping[str, int] = field(default_factory=dict)  # /sys/class/infiniband counters
    hw_counters: Mapping[str, int] = field(default_factory=dict)
    statistics: Mapping[str, int] = field(default_factory=dict)  # ethtool -S
    pkeys: tuple[int, ...] = (0xFFFF,)
    ports: int = 1  # of the whole card
    order_number: str = ""  # MCX75310AAS-NEAT; `part_number` is how the firmware spells it
    product: str = ""  # what the vital product data call it
    uid: str = ""  # 7be1…: serial_number of devlink, V3 of the vital product data
    parameter_set: str = ""  # which parameters-*.txt holds its firmware parameters; '' = the usual
    firmware_access: bool = True  # False = mlxconfig, flint and mlxlink cannot open it
    management_node: bool = True  # /dev/infiniband/umad*, where the kernel makes them


@dataclass(frozen=True)
class Gpu:
    """A GPU as its driver tells it."""

    address: str
    number: int
    serial: str
    uuid: str
    product: str = "NVIDIA H100 80GB HBM3"


@dataclass(frozen=True)
class HostModel:
    """One host."""

    name: str
    number: int
    operating_system: str
    boot_id: str
    gpu_driver: str
    cpus: tuple[str, ...]  # the CPUs of each NUMA node, as a list such as 0-55,112-167
    buses: tuple[RootBus, ...]
    nics: tuple[Nic, ...]
    netdevs: tuple[Netdev, ...]
    gpus: tuple[Gpu, ...]
    modules: tuple[str, ...]
    server_model: str = "HGX H100 8-GPU"
    dmi: Dmi | None = None  # None = the kernel has no DMI
    cpu: Cpu = field(default_factory=Cpu)
    memory: tuple[MemoryNode, ...] = ()
    kernel: Kernel = field(default_factory=Kernel)
    routes: tuple[Route, ...] = ()
    rules: tuple[RoutingRule, ...] = ()
    bonds: tuple[Bond, ...] = ()
    virtual: bool = False  # a virtual machine
    uptime_s: float = 1_054_321.25  # twelve days
    rdma_namespaces: str = "shared"  # rdma system: shared, exclusive
    labels: Mapping[str, str] = field(default_factory=dict)  # of its Kubernetes node object
    verbs_open: bool = True  # whether processes can open the RDMA devices that the kernel has
    # Devices of a Kubernetes resource that its plugin registered and does not offer, by its name.
    withheld: Mapping[str, int] = field(default_factory=dict)
    firmware_tools: str = "4.31.0-149"  # release of mlxconfig, mlxlink and the rest
    calls_itself: str = ""  # where its host name is not the name that the operator has for it
    # What people wrote: absolute path -> content, instead of what the renderers write there; None =
    # removed. A text is a symbolic link's target.
    files: Mapping[str, bytes | str | None] = field(default_factory=dict)


def carrier_changes(netdev: Netdev) -> int:
    """How often its carrier came and went since it was made."""
    if netdev.carrier_changes is not None:
        return netdev.carrier_changes
    return 0 if netdev.netdev == "lo" else 2 if netdev.up else 3


def netdev_is_here(netdev: Netdev) -> bool:
    """Whether the host's own network namespace has this netdev."""
    if not isinstance(netdev, Nic):
        return True
    return not (netdev.in_pod or netdev.in_guest or netdev.without_netdev)


def rdma_is_here(host: HostModel, nic: Nic) -> bool:
    """Whether the host's own namespaces have this RDMA device."""
    moved = nic.in_pod and host.rdma_namespaces == "exclusive"
    return not (nic.in_guest or nic.without_rdma or moved)


def rdma_is_up(nic: Nic) -> bool:
    """Whether the RDMA port has a link."""
    return nic.up if nic.rdma_up is None else nic.rdma_up


def is_mlx5(nic: Nic) -> bool:
    """Whether it is a card of the vendor whose tools are asked; others have irdma, bnxt_re."""
    return not nic.driver or nic.driver.startswith("mlx5")


def with_faults(host: HostModel, faults: Faults) -> HostModel:
    """The host with single values changed; a fault that fits nothing is a mistake of the test.

    A field of a record inside a subject is named with a dot: ("mlx5_0", "qos.trust"): "pcp".
    """
    used: set[tuple[str, str]] = set()
    changed = _changed(host, faults, used)
    unused = [f"{subject} {name}" for subject, name in faults if (subject, name) not in used]
    if unused:
        raise KeyError(f"no such subject or field: {', '.join(unused)}")
    return replace(changed, nics=tuple(_followed(nic, faults) for nic in changed.nics))


def roce_mtu(mtu: int) -> int:
    """The RDMA MTU that fits into a netdev's: Linux include/rdma/ib_addr.h iboe_get_mtu()."""
    return next(size for size in (4096, 2048, 1024, 512, 256, 0) if size <= mtu - 96)


def _followed(nic: Nic, faults: Faults) -> Nic:
    """What the kernel makes of a changed value itself, unless the test says otherwise."""
    names = {name for subject in _subjects(nic) for name in _named(faults, subject)}
    if "mtu" in names and "active_mtu" not in names and nic.link_layer == "Ethernet":
        return replace(nic, active_mtu=roce_mtu(nic.mtu))
    return nic


def _named(faults: Faults, subject: str) -> list[str]:
    return [name for other, name in faults if other == subject]


def _subjects(part: object) -> tuple[str, ...]:
    if isinstance(part, HostModel):
        return ("host",)
    if isinstance(part, Function):
        return (part.address,)
    if isinstance(part, Nic):
        return (part.name, part.netdev)
    return (part.netdev,) if isinstance(part, Netdev) else ()


def _changed(part: Model, faults: Faults, used: set[tuple[str, str]]) -> Model:
    if not is_dataclass(part) or isinstance(part, type):
        return part
    values: dict[str, Any] = {}
    for item in fields(part):
        value = getattr(part, item.name)
        if isinstance(value, tuple) and value and is_dataclass(value[0]):
            values[item.name] = tuple(_changed(inner, faults, used) for inner in value)
    known = {item.name for item in fields(part)}
    for subject in _subjects(part):
        for name in _named(faults, subject):
            outer, _, inner = name.partition(".")
            if outer in known:
                now = values.get(outer, getattr(part, outer))
                values[outer] = _replaced(now, inner, faults[subject, name])
                used.add((subject, name))
    return replace(part, **values)


def _replaced(now: Any, inner: str, value: Any) -> Any:
    return replace(now, **{inner: value}) if inner else value
