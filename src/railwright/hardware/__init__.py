"""Data about the hardware: each row with its source."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class FirmwareParameter:
    """A parameter as the adapter tools know it."""

    name: str  # without _P1
    kind: str  # BOOL, ENUM, UNSIGNED, BYTES, BINARY
    labels: dict[int, str]  # of an enumeration; {} = it is none
    least: int | None  # of a number; None = the database does not say, or it depends on the card
    most: int | None


def _parameter(row: dict[str, str]) -> FirmwareParameter:
    values = row["values"]
    if row["type"] == "BOOL":
        return FirmwareParameter(row["name"], "BOOL", {0: "False", 1: "True"}, None, None)
    if row["type"] == "ENUM":
        pairs = (one.split("=", 1) for one in values.split())
        labels = {int(code): label for code, label in pairs}
        return FirmwareParameter(row["name"], "ENUM", labels, None, None)
    least, _, most = values.partition("..")
    bounds = (int(least) if least else None, int(most) if most else None)
    return FirmwareParameter(row["name"], row["type"], {}, *bounds)


@cache
def firmware_parameters() -> dict[str, FirmwareParameter]:
    """Every firmware parameter that the adapter tools know, by name."""
    text = (Path(__file__).parent / "firmware_parameter.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {row["name"]: _parameter(row) for row in rows}


@cache
def firmware_parameter_names() -> tuple[str, ...]:
    """Every firmware parameter name that the adapter tools know."""
    return tuple(firmware_parameters())
