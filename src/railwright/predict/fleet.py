"""Ceilings of a whole snapshot, as tables of a database."""

import re
from pathlib import Path

import duckdb

from railwright.predict.ceiling import ALARM, HIGH, LOW
from railwright.predict.macros import macros
from railwright.schema.table import intent_tables
from railwright.store.duck import identifier, quote, read_sql

MEMORY = "2GB"  # as for rules: a million ports with their columns
_VALUES = {"low": LOW, "high": HIGH, "alarm": ALARM}


def _declared_role(roles: Path | None) -> str:
    """What the site says of its ports' roles; without a site, nothing."""
    if roles is not None:
        return f"FROM read_parquet({quote(str(roles))})"
    kinds = intent_tables()["declared_role"].column_types()
    empty = ", ".join(f"NULL::{kind} AS {identifier(name)}" for name, kind in kinds.items())
    return f"SELECT {empty} WHERE false"


def make_ceilings(database: duckdb.DuckDBPyConnection, roles: Path | None = None) -> None:
    """nic_ceiling, port_ceiling, card_ceiling and host_ceiling over the views of a snapshot.

    `roles` is the file of declared_role, as `write_intent` makes it.
    """
    database.execute(f"SET memory_limit = '{MEMORY}'")
    database.execute(f"CREATE OR REPLACE TEMP TABLE declared_role AS {_declared_role(roles)}")
    database.execute(macros("TEMP"))
    query = read_sql(__file__, "ceilings.sql")
    database.execute(re.sub(r"\$([a-z]+)", lambda found: str(_VALUES[found[1]]), query))
