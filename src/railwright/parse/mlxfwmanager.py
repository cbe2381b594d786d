"""`mlxfwmanager --query` (and `mlxup --query`): firmware of all NICs, and images at hand for them.

One block per device: `Key: value` lines, then a table of versions whose cells shift to the right
where a label is long ("UEFI Virtio blk"), so its rows are read from their end.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.mlx_text import NOT_AVAILABLE, address, errors_of, note, whole_lines

_DEVICE = re.compile(r"Device #[0-9]{1,4}:")
_TABLE = "Versions"
_COLUMNS = ("current", "available")
_NAME = "PCI Device Name"
_STATUS = "Status"
_TEXTS = {
    "Device Type": "device_type",
    "Part Number": "part_number",
    "Description": "description",
    "PSID": "psid",
    "Base GUID": "base_guid",
    "Base MAC": "base_mac",
}
_KEYS = frozenset({*_TEXTS, _NAME, _STATUS, _TABLE})
# FW, FW (Running), PXE, UEFI, UEFI Virtio blk, CLP, NVMe, FCODE: words, then the version cells.
_LABEL = re.compile(r"[A-Z][A-Za-z0-9_-]{1,20}(?: \(?[A-Za-z0-9_-]{1,20}\)?){0,3}", re.ASCII)
# A cell begins with a digit: where one is missing, the last word of the label is none.
_CELL = re.compile(r"[0-9][0-9A-Za-z._-]{0,39}|N/A|--", re.ASCII)
_UNREAD = frozenset({"", "--"})  # what stands in the cells of a device that did not answer
_LONGEST_LINE = 2000


class _Device(NamedTuple):
    """One block of the output."""

    header: dict[str, str]
    versions: dict[str, str]  # component -> "current available"


def _version_row(line: str) -> tuple[str, str] | None:
    words = line.split()
    label, cells = " ".join(words[:-2]), words[-2:]
    if not _LABEL.fullmatch(label) or not all(map(_CELL.fullmatch, cells)):
        return None
    return label, " ".join(cells)


def _devices(text: str) -> list[_Device]:
    devices: list[_Device] = []
    in_table = False
    for line in whole_lines(text):
        if len(line) > _LONGEST_LINE:
            continue
        key, colon, rest = line.strip().partition(":")
        if _DEVICE.fullmatch(line.strip()):
            devices.append(_Device({}, {}))
            in_table = False
        elif not devices:
            continue
        elif colon and key in _KEYS:
            in_table = key == _TABLE and tuple(rest.lower().split()) == _COLUMNS
            note(devices[-1].header, key, rest.strip())
        elif in_table:
            row = _version_row(line)
            if row:
                note(devices[-1].versions, *row)
    return devices


def _text(printed: str | None, answered: bool) -> str | None:
    """A text; '' where N/A is printed, unless the device did not answer: then nothing is known."""
    if printed is None or printed in _UNREAD:
        return None
    if printed == NOT_AVAILABLE:
        return "" if answered else None
    return printed


def _rows(pci: str, device: _Device) -> Iterator[Row]:
    status = device.header.get(_STATUS) or None
    # A device that did not answer has "--" in its cells, and says "Failed to ..." as its status.
    failed = (status or "").lower().startswith("fail")
    answered = not failed and "-- --" not in device.versions.values()
    values: dict[str, Value] = {"pci": pci, "status": status}
    for key, column in _TEXTS.items():
        values[column] = _text(device.header.get(key), answered)
    yield Row("nic_firmware_device", values)
    for component, cells in device.versions.items():
        current, available = cells.split()
        image: dict[str, Value] = {
            "pci": pci,
            "component": component,
            "current": _text(current, answered),
            "available": _text(available, answered),
        }
        yield Row("nic_firmware_image", image)


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of nic_firmware_device and nic_firmware_image."""
    text = text_of(data)
    named: dict[str, _Device] = {}
    for device in _devices(text):
        pci = address(device.header.get(_NAME, "")) or instance
        if pci and named.setdefault(pci, device) != device:
            raise NotUnderstoodError(f"{pci[:60]} is printed twice and differs")
    if not named:
        raise NotUnderstoodError(errors_of(text) or "no device")
    for pci, device in named.items():
        yield from _rows(pci, device)
