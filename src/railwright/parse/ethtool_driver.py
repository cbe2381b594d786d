"""`ethtool -i NETDEV`: driver and firmware of an interface. The answer does not name it."""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, Value, text_of
from railwright.parse.ethtool_text import agreed, one_per_netdev, refuse, whole_lines
from railwright.parse.pci import is_address

_LINE = re.compile(
    r"\s{0,40}(driver|version|firmware-version|expansion-rom-version|bus-info):([^\n]{0,200})"
)
_WHOLE_LINE = re.compile(r"supports-[a-z-]{1,40}: (?:yes|no)")
# mlx5 prints the PSID behind the version: 28.43.2026 (MT_0000000838). Others print their own words.
_FIRMWARE = re.compile(r"([0-9.]{1,40}) \(([^\s()]{1,16})\)")
_NONE = "N/A"
# Of these one is printed at least. `version:` stands in many a file, and `driver:` alone in YAML.
_OWN = frozenset({"firmware-version", "expansion-rom-version", "bus-info"})


def _said(found: dict[str, str], key: str) -> str | None:
    """Text of a key; '' where the driver has none, None where the key is not printed."""
    text = found.get(key)
    return "" if text == _NONE else text


def _values(found: dict[str, str]) -> dict[str, Value]:
    firmware = _said(found, "firmware-version")
    psid = None if firmware is None else ""
    mellanox = _FIRMWARE.fullmatch(firmware or "")
    if mellanox:
        firmware, psid = mellanox.groups()
    bus = found.get("bus-info")
    return {
        "driver": found.get("driver"),
        "driver_version": _said(found, "version"),
        "firmware_version": firmware,
        "psid": psid,
        "expansion_rom_version": _said(found, "expansion-rom-version"),
        "pci": bus if bus is None or is_address(bus) else "",
    }


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Table ethtool_driver."""
    text = text_of(data)
    lines = map(_LINE.fullmatch, whole_lines(text, _WHOLE_LINE))
    found = agreed((match[1], match[2].strip()) for match in lines if match)
    if not found.keys() & _OWN:
        refuse(text, "no driver")
    return one_per_netdev("ethtool_driver", [("", _values(found))], instance)
