"""Where a host's disk is: its partitions, a logical volume on a Red Hat, and the links of /sys."""

from typing import NamedTuple

from lab.fleet.model import Function, HostModel
from lab.fleet.tree import Tree

NVME_CLASS = 0x010802


class Disk(NamedTuple):
    """The one that the host boots from."""

    name: str  # nvme0n1
    major: int
    path: str  # below /sys/devices
    partition: str  # what stands between its name and the number of a partition

    def number(self, partition: int) -> str:
        """259:2."""
        return f"{self.major}:{partition}"


def is_red_hat(host: HostModel) -> bool:
    """Rocky Linux and Red Hat: entries of the Boot Loader Specification, NetworkManager."""
    return not host.operating_system.startswith("Ubuntu")


def has_volume(host: HostModel) -> bool:
    """Whether the root file system is on a logical volume."""
    return host.operating_system.startswith("Rocky")


def _drives(functions: tuple[Function, ...]) -> list[Function]:
    found = []
    for function in functions:
        if function.class_code == NVME_CLASS:
            found.append(function)
        found += _drives(function.below)
    return found


def disk(host: HostModel) -> Disk:
    """The first drive; a guest without one has a disk of its hypervisor."""
    drives = [(bus.name, drive) for bus in host.buses for drive in _drives(bus.functions)]
    if not drives:
        place = "LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/f8b3781a-1e82-4818-a1c3-63d806ec15bb"
        return Disk("sda", 8, f"{place}/host0/target0:0:0/0:0:0:0/block/sda", "")
    bus, drive = drives[0]
    return Disk("nvme0n1", 259, f"pci{bus}/{drive.address}/nvme/nvme0/nvme0n1", "p")


def write_storage(sys: Tree, host: HostModel) -> None:
    """Block devices by number, what a volume lies on, and how a drive is attached."""
    found = disk(host)
    base = f"../../devices/{found.path}"
    links = {found.number(0): base}
    for part in (1, 2, 3):
        links[found.number(part)] = f"{base}/{found.name}{found.partition}{part}"
    links["7:1"] = "../../devices/virtual/block/loop1"
    if has_volume(host):
        links["253:0"] = "../../devices/virtual/block/dm-0"
        name = f"{found.name}{found.partition}3"
        target = f"../../../../{found.path}/{name}"
        sys.write("block", {}, {"dm-0": "../devices/virtual/block/dm-0"})
        sys.write("devices/virtual/block/dm-0/slaves", {}, {name: target})
    sys.write("dev/block", {}, links)
    for target in links.values():
        sys.make(target.removeprefix("../../"))
    if found.name.startswith("nvme"):
        address = found.path.split("/")[1]
        sys.write("class/nvme/nvme0", {"transport": "pcie\n", "address": f"{address}\n"})
