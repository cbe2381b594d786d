"""Ceilings of a whole snapshot, as tables of a database."""

import re
from pathlib import Path

import duckdb

from railwright.predict.ceiling import ALARM, HIGH, LOW
from railwright.predict.macros import macros

MEMORY = "2GB"  # as for rules: a million ports with their columns
_VALUES = {"low": LOW, "high": HIGH, "alarm": ALARM}


def make_ceilings(database: duckdb.DuckDBPyConnection) -> None:
    """nic_ceiling, port_ceiling, card_ceiling and host_ceiling over the views of a snapshot."""
    database.execute(f"SET memory_limit = '{MEMORY}'")
    database.execute(macros("TEMP"))
    query = Path(__file__).with_name("ceilings.sql").read_text("utf-8")
    database.execute(re.sub(r"\$([a-z]+)", lambda found: str(_VALUES[found[1]]), query))
