"""Data about the hardware: each row with its source."""

import csv
from functools import cache
from pathlib import Path


@cache
def firmware_parameter_names() -> tuple[str, ...]:
    """Every firmware parameter name that the adapter tools know."""
    text = (Path(__file__).parent / "firmware_parameter.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return tuple(row["name"] for row in rows)
