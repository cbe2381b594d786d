"""`mlxlink|mstlink -d <pci> -m -c`: the physical link of a NIC, its module and its error rates.

Sections of `key : value` rows. Keys have no colon, so a row is split at the first one; the width of
the key column changed (32, then 35). A key stands in one section only, so the row's section does
not matter, except that rows of sections that are not ours are left alone: a PRBS test prints
"Time Since Last Clear" too. The JSON of `--json` and the forms of `--show_fec` and
`--port_type PCIE` are read as well.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from railwright.parse import mlx_link_values as values
from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.json_text import json_at
from railwright.parse.mlx_text import (
    BIGINT_BITS,
    cached_number,
    errors_of,
    none_if_na,
    note,
    number,
    whole_lines,
    whole_number,
)

_TEST_MODE = "Test Mode Info"
_FEC_KEY = re.compile(r"FEC Capability ([0-9A-Za-z_.]{1,20})", re.ASCII)
_FEC_SECTION = "FEC Capability Info"
_SECTIONS = frozenset(
    {
        "Operational Info",
        "Supported Info",
        "Troubleshooting Info",
        "Tool Information",
        "Module Info",
        "Physical Counters and BER Info",
        "PCIe Operational (Enabled) Info",
        "Management PCIe Performance Counters Info",
        "Management PCIe Timers Counters Info",
        _FEC_SECTION,
        _TEST_MODE,
    }
)
_LONGEST_VALUE = 2000  # the longest that the tool prints, a cable's breakout, has 150 characters

# printed key -> (column, how the value is read)
_PORT: dict[str, tuple[str, Callable[[str | None], Value]]] = {
    "State": ("state", none_if_na),
    "Physical state": ("physical_state", none_if_na),
    "Loopback Mode": ("loopback", none_if_na),
    "Status Opcode": ("status_opcode", values.small_number),
    "Group Opcode": ("group_opcode", none_if_na),
    "Recommendation": ("recommendation", none_if_na),
    "Firmware Version": ("firmware_version", none_if_na),
    "Time Since Last Clear [Min]": ("since_clear_min", number),
    "Effective Physical Errors": ("effective_errors", whole_number),
    "Effective Physical BER": ("effective_ber", values.error_rate),
    "Raw Physical BER": ("raw_ber", values.error_rate),
    "Symbol Errors": ("symbol_errors", whole_number),
    "Symbol BER": ("symbol_ber", values.error_rate),
    "Link Down Counter": ("link_down_counter", whole_number),
    "Link Error Recovery Counter": ("link_recovery_counter", whole_number),
    "Identifier": ("module_identifier", none_if_na),
    "Compliance": ("module_compliance", none_if_na),
    "Cable Technology": ("cable_technology", none_if_na),
    "Cable Type": ("cable_type", none_if_na),
    "Vendor Name": ("vendor", none_if_na),
    "Vendor Part Number": ("part_number", none_if_na),
    "Vendor Serial Number": ("serial_number", none_if_na),
    "Rev": ("revision", none_if_na),
    "Wavelength [nm]": ("wavelength_nm", cached_number),
    "Transfer Distance [m]": ("length_m", cached_number),
    "FW Version": ("module_firmware_version", none_if_na),
    "Digital Diagnostic Monitoring": ("digital_diagnostics", values.yes),
    "Power Class": ("power_class", none_if_na),
    "MAX Power": ("max_power_w", values.watt),
    "LOS Alarm": ("los_alarm", none_if_na),
    "Cable Breakout": ("cable_breakout", none_if_na),
    "Module State": ("module_state", none_if_na),
    "Manufacturing Date": ("manufacturing_date", none_if_na),
    "Active Set Host Compliance Code": ("host_compliance", none_if_na),
    "Active Set Media Compliance Code": ("media_compliance", none_if_na),
    "Module FW Fault": ("module_firmware_fault", values.yes),
    "DataPath FW Fault": ("datapath_firmware_fault", values.yes),
}
# Keys whose value gives more than one column.
_RAW_ERRORS = "Raw Physical Errors Per Lane"
_ENABLED_SPEEDS = "Enabled Link Speed"
_CABLE_SPEEDS = "Supported Cable Speed"
_EXTENDED = {f"{key} (Ext.)": key for key in (_ENABLED_SPEEDS, _CABLE_SPEEDS)}  # on Ethernet
_TOOLS = {"MFT Version": "mft", "mstflint Version": "mstflint"}
_TEMPERATURE = "Temperature [C]"
_VOLTAGE = "Voltage [mV]"
_OTHER = frozenset(
    {
        *("Speed", "Width", "FEC", "Auto Negotiation"),
        *(_ENABLED_SPEEDS, _CABLE_SPEEDS, _TEMPERATURE, _VOLTAGE),
    }
)

_LANE: dict[str, tuple[str, Callable[[str], Value]]] = {
    "SNR Media Lanes [dB]": ("snr_media_db", cached_number),
    "SNR Host Lanes [dB]": ("snr_host_db", cached_number),
    _RAW_ERRORS: ("raw_errors", whole_number),
    "Raw Physical BER Per Lane": ("raw_ber", values.error_rate),
    "DataPath state [per lane]": ("datapath_state", none_if_na),
    "Rx Output Valid [per lane]": ("rx_output_valid", values.yes),
    "Tx Fault [per lane]": ("tx_fault", values.yes),
    "Tx LOS [per lane]": ("tx_loss_of_signal", values.yes),
    "Tx CDR LOL [per lane]": ("tx_loss_of_lock", values.yes),
    "Rx LOS [per lane]": ("rx_loss_of_signal", values.yes),
    "Rx CDR LOL [per lane]": ("rx_loss_of_lock", values.yes),
    "Tx Adaptive EQ Fault [per lane]": ("tx_equalizer_fault", values.yes),
}
_LANE_READINGS = {  # printed key -> column, and its unit
    "Bias Current [mA]": ("bias", "ma"),
    "Rx Power Current [dBm]": ("rx_power", "dbm"),
    "Tx Power Current [dBm]": ("tx_power", "dbm"),
}
_PCIE_FIRST = "Depth, pcie index, node"
_PCIE: dict[str, tuple[str, Callable[[str | None], Value]]] = {
    "RX Errors": ("rx_errors", whole_number),
    "TX Errors": ("tx_errors", whole_number),
    "CRC Error dllp": ("dllp_crc_errors", whole_number),
    "CRC Error tlp": ("tlp_crc_errors", whole_number),
    "dl down": ("link_down_counter", whole_number),
}
_PCIE_SPEED = "Link Speed Active (Enabled)"
_PCIE_WIDTH = "Link Width Active (Enabled)"
_PCIE_STATUS = "Device Status"

_PORT_KEYS = frozenset({*_PORT, *_LANE, *_LANE_READINGS, *_TOOLS, *_OTHER})
_PCIE_KEYS = frozenset({*_PCIE, _PCIE_FIRST, _PCIE_SPEED, _PCIE_WIDTH, _PCIE_STATUS})
# Other tools print these too (ibstat "State", flint "FW Version"): alone they prove nothing.
_COMMON = frozenset(
    {"State", "Physical state", "Speed", "Width", "FEC", "FW Version", "Rev", "Identifier"}
)


class _Found(NamedTuple):
    """What was printed, by key."""

    port: dict[str, str]
    fec: dict[str, str]
    pcie: list[dict[str, str]]
    sections: set[str]

    def take(self, key: str, value: str) -> None:
        """Sort in one row; one that nobody knows is left."""
        if len(value) > _LONGEST_VALUE:
            return
        if key in _PORT_KEYS:
            note(self.port, key, value)
        elif key in _EXTENDED:
            note(self.port, _EXTENDED[key], value)
        elif key in _PCIE_KEYS:
            if key == _PCIE_FIRST or not self.pcie:
                self.pcie.append({})
            note(self.pcie[-1], key, value)
        elif key.startswith("FEC Capability "):
            speed = _FEC_KEY.fullmatch(key)
            if speed:
                note(self.fec, speed[1], value)


def _read_text(text: str) -> _Found:
    found = _Found({}, {}, [], set())
    ours, title = True, ""
    for line in whole_lines(text):
        key, colon, value = line.partition(":")
        if colon:
            title = ""
            if ours:
                found.take(key.strip(), value.strip())
        elif line.startswith("---"):
            ours = title in _SECTIONS
        elif line.strip():
            title = line.strip()
            if title in _SECTIONS:
                ours = True
                found.sections.add(title)
    return found


def _plain(value: object, section: str) -> str | None:
    """A JSON value as the text form prints it (an escape may have made half a surrogate pair)."""
    if isinstance(value, dict):
        separator = ", " if section == _FEC_SECTION else ","
        parts = value.get("values")
        texts = parts if isinstance(parts, list) else []
        mask = value.get("mask")
        joined = separator.join(part if isinstance(part, str) else "" for part in texts)
        value = f"{mask} ({joined})" if isinstance(mask, str) else joined
    if not isinstance(value, str):
        return None
    return text_of(value.encode("utf-8", "replace")).strip()


def _read_json(text: str, start: int) -> _Found:
    document = json_at(text, start)
    result = document.get("result")
    output = result.get("output") if isinstance(result, dict) else None
    found = _Found({}, {}, [], set())
    for section, rows in output.items() if isinstance(output, dict) else ():
        if section not in _SECTIONS or not isinstance(rows, dict):
            continue
        found.sections.add(section)
        for key, value in rows.items():
            plain = _plain(value, section)
            if plain is not None:
                found.take(key.strip(), plain)
    status = document.get("status")
    message = _plain(status.get("message"), "") if isinstance(status, dict) else None
    if message and not (found.port or found.fec or found.pcie or _TEST_MODE in found.sections):
        raise NotUnderstoodError(message[:200])
    return found


def _limited(name: str, unit: str, text: str | None) -> dict[str, Value]:
    """The columns of one reading with its limits."""
    reading = values.reading(text)
    return {
        f"{name}_{unit}": reading.values[0] if len(reading.values) == 1 else None,
        f"{name}_low_{unit}": reading.low,
        f"{name}_high_{unit}": reading.high,
    }


def _monitored(printed: list[str | None]) -> bool | None:
    """Whether there is a reading; False if those that were printed say that there is none."""
    readings = [values.reading(text) for text in printed if text]
    if any(value is not None for reading in readings for value in reading.values):
        return True
    nothing = all(reading == values.NO_READING for reading in readings)
    return False if readings and nothing else None


def _raw_errors(text: str | None) -> int | None:
    """The sum over the lanes, if each lane was read."""
    counts = [count for count in values.lane_list(text, whole_number) if count is not None]
    total = sum(counts)
    whole = text is not None and len(counts) == text.count(",") + 1
    return total if whole and total < 2**BIGINT_BITS else None


def _test_mode(found: _Found) -> bool | None:
    """A port that sends a test pattern prints other sections in place of its state."""
    if _TEST_MODE in found.sections:
        return True
    return False if "State" in found.port else None


def _port_row(pci: str, found: _Found) -> Row:
    printed = found.port
    lanes = values.width(printed.get("Width"))
    tool = next((key for key in _TOOLS if key in printed), None)
    speed, fec, negotiation = (printed.get(key) for key in ("Speed", "FEC", "Auto Negotiation"))
    row: dict[str, Value] = {
        "pci": pci,
        "test_mode": _test_mode(found),
        "speed_text": none_if_na(speed),
        "speed_gbps": values.speed_gbps(speed, lanes),
        "width": lanes,
        "fec_text": none_if_na(fec),
        "fec": values.fec(fec),
        "autonegotiation_text": none_if_na(negotiation),
        "autonegotiation": values.autonegotiation(negotiation),
        "enabled_speeds": values.masked(printed.get(_ENABLED_SPEEDS)),
        "cable_speeds": values.masked(printed.get(_CABLE_SPEEDS)),
        "tool": _TOOLS[tool] if tool else None,
        "tool_version": values.version(printed[tool]) if tool else None,
        "raw_errors": _raw_errors(printed.get(_RAW_ERRORS)),
        **_limited("temperature", "c", printed.get(_TEMPERATURE)),
        **_limited("voltage", "mv", printed.get(_VOLTAGE)),
    }
    row["monitored"] = _monitored([printed.get(_TEMPERATURE), printed.get(_VOLTAGE)])
    for key, (column, convert) in _PORT.items():
        row[column] = convert(printed.get(key))
    return Row("mlxlink_port", row)


def _lane_rows(pci: str, printed: dict[str, str]) -> Iterator[Row]:
    """One row for each lane of which something was read."""
    columns: dict[str, tuple[Value, ...]] = {}
    limits: dict[str, Value] = {}
    for key, (column, unit) in _LANE_READINGS.items():
        reading = values.reading(printed.get(key))
        columns[f"{column}_{unit}"] = reading.values
        limits[f"{column}_low_{unit}"] = reading.low
        limits[f"{column}_high_{unit}"] = reading.high
    for key, (column, convert) in _LANE.items():
        columns[column] = values.lane_list(printed.get(key), convert)
    for lane in range(max(map(len, columns.values()))):
        read = {
            column: cells[lane] if lane < len(cells) else None for column, cells in columns.items()
        }
        if any(value is not None for value in read.values()):
            yield Row("mlxlink_lane", {"pci": pci, "lane": lane + 1, **read, **limits})


def _fec_rows(pci: str, printed: dict[str, str]) -> Iterator[Row]:
    for speed, text in printed.items():
        modes = values.masked(text)
        # Names hold commas; what stands between two names is a comma and a blank.
        names = modes.split(", ") if modes else []
        codes = [values.fec(name) for name in names]
        known = None if modes is None or None in codes else "; ".join(map(str, codes))
        row: dict[str, Value] = {
            "pci": pci,
            "speed": speed,
            "modes": None if modes is None else "; ".join(names),
            "codes": known,
        }
        yield Row("mlxlink_fec", row)


def _pcie_row(pci: str, printed: dict[str, str]) -> Row:
    place = values.lane_list(printed.get(_PCIE_FIRST), values.small_number)
    depth, index, node = place if len(place) == 3 else (None, None, None)
    speed, speed_enabled = values.active_and_enabled(printed.get(_PCIE_SPEED))
    width, width_enabled = values.active_and_enabled(printed.get(_PCIE_WIDTH))
    status = none_if_na(printed.get(_PCIE_STATUS))
    row: dict[str, Value] = {
        "pci": pci,
        "depth": depth,
        "pcie_index": index,
        "node": node,
        "speed_text": none_if_na(speed),
        "generation": values.generation(speed),
        "speed_enabled_text": none_if_na(speed_enabled),
        "generation_enabled": values.generation(speed_enabled),
        "width": values.width(width),
        "width_enabled": values.width(width_enabled),
        "device_status": status.rstrip(". ") if status is not None else None,
    }
    for key, (column, convert) in _PCIE.items():
        row[column] = convert(printed.get(key))
    return Row("mlxlink_pcie", row)


def _pcie_rows(pci: str, blocks: list[dict[str, str]]) -> Iterator[Row]:
    """One row per PCIe link; one that is printed twice must say the same twice."""
    seen: dict[tuple[Value, ...], Row] = {}
    for block in blocks:
        row = _pcie_row(pci, block)
        place = tuple(row.values[part] for part in ("depth", "pcie_index", "node"))
        if seen.setdefault(place, row) != row:
            raise NotUnderstoodError("a PCIe link is printed twice and differs")
    yield from seen.values()


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of mlxlink_port, mlxlink_lane, mlxlink_fec and mlxlink_pcie."""
    text = text_of(data)
    start = 0 if text.startswith("{") else text.find("\n{") + 1
    found = _read_json(text, start) if text.startswith("{", start) else _read_text(text)
    port = found.port if found.sections or not found.port.keys() <= _COMMON else {}
    if not (port or found.fec or found.pcie or _TEST_MODE in found.sections):
        raise NotUnderstoodError(errors_of(text) or "no section of mlxlink")
    if port or _TEST_MODE in found.sections:
        yield _port_row(instance, found)
        yield from _lane_rows(instance, found.port)
    yield from _fec_rows(instance, found.fec)
    yield from _pcie_rows(instance, found.pcie)
