"""`mlxfwreset|mstfwreset -d <pci> query`: which resets a NIC supports; `status`: which it needs.

Lists (levels, types, who is in charge) of `N: description   -Supported (default)`. The tool writes
"Not Supported" in two lists and "Not supported" in the third. A description of 62 characters or
more leaves no blank before the hyphen.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.mlx_text import address, errors_of, none_if_na, note, whole_lines

# The last one stood alone in releases before there were types and sync.
_HEADINGS = {
    "Reset-level": "level",
    "Reset-type": "type",
    "Reset-sync": "sync",
    "Reset-method": "method",
    "Supported reset level": "level",
}
_NUMBER = re.compile(r"([0-9]{1,2}): ", re.ASCII)
_SUPPORT = re.compile(r"-(Supported|Not [Ss]upported)\b", re.ASCII)
_CUT = frozenset({"...", "(...)"})
_NO_DEFAULT = -1
_LONGEST_LINE = 1000

_STATUS = {
    "Pending FW version": "pending_firmware_version",
    "Running FW version": "running_firmware_version",
    "Description action": "required_action",
    "Command required": "required_command",
    "Reasons": "reasons",
}
_STATUS_DEVICE = "Status for device"
_PARAMETERS = "Pending NVCONFIG parameters"
_PARAMETER = re.compile(r"[A-Z][A-Z0-9_][A-Za-z0-9_\[\]]{0,80}", re.ASCII)
_LEVEL_OPTION = re.compile(r"--level ([0-9]{1,2})\b", re.ASCII)


class _Choice(NamedTuple):
    """One line of a list."""

    kind: str
    number: int
    description: str
    supported: bool
    is_default: bool


def _choice(kind: str, line: str) -> _Choice | None:
    number = _NUMBER.match(line)
    supports = list(_SUPPORT.finditer(line, number.end())) if number else []
    if not number or not supports:
        return None
    support = supports[-1]  # what the tool adds stands behind the description
    description = line[number.end() : support.start()].strip()
    is_default = "(default)" in line[support.end() :]
    return _Choice(kind, int(number[1]), description, support[1] == "Supported", is_default)


def _choices(text: str) -> tuple[list[_Choice], set[str]]:
    """The lines of all lists, and the lists that are whole: not cut, by hand or by the end."""
    found: dict[tuple[str, int], _Choice] = {}
    kinds = [""]
    cut = {""}
    for line in map(str.strip, whole_lines(text)):
        if len(line) > _LONGEST_LINE:
            continue
        if line in _CUT:  # what follows may be of another list, until the next heading
            cut.add(kinds[-1])
            kinds.append("")
        heading = next((name for name in _HEADINGS if line.startswith(name)), None)
        if heading:
            kinds.append(_HEADINGS[heading])
        choice = _choice(kinds[-1], line) if kinds[-1] and not heading else None
        if choice and found.setdefault((choice.kind, choice.number), choice) != choice:
            raise NotUnderstoodError(f"{choice.kind} {choice.number} is printed twice and differs")
    whole = set(kinds[:-1])
    # Every release lists the warm reboot; a list of levels that ends before it may have been cut.
    if text.endswith("\n") and (kinds[-1] != "level" or any(("level", n) in found for n in (4, 5))):
        whole.add(kinds[-1])
    return list(found.values()), whole - cut


def _default(choices: list[_Choice], kind: str, whole: set[str]) -> int | None:
    """The number of the default; -1 if the whole list marks none."""
    of_kind = [choice for choice in choices if choice.kind == kind]
    marked = [choice.number for choice in of_kind if choice.is_default]
    if len(marked) == 1:
        return marked[0]
    return _NO_DEFAULT if of_kind and not marked and kind in whole else None


def _supported_levels(choices: list[_Choice], whole: set[str]) -> str | None:
    levels = [choice for choice in choices if choice.kind == "level"]
    if not levels or "level" not in whole:
        return None
    return ",".join(str(choice.number) for choice in levels if choice.supported)


def _status(text: str) -> tuple[dict[str, str], str | None]:
    """What `status` prints: values by column, and the parameters that wait for a reset."""
    found: dict[str, str] = {}
    names: list[str] = []
    in_table, whole = False, False
    for line in whole_lines(text):
        key, colon, rest = line.partition(":")
        key = key.strip()
        if len(line) > _LONGEST_LINE:
            continue
        if line.strip() in _CUT:
            in_table = False
        elif colon and key == _PARAMETERS:
            in_table = True
        elif colon and (key in _STATUS or key == _STATUS_DEVICE):
            whole, in_table = whole or in_table, False
            note(found, _STATUS.get(key, key), rest.strip())
        elif in_table:
            words = line.split()
            if len(words) >= 4 and _PARAMETER.fullmatch(words[0]):
                names.append(words[0])
    return found, ",".join(dict.fromkeys(names)) if whole else None


def _reset_row(
    pci: str,
    choices: list[_Choice],
    whole: set[str],
    status: dict[str, str],
    parameters: str | None,
) -> Row:
    level = _LEVEL_OPTION.search(status.get("required_command", ""))
    values: dict[str, Value] = {
        "pci": pci,
        "default_level": _default(choices, "level", whole),
        "default_type": _default(choices, "type", whole),
        "default_sync": _default(choices, "sync", whole),
        "supported_levels": _supported_levels(choices, whole),
        "pending_parameters": parameters,
        "required_level": int(level[1]) if level else None,
    }
    for column in _STATUS.values():
        values[column] = none_if_na(status.get(column))
    return Row("nic_reset", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of nic_reset and nic_reset_level."""
    text = text_of(data)
    choices, whole = _choices(text)
    status, parameters = _status(text)
    if not choices and not status:
        if "Continue with reset?" in text:  # no probe resets anything
            raise NotUnderstoodError("the output of a reset, not of a query")
        raise NotUnderstoodError(errors_of(text) or "no list of resets and no status")
    pci = instance or address(status.get(_STATUS_DEVICE, ""))
    yield _reset_row(pci, choices, whole, status, parameters)
    for choice in choices:
        values: dict[str, Value] = {"pci": pci, **choice._asdict()}
        yield Row("nic_reset_level", values)
