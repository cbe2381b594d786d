"""`ethtool -m NETDEV`: the module in the cage, as text or JSON; SFP, QSFP and CMIS modules."""

import re
from collections.abc import Iterator
from functools import lru_cache
from math import log10

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.ethtool_module_keys import MODULE, Key, key_of, lines_of_json
from railwright.parse.ethtool_text import json_objects, refuse

_LINE = re.compile(r"^([^:\n]{1,80}):([^\n]{0,200})\n", re.MULTILINE)
_CODED = re.compile(r"0x([0-9a-f]{1,2})(?: \((.{0,120})\))?")
# JSON has no units.
_AMOUNT = re.compile(r"(-?[0-9]{1,6}(?:\.[0-9]{1,9})?)(?: ?(degrees C|V|mA|mW|W|m|nm)\b|$)")
_DBM = re.compile(r"/ (-?[0-9]{1,3}(?:\.[0-9]{1,4})?) dBm")
_UNITS = {"temperature": ("degrees C", "_c"), "voltage": ("V", "_v"), "bias": ("mA", "_ma")}
_POWERS = ("rx_power", "tx_power")
_LEVELS = ("high_alarm", "high_warning", "low_warning", "low_alarm")
_SWITCHES = (
    *("rx_loss_of_signal", "tx_loss_of_signal", "rx_loss_of_lock", "tx_loss_of_lock", "tx_fault"),
)
# Identifiers (SFF-8024) of SFP and QSFP to QSFP28; what comes after them is CMIS.
_BEFORE_CMIS = frozenset({0x02, 0x03, 0x0B, 0x0C, 0x0D, 0x11})
# High and low, of temperature and voltage; of bias, sent and received power.
_FLAGS_OF_MODULE, _FLAGS_OF_LANE = 4, 6
_LIMITS = tuple(
    f"{quantity}_{level}{unit}"
    for quantity, units in {
        "temperature": ("_c",),
        "rx_power": ("_mw", "_dbm"),
        "tx_power": ("_mw", "_dbm"),
        "bias": ("_ma",),
    }.items()
    for level in _LEVELS
    for unit in units
)
_LANE_COLUMNS = (
    *("rx_power_mw", "rx_power_dbm", "tx_power_mw", "tx_power_dbm", "bias_ma"),
    *("alarms", "warnings", *_SWITCHES),
)

_Lines = dict[Key, str]
_Values = dict[str, Value]
_Lanes = dict[int, _Values]


def _lines(pairs: Iterator[tuple[str, str]]) -> tuple[_Lines, list[str]]:
    """(what is said about each thing, the transceiver types, of which there may be many)."""
    found: _Lines = {}
    types: list[str] = []
    for printed, said in pairs:
        key = key_of(printed)
        if key.name == "transceiver type":
            types.append(said)
        elif key.role and found.setdefault(key, said) != said:
            raise NotUnderstoodError(f"{printed.strip()} is printed twice and differs")
    return found, types


def _amount(said: str, unit: str) -> float | None:
    """47.31 of '47.31 degrees C / 117.16 degrees F', if it is in this unit."""
    found = _AMOUNT.match(said)
    return float(found[1]) if found and found[2] in (unit, None) else None


@lru_cache(maxsize=4096)  # modules of one kind have the same limits
def _power(said: str) -> tuple[float | None, float | None]:
    """(mW, dBm). No light at all has no dBm: ethtool prints -inf."""
    milliwatts, printed = _amount(said, "mW"), _DBM.search(said)
    if printed or not milliwatts or milliwatts < 0:
        return milliwatts, float(printed[1]) if printed else None
    return milliwatts, round(10 * log10(milliwatts), 2)


def _quantity(name: str, said: str, suffix: str = "") -> _Values:
    """The columns of something measured, or of its limit."""
    if name in _POWERS:
        milliwatts, decibel = _power(said)
        return {f"{name}{suffix}_mw": milliwatts, f"{name}{suffix}_dbm": decibel}
    unit, ending = _UNITS[name]
    return {f"{name}{suffix}{ending}": _amount(said, unit)}


def _limits(lines: _Lines) -> _Values:
    """The module's own limits."""
    found: _Values = dict.fromkeys(_LIMITS)
    for key, said in lines.items():
        if key.role == "limit":
            name, side, level = key.name.rsplit("_", 2)
            values = _quantity(name, said, f"_{side}_{level}")
            found |= {column: value for column, value in values.items() if column in found}
    return found


def _measured(lines: _Lines, lanes: _Lanes) -> _Values:
    """What is measured in each lane goes to the lanes, the rest to the module."""
    found: _Values = {"temperature_c": None, "voltage_v": None, "rx_power_type": None}
    for key, said in lines.items():
        if key.role == "measured":
            into = found if key.lane == MODULE else lanes.setdefault(key.lane, {})
            into |= _quantity(key.name, said)
            if key.name == "rx_power":
                found["rx_power_type"] = "OMA" if key.oma else "average"
    return found


def _flags(lines: _Lines, kind: str) -> dict[int, str | None]:
    """Lane (or module) -> which alarms or warnings are on; '' none, None if not all were printed.

    Every ethtool known to us in early 2026 that prints the flags of CMIS lanes (cmis.c: `offset] &
    chan`) tests the number of the lane where it should test its bit. What is on is on, perhaps in
    another lane; what is off says nothing.
    """
    cmis = _coded(lines, "identifier")[0] not in _BEFORE_CMIS
    seen: dict[int, dict[str, str]] = {}
    for key, said in lines.items():
        if key.role == kind and said in ("On", "Off"):
            seen.setdefault(key.lane, {})[key.name.replace("_", " ")] = said
    found: dict[int, str | None] = {}
    for lane, flags in seen.items():
        on = ",".join(name for name, said in flags.items() if said == "On")
        whole = len(flags) >= (_FLAGS_OF_LANE if lane else _FLAGS_OF_MODULE)
        found[lane] = on if on or (whole and not (cmis and lane)) else None
    return found


def _alarms(lines: _Lines, lanes: _Lanes) -> _Values:
    """Alarms and warnings of the module, and which lanes have any."""
    found: _Values = {}
    for kind in ("alarms", "warnings"):
        flags = _flags(lines, kind)
        found[kind] = flags.pop(MODULE, None)
        for lane, on in flags.items():
            lanes.setdefault(lane, {})[kind] = on
        with_any = ",".join(str(lane) for lane in sorted(flags) if flags[lane])
        none_on = bool(flags) and None not in flags.values()
        found[f"lanes_with_{kind}"] = with_any if with_any or none_on else None
    return found


def _answers(said: str) -> list[str] | None:
    """One word per lane of [ Yes No No No ], newer with commas; [] of `None`; None of others."""
    words = said.strip("[]").replace(",", " ").split()
    if words == ["None"]:
        return []
    return words if words and set(words) <= {"Yes", "No"} else None


def _switches(lines: _Lines, lanes: _Lanes) -> _Values:
    """Losses and faults, in each lane and as a list of lanes. `None` speaks for all lanes."""
    printed = {name: lines.get(Key("plain", name.replace("_", " ")), "") for name in _SWITCHES}
    answers = {name: _answers(said) for name, said in printed.items()}
    for words in answers.values():
        for lane in range(1, len(words or ()) + 1):
            lanes.setdefault(lane, {})
    found: _Values = {}
    for name, words in answers.items():
        on = [lane for lane, word in enumerate(words or (), 1) if word == "Yes"]
        found[f"{name}_lanes"] = None if words is None else ",".join(map(str, on))
        for lane, values in lanes.items():
            if words is not None and (not words or lane <= len(words)):
                values[name] = lane in on
    return found


def _coded(lines: _Lines, name: str) -> tuple[int | None, str | None]:
    """(25, 'OSFP 8X Pluggable Transceiver') of '0x19 (OSFP 8X Pluggable Transceiver)'."""
    found = _CODED.fullmatch(lines.get(Key("plain", name), ""))
    return (int(found[1], 16), found[2]) if found else (None, None)


def _length(lines: _Lines) -> float | None:
    """Length of a cable with fixed ends: CMIS, QSFP and SFP have a name each."""
    names = ("cable assembly length", "length (copper or active cable)", "length (copper)")
    said = (lines.get(Key("plain", name)) for name in names)
    return _amount(next(filter(None, said), ""), "m")


def _identity(lines: _Lines, types: list[str]) -> _Values:
    """What the module says about itself."""
    said = {key.name: text for key, text in lines.items() if key.role == "plain"}
    code, identifier = _coded(lines, "identifier")
    power_class = said.get("power class", "")
    return {
        "identifier_code": code,
        "identifier": identifier,
        "vendor": said.get("vendor name"),
        "part_number": said.get("vendor pn"),
        "revision": said.get("vendor rev"),
        "serial_number": said.get("vendor sn"),
        "date_code": said.get("date code"),
        "firmware_version": said.get("active firmware version"),
        "connector": _coded(lines, "connector")[1],
        "technology": _coded(lines, "transmitter technology")[1],
        "transceiver_types": "; ".join(types) or None,
        "cable_length_m": _length(lines),
        "wavelength_nm": _amount(said.get("laser wavelength", ""), "nm"),
        "power_class": int(power_class) if re.fullmatch("[1-8]", power_class) else None,
        "max_power_w": _amount(said.get("max power", ""), "W"),
        "module_state": _coded(lines, "module state")[1],
        "fault_cause": _coded(lines, "module fault cause")[1],
    }


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values, whatever the form."""
    objects = json_objects(text, repeats=True)
    if objects is None:
        return ((key, said.strip()) for key, said in _LINE.findall(text))
    if len(objects) > 1:
        raise NotUnderstoodError(f"{len(objects)} modules where one was asked for")
    return lines_of_json(objects[0])


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Tables transceiver and transceiver_lane. The answer names no interface."""
    text = text_of(data)
    lines, types = _lines(_pairs(text))
    if not lines:
        refuse(text, "no module")
    lanes: _Lanes = {}
    module: _Values = {
        "netdev": instance,
        **_identity(lines, types),
        **_measured(lines, lanes),
        **_alarms(lines, lanes),
        **_switches(lines, lanes),
        **_limits(lines),
    }
    yield Row("transceiver", module)
    for lane in sorted(lanes):
        values = dict.fromkeys(_LANE_COLUMNS) | lanes[lane]
        yield Row("transceiver_lane", {"netdev": instance, "lane": lane, **values})
