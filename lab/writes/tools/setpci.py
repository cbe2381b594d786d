"""setpci of pciutils: reads and writes of configuration space, what has a meaning in the model."""

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from lab.fleet.config_space import EXPRESS, POWER, config_space
from lab.fleet.faults.place import functions
from lab.fleet.model import Function
from lab.writes.find import function
from lab.writes.outcome import Outcome, RefusedError, refused

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("setpci",)
HELP = "Try `setpci --help' for more information.\n"
REGISTERS = {"VENDOR_ID": 0x00, "DEVICE_ID": 0x02, "COMMAND": 0x04, "STATUS": 0x06,
             "REVISION": 0x08, "CACHE_LINE_SIZE": 0x0C, "LATENCY_TIMER": 0x0D,
             "SUBSYSTEM_VENDOR_ID": 0x2C, "SUBSYSTEM_ID": 0x2E, "PRIMARY_BUS": 0x18,
             "SECONDARY_BUS": 0x19, "SUBORDINATE_BUS": 0x1A, "BRIDGE_CONTROL": 0x3E}  # fmt: skip
CAPABILITIES = {"CAP_EXP": EXPRESS, "CAP_PM": POWER}
EXTENDED = {"ECAP_AER": 0x01, "ECAP_ACS": 0x0D, "ECAP_ATS": 0x0F, "ECAP_SRIOV": 0x10}
_SIZES = {"b": 1, "w": 2, "l": 4}
_OPERATION = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9A-Fa-f]{1,3})(?:\+(?P<offset>(?:0x)?[0-9A-Fa-f]{1,3}))?"
    r"(?:\.(?P<size>[bwlBWL]))?(?P<values>=.*)?",
    re.ASCII | re.DOTALL,
)
_SLOT = re.compile(
    r"(?:([0-9a-f]{1,8}):)?(?:([0-9a-f]{1,2}):)?([0-9a-f]{1,2})?(?:\.([0-7]))?", re.ASCII
)
ACS_CONTROL, ATS_CONTROL, DEVICE_CONTROL = 6, 6, 8


class _Operation(NamedTuple):
    text: str
    at: int  # in a capability where `extended` or `capability` says so
    size: int
    values: tuple[tuple[int, int], ...]  # value, mask; () = read
    extended: int = 0


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`setpci [-r] -s BDF REGISTER=VALUE[:MASK]`."""
    del program, stdin
    chosen: list[str] | None = None
    operations: list[_Operation] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("-v", "-f", "-r", "-P", "-G", "-D"):
            continue
        if word in ("-s", "-d") or word[:2] in ("-s", "-d"):
            value = word[2:] or (rest.pop(0) if rest else "")
            chosen = _filtered(state, word[:2], value, chosen)
        elif word.startswith("-"):
            raise _usage(f"Unknown option `{word[:200]}'.")
        else:
            operations.append(_operation(word))
    if not operations:
        raise _usage("No operation specified.")
    if chosen is None:
        raise _usage(f"Invalid option `{arguments[0][:200]}'.")
    if not chosen:
        return Outcome("", "setpci: Warning: No devices selected for operation group 1.\n")
    said = [line for address in chosen for line in _work(state, address, operations)]
    return Outcome("".join(said))


def _usage(words: str) -> RefusedError:
    return refused(f"setpci: {words}\n{HELP}")


def _filtered(state: "HostState", how: str, text: str, before: list[str] | None) -> list[str]:
    everything = [one.address for one in functions(state.model())]
    kept = everything if before is None else before
    if how == "-d":
        vendor, _, device = text.partition(":")
        wanted = (vendor.lower(), device.partition(":")[0].lower())
        return [
            one.address for one in functions(state.model())
            if one.address in kept and wanted[0] in ("", "*", f"{one.vendor:04x}")
            and wanted[1] in ("", "*", f"{one.device:04x}")
        ]  # fmt: skip
    match = _SLOT.fullmatch(text.lower())
    if match is None or not text:
        raise _usage("Unable to parse filter -s Invalid slot number.")
    first, second, slot, place = match.groups()
    domain, bus = (first, second) if second is not None else (None, first)
    found = []
    for address in kept:
        own = (int(address[:-8], 16), int(address[-7:-5], 16), int(address[-4:-2], 16),
               int(address[-1]))  # fmt: skip
        asked = (domain or ("0" if bus else None), bus, slot, place)
        if all(one is None or int(one, 16) == mine for one, mine in zip(asked, own, strict=True)):
            found.append(address)
    return found


def _operation(word: str) -> _Operation:
    match = _OPERATION.fullmatch(word)
    if match is None:
        raise _usage(f"Unable to parse register `{word[:200]}'.")
    name, at, extended = match["name"].upper(), 0, 0
    if name in REGISTERS:
        at = REGISTERS[name]
    elif name in CAPABILITIES:
        at = CAPABILITIES[name]
    elif name in EXTENDED:
        extended = EXTENDED[name]
    elif re.fullmatch(r"[0-9A-F]{1,3}", name):
        at = int(name, 16)
    else:
        raise _usage(f'Unknown register "{match["name"][:200]}".')
    size = _SIZES[(match["size"] or "b").lower()]
    at += int(match["offset"] or "0", 16)
    values: list[tuple[int, int]] = []
    for text in (match["values"] or "")[1:].split(",") if match["values"] else ():
        value, _, mask = text.partition(":")
        full = (1 << 8 * size) - 1
        numbers = [_hexadecimal(value, full), _hexadecimal(mask, full) if mask else full]
        values.append((numbers[0], numbers[1]))
    return _Operation(word, at, size, tuple(values), extended)


def _hexadecimal(text: str, most: int) -> int:
    try:
        found = int(text, 16) if len(text) < 20 and "_" not in text else -1
    except ValueError:
        raise _usage(f'Invalid value "{text[:200]}".') from None
    if not 0 <= found <= most:
        raise _usage(f'Value "{text[:200]}" is out of range.')
    return found


def _work(state: "HostState", address: str, operations: list[_Operation]) -> list[str]:
    said = []
    for one in operations:
        if one.values:
            state.writing(address)
        found = function(state.model("setpci" if not one.values else ""), address)
        if found is None:
            continue
        space = bytearray(config_space(found))
        start = _extended_at(space, one.extended) if one.extended else 0
        if start is None:
            raise refused(f"setpci: {address}: Instance #0 of {one.text.partition('+')[0]} not "
                          "found - there are only 0 capabilities with this id.\n")  # fmt: skip
        at = start + one.at
        if at + one.size * max(len(one.values), 1) > len(space):
            raise refused(f"setpci: {address}: Unaligned or out of range access.\n")
        if not one.values:
            value = int.from_bytes(space[at : at + one.size], "little")
            said.append(f"{value:0{2 * one.size}x}\n")
            continue
        for place, (value, mask) in enumerate(one.values):
            here = at + place * one.size
            now = int.from_bytes(space[here : here + one.size], "little")
            new = (now & ~mask) | (value & mask)
            space[here : here + one.size] = new.to_bytes(one.size, "little")
        if not found.dead:
            _take(state, found, space)
    return said


def _extended_at(space: bytearray, identity: int) -> int | None:
    at = 0x100
    while at and at + 4 <= len(space):
        head = struct.unpack_from("<I", space, at)[0]
        if head & 0xFFFF == identity:
            return at
        at = head >> 20
    return None


def _take(state: "HostState", found: Function, space: bytearray) -> None:
    """What the registers mean now."""
    if found.kind != "plain":
        control = struct.unpack_from("<H", space, EXPRESS + DEVICE_CONTROL)[0]
        new = {
            "read_request": 128 << min(control >> 12 & 7, 5),
            "max_payload": 128 << min(control >> 5 & 7, 5),
            "relaxed_ordering": bool(control & 0x10),
        }
        for name, value in new.items():
            if getattr(found, name) != value:
                state.set(found.address, name, value)
    for identity, name in ((EXTENDED["ECAP_ACS"], "acs"), (EXTENDED["ECAP_ATS"], "ats")):
        at = _extended_at(space, identity)
        if at is not None:
            word = struct.unpack_from("<H", space, at + ACS_CONTROL)[0]
            value = word if name == "acs" else bool(word & 0x8000)
            if getattr(found, name) is not None and getattr(found, name) != value:
                state.set(found.address, name, value)
