"""Ceilings of a whole snapshot, as tables of a database."""

import re

import duckdb

from railwright.intent.roles import make_site_ports
from railwright.intent.site import Site
from railwright.predict.ceiling import ALARM, HIGH, LOW
from railwright.predict.macros import macros
from railwright.store.duck import read_sql

MEMORY = "2GB"  # as for rules: a million ports with their columns
_VALUES = {"low": LOW, "high": HIGH, "alarm": ALARM}


def make_ceilings(database: duckdb.DuckDBPyConnection, site: Site | None = None) -> None:
    """nic_ceiling, port_ceiling, card_ceiling and host_ceiling over the views of a snapshot."""
    database.execute(make_site_ports(site))
    make_ceilings_of(database)


def make_ceilings_of(database: duckdb.DuckDBPyConnection) -> None:
    """The same where `site_port` is at hand."""
    database.execute(f"SET memory_limit = '{MEMORY}'")
    database.execute(macros("TEMP"))
    query = read_sql(__file__, "ceilings.sql")
    database.execute(re.sub(r"\$([a-z]+)", lambda found: str(_VALUES[found[1]]), query))
