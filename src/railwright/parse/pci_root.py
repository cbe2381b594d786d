r"""Probe `pci_root`: how ACPI tables name each PCI root bridge.

Files:  /sys/devices/pci*/firmware_node/{path,uid,hid}

The path (\_SB_.PC01) is a name in the firmware's tables, where a bus number is the outcome of
counting: a root bridge keeps it whatever is plugged in. A bridge without a node has no file.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import Files, is_missing, read_files

DEVICES = "/sys/devices"
_ROOT = re.compile(r"pci([0-9a-f]{4,8}:[0-9a-f]{2})", re.ASCII)
# Names of ACPI have four characters each; drivers/acpi/device_sysfs.c prints the full path.
_NAMES = re.compile(r"\\[A-Z0-9_]{1,4}(?:\.[A-Z0-9_]{1,4}){0,20}", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}", re.ASCII)


def _word(files: Files, path: str, form: re.Pattern[str]) -> str | None:
    if is_missing(files, path):
        return ""
    text = files.text(path)
    return text if text is not None and form.fullmatch(text) else None


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table pci_root."""
    files = read_files(data)
    roots = [(name, found[1]) for name in files.below(DEVICES) if (found := _ROOT.fullmatch(name))]
    if data and not roots:
        raise NotUnderstoodError(f"no root bridge below {DEVICES}")
    for name, root_bus in roots:
        node = f"{DEVICES}/{name}/firmware_node"
        values: dict[str, Value] = {
            "root_bus": root_bus,
            "acpi_path": _word(files, f"{node}/path", _NAMES),
            "acpi_uid": _word(files, f"{node}/uid", _ID),
            "acpi_hid": _word(files, f"{node}/hid", _ID),
        }
        yield Row("pci_root", values)
