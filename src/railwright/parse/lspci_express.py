"""What `lspci -vvv` prints under `Express`, and what it prints of the extended capabilities.

The columns have the names and the meaning that they have in pci_config, which decodes the same
registers from bytes. The words follow pciutils' ls-caps.c and ls-ecaps.c, releases 3.5 to 3.14.
"""

import re
from functools import lru_cache

from railwright.parse.base import Value
from railwright.parse.pci import WIDTHS

# What follows "Express (v2) " -> port_type of pci_config.
PORT_TYPES = {
    "Endpoint": "endpoint",
    "Legacy Endpoint": "legacy_endpoint",
    "Root Port": "root_port",
    "Upstream Port": "switch_upstream",
    "Downstream Port": "switch_downstream",
    "PCI-Express to PCI/PCI-X Bridge": "pcie_to_pci_bridge",
    "PCI/PCI-X to PCI-Express Bridge": "pci_to_pcie_bridge",
    "Root Complex Integrated Endpoint": "rc_endpoint",
    "Root Complex Event Collector": "rc_event_collector",
}
WITHOUT_LINK = frozenset({"rc_endpoint", "rc_event_collector"})
FED_BY_SLOT = frozenset({"endpoint", "legacy_endpoint", "switch_upstream", "pcie_to_pci_bridge"})
# Of these pciutils 3.9 and later never say "downgraded": whatever is plugged in may be slower.
UNJUDGED = frozenset({"root_port", "switch_downstream", "pcie_to_pci_bridge"})

COLUMNS = (
    *("port_type", "max_payload_supported", "max_payload", "max_read_request"),
    *("relaxed_ordering", "no_snoop", "extended_tag"),
    *("link_speed_gts", "link_width", "says_downgraded", "link_speed_max_gts", "link_width_max"),
    *("link_target_speed_gts", "aspm", "slot_power_limit_w"),
    *("correctable_error", "nonfatal_error", "fatal_error", "unsupported_request"),
)
# Reserved in a virtual function, which follows its physical one: zeros there are no settings.
HELD_BY_PHYSICAL = (
    *("max_payload", "max_read_request", "relaxed_ordering", "no_snoop", "extended_tag", "aspm"),
)

_SIZES = frozenset({128, 256, 512, 1024, 2048, 4096})  # larger ones are reserved codes
_SPEEDS = {"2.5": 2.5, "5": 5.0, "8": 8.0, "16": 16.0, "32": 32.0, "64": 64.0, "128": 128.0}
_ASPM = {"Disabled": "disabled", "L0s": "L0s", "L1": "L1", "L0s L1": "L0s+L1"}
_CONTROL_FLAGS = {"relaxed_ordering": "RlxdOrd", "no_snoop": "NoSnoop", "extended_tag": "ExtTag"}
# pciutils before 3.6 had other words for two of the errors.
_STATUS_FLAGS = {
    "correctable_error": ("CorrErr",),
    "nonfatal_error": ("NonFatalErr", "UncorrErr"),
    "fatal_error": ("FatalErr",),
    "unsupported_request": ("UnsupReq", "UnsuppReq"),
}
ACS_FLAGS = {
    "acs_source_validation": "SrcValid",
    "acs_request_redirect": "ReqRedir",
    "acs_completion_redirect": "CmpltRedir",
    "acs_upstream_forwarding": "UpstreamFwd",
    "acs_direct_translated": "DirectTrans",
}

_LONGEST = 8192  # characters; a root port prints 2,500. Longer ones are not remembered.
_HEADING = re.compile(
    r"Capabilities: \[[0-9a-f]{2,3}\] Express (?:\(v[0-9]{1,2}\) )?([^\n,]{1,60})"
)
_UNKNOWN_TYPE = re.compile(r"Unknown type ([0-9]{1,2})")
_FLAG = re.compile(r"([A-Za-z]{1,20})([+-])(?=[\s,]|$)")
_PAYLOAD = re.compile(r"MaxPayload ([0-9]{3,5}) bytes")
_READ_REQUEST = re.compile(r"MaxReadReq ([0-9]{3,5}) bytes")
_WORD = r"( \([a-z]{2,12}\))?"
_LINK = rf"Speed ([0-9.]{{1,5}})?(?:GT/s|unknown){_WORD}, Width x([0-9]{{1,2}}){_WORD}"
_LINK_CAN = re.compile(rf"LnkCap:[ \t]+Port #[0-9]{{1,3}}, {_LINK}")
_LINK_IS = re.compile(rf"LnkSta:[ \t]+{_LINK}(,?)")
_LINK_WANTS = re.compile(r"LnkCtl2:[ \t]+Target Link Speed: ([0-9.]{1,5})GT/s")
_LINK_SAVES = re.compile(r"LnkCtl:[ \t]+ASPM (Disabled|L0s L1|L0s|L1)(?: Enabled)?;")
# "75W", "75.000W", "0W"; "600W+" and the like name no number.
_POWER_BELOW = re.compile(r"SlotPowerLimit ([0-9]{1,4}(?:\.[0-9]{1,3})?)W\b(?!\+)")
_POWER_ABOVE = re.compile(r"Slot #[0-9]{1,5}, PowerLimit ([0-9]{1,4}(?:\.[0-9]{1,3})?)W\b(?!\+)")


def _section(text: str, head: str, ends: tuple[str, ...] = ()) -> str:
    """What stands between a register's name and the next of these names, or the end of its line."""
    start = text.find(head)
    if start < 0:
        return ""
    start += len(head)
    found = [at for at in (text.find(end, start) for end in ends or ("\n",)) if at >= 0]
    return text[start : min(found, default=len(text))]


def flags_of(section: str) -> dict[str, bool]:
    """{'RlxdOrd': True} of 'RlxdOrd+'. The first of a name counts."""
    found: dict[str, bool] = {}
    for name, sign in _FLAG.findall(section):
        found.setdefault(name, sign == "+")
    return found


def register_flags(text: str, head: str) -> dict[str, bool]:
    """The flags on a register's line."""
    return flags_of(_section(text, head))


def _size(pattern: re.Pattern[str], section: str) -> int | None:
    found = pattern.search(section)
    size = int(found[1]) if found else 0
    return size if size in _SIZES else None


def _speed(text: str | None) -> float | None:
    return _SPEEDS.get((text or "").removesuffix(".0"))


def _width(text: str) -> int | None:
    return int(text) if int(text) in WIDTHS else None


def _device(block: str) -> dict[str, Value]:
    """DevCap, DevCtl and DevSta. ExtTag and MaxPayload stand in the first two."""
    control = _section(block, "DevCtl:", ("DevSta:", "LnkCap:", "DevCap2:"))
    control_flags = flags_of(control)
    status_flags = register_flags(block, "DevSta:")
    values: dict[str, Value] = {
        "max_payload_supported": _size(_PAYLOAD, _section(block, "DevCap:")),
        "max_payload": _size(_PAYLOAD, control),
        "max_read_request": _size(_READ_REQUEST, control),
    }
    for column, flag in _CONTROL_FLAGS.items():
        values[column] = control_flags.get(flag)
    for column, names in _STATUS_FLAGS.items():
        values[column] = next((status_flags[name] for name in names if name in status_flags), None)
    return values


def _says_downgraded(link: re.Match[str], port_type: str | None) -> bool | None:
    """lspci's own verdict, in three wordings of the LnkSta line.

    Until 3.5 it had none: flags follow on the same line. From 3.6 each value has a word. From 3.9
    a good value has none, and ports on which anything may be plugged are not judged.
    """
    words = {(link[2] or "").strip(" ()"), (link[4] or "").strip(" ()")}
    if "downgraded" in words:
        return True
    if link[5]:
        return None
    if words == {"ok"}:
        return False
    return None if port_type in UNJUDGED or words != {""} else False


def _link(block: str, port_type: str | None) -> dict[str, Value]:
    """LnkCap, LnkCtl, LnkSta and LnkCtl2."""
    if port_type in WITHOUT_LINK:
        return {"link_width": 0, "link_width_max": 0, "aspm": ""}
    values: dict[str, Value] = {}
    if able := _LINK_CAN.search(block):
        values |= {"link_speed_max_gts": _speed(able[1]), "link_width_max": _width(able[3])}
    if status := _LINK_IS.search(block):
        values |= {"link_speed_gts": _speed(status[1]), "link_width": _width(status[3])}
        values["says_downgraded"] = _says_downgraded(status, port_type)
    if wanted := _LINK_WANTS.search(block):
        values["link_target_speed_gts"] = _speed(wanted[1])
    if saves := _LINK_SAVES.search(block):
        values["aspm"] = _ASPM[saves[1]]
    return values


def _slot_power(block: str, port_type: str | None, has_slot: bool) -> float | None:
    """What the slot gives: told to the card in DevCap, by the port in SltCap."""
    if port_type in FED_BY_SLOT:
        found = _POWER_BELOW.search(block)
    elif has_slot:
        found = _POWER_ABOVE.search(block)
    else:
        return 0.0 if port_type in PORT_TYPES.values() else None
    return float(found[1]) if found else None


def _is_unset_virtual(values: dict[str, Value], device_text: str | None) -> bool:
    """A virtual function, of which the control registers are reserved.

    The host sees its link without lanes, which no other endpoint that answers has. A guest may see
    registers that its hypervisor fills: those are kept, and only zeros taken for reserved.
    """
    if values["port_type"] == "endpoint" and values["link_width"] == 0:
        return True
    sizes = {values["max_payload"], values["max_read_request"]}
    is_zero = sizes <= {128, None} and not any(values[column] for column in _CONTROL_FLAGS)
    return is_zero and device_text is not None and "Virtual Function" in device_text


def _block_values(kind: str, block: str) -> dict[str, Value]:
    """The columns of one capability, of its heading and the lines below."""
    name = kind.removesuffix("(Slot+)").removesuffix("(Slot-)").rstrip()
    unknown = _UNKNOWN_TYPE.fullmatch(name)
    port_type = f"unknown_{unknown[1]}" if unknown else PORT_TYPES.get(name)
    values: dict[str, Value] = dict.fromkeys(COLUMNS)
    values["port_type"] = port_type
    values |= _device(block)
    values |= _link(block, port_type)
    # With -v alone the registers are not printed at all.
    if "DevCap:" in block:
        values["slot_power_limit_w"] = _slot_power(block, port_type, kind.endswith("(Slot+)"))
    return values


# Ports and cards of one sort print the same, letter by letter.
_remembered = lru_cache(maxsize=2048)(_block_values)


def express_values(text: str, device_text: str | None) -> dict[str, Value] | None:
    """The columns of the PCI Express capability; None where none is printed."""
    heading = _HEADING.search(text)
    if heading is None:
        return None
    ends = (text.find(end, heading.end()) for end in ("Capabilities:", "Kernel driver"))
    end = min((at for at in ends if at >= 0), default=len(text))
    block = text[heading.end() : end]
    read = _remembered if len(block) <= _LONGEST else _block_values
    values = dict(read(heading[1].strip(), block))
    if _is_unset_virtual(values, device_text):
        values |= dict.fromkeys(HELD_BY_PHYSICAL)
    return values
