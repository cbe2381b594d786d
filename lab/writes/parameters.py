"""Firmware parameters of a card: what may be written, whose they are, when they take hold."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from railwright.hardware import FirmwareParameter, firmware_parameters
from railwright.toml import load_toml

_PORT = re.compile(r"(.+)_P([0-9]+)", re.ASCII)
_VALUE = re.compile(r"(.*)\(([0-9]+)\)", re.ASCII | re.DOTALL)


@cache
def table() -> dict[str, Any]:
    """parameters.toml."""
    name = "parameters.toml"
    return dict(load_toml((Path(__file__).parent / name).read_text("utf-8"), name))


def known(name: str) -> FirmwareParameter | None:
    """What the tools' database says about LINK_TYPE_P1."""
    found = firmware_parameters()
    port = _PORT.fullmatch(name)
    return found.get(name) or (found.get(port[1]) if port else None)


def plain_name(name: str) -> tuple[str, int]:
    """LINK_TYPE_P2 -> LINK_TYPE, 2; without a port, 1."""
    port = _PORT.fullmatch(name)
    if port and port[1] in firmware_parameters():
        return port[1], int(port[2])
    return name, 1


def is_of_function(name: str) -> bool:
    """Class 3."""
    return plain_name(name)[0] in table()["function"]


def is_hidden(name: str) -> bool:
    """Shown only while ADVANCED_PCI_SETTINGS is in force."""
    return plain_name(name)[0] in table()["hidden"]


def activation(name: str) -> str:
    """What it needs: firmware_reset, reboot or power_cycle."""
    plain = plain_name(name)[0]
    for event, names in table()["activation"].items():
        if plain in names:
            return str(event)
    return "firmware_reset"


def code_of(text: str) -> int | None:
    """The number of a value as the tool prints it: True(1), 48."""
    found = _VALUE.fullmatch(text)
    word = found[2] if found else text
    return int(word) if word.isascii() and word.isdigit() and len(word) < 12 else None


class NotThisError(Exception):
    """A value that the parameter cannot have; the tool's own words."""


def value_text(name: str, word: str) -> str:
    """A value as it is written, as the tool then prints it: ETH -> ETH(2)."""
    parameter = known(name)
    number = _number(word)
    if parameter is None or parameter.kind == "UNSIGNED":
        if number is None:
            raise NotThisError("Cannot parse the value")
        most = parameter.most if parameter and parameter.most is not None else 2**32 - 2
        if number > most or (
            parameter and parameter.least is not None and number < parameter.least
        ):
            raise NotThisError(f"Value {word} is out of range")
        return str(number)
    labels = parameter.labels
    if not labels:
        raise NotThisError("Operation not supported for this type of parameters")
    for code, label in labels.items():
        if number == code or (number is None and label.lower() == word.lower()):
            return f"{label}({code})"
    raise NotThisError(f"Unknown value {word}")


def _number(word: str) -> int | None:
    try:
        return int(word, 0) if len(word) < 20 and not word.startswith(("+", "-", "_")) else None
    except ValueError:
        return None


def effects(name: str, text: str) -> dict[str, Any]:
    """Fields of the model that a value in force gives to begin with."""
    rules = table()["effect"].get(plain_name(name)[0], {})
    code = code_of(text)
    found: dict[str, Any] = {}
    for field, rule in rules.items():
        if code is None:
            continue
        if rule == "number":
            found[field] = code
        elif rule == "bits":
            found[field] = tuple(bool(code >> bit & 1) for bit in range(8))
        elif str(code) in rule:
            found[field] = rule[str(code)]
    return found
