"""/sys/devices/pci… and /sys/bus/pci: the tree, the attributes as the kernel prints them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lab.fleet.config_space import config_space
from lab.fleet.model import Function, HostModel
from lab.fleet.tree import Tree, up

# Linux drivers/pci/probe.c pcie_link_speed[] and pci.c pci_speed_string()
SPEEDS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
UNKNOWN = "Unknown"  # pci_speed_string() of a link that says nothing
# Seven regions of which none is in use; lspci wants the file.
_RESOURCES = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" * 7


# Linux drivers/pci/pcie/aer.c: the words of aer_dev_correctable, and those of the two others.
CORRECTABLE = (
    *("RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout", "NonFatalErr", "CorrIntErr"),
    "HeaderOF",
)
UNCORRECTABLE = (
    *("Undefined", "DLP", "SDES", "TLP", "FCP", "CmpltTO", "CmpltAbrt", "UnxCmplt", "RxOF"),
    *("MalfTLP", "ECRC", "UnsupReq", "ACSViol", "UncorrIntErr", "BlockedTLP"),
    *("AtomicOpBlocked", "TLPBlockedErr", "PoisonTLPBlocked"),
)


@dataclass(frozen=True)
class Place:
    """Where a function is: its folder below /sys, its NUMA node, its IOMMU group."""

    path: str
    numa: int
    group: int


def write_pci(sys: Tree, host: HostModel) -> dict[str, str]:
    """All functions; PCI address -> its folder below /sys."""
    paths: dict[str, str] = {}
    members: dict[int, dict[str, str]] = {}
    functions = list(placed(host))
    for driver in {function.driver for _, function in functions} - {""}:
        bound = {f.address: f"../../../../{p.path}" for p, f in functions if f.driver == driver}
        sys.write(f"bus/pci/drivers/{driver}", {}, bound)
    # Virtual functions are not what makes a card one of several functions.
    slots = Counter(f.address[:-2] for _, f in functions if not f.virtual)
    for place, function in functions:
        several = slots[function.address[:-2]] > 1 and not function.virtual
        config = config_space(function, several=several)
        _write_function(sys, host, place, function, config)
        paths[function.address] = place.path
        members.setdefault(place.group, {})[function.address] = f"../../../../{place.path}"
    _link_virtual(sys, functions, paths)
    sys.write("bus/pci/devices", {}, {a: f"../../../{path}" for a, path in paths.items()})
    sys.make("bus/pci/slots")
    kind = _iommu(host)
    for group, links in members.items() if kind else ():
        sys.write(f"kernel/iommu_groups/{group}", {"type": f"{kind}\n"})
        sys.write(f"kernel/iommu_groups/{group}/devices", {}, links)
    return paths


def _iommu(host: HostModel) -> str:
    """identity: the IOMMU is on and translates nothing; '' = a virtual machine that has none."""
    if host.virtual:
        return ""
    return "identity" if "iommu=pt" in host.kernel.command_line.split() else "DMA-FQ"


def placed(host: HostModel) -> Iterator[tuple[Place, Function]]:
    """Every function as it shows itself, and where it is."""
    group = 0
    for bus in host.buses:
        for function in bus.functions:
            above = f"devices/{bus.above}/" if bus.above else "devices/"
            path = f"{above}pci{bus.name}/{function.address}"
            yield Place(path, bus.numa, group), _shown(function)
            group += 1
            # Without ACS the kernel cannot tell apart what is below one root port: one group.
            yield from _below(Place(path, bus.numa, group), function)
            group += bool(function.below)


def _link_virtual(
    sys: Tree, functions: list[tuple[Place, Function]], paths: dict[str, str]
) -> None:
    """physfn and virtfn0, virtfn1, … between a card and what it has made."""
    made: dict[str, int] = {}
    for place, function in functions:
        if function.physical:
            number = made.setdefault(function.physical, 0)
            made[function.physical] += 1
            sys.write(place.path, {}, {"physfn": f"../{function.physical}"})
            links = {f"virtfn{number}": f"../{function.address}"}
            sys.write(paths[function.physical], {}, links)


def _below(place: Place, function: Function) -> Iterator[tuple[Place, Function]]:
    for child in function.below:
        inner = replace(place, path=f"{place.path}/{child.address}")
        yield inner, _shown(child)
        yield from _below(inner, child)


def _shown(function: Function) -> Function:
    """A port above a link shows that link; an upstream port shows the one above itself."""
    if function.kind not in ("root_port", "downstream"):
        return function
    if not function.below or (function.below[0].dead and not function.dead):
        return replace(function, generation=1, width=0)
    end = function.below[0]
    return replace(function, generation=end.generation, width=end.width)


def speed_text(generation: int) -> str:
    """32.0 GT/s PCIe; generation 0 is a register that reads zero, as of virtual functions."""
    return f"{SPEEDS[generation]} GT/s PCIe" if generation else UNKNOWN


def _cpus(host: HostModel, numa: int) -> str:
    """The CPUs next to a device: all of them where nobody knows better."""
    if numa >= 0:
        return host.cpus[numa]
    cpu = host.cpu
    return f"0-{cpu.sockets * cpu.cores_per_socket * cpu.threads_per_core - 1}"


# Registers that read ones: no such speed, 63 lanes, and every speed that the kernel knows.
_DEAD_LINK = {
    "current_link_speed": "Unknown\n",
    "current_link_width": "63\n",
    "max_link_speed": "64.0 GT/s PCIe\n",
    "max_link_width": "63\n",
}


def _link_files(function: Function) -> dict[str, str]:
    if function.kind == "plain":
        return {}
    if function.dead:
        return _DEAD_LINK
    if function.kind == "inside":  # no link: what Linux 5.15 prints then
        return {
            "current_link_speed": "Unknown\n",
            "current_link_width": "0\n",
            "max_link_speed": "Unknown\n",
            "max_link_width": "255\n",
        }
    return {
        "current_link_speed": f"{speed_text(function.generation)}\n",
        "current_link_width": f"{function.width}\n",
        "max_link_speed": f"{speed_text(function.generation_max)}\n",
        "max_link_width": f"{function.width_max}\n",
    }


def _counted(names: tuple[str, ...], total: str, count: int) -> str:
    """All errors are of the second kind: bad packets, or the link layer's protocol."""
    lines = [f"{name} {count if place == 1 else 0}" for place, name in enumerate(names)]
    return "\n".join([*lines, f"{total} {count}"]) + "\n"


def _error_files(host: HostModel, function: Function) -> dict[str, str]:
    """A guest does not see its hypervisor's error reports."""
    if host.virtual or function.kind in ("plain", "inside"):
        return {}
    correctable, nonfatal, fatal = function.errors
    return {
        "aer_dev_correctable": _counted(CORRECTABLE, "TOTAL_ERR_COR", correctable),
        "aer_dev_nonfatal": _counted(UNCORRECTABLE, "TOTAL_ERR_NONFATAL", nonfatal),
        "aer_dev_fatal": _counted(UNCORRECTABLE, "TOTAL_ERR_FATAL", fatal),
    }


def _write_function(
    sys: Tree, host: HostModel, place: Place, function: Function, config: bytes
) -> None:
    top = up(place.path)
    files: dict[str, str | bytes] = {
        "vendor": f"0x{function.vendor:04x}\n",
        "device": f"0x{function.device:04x}\n",
        "class": f"0x{function.class_code:06x}\n",
        "subsystem_vendor": f"0x{function.subsystem[0]:04x}\n",
        "subsystem_device": f"0x{function.subsystem[1]:04x}\n",
        "revision": f"0x{function.revision:02x}\n",
        "numa_node": f"{place.numa}\n",
        "local_cpulist": f"{_cpus(host, place.numa)}\n",
        "power_state": "D0\n",
        "irq": "0\n",
        "resource": _RESOURCES,
        "config": config,
        **_link_files(function),
        **_error_files(host, function),
    }
    if function.virtual_functions:
        files["sriov_totalvfs"] = f"{function.virtual_functions}\n"
        files["sriov_numvfs"] = f"{function.made_functions}\n"
    links = {"subsystem": f"{top}bus/pci"}
    if _iommu(host):
        links["iommu_group"] = f"{top}kernel/iommu_groups/{place.group}"
    if function.driver:
        links["driver"] = f"{top}bus/pci/drivers/{function.driver}"
    sys.write(place.path, files, links)
