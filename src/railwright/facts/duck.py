"""DuckDB, set up the same way everywhere: bounded memory, Parquet in and out."""

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO
from weakref import WeakSet

import duckdb

from railwright.parse.base import Value

# A 16 MB spool file takes 140 MB with one thread, and 8 MiB answers 200 MB in all (measured with
# 2.0.0; each further thread holds two more buffers of LARGEST_OBJECT).
MEMORY = "128MB"
# Rows are wide (a blob of up to 8 MB): row groups are bounded in bytes, not only in rows.
PARQUET = "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE_BYTES '16MB', ROW_GROUP_SIZE 20480)"
LARGEST_OBJECT = 13 * 1024 * 1024  # one spool line: an 8 MiB answer in base64, and its stderr


# What all rows of an answer have in common, with its type in the spool.
_SHARED = {"target": "VARCHAR", "read_at": "DOUBLE"}
MOST_ROWS = 5000  # per spool line
MOST_SPOOLED = 8 * 1024 * 1024  # bytes of one table; unfolded they take some times as much
_WORD = re.compile(r"[a-z_][a-z0-9_]*")
# Rows are flat and made by us: no look-out for circles.
_ENCODE = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


_OPEN: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()


def connect(
    temporary: Path | None = None, *, threads: int = 1, memory: str = MEMORY
) -> duckdb.DuckDBPyConnection:
    """A private in-memory database that spills to `temporary` and never installs anything."""
    database = duckdb.connect(":memory:")
    _OPEN.add(database)
    database.execute(f"SET threads = {threads}")
    database.execute(f"SET memory_limit = '{memory}'")
    database.execute("SET preserve_insertion_order = false")  # bounded row groups need this
    database.execute("SET autoinstall_known_extensions = false")
    database.execute("SET TimeZone = 'UTC'")
    # Never the default, which is a folder in the working directory. Made only when it is needed.
    spill = temporary or Path(tempfile.gettempdir(), f"railwright-{os.getpid()}")
    database.execute(f"SET temp_directory = {quote(str(spill))}")
    return database


def interrupt_queries() -> None:
    """End what any database of this process is being asked; may be called from another thread."""
    for database in list(_OPEN):
        with contextlib.suppress(duckdb.Error):  # closed in the meantime
            database.interrupt()


def quote(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def words(sql: str) -> frozenset[str]:
    """Every word of a query, names of tables among them."""
    return frozenset(_WORD.findall(sql.lower()))


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
    """Rows -> Parquet files per table, by way of a spool beside them: never all in memory.

    A spool line holds the rows of one answer as columns: a fifth of the work of one line per row,
    for Python and for DuckDB. DuckDB unfolds 2,048 lines at a time, however long they are, so a
    spool is made into a file before it is large.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        columns: dict[str, dict[str, str]],
        database: duckdb.DuckDBPyConnection,
    ) -> None:
        self._folder = folder  # one folder per table below it
        self._name = name
        self._columns = columns
        self._database = database
        self._files: dict[str, TextIO] = {}
        self._sizes: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    def write(self, table: str, target: str, read_at: float, rows: list[dict[str, Value]]) -> None:
        """Rows of one table from one answer; the time is in seconds since the epoch."""
        self.write_encoded(table, target, read_at, self.encode(table, rows))

    def encode(self, table: str, rows: list[dict[str, Value]]) -> list[str]:
        """Rows as the tails of spool lines: all but whose they are, and when they were read."""
        names = [name for name in self._columns[table] if name not in _SHARED]
        parts = (rows[at : at + MOST_ROWS] for at in range(0, len(rows), MOST_ROWS))
        return [
            _ENCODE({name: [row.get(name) for row in part] for name in names})[1:] for part in parts
        ]

    def write_encoded(self, table: str, target: str, read_at: float, tails: list[str]) -> None:
        """What `encode` gave, for one machine of perhaps many that answered the same."""
        file = self._files.get(table)
        if file is None:
            path = self._spool(table)
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._files[table] = path.open("w", encoding="utf-8")
            self._sizes[table] = 0
        head = _ENCODE({"target": target, "read_at": read_at})[:-1]
        for tail in tails:
            self._sizes[table] += file.write(f"{head},{tail}\n")
        if self._sizes[table] > MOST_SPOOLED:
            self._convert(table)

    def _spool(self, table: str) -> Path:
        return self._folder / table / f"{self._name}.ndjson"

    def _convert(self, table: str) -> None:
        """A table's spool into one more Parquet file."""
        self._files.pop(table).close()
        number = self._numbers.get(table, 0)
        self._numbers[table] = number + 1
        kinds = self._columns[table]
        spooled = {n: _SHARED.get(n, f"{kind}[]") for n, kind in kinds.items()}
        picked = {n: f"unnest({identifier(n)})" for n in kinds if n not in _SHARED}
        picked |= {"target": "target", "read_at": moment("read_at")}
        query = ", ".join(f"{picked[n]} AS {identifier(n)}" for n in kinds)
        spool = self._spool(table)
        part = spool.with_name(f"{self._name}-{number:03d}.parquet")
        copy_query(self._database, f"SELECT {query} FROM {read_spool(spool, spooled)}", part)
        spool.unlink()

    def finish(self) -> None:
        """What is left of every table."""
        for table in list(self._files):
            self._convert(table)


def copy_query(database: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """The rows of a query as one Parquet file, complete or not there."""
    unfinished = path.with_suffix(".tmp")
    database.execute(f"COPY ({query}) TO {quote(str(unfinished))} {PARQUET}")
    unfinished.rename(path)
