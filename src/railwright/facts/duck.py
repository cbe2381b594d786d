"""DuckDB, set up the same way everywhere: bounded memory, Parquet in and out."""

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import duckdb

from railwright.parse.base import Value

# A 16 MB spool file takes 140 MB with one thread, and 8 MiB answers 200 MB in all (measured with
# 2.0.0; each further thread holds two more buffers of LARGEST_OBJECT).
MEMORY = "192MB"
# Rows are wide (a blob of up to 8 MB): row groups are bounded in bytes, not only in rows.
PARQUET = "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE_BYTES '16MB', ROW_GROUP_SIZE 20480)"
LARGEST_OBJECT = 13 * 1024 * 1024  # one spool line: an 8 MiB answer in base64, and its stderr


# Rows are flat and made by us: no look-out for circles.
_ENCODE = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def connect(temporary: Path | None = None, *, threads: int = 1) -> duckdb.DuckDBPyConnection:
    """A private in-memory database that spills to `temporary` and never installs anything."""
    database = duckdb.connect(":memory:")
    database.execute(f"SET threads = {threads}")
    database.execute(f"SET memory_limit = '{MEMORY}'")
    database.execute("SET preserve_insertion_order = false")  # bounded row groups need this
    database.execute("SET autoinstall_known_extensions = false")
    database.execute("SET TimeZone = 'UTC'")
    # Never the default, which is a folder in the working directory. Made only when it is needed.
    spill = temporary or Path(tempfile.gettempdir(), f"railwright-{os.getpid()}")
    database.execute(f"SET temp_directory = {quote(str(spill))}")
    return database


def quote(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def moment(seconds: str) -> str:
    """Seconds since the epoch as a TIMESTAMP in UTC.

    Not TIMESTAMPTZ: fetching one in Python needs pytz, which DuckDB does not bring along.
    """
    return f"make_timestamp(({seconds} * 1e6)::BIGINT)"


def file_list(paths: Iterable[Path]) -> str:
    """A SQL list of file names for read_parquet."""
    return "[" + ", ".join(quote(str(path)) for path in paths) + "]"


def read_spool(path: Path, columns: dict[str, str]) -> str:
    """A FROM item over one spool file; a torn last line is left out."""
    types = ", ".join(f"{identifier(name)}: {quote(kind)}" for name, kind in columns.items())
    return (
        f"read_json({quote(str(path))}, format = 'newline_delimited', columns = {{{types}}}, "
        f"ignore_errors = true, maximum_object_size = {LARGEST_OBJECT})"
    )


class RowWriter:
    """Rows -> one Parquet file per table, by way of a spool beside it: never all in memory."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder  # one folder per table below it
        self._name = name
        self._files: dict[str, TextIO] = {}

    def write(self, table: str, values: dict[str, Value]) -> None:
        """One row; times travel as seconds since the epoch."""
        file = self._files.get(table)
        if file is None:
            path = self._spool(table)
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._files[table] = path.open("w", encoding="utf-8")
        file.write(_ENCODE(values) + "\n")

    def _spool(self, table: str) -> Path:
        return self._folder / table / f"{self._name}.ndjson"

    def finish(
        self, database: duckdb.DuckDBPyConnection, columns: dict[str, dict[str, str]]
    ) -> None:
        """Turn every spool into Parquet."""
        for table, file in self._files.items():
            file.close()
            spool = self._spool(table)
            kinds = columns[table]
            spooled = {n: "DOUBLE" if t == "TIMESTAMP" else t for n, t in kinds.items()}
            picked = ", ".join(
                f"{moment(identifier(n))} AS {identifier(n)}" if t == "TIMESTAMP" else identifier(n)
                for n, t in kinds.items()
            )
            copy_query(
                database,
                f"SELECT {picked} FROM {read_spool(spool, spooled)}",
                spool.with_suffix(".parquet"),
            )
            spool.unlink()


def copy_query(database: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """The rows of a query as one Parquet file, complete or not there."""
    unfinished = path.with_suffix(".tmp")
    database.execute(f"COPY ({query}) TO {quote(str(unfinished))} {PARQUET}")
    unfinished.rename(path)
