"""Derived tables: one SELECT per file, over the tables that the probes fill."""

from pathlib import Path

from railwright.facts.duck import connect, copy_query, identifier, quote
from railwright.facts.schema import tables


def all_tables(facts: Path) -> None:
    """Write every derived table beside the others."""
    with connect(facts.parent / "tmp") as database:
        for name, table in tables().items():
            if table.fed_by != "derived":
                file = facts / f"{name}.parquet"
                database.execute(
                    f"CREATE VIEW {identifier(name)} AS FROM read_parquet({quote(str(file))})"
                )
        for name, table in tables().items():
            if table.fed_by == "derived":
                query = (Path(__file__).parent / f"{name}.sql").read_text("utf-8").rstrip("; \n")
                columns = ", ".join(
                    f"{identifier(column.name)}::{column.type} AS {identifier(column.name)}"
                    for column in table.columns
                )
                copy_query(database, f"SELECT {columns} FROM ({query})", facts / f"{name}.parquet")
