"""`mlxconfig|mstconfig -d <pci> -e query`: how a NIC's firmware is configured.

Rows are split on whitespace, never by column: three generations of the tool have three widths, its
headings do not stand above their values, and a long value pushes the rest to the right. The JSON
that `-j FILE query` writes is read as well.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.json_text import first_object, json_at

# The oldest releases say `PCI device:`; `Name:` is the part number.
_HEADER = re.compile(r"(Device type|Name|Description|Device|PCI device):(.*)")
_HEADER_KEYS = {
    "Device type": "device_type",
    "Name": "name",
    "Description": "description",
    "Device": "device",
    "PCI device": "device",
}
_LARGEST_TABLE = 65536  # characters; a table of 200 parameters has 25,000
_HEADING = "Configurations:"
_COLUMN = re.compile(r"Default|Current|Next +Boot|New")
# Without a heading (output through grep) only these numbers of values have one meaning: two could
# be default and next, current and next, or the next and new of a `set`.
_COLUMNS_BY_COUNT = {1: ["Next Boot"], 3: ["Default", "Current", "Next Boot"]}
# Capitals first, so that prose is no parameter; small letters follow in EXP_ROM_UEFI_x86_ENABLE.
# Only _P<n> is a port: other digits belong to the name (PCI_BUS0_RESTRICT, MODULE_SPLIT_M0).
_NAME = re.compile(
    r"([A-Z][A-Z0-9_][A-Za-z0-9_]*?)(?:_P([1-9][0-9]?))?(?:\[([0-9]{1,6})\])?", re.ASCII
)
_NUMBER = r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)"
_VALUE = re.compile(rf"(?:\S+\(({_NUMBER})\)|({_NUMBER})|Array\[[0-9]+\.\.[0-9]+\]|N/A)")
_ERROR = re.compile(r"^-E-[ \t]*([^\n]*)", re.MULTILINE)
_PCI = re.compile(r"(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])")
_NO_PORT = 0
_NO_ELEMENT = -1


class _Parameter(NamedTuple):
    """One parameter as printed; a value is None where its column was not."""

    name: str
    default: str | None
    current: str | None
    next: str | None
    starred: bool
    read_only: bool


class _Card(NamedTuple):
    """One device block of the output."""

    header: dict[str, str]
    parameters: list[_Parameter]


def _row(line: str, columns: tuple[str, ...]) -> _Parameter | None:
    """A line of the table; None for any other line, also for a row that was cut."""
    words = line.split()
    starred = words[0].startswith("*")
    words[0] = words[0].removeprefix("*")
    words = words if words[0] else words[1:]
    read_only = bool(words) and words[0] == "RO"
    words = words[1:] if read_only else words
    if not words or not _NAME.fullmatch(words[0]):
        return None
    name, values = words[0], words[1:]
    columns = columns or tuple(_COLUMNS_BY_COUNT.get(len(values), ()))
    if not columns or len(values) != len(columns) or not all(map(_VALUE.fullmatch, values)):
        return None
    by_column = dict(zip(columns, values, strict=True))
    return _Parameter(
        name,
        by_column.get("Default"),
        by_column.get("Current"),
        by_column.get("Next Boot"),
        starred,
        read_only,
    )


def _columns(heading: str) -> tuple[str, ...]:
    """The value columns of a heading: firmware that cannot report default or current has fewer."""
    columns = [" ".join(word.split()) for word in _COLUMN.findall(heading)]
    if "New" in columns:  # no probe runs `set`; its table is a wish, not a fact
        raise NotUnderstoodError("the table of a set, not of a query")
    return tuple(columns)


def _lines(text: str) -> Iterator[str]:
    """The lines that hold something, without a last one that may have been cut: 16 reads as 1."""
    *lines, last = text.split("\n")
    if last.endswith((" ", ")", "]")):
        lines.append(last)
    return (line for line in lines if line.strip())


def _cards_of_text(text: str) -> list[_Card]:
    cards = [_Card({}, [])]
    columns: tuple[str, ...] = ()
    for line in _lines(text):
        header = _HEADER.match(line)
        key = _HEADER_KEYS[header[1]] if header else ""
        if line.startswith("Device #") or key in cards[-1].header:
            cards.append(_Card({}, []))
            columns = ()
        if header:
            cards[-1].header[key] = header[2].strip()
        elif line.startswith(_HEADING):
            columns = _columns(line.removeprefix(_HEADING))
        else:
            parameter = _row(line, columns)
            if parameter is not None:
                cards[-1].parameters.append(parameter)
    return cards


def _json_text(value: object) -> str | None:
    """A JSON value as the store can hold it (an escape may have made half a surrogate pair)."""
    return text_of(value.encode("utf-8", "replace")) if isinstance(value, str) else None


def _json_parameter(name: str, entry: dict[str, object]) -> _Parameter:
    return _Parameter(
        name,
        _json_text(entry.get("default_value")),
        _json_text(entry.get("current_value")),
        _json_text(entry.get("next_value")),
        entry.get("modified") is True,
        entry.get("read_only") is True,
    )


def _cards_of_json(text: str, at: int) -> list[_Card]:
    document = json_at(text, at)
    cards = []
    for device in document.values():
        table = device.get("tlv_configuration") if isinstance(device, dict) else None
        if not isinstance(table, dict):
            continue
        printed = {key: _json_text(device.get(key)) for key in set(_HEADER_KEYS.values())}
        header = {key: value for key, value in printed.items() if value is not None}
        parameters = [
            _json_parameter(name, entry)
            for name, entry in table.items()
            if _NAME.fullmatch(name) and isinstance(entry, dict)
        ]
        cards.append(_Card(header, parameters))
    return cards


def _code(text: str | None) -> int | None:
    """The number of a value. The label before it is not to be trusted: True(0) was seen."""
    match = _VALUE.fullmatch(text) if text is not None else None
    number = match[1] or match[2] if match else None
    if number is None or len(number) > 20:  # more digits than 64 bits can have
        return None
    code = int(number, 16 if "x" in number.lower() else 10)
    return code if -(2**63) <= code < 2**63 else None


def _address(device: str) -> str:
    """A PCI address with its domain, as the kernel writes it; /dev/mst paths as they are."""
    match = _PCI.fullmatch(device)
    return f"{int(match[1] or '0', 16):04x}:{match[2].lower()}" if match else device


def _none_if_na(text: str | None) -> str | None:
    return "" if text == "N/A" else text


def _card_row(pci: str, header: dict[str, str]) -> Row:
    values: dict[str, Value] = {
        "pci": pci,
        "device_type": _none_if_na(header.get("device_type")),
        "part_number": _none_if_na(header.get("name")),
        "description": _none_if_na(header.get("description")),
    }
    return Row("nic_card", values)


def _parameter_values(parameter: _Parameter) -> dict[str, Value]:
    match = _NAME.fullmatch(parameter.name)
    name, port, element = match.groups() if match else (parameter.name, None, None)
    return {
        "name": name,
        "port": int(port) if port else _NO_PORT,
        "element": int(element) if element else _NO_ELEMENT,
        "default_text": parameter.default,
        "default_code": _code(parameter.default),
        "current_text": parameter.current,
        "current_code": _code(parameter.current),
        "next_text": parameter.next,
        "next_code": _code(parameter.next),
        "starred": parameter.starred,
        "read_only": parameter.read_only,
    }


def _without_repeats(parameters: list[_Parameter]) -> tuple[dict[str, Value], ...]:
    """One row per parameter. Two that contradict each other are no fact at all."""
    seen: dict[tuple[Value, ...], dict[str, Value]] = {}
    for values in map(_parameter_values, parameters):
        key = (values["name"], values["port"], values["element"])
        if seen.setdefault(key, values) != values:
            raise NotUnderstoodError(f"{key[0]} is printed twice and differs")
    return tuple(seen.values())


@lru_cache(maxsize=256)
def _known_table(table: str) -> tuple[dict[str, Value], ...] | None:
    """The parameters of one table; None where the text behind the heading is more than that.

    NICs of one kind print the same table: of a fleet's tables nearly all are looked up here.
    """
    cards = _cards_of_text(_HEADING + table)
    if len(cards) != 1 or cards[0].header:
        return None
    return _without_repeats(cards[0].parameters)


def _usual(text: str, instance: str) -> Iterator[Row] | None:
    """The rows of the usual answer: one device, one table, of a usual size; else None."""
    head, heading, table = text.partition(_HEADING)
    if not (instance and heading and len(table) < _LARGEST_TABLE) or head.count("Device #") > 1:
        return None
    cards = _cards_of_text(head)
    parameters = _known_table(table)
    # The heading must stand at the beginning of a line, and before it only the header.
    if not head.endswith("\n") or parameters is None or any(card.parameters for card in cards):
        return None
    header = cards[-1].header
    if "device_type" not in header or any(card.header for card in cards[:-1]):
        return None
    return _rows_of(instance, header, parameters)


def _rows_of(
    pci: str, header: dict[str, str], parameters: tuple[dict[str, Value], ...]
) -> Iterator[Row]:
    if "device_type" in header:
        yield _card_row(pci, header)
    for values in parameters:
        yield Row("nic_parameter", {"pci": pci, **values})


def _rows(cards: list[_Card], instance: str) -> Iterator[Row]:
    """The rows of any answer; a device that is printed twice must say the same twice."""
    together: dict[str, list[_Card]] = {}
    for card in cards:
        together.setdefault(instance or _address(card.header.get("device", "")), []).append(card)
    for pci, same in together.items():
        headers = [card.header for card in same if "device_type" in card.header]
        if any(header != headers[0] for header in headers):
            raise NotUnderstoodError("the card is printed twice and differs")
        parameters = [parameter for card in same for parameter in card.parameters]
        yield from _rows_of(pci, headers[0] if headers else {}, _without_repeats(parameters))


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of nic_card and nic_parameter."""
    text = text_of(data)
    usual = _usual(text, instance)
    if usual is not None:
        return usual
    at = first_object(text)
    cards = _cards_of_text(text) if at is None else _cards_of_json(text, at)
    cards = [card for card in cards if card.parameters or "device_type" in card.header]
    if not cards:
        errors = "; ".join(_ERROR.findall(text)).strip()
        raise NotUnderstoodError(errors[:200] or "no parameter and no device")
    if instance and len(cards) > 1:  # whose values would go under the address that was asked?
        raise NotUnderstoodError(f"{len(cards)} devices where one was asked for")
    return _rows(cards, instance)
