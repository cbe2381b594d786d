"""What the lines of `ethtool -m` are about, and the JSON of newer releases as such lines."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from railwright.parse.ethtool_text import json_text

MODULE = 0  # the lane of what concerns the whole module
_ALONE = 1  # the lane of a module that numbers none: an SFP has one
_MOST_LANES = 64  # CMIS knows 32
_LONGEST_KEY, _LONGEST_VALUE = 80, 200  # characters; JSON sets no limit

# The same thing has several names: for an SFP, for QSFP and CMIS, for its limits.
_QUANTITIES = {
    "module temperature": "temperature",
    "module voltage": "voltage",
    "laser rx power": "rx_power",
    "rcvr signal avg optical power": "rx_power",
    "receiver signal average optical power": "rx_power",
    "receiver signal oma": "rx_power",
    "laser tx power": "tx_power",
    "laser output power": "tx_power",
    "transmit avg optical power": "tx_power",
    "laser bias current": "bias",
    "laser tx bias current": "bias",
}
# "Chan 1" and "Channel 1"; older releases have no blank before the bracket of received power.
_QUANTITY = re.compile(
    rf"({'|'.join(_QUANTITIES)})(?: (high|low) (alarm|warning)( threshold)?)?"
    r"(?: ?\(chan(?:nel)? ([1-9][0-9]?)\))?"
)
# Once per module, or a list of answers with one per lane.
_PLAIN = frozenset(
    {
        *("identifier", "connector", "transmitter technology", "transceiver type"),
        *("vendor name", "vendor pn", "vendor rev", "vendor sn", "date code"),
        *("active firmware version", "module state", "module fault cause"),
        *("power class", "max power", "laser wavelength"),
        *("cable assembly length", "length (copper or active cable)", "length (copper)"),
        *("rx loss of signal", "tx loss of signal", "rx loss of lock", "tx loss of lock"),
        "tx fault",
    }
)


class Key(NamedTuple):
    """What a line is about."""

    role: str  # plain, measured, limit, alarms, warnings; '' is of no use to us
    name: str  # the printed words, or temperature, rx_power, bias ... with _high or _low_alarm
    lane: int = MODULE
    oma: bool = False  # modulation amplitude instead of average power


def key_of(printed: str) -> Key:
    """`Laser rx power low alarm    (Channel 1)` -> alarms, rx_power_low, lane 1."""
    return _key_of(printed) if len(printed) <= _LONGEST_KEY else Key("", "")


@lru_cache(maxsize=4096)
def _key_of(printed: str) -> Key:
    words = " ".join(printed.lower().split())
    if words in _PLAIN:
        return Key("plain", words)
    found = _QUANTITY.fullmatch(words)
    if found is None:
        return Key("", "")
    quantity, side, level, threshold, lane = found.groups()
    name = _QUANTITIES[quantity]
    number = MODULE if name in ("temperature", "voltage") else int(lane or _ALONE)
    if threshold:
        return Key("limit", f"{name}_{side}_{level}")
    if level:
        return Key(f"{level}s", f"{name}_{side}", number)
    return Key("measured", name, number, quantity == "receiver signal oma")


def _coded(code: object, description: object) -> str:
    """A coded field as the text form has it: 0x19 (OSFP 8X Pluggable Transceiver)."""
    text = json_text(code) or ""
    number = f"0x{int(text):02x}" if re.fullmatch(r"[0-9]{1,3}", text) else text
    words = json_text(description)
    return number if words is None else f"{number} ({words})"


def _answer(value: object) -> str:
    """One value as text; a flag as the text form prints it."""
    if isinstance(value, bool):
        return "On" if value else "Off"
    text = json_text(value) or ""
    return text if len(text) <= _LONGEST_VALUE else ""


def _switch(value: object) -> str:
    """Losses and faults: false, or an answer per lane, as "Yes" or as true."""
    if not isinstance(value, list):
        return "None" if value is False else _answer(value)
    words = {True: "Yes", False: "No"}
    return " ".join(
        words[part] if isinstance(part, bool) else _answer(part) for part in value[:_MOST_LANES]
    )


def _object(name: str, value: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Limits, the received power, a version of two numbers."""
    if name == "rx power":
        lanes = value.get("values", value.get("value"))
        yield from _lines(json_text(value.get("type")) or "", lanes)
    elif "major" in value:
        yield name, f"{_answer(value['major'])}.{_answer(value.get('minor'))}"
    else:
        for limit, number in value.items():
            words = limit.replace("_", " ").removesuffix(" threshold")
            yield f"{name.removesuffix(' thresholds')} {words} threshold", _answer(number)


def _lines(name: str, value: object) -> Iterator[tuple[str, str]]:
    """The lines that the text form would have printed for one key of the JSON."""
    role = key_of(name).role
    if isinstance(value, dict):
        yield from _object(name, value)
    elif role == "plain" and (value is False or isinstance(value, list)):
        yield name, _switch(value)
    elif isinstance(value, list):
        for lane, part in enumerate(value[:_MOST_LANES], 1):
            yield f"{name} (channel {lane})", _answer(part)
    else:
        yield name, _answer(value)


def lines_of_json(entry: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Keys and values as the text form prints them, of one module's JSON.

    Keys are the printed words with underscores. Coded fields have a second key with their text.
    """
    for key, value in entry.items():
        name = key.replace("_", " ").removesuffix(" again").removesuffix(" measurement")
        description = entry.get(f"{key}_description")
        if description is not None:
            yield name, _coded(value, description)
        elif name == "transceiver type" and isinstance(value, list):
            yield from ((name, _answer(part)) for part in value)
        else:
            yield from _lines(name, value)
