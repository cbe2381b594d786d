"""/sys/devices/pci… and /sys/bus/pci: the tree, the attributes as the kernel prints them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lab.fakehost.config_space import config_space
from lab.fakehost.model import Function, HostModel
from lab.fakehost.tree import Folder, up

# Linux drivers/pci/probe.c pcie_link_speed[] and pci.c pci_speed_string()
SPEEDS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
# Seven regions of which none is in use; lspci wants the file.
_RESOURCES = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" * 7


@dataclass(frozen=True)
class Place:
    """Where a function is: its folder below /sys, its NUMA node, its IOMMU group."""

    path: str
    numa: int
    group: int


def write_pci(sys: Folder, host: HostModel) -> dict[str, str]:
    """All functions; PCI address -> its folder below /sys."""
    paths: dict[str, str] = {}
    members: dict[int, dict[str, str]] = {}
    drivers = {function.driver for _, function in _all(host)} - {""}
    for driver in drivers:
        sys.make(f"bus/pci/drivers/{driver}")
    for place, function in _all(host):
        _write_function(sys, host, place, function)
        paths[function.address] = place.path
        members.setdefault(place.group, {})[function.address] = f"../../../../{place.path}"
    sys.write("bus/pci/devices", {}, {a: f"../../../{path}" for a, path in paths.items()})
    sys.make("bus/pci/slots")
    for group, links in members.items():
        # "identity": the IOMMU is on and translates nothing, as with iommu=pt.
        sys.write(f"kernel/iommu_groups/{group}", {"type": "identity\n"})
        sys.write(f"kernel/iommu_groups/{group}/devices", {}, links)
    return paths


def _all(host: HostModel) -> Iterator[tuple[Place, Function]]:
    group = 0
    for bus in host.buses:
        for function in bus.functions:
            path = f"devices/pci{bus.name}/{function.address}"
            yield Place(path, bus.numa, group), _shown(function)
            group += 1
            # Without ACS the kernel cannot tell apart what is below one root port: one group.
            yield from _below(Place(path, bus.numa, group), function)
            group += bool(function.below)


def _below(place: Place, function: Function) -> Iterator[tuple[Place, Function]]:
    for child in function.below:
        inner = replace(place, path=f"{place.path}/{child.address}")
        yield inner, _shown(child)
        yield from _below(inner, child)


def _shown(function: Function) -> Function:
    """A port above a link shows that link; an upstream port shows the one above itself."""
    if function.kind not in ("root_port", "downstream"):
        return function
    if not function.below:
        return replace(function, generation=1, width=0)
    end = function.below[0]
    return replace(function, generation=end.generation, width=end.width)


def _link_files(function: Function) -> dict[str, str]:
    if function.kind == "plain":
        return {}
    if function.kind == "inside":  # no link: what Linux 5.15 prints then
        return {
            "current_link_speed": "Unknown\n",
            "current_link_width": "0\n",
            "max_link_speed": "Unknown\n",
            "max_link_width": "255\n",
        }
    return {
        "current_link_speed": f"{SPEEDS[function.generation]} GT/s PCIe\n",
        "current_link_width": f"{function.width}\n",
        "max_link_speed": f"{SPEEDS[function.generation_max]} GT/s PCIe\n",
        "max_link_width": f"{function.width_max}\n",
    }


def _write_function(sys: Folder, host: HostModel, place: Place, function: Function) -> None:
    top = up(place.path)
    files: dict[str, str | bytes] = {
        "vendor": f"0x{function.vendor:04x}\n",
        "device": f"0x{function.device:04x}\n",
        "class": f"0x{function.class_code:06x}\n",
        "subsystem_vendor": f"0x{function.subsystem[0]:04x}\n",
        "subsystem_device": f"0x{function.subsystem[1]:04x}\n",
        "revision": f"0x{function.revision:02x}\n",
        "numa_node": f"{place.numa}\n",
        "local_cpulist": f"{host.cpus[place.numa]}\n",
        "power_state": "D0\n",
        "irq": "0\n",
        "resource": _RESOURCES,
        "config": config_space(function),
        **_link_files(function),
    }
    if function.virtual_functions:
        files["sriov_totalvfs"] = f"{function.virtual_functions}\n"
        files["sriov_numvfs"] = "0\n"
    links = {
        "subsystem": f"{top}bus/pci",
        "iommu_group": f"{top}kernel/iommu_groups/{place.group}",
    }
    if function.driver:
        links["driver"] = f"{top}bus/pci/drivers/{function.driver}"
    sys.write(place.path, files, links)
