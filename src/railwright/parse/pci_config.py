"""Probe `pci_config`: PCI configuration space, decoded. Needs root beyond the first 64 bytes.

Files:    /sys/bus/pci/devices/*/config
Command:  lspci -D -n -xxxx     (the same bytes as text, for a sudo policy that allows no more)

Names in capitals are those of Linux' include/uapi/linux/pci_regs.h; they follow the PCI Express
Base Specification. The oracle of the tests is `lspci -F <dump> -vvv`.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.files import read_files
from railwright.parse.pci import DEVICES, WIDTHS, is_address

HEADER_SIZE = 0x40  # PCI_STD_HEADER_SIZEOF: all that a user without root gets
CLASSIC_SIZE = 0x100  # PCI_CFG_SPACE_SIZE
FULL_SIZE = 0x1000  # PCI_CFG_SPACE_EXP_SIZE

PCI_STATUS = 0x06
PCI_STATUS_CAP_LIST = 0x10
PCI_HEADER_TYPE = 0x0E
# Header type -> where the capability list begins: PCI_CAPABILITY_LIST, PCI_CB_CAPABILITY_LIST.
LIST_STARTS = {0: 0x34, 1: 0x34, 2: 0x14}
PCI_CAP_ID_EXP = 0x10
PCI_EXT_CAP_ID_ERR, PCI_EXT_CAP_ID_ACS, PCI_EXT_CAP_ID_ATS = 0x01, 0x0D, 0x0F

# PCI_EXP_TYPE_*
ENDPOINT, LEGACY_ENDPOINT, ROOT_PORT, UPSTREAM, DOWNSTREAM, TO_PCI, FROM_PCI = 0, 1, 4, 5, 6, 7, 8
RC_ENDPOINT, RC_EVENT_COLLECTOR = 9, 10
PORT_TYPES = {
    ENDPOINT: "endpoint",
    LEGACY_ENDPOINT: "legacy_endpoint",
    ROOT_PORT: "root_port",
    UPSTREAM: "switch_upstream",
    DOWNSTREAM: "switch_downstream",
    TO_PCI: "pcie_to_pci_bridge",
    FROM_PCI: "pci_to_pcie_bridge",
    RC_ENDPOINT: "rc_endpoint",
    RC_EVENT_COLLECTOR: "rc_event_collector",
}
WITHOUT_LINK = frozenset({RC_ENDPOINT, RC_EVENT_COLLECTOR})
WITH_SLOT = frozenset({ROOT_PORT, DOWNSTREAM, FROM_PCI})
FED_BY_SLOT = frozenset({ENDPOINT, LEGACY_ENDPOINT, UPSTREAM, TO_PCI})
PCI_EXP_FLAGS_SLOT = 0x0100

# PCI_EXP_LNKSTA_CLS_*, PCI_EXP_LNKCAP_SLS_*, PCI_EXP_LNKCTL2_TLS_*; 7 is generation 7.
SPEEDS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0, 7: 128.0}
ASPM = ("disabled", "L0s", "L1", "L0s+L1")  # PCI_EXP_LNKCTL_ASPMC
POWER_SCALES = (1.0, 0.1, 0.01, 0.001)

# PCI_EXP_DEVCTL_RELAX_EN, _NOSNOOP_EN, _EXT_TAG
CONTROL_FLAGS = {"relaxed_ordering": 0x0010, "no_snoop": 0x0800, "extended_tag": 0x0100}
# PCI_EXP_DEVSTA_CED, _NFED, _FED, _URD
STATUS_FLAGS = {
    "correctable_error": 0x1,
    "nonfatal_error": 0x2,
    "fatal_error": 0x4,
    "unsupported_request": 0x8,
}
# PCI_ACS_SV, _RR, _CR, _UF, _DT in PCI_ACS_CTRL
ACS_FLAGS = {
    "acs_source_validation": 0x01,
    "acs_request_redirect": 0x04,
    "acs_completion_redirect": 0x08,
    "acs_upstream_forwarding": 0x10,
    "acs_direct_translated": 0x40,
}
PCI_ATS_CTRL_ENABLE = 0x8000

# All columns beside the address, in the table's order; a row begins with none of them read.
COLUMNS = (
    *("bytes_read", "responds", "port_type", "max_payload_supported", "max_payload"),
    *("max_read_request", *CONTROL_FLAGS, "link_speed_gts", "link_width", "link_speed_max_gts"),
    *("link_width_max", "link_target_speed_gts", "aspm", "slot_power_limit_w", *STATUS_FLAGS),
    *("acs", *ACS_FLAGS, "ats", "ats_enabled"),
    *("aer", "aer_uncorrectable_status", "aer_correctable_status"),
)

_FILE_ENTRY = re.compile(rb"[FCLES] [0-9]{1,18}(?:\+[0-9]{1,4})? /")
_DUMP_HEAD = re.compile(r"((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ")
_DUMP_LINE = re.compile(r"([0-9a-f]{2,3}):((?: [0-9a-f]{2}){1,16})\s*")


def _u16(space: bytes, at: int) -> int:
    return int(struct.unpack_from("<H", space, at)[0])


def _u32(space: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", space, at)[0])


class Capabilities:
    """A capability list: where each id was first seen, and whether its end was reached.

    An id that was not seen is absent only if the whole list was walked: a list that loops, leaves
    its area or runs out of the bytes that were read says nothing about the rest.
    """

    def __init__(self, first: int, step: Callable[[int], tuple[int, int] | None]) -> None:
        self.at: dict[int, int] = {}
        seen: set[int] = set()
        position = first
        while position and position not in seen:
            seen.add(position)
            found = step(position)
            if found is None:
                break
            self.at.setdefault(found[0], position)
            position = found[1]
        self.complete = position == 0


def _classic(space: bytes) -> Capabilities | None:
    """The capability list in the first 256 bytes; None where its head cannot be told."""
    start = LIST_STARTS.get(space[PCI_HEADER_TYPE] & 0x7F)
    if start is None:
        return None
    readable = min(len(space), CLASSIC_SIZE)

    def step(position: int) -> tuple[int, int] | None:
        # 0xff is what a register that does not answer reads; no capability has that id.
        if not HEADER_SIZE <= position <= readable - 2 or space[position] == 0xFF:
            return None
        return space[position], space[position + 1] & ~3

    listed = _u16(space, PCI_STATUS) & PCI_STATUS_CAP_LIST
    return Capabilities(space[start] & ~3 if listed else 0, step)


def _extended(space: bytes) -> Capabilities:
    """The extended capability list, which begins at byte 256."""

    def step(position: int) -> tuple[int, int] | None:
        if not CLASSIC_SIZE <= position <= len(space) - 4:
            return None
        header = _u32(space, position)
        if header == 0xFFFFFFFF:
            return None
        return header & 0xFFFF, (header >> 20) & ~3

    return Capabilities(CLASSIC_SIZE, step)


def _flags(register: int, flags: dict[str, int]) -> dict[str, Value]:
    return {name: bool(register & bit) for name, bit in flags.items()}


def _bytes_of_code(code: int) -> int | None:
    """128 to 4096 bytes of the codes 0 to 5; 6 and 7 are reserved."""
    return 128 << code if code <= 5 else None


def _watts(value: int, scale: int) -> float | None:
    """A slot power limit. With scale 0 the values from 0xf0 stand for 250 W to 600 W."""
    if scale == 0 and value >= 0xF0:
        return 250.0 + 25.0 * (value - 0xF0) if value < 0xFF else None
    return round(value * POWER_SCALES[scale], 3)


def _device_registers(express: bytes) -> dict[str, Value]:
    """PCI_EXP_DEVCAP, PCI_EXP_DEVCTL and PCI_EXP_DEVSTA."""
    control = _u16(express, 0x08)
    return {
        "max_payload_supported": _bytes_of_code(_u32(express, 0x04) & 7),
        "max_payload": _bytes_of_code(control >> 5 & 7),
        "max_read_request": _bytes_of_code(control >> 12 & 7),
        **_flags(control, CONTROL_FLAGS),
        **_flags(_u16(express, 0x0A), STATUS_FLAGS),
    }


def _link_registers(express: bytes, kind: int) -> dict[str, Value]:
    """PCI_EXP_LNKCAP, PCI_EXP_LNKCTL, PCI_EXP_LNKSTA and PCI_EXP_LNKCTL2."""
    if kind in WITHOUT_LINK:
        return {"link_width": 0, "link_width_max": 0, "aspm": ""}
    able, status = _u32(express, 0x0C), _u16(express, 0x12)
    width, width_max = status >> 4 & 0x3F, able >> 4 & 0x3F
    values: dict[str, Value] = {
        "link_speed_gts": SPEEDS.get(status & 0xF),
        "link_width": width if width in WIDTHS else None,
        "link_speed_max_gts": SPEEDS.get(able & 0xF),
        "link_width_max": width_max if width_max in WIDTHS else None,
        "aspm": ASPM[_u16(express, 0x10) & 3],
    }
    if _u16(express, 0x02) & 0xF >= 2 and len(express) >= 0x32:  # PCI_EXP_FLAGS_VERS
        values["link_target_speed_gts"] = SPEEDS.get(_u16(express, 0x30) & 0xF)
    return values


def _slot_power(express: bytes, kind: int) -> float | None:
    """What the slot gives: told by PCI_EXP_DEVCAP below it, by PCI_EXP_SLTCAP above it."""
    if kind in FED_BY_SLOT:
        able = _u32(express, 0x04)
        return _watts(able >> 18 & 0xFF, able >> 26 & 3)
    if kind in WITH_SLOT and _u16(express, 0x02) & PCI_EXP_FLAGS_SLOT:
        if len(express) < 0x18:
            return None
        slot = _u32(express, 0x14)
        return _watts(slot >> 7 & 0xFF, slot >> 15 & 3)
    return 0.0


def _express(space: bytes, at: int) -> dict[str, Value]:
    """The PCI Express capability."""
    express = space[at : min(CLASSIC_SIZE, at + 0x3C)]
    if len(express) < 0x04:
        return {}
    kind = _u16(express, 0x02) >> 4 & 0xF  # PCI_EXP_FLAGS_TYPE
    values: dict[str, Value] = {"port_type": PORT_TYPES.get(kind, f"unknown_{kind}")}
    if len(express) < 0x14:
        return values
    values |= _device_registers(express)
    values |= _link_registers(express, kind)
    values["slot_power_limit_w"] = _slot_power(express, kind)
    unlinked = values["port_type"] == "endpoint" and values["link_width"] == 0
    if _is_virtual_function(space) or unlinked:
        # Reserved in a virtual function, which follows its physical one: zeros there are no
        # settings (they would read as 128 bytes and "off").
        held_by_physical = ("max_payload", "max_read_request", *CONTROL_FLAGS, "aspm")
        values |= dict.fromkeys(held_by_physical)
    return values


def _is_virtual_function(space: bytes) -> bool:
    """Vendor and device id of a virtual function read as all ones (SR-IOV specification).

    Where a hypervisor hands it through, it fills these in: there the link without lanes tells,
    which no other endpoint that answers has.
    """
    return space[:4] == b"\xff" * 4


def _presence(found: Capabilities, capability: int) -> str | None:
    if capability in found.at:
        return "present"
    return "absent" if found.complete else None


def _extended_values(space: bytes) -> dict[str, Value]:
    """Access Control Services, Address Translation Services, Advanced Error Reporting."""
    found = _extended(space)
    values: dict[str, Value] = {
        "acs": _presence(found, PCI_EXT_CAP_ID_ACS),
        "ats": _presence(found, PCI_EXT_CAP_ID_ATS),
        "aer": _presence(found, PCI_EXT_CAP_ID_ERR),
    }
    acs = found.at.get(PCI_EXT_CAP_ID_ACS, len(space))
    ats = found.at.get(PCI_EXT_CAP_ID_ATS, len(space))
    aer = found.at.get(PCI_EXT_CAP_ID_ERR, len(space))
    if acs + 0x08 <= len(space):
        values |= _flags(_u16(space, acs + 0x06), ACS_FLAGS)  # PCI_ACS_CTRL
    if ats + 0x08 <= len(space):
        values |= _flags(_u16(space, ats + 0x06), {"ats_enabled": PCI_ATS_CTRL_ENABLE})
    if aer + 0x14 <= len(space):
        values["aer_uncorrectable_status"] = _u32(space, aer + 0x04)  # PCI_ERR_UNCOR_STATUS
        values["aer_correctable_status"] = _u32(space, aer + 0x10)  # PCI_ERR_COR_STATUS
    return values


# Most of a server's 500 functions are inside its CPUs, and read the same on all equal servers.
@lru_cache(maxsize=2048)
def decode(space: bytes) -> Mapping[str, Value]:
    """All columns but the address, of the bytes of one configuration space."""
    space = space[:FULL_SIZE]
    values: dict[str, Value] = dict.fromkeys(COLUMNS)
    values["bytes_read"] = len(space)
    if len(space) < HEADER_SIZE:
        return values
    values["responds"] = space[:HEADER_SIZE] != b"\xff" * HEADER_SIZE
    found = _classic(space) if values["responds"] else None
    if found is None:
        return values
    if PCI_CAP_ID_EXP in found.at:
        values |= _express(space, found.at[PCI_CAP_ID_EXP])
        values |= _extended_values(space)
    elif found.complete:
        # Extended capabilities belong to PCI Express: without it there are none to read.
        values |= {"port_type": "", "acs": "absent", "ats": "absent", "aer": "absent"}
    return values


def _from_files(data: bytes) -> Iterator[tuple[str, bytes]]:
    files = read_files(data)
    for pci in files.below(DEVICES):
        path = f"{DEVICES}/{pci}/config"
        if is_address(pci) and path in files:
            yield pci, files.content(path) or b""


def _from_dump(text: str) -> dict[str, bytes]:
    """The bytes that lspci printed, per address, as far as they follow on each other."""
    spaces: dict[str, bytearray] = {}
    space = bytearray()
    for line in text.splitlines():
        if head := _DUMP_HEAD.match(line):
            pci = head[1] if head[1].count(":") == 2 else f"0000:{head[1]}"
            space = spaces[pci] = bytearray()
        elif (found := _DUMP_LINE.fullmatch(line)) and int(found[1], 16) == len(space):
            space += bytes.fromhex(found[2])
    return {pci: bytes(space) for pci, space in spaces.items()}


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table pci_config."""
    spaces = dict(_from_files(data)) if _FILE_ENTRY.match(data) else _from_dump(text_of(data))
    if data.strip() and not spaces:
        raise NotUnderstoodError("neither config files nor a hex dump of lspci")
    for pci, space in spaces.items():
        yield Row("pci_config", {"pci": pci, **decode(space)})
