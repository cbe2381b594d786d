"""`flint|mstflint -d <pci> query`: which firmware is in a NIC's flash, and whether it runs.

`Key:` and a value. "FW Version(Running)" is printed only where it differs from the flash, "Orig
PSID" only where the card was given another one: that they are missing is an answer. "Rom Info"
goes on in lines without a key. "Description" stands twice: the product's (`query full` only), and
the heading of the GUID table.
"""

import re
from calendar import monthrange
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.mlx_text import (
    INTEGER_BITS,
    NOT_AVAILABLE,
    errors_of,
    none_if_na,
    note,
    whole_lines,
    whole_number,
)

_ROM = re.compile(
    r"type=([A-Za-z0-9 _-]{1,40}?) version=([0-9A-Za-z._-]{1,40})(?: cpu=([A-Za-z0-9_,]{1,60}))?",
    re.ASCII,
)
# Day, month, year, not padded: 8.8.2024.
_DATE = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", re.ASCII)
_TABLE_HEADINGS = ("UID ", "Node ", "Base ", "Port1 ")  # the last three up to ConnectX-3

_IMAGE = "Image type"
_VERSION = "FW Version"
_RUNNING = "FW Version(Running)"
_PSID = "PSID"
_ORIGINAL_PSID = "Orig PSID"
_DATE_KEY = "FW Release Date"
_ROM_KEY = "Rom Info"
_GUID = "Base GUID"
_MAC = "Base MAC"
_TEXTS = {
    _IMAGE: "image_type",
    "Product Version": "product_version",
    "Part Number": "part_number",
    "Description": "description",
    "Security Attributes": "security_attributes",
    "Default Update Method": "update_method",
    "Life cycle": "life_cycle",
    "Secure Boot Capable": "secure_boot",
}
_KEYS = frozenset(
    {*_TEXTS, _VERSION, _RUNNING, _PSID, _ORIGINAL_PSID, _DATE_KEY, _ROM_KEY, _GUID, _MAC}
)
_LONGEST_VALUE = 2000  # a product's description has 300 characters


def _fields(text: str) -> tuple[dict[str, str], list[str], bool]:
    """The values by key, the lines of the ROM list, and whether something follows the version."""
    found: dict[str, str] = {}
    roms: list[str] = []
    followed = False
    for line in whole_lines(text):
        key, colon, rest = line.partition(":")
        key, value = key.strip(), rest.strip()
        if line.lstrip().startswith("type="):
            roms.append(line.strip())
        if not colon or key not in _KEYS or len(value) > _LONGEST_VALUE:
            continue
        followed = followed or (_VERSION in found and key not in {_VERSION, _RUNNING})
        if key == "Description" and value.startswith(_TABLE_HEADINGS):
            continue
        note(found, key, value)
        if key == _ROM_KEY and value.startswith("type="):
            roms.append(value)
    return found, roms, followed


def _date(text: str | None) -> str | None:
    match = _DATE.fullmatch(text or "")
    if not match:
        return None
    day, month, year = int(match[1]), int(match[2]), int(match[3])
    # Flash that was never written says 0.0.0000; one day too many is no date either.
    if not (year and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    return f"{year:04d}-{month:02d}-{day:02d}"


def _identity(text: str | None) -> tuple[str | None, int | None]:
    """A base GUID or MAC with the number of addresses that the card has from there on."""
    words = (text or "").split()
    if not words:
        return None, None
    count = whole_number(words[1], INTEGER_BITS) if len(words) > 1 else None
    return "" if words[0] == NOT_AVAILABLE else words[0].lower(), count


def _rom_rows(pci: str, roms: list[str]) -> list[Row]:
    rows: dict[tuple[str, str], Row] = {}
    for line in roms:
        match = _ROM.match(line)
        if not match:
            continue
        key = (match[1], match[3] or "")
        values: dict[str, Value] = {
            "pci": pci,
            "type": match[1],
            "cpu": match[3] or "",
            "version": match[2],
        }
        row = Row("nic_firmware_rom", values)
        if rows.setdefault(key, row) != row:
            raise NotUnderstoodError(f"the ROM {match[1]} is printed twice and differs")
    return list(rows.values())


def _rom_count(rom_info: str | None, rows: list[Row]) -> int | None:
    if rows:
        return len(rows)
    return 0 if rom_info == NOT_AVAILABLE else None


def _only_if_different(
    found: dict[str, str], key: str, instead_of: str, followed: bool
) -> str | None:
    """A value that is printed only where it differs; '' where it would have stood, and does not."""
    if key in found:
        return none_if_na(found[key])
    return "" if instead_of in found and followed else None


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of nic_firmware and nic_firmware_rom."""
    text = text_of(data)
    found, rom_lines, followed = _fields(text)
    # mlxlink prints an "FW Version" too (the module's), mlxfwmanager a PSID.
    if _IMAGE not in found and not (_VERSION in found and _PSID in found):
        raise NotUnderstoodError(errors_of(text) or "no firmware image")
    roms = _rom_rows(instance, rom_lines)
    guid, guids = _identity(found.get(_GUID))
    mac, macs = _identity(found.get(_MAC))
    values: dict[str, Value] = {
        "pci": instance,
        "version": none_if_na(found.get(_VERSION)),
        "running_version": _only_if_different(found, _RUNNING, _VERSION, followed),
        "release_date": _date(found.get(_DATE_KEY)),
        "psid": none_if_na(found.get(_PSID)) or None,
        "original_psid": _only_if_different(
            found, _ORIGINAL_PSID, _PSID, "Security Attributes" in found
        ),
        "base_guid": guid,
        "base_guid_count": guids,
        "base_mac": mac,
        "base_mac_count": macs,
        "rom_count": _rom_count(found.get(_ROM_KEY), roms),
    }
    for key, column in _TEXTS.items():
        values[column] = none_if_na(found.get(key))
    yield Row("nic_firmware", values)
    yield from roms
