"""What a host consists of: plain frozen records, and faults that change single values of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar

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
    virtual_functions: int = 0  # that it could make
    below: tuple["Function", ...] = ()


@dataclass(frozen=True)
class RootBus:
    """A root bus of one NUMA node."""

    name: str  # 0000:15
    numa: int
    functions: tuple[Function, ...]


@dataclass(frozen=True)
class Neighbor:
    """What the other end of a cable says through LLDP."""

    system: str
    chassis: str
    description: str
    management: str
    port: str
    port_description: str


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


def with_faults(host: HostModel, faults: Faults) -> HostModel:
    """The host with single values changed; a fault that fits nothing is a mistake of the test."""
    used: set[tuple[str, str]] = set()
    host = _changed(host, faults, used)
    unused = [f"{subject} {name}" for subject, name in faults if (subject, name) not in used]
    if unused:
        raise KeyError(f"no such subject or field: {', '.join(unused)}")
    return host


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
        for subject in _subjects(part):
            if (subject, item.name) in faults:
                values[item.name] = faults[subject, item.name]
                used.add((subject, item.name))
    return replace(part, **values)
