"""The truth about cards and their firmware: mlxconfig, flint, mlxfwmanager, mlxfwreset."""

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from lab.fleet.model import HostModel, Nic
from lab.fleet.truth_places import Row, Rows, Tables, opened_nics, placed

GUIDS_PER_CARD = 4
# Number of a reset level, type or owner -> the tool's words.
LEVELS = {
    0: 'Driver, PCI link, network link will remain up ("live-Patch")',
    1: 'Only ARM side will not remain up ("Immediate reset").',
    3: "Driver restart and PCI reset",
    4: "Warm Reboot",
}
TYPES = {
    0: "Full chip reset",
    1: "Phy-less reset (keep network port active during reset)",
    2: "NIC only reset (for SoC devices)",
    3: "ARM only reset",
    4: "ARM OS shut down",
}
OWNERS = {0: "Tool is the owner", 1: "Driver is the owner"}
DRIVER_RESTART = 3


def tables(host: HostModel) -> Tables:
    """nic_*."""
    nics = opened_nics(host)
    return {
        "nic_card": [_card(pci, nic) for pci, nic in nics.items()],
        "nic_parameter": [row for pci, nic in nics.items() for row in _parameters(pci, nic)],
        "nic_firmware": [_firmware(pci, nic) for pci, nic in nics.items()],
        "nic_firmware_rom": [row for pci, nic in nics.items() for row in _roms(pci, nic)],
        "nic_firmware_device": [_managed(nic) for nic in cards(host)],
        "nic_firmware_image": [row for nic in cards(host) for row in _images(nic)],
        "nic_reset": [_reset(pci, nic) for pci, nic in nics.items()],
        "nic_reset_level": [row for pci, nic in nics.items() for row in _reset_levels(pci, nic)],
    }


def _stored(nic: Nic) -> str:
    return nic.flash.stored or nic.firmware


# ---- mlxconfig


def _card(pci: str, nic: Nic) -> Row:
    return {
        "pci": pci,
        "device_type": nic.family,
        "part_number": nic.part_number,
        "description": nic.description,
    }


def _code(text: str) -> int | None:
    """16 -> 16, ETH(2) -> 2, Array[0..7] -> NULL."""
    found = re.fullmatch(r"(?:.*\()?(-?\d+)\)?", text)
    code = int(found[1]) if found and not text.startswith("Array") else None
    return code if code is None or abs(code) < 1 << 63 else None


@lru_cache(maxsize=16)
def _settings(parameter_set: str) -> dict[str, tuple[str, str]]:
    """Name -> from the factory, in force; as the model's tables say, the set's over the usual."""
    known: dict[str, tuple[str, str]] = {}
    for file in ("parameters.txt", *([f"parameters-{parameter_set}.txt"] if parameter_set else [])):
        for line in (Path(__file__).parent / file).read_text("utf-8").splitlines():
            match line.split():
                case [] | ["#", *_]:
                    pass
                case ["without", *patterns]:
                    gone = {n for n in known if any(fnmatchcase(n, part) for part in patterns)}
                    known = {name: values for name, values in known.items() if name not in gone}
                case ["after", _, name, default, current] | [name, default, current]:
                    known[name] = (default, current)
                case other:
                    raise ValueError(f"{file}: {other}")
    return known


def _parameters(pci: str, nic: Nic) -> Rows:
    """A name that ends in _P<n> belongs to port n; none of the fleet's is an array's element."""
    rows: Rows = []
    settings = dict(_settings(nic.parameter_set))
    settings["NUM_OF_PF"] = (str(nic.ports), str(nic.ports))
    for first in [name for name in settings if name.endswith("_P1")]:
        for port in range(2, nic.ports + 1):
            settings[f"{first[:-1]}{port}"] = settings[first]
    for whole, (default, usual) in settings.items():
        current, following = nic.parameters.get(whole, (usual, usual))
        name, _, number = whole.rpartition("_P")
        per_port = bool(name) and number.isdigit()
        rows.append(
            {
                "pci": pci,
                "name": name if per_port else whole,
                "port": int(number) if per_port else 0,
                "element": -1,
                "default_text": default,
                "default_code": _code(default),
                "current_text": current,
                "current_code": _code(current),
                "next_text": following,
                "next_code": _code(following),
                "starred": not default == current == following,
                "read_only": False,
            }
        )
    return rows


# ---- flint


def _base_guid(nic: Nic) -> str:
    """Of the card: the same on all functions."""
    return nic.image_guid.replace(":", "")


def _base_mac(nic: Nic) -> str:
    """A GUID is a MAC address with two bytes in its middle."""
    guid = _base_guid(nic)
    return guid[:6] + guid[10:]


def _date(text: str) -> str:
    """8.8.2023 -> 2023-08-08."""
    day, month, year = text.split(".")
    return f"{year}-{int(month):02d}-{int(day):02d}"


def _firmware(pci: str, nic: Nic) -> Row:
    """The short query: without part number, description and life cycle."""
    return {
        "pci": pci,
        "image_type": "FS4",
        "version": _stored(nic),
        "running_version": nic.firmware if nic.firmware != _stored(nic) else "",
        "release_date": _date(nic.flash.release_date),
        "product_version": _stored(nic),
        "psid": nic.psid,
        "original_psid": "",
        "base_guid": _base_guid(nic),
        "base_guid_count": GUIDS_PER_CARD,
        "base_mac": _base_mac(nic),
        "base_mac_count": GUIDS_PER_CARD,
        "security_attributes": nic.flash.security,
        "rom_count": 2,
    }


def _roms(pci: str, nic: Nic) -> Rows:
    return [
        {"pci": pci, "type": kind, "cpu": cpu, "version": version}
        for kind, cpu, version in (
            ("UEFI", "AMD64,AARCH64", nic.flash.uefi),
            ("PXE", "AMD64", nic.flash.pxe),
        )
    ]


# ---- mlxfwmanager


def cards(host: HostModel) -> list[Nic]:
    """Each card once, by its first function; virtual functions have no flash."""
    spots = placed(host)
    return [
        nic
        for nic in host.nics
        if nic.address.endswith(".0") and not spots[nic.address].function.virtual
    ]


def image_state(nic: Nic) -> str:
    """How the image at hand compares with the one in the card."""
    if not nic.flash.available:
        return "No matching image found"
    return "Up to date" if nic.flash.available == _stored(nic) else "Update required"


def _managed(nic: Nic) -> Row:
    return {
        "pci": nic.address,
        "device_type": nic.family,
        "part_number": nic.part_number,
        "description": nic.description,
        "psid": nic.psid,
        "base_guid": _base_guid(nic),
        "base_mac": _base_mac(nic),
        "status": image_state(nic),
    }


def _padded(version: str) -> str:
    """3.7.500 -> 3.7.0500."""
    *head, last = version.split(".")
    return ".".join((*head, last.zfill(4)))


def _images(nic: Nic) -> Rows:
    flash = nic.flash
    rows = [("FW", _stored(nic), flash.available)]
    if nic.firmware != _stored(nic):
        rows.append(("FW (Running)", nic.firmware, ""))
    for component, now, then in (
        ("PXE", flash.pxe, flash.available_pxe),
        ("UEFI", flash.uefi, flash.available_uefi),
    ):
        at_hand = _padded(then or now) if flash.available else ""
        rows.append((component, _padded(now), at_hand))
    return [
        {"pci": nic.address, "component": component, "current": current, "available": available}
        for component, current, available in rows
    ]


# ---- mlxfwreset


def _reset(pci: str, nic: Nic) -> Row:
    """What `query` tells; `status` is not asked for."""
    return {
        "pci": pci,
        "default_level": nic.flash.reset_level,
        "default_type": 0,
        "default_sync": 0,
        "supported_levels": ",".join(map(str, nic.flash.reset_levels)),
    }


def _reset_levels(pci: str, nic: Nic) -> Rows:
    """A reset that spares the ports, and one that the driver leads, need the driver's restart."""
    levels, usual = nic.flash.reset_levels, nic.flash.reset_level
    softly = {0, 1} if DRIVER_RESTART in levels else {0}
    return [
        {
            "pci": pci,
            "kind": kind,
            "number": number,
            "description": words,
            "supported": number in supported,
            "is_default": number == default,
        }
        for kind, texts, supported, default in (
            ("level", LEVELS, set(levels), usual),
            ("type", TYPES, softly, 0),
            ("sync", OWNERS, softly, 0),
        )
        for number, words in texts.items()
    ]
