"""Probe `pci`: every PCI function as the kernel's sysfs shows it, without root.

Links:  /sys/bus/pci/devices/*  and  /sys/bus/pci/devices/*/{driver,iommu_group,physfn}
Files:  /sys/bus/pci/devices/*/{vendor,device,class,subsystem_vendor,subsystem_device,revision,
        numa_node,local_cpulist,current_link_speed,current_link_width,max_link_speed,
        max_link_width,sriov_numvfs,sriov_totalvfs,power_state,iommu_group/type}

A link or file that is not listed does not exist, as long as other files of the same function were
read; one that is listed with an errno was not read.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, whole_number
from railwright.parse.files import Files, is_missing, link_name, read_files

DEVICES = "/sys/bus/pci/devices"

# Domains have four digits, or more: Intel VMD makes them from 10000 up.
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_ROOT_BUS = re.compile(r"pci([0-9a-f]{4,8}:[0-9a-f]{2})")
_HEX = re.compile(r"0x([0-9a-f]{1,8})", re.IGNORECASE)
# "2.5 GT/s" (until Linux 5.6), "32.0 GT/s PCIe" (since), "Unknown speed" / "Unknown".
_SPEED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,2})?) ?GT/s(?: PCIe)?", re.ASCII)

# What a link can be wide. sysfs also prints 63 (a function that no longer answers reads all ones)
# and 255 (the kernel's own "unknown"): both say nothing about the link.
WIDTHS = frozenset({0, 1, 2, 4, 8, 12, 16, 32})

# The files and links whose absence says "none".
_SOURCES = {
    "driver": "driver",
    "numa_node": "numa_node",
    "link_width": "current_link_width",
    "link_width_max": "max_link_width",
    "iommu_group": "iommu_group",
    "iommu_type": "iommu_group",
    "physical_function": "physfn",
    "vf_count": "sriov_numvfs",
    "vf_limit": "sriov_totalvfs",
}


def is_address(text: str) -> bool:
    """Whether this is a PCI address as Linux writes it, such as 0000:18:00.0."""
    return _ADDRESS.fullmatch(text) is not None


def last_address(path: str | None) -> str:
    """The PCI function nearest to the end of a sysfs path; '' where there is none on it."""
    parts = (path or "").split("/")
    return next((part for part in reversed(parts) if is_address(part)), "")


def _hex(text: str | None) -> str | None:
    found = _HEX.fullmatch(text or "")
    return found[1].lower() if found else None


def _speed(text: str | None) -> float | None:
    found = _SPEED.fullmatch(text or "")
    return float(found[1]) if found else None


def _place(files: Files, pci: str) -> tuple[str | None, str | None]:
    """(parent, root bus), from the path that the link in /sys/bus/pci/devices stands for."""
    parts = (files.link(f"{DEVICES}/{pci}") or "").split("/")
    if parts[-1] != pci:
        return None, None
    above = parts[-2] if len(parts) > 1 else ""
    # The last root bus on the path: below Intel VMD a second one begins.
    roots = [found[1] for part in parts if (found := _ROOT_BUS.fullmatch(part))]
    if not roots:
        return None, None
    return (above if is_address(above) else ""), roots[-1]


def _link_width(files: Files, path: str) -> int | None:
    if is_missing(files, path):
        return 0
    width = whole_number(files.text(path))
    return width if width in WIDTHS else None


def _iommu(files: Files, base: str) -> tuple[int | None, str | None]:
    """(group, type). No link to a group: -1 and ''. A group whose type was not read: None."""
    name = link_name(files, f"{base}/iommu_group")
    if name == "":
        return -1, ""
    return whole_number(name), files.text(f"{base}/iommu_group/type") or None


def _or_none(files: Files, path: str, none: int) -> int | None:
    return none if is_missing(files, path) else whole_number(files.text(path), lowest=none)


def _function(files: Files, pci: str, shows_links: bool) -> dict[str, Value]:
    base = f"{DEVICES}/{pci}"
    parent, root_bus = _place(files, pci)
    values: dict[str, Value] = {"pci": pci, "parent": parent, "root_bus": root_bus}
    for name in ("vendor", "device", "class", "subsystem_vendor", "subsystem_device", "revision"):
        values[name] = _hex(files.text(f"{base}/{name}"))
    values["local_cpus"] = files.text(f"{base}/local_cpulist")
    values["power_state"] = files.text(f"{base}/power_state") or None
    values["link_speed_gts"] = _speed(files.text(f"{base}/current_link_speed"))
    values["link_speed_max_gts"] = _speed(files.text(f"{base}/max_link_speed"))
    group, kind = _iommu(files, base)
    physical = link_name(files, f"{base}/physfn")
    may_be_missing: dict[str, Value] = {
        "driver": link_name(files, f"{base}/driver"),
        "numa_node": _or_none(files, f"{base}/numa_node", -1),
        "link_width": _link_width(files, f"{base}/current_link_width"),
        "link_width_max": _link_width(files, f"{base}/max_link_width"),
        "iommu_group": group,
        "iommu_type": kind,
        "physical_function": physical if not physical or is_address(physical) else None,
        "vf_count": _or_none(files, f"{base}/sriov_numvfs", 0),
        "vf_limit": _or_none(files, f"{base}/sriov_totalvfs", 0),
    }
    # A name that is not there says "none" only of a function of which something was read.
    known = any(values[name] is not None for name in ("vendor", "device", "class"))
    for column, value in may_be_missing.items():
        told = known and (shows_links or not column.startswith("link_"))
        was_read = told or not is_missing(files, f"{base}/{_SOURCES[column]}")
        values[column] = value if was_read else None
    return values


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table pci_function."""
    files = read_files(data)
    addresses = [name for name in files.below(DEVICES) if is_address(name)]
    if data and not addresses:
        raise NotUnderstoodError(f"no PCI function below {DEVICES}")
    # Before Linux 4.13 no function has the link files; since then only those without a link lack
    # them. One that has them tells which kernel this is.
    shows_links = any(path.endswith("/current_link_width") for path in files)
    for pci in addresses:
        yield Row("pci_function", _function(files, pci, shows_links))
