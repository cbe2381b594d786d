"""The tables that a rule may read, in a database that can do nothing else."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import duckdb

from railwright.hardware import firmware_defects, gpu_errors, headroom
from railwright.intent.roles import site_port
from railwright.model.derived import expected_part
from railwright.predict.macros import macros as ceiling_macros
from railwright.schema.table import Table, intent_tables, tables
from railwright.store.duck import identifier, quote, read_sql, words

HERE = Path(__file__).parent
SMALL = 100_000  # bytes: some ten thousand rows
# Machines that say nothing to a probe. `absent` is an answer: there is no such thing there.
SILENT = "gap WHERE nothing_read AND status <> 'absent'"
# What scope.sql makes, and what names one row of it.
SCOPES = {
    "host_scope": ("target",),
    "port_scope": ("target", "device", "port"),
    "nic_scope": ("target", "pci"),
    "end_scope": ("target", "port"),
    "inventory_scope": ("target",),
    "part_scope": ("target", "slot"),
}


@dataclass(frozen=True)
class Folders:
    """Where the tables of a run lie."""

    facts: Path
    intent: Path
    before: Path | None = None


def all_tables() -> dict[str, Table]:
    """What a rule may read: the facts, and what the operator wants."""
    return {**tables(), **intent_tables()}


def _show(database: duckdb.DuckDBPyConnection, name: str, file: Path) -> None:
    """Of the file itself: an older snapshot's tables are partly links to its own."""
    file = file.resolve()
    # Dozens of rules read it: a small one is opened once.
    kind = "TABLE" if file.stat().st_size <= SMALL else "VIEW"
    database.execute(f"CREATE {kind} {name} AS FROM read_parquet({quote(str(file))})")


def hide(database: duckdb.DuckDBPyConnection, name: str) -> None:
    """As if it had not been shown."""
    small = database.execute(
        "FROM duckdb_tables() WHERE schema_name = 'main' AND table_name = ?", [name]
    ).fetchone()
    database.execute(f"DROP {'TABLE' if small else 'VIEW'} {identifier(name)}")


def _made() -> str:
    """Everything that is made of tables before a rule runs."""
    files = ("scope.sql", "lookups.sql", "rises.sql")
    return " ".join([*(read_sql(__file__, name) for name in files), site_port(), _site_part()])


def _site_part() -> str:
    """What most of a class of the site file have; where that says the slots itself, nobody asks."""
    return expected_part.select("(SELECT target, class FROM node_class WHERE NOT has_slots)")


def show_files(
    database: duckdb.DuckDBPyConnection, folders: Folders, named: Collection[str]
) -> None:
    """The tables of a snapshot, of an earlier one as `before`, and of the intent.

    Only those that somebody names, or that scopes and lookups are made of: each opens its file.
    """
    wanted = words(_made()) | set(named)
    for name in tables().keys() & wanted:
        _show(database, identifier(name), folders.facts / f"{name}.parquet")
    for name in intent_tables().keys() & wanted:
        _show(database, identifier(name), folders.intent / f"{name}.parquet")
    if folders.before is not None:
        database.execute("CREATE SCHEMA before")
        for name in tables().keys() & wanted:
            _show(database, f"before.{identifier(name)}", folders.before / f"{name}.parquet")


def make_empty(database: duckdb.DuckDBPyConnection) -> None:
    """The same tables without a row: what rules are bound against, and cases are filled into."""
    database.execute("CREATE SCHEMA before")
    for name, table in all_tables().items():
        columns = ", ".join(f"{identifier(n)} {kind}" for n, kind in table.column_types().items())
        database.execute(f"CREATE TABLE {identifier(name)} ({columns})")
        if name in tables():
            database.execute(f"CREATE TABLE before.{identifier(name)} ({columns})")


def make_macros(database: duckdb.DuckDBPyConnection) -> None:
    """The three-valued aggregates, and what is worked out from data about hardware."""
    database.execute(read_sql(__file__, "known.sql"))
    database.execute(headroom.macros())
    database.execute(gpu_errors.macros())
    database.execute(firmware_defects.macros())
    database.execute(ceiling_macros())


def make_scopes(database: duckdb.DuckDBPyConnection, kind: str = "temp table") -> None:
    """What rules are about: tables where many rules read them, views over cases."""
    view = "temp view" if kind.startswith("temp") else "view"
    database.execute(f"CREATE OR REPLACE {view} site_part AS {_site_part()}")
    database.execute(site_port(view))
    database.execute(read_sql(__file__, "scope.sql").replace("{kind}", kind))


def make_lookups(
    database: duckdb.DuckDBPyConnection, kind: str = "temp", *, with_before: bool
) -> None:
    """What several rules look up in the same way; over the scopes, and over two snapshots.

    Those of kind "temp" belong to one cursor, those of kind "" to all.
    """
    for name in ("lookups.sql", "rises.sql") if with_before else ("lookups.sql",):
        database.execute(read_sql(__file__, name).replace("{kind}", kind))


def close(database: duckdb.DuckDBPyConnection, folders: list[Path], memory: str, disk: str) -> None:
    """From here on: no other file, no other setting, no more memory or disk than said."""
    readable = {file.resolve().parent for folder in folders for file in folder.glob("*.parquet")}
    readable |= {folder.resolve() for folder in folders}
    listed = ", ".join(quote(str(folder)) for folder in sorted(readable))
    for setting in (
        f"SET memory_limit = {quote(memory)}",
        f"SET max_temp_directory_size = {quote(disk)}",
        f"SET allowed_directories = [{listed}]",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ):
        database.execute(setting)
