"""The intent as tables that rules read beside the facts."""

from functools import cache
from pathlib import Path

from railwright.facts.schema import Table, load_tables


@cache
def intent_tables() -> dict[str, Table]:
    """All of them by name."""
    return load_tables(Path(__file__).parent / "tables")
