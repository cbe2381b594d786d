"""DuckDB, set up the same way everywhere: bounded memory, Parquet in and out."""

import atexit
import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
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
LARGEST_LINE = 1024 * 1024  # of a spool of rows
MOST_SPOOLED = 4 * 1024 * 1024  # bytes of one table; unfolded they take some times as much
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
    # On where Python was given its program by -c: a bar on standard output, after two seconds.
    database.execute("SET enable_progress_bar = false")
    # Never the default, which is a folder in the working directory.
    database.execute(f"SET temp_directory = {quote(str(temporary or spill_folder()))}")
    return database


@cache
def spill_folder() -> Path:
    """A folder of this process alone, for what does not fit into memory; it goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="railwright-"))
    atexit.register(remove_spill_folder)
    return folder


def remove_spill_folder() -> None:
    """Also for those who leave without saying so: os._exit runs nothing else."""
    if spill_folder.cache_info().currsize:
        shutil.rmtree(spill_folder(), ignore_errors=True)


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


def read_sql(module: str, name: str) -> str:
    """The text of a SQL file that lies beside a module: read_sql(__file__, "link.sql")."""
    return (Path(module).parent / name).read_text("utf-8")


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


def read_spool(path: Path, columns: dict[str, str], *, largest: int = LARGEST_OBJECT) -> str:
    """A FROM item over one spool file whose last line is whole: one that is not fits no row."""
    types = ", ".join(f"{identifier(name)}: {quote(kind)}" for name, kind in columns.items())
    return (
        f"read_json({quote(str(path))}, format = 'newline_delimited', columns = {{{types}}}, "
        f"maximum_object_size = {largest})"
    )


class TooLargeError(Exception):
    """An answer whose rows are more than anybody has to say."""


class Encoder:
    """Rows of one answer -> tails of spool lines: all but whose they are, and when they were read.

    A line holds many rows as columns: a fifth of the work of one line per row, for Python and for
    DuckDB.
    """

    def __init__(self, columns: dict[str, dict[str, str]], longest: int, most: int) -> None:
        self._columns = columns
        self._longest = longest  # characters of a value
        self._most = most  # characters of all lines
        self._waiting: dict[str, list[dict[str, Value]]] = {}
        self._lines: dict[str, list[str]] = {}
        self.size = 0

    def add(self, table: str, row: dict[str, Value]) -> None:
        """One row."""
        rows = self._waiting.setdefault(table, [])
        rows.append(row)
        if len(rows) >= MOST_ROWS:
            self._encode(table, self._waiting.pop(table))

    def finish(self) -> dict[str, list[str]]:
        """The lines of every table."""
        for table, rows in self._waiting.items():
            self._encode(table, rows)
        self._waiting.clear()
        return self._lines

    def _encode(self, table: str, rows: list[dict[str, Value]]) -> None:
        kinds = self._columns[table]
        columns = {name: [row.get(name) for row in rows] for name in kinds if name not in _SHARED}
        for name, values in columns.items():
            if kinds[name] == "VARCHAR":
                self._check(name, values)
        line = _ENCODE(columns)[1:]
        if len(line) > LARGEST_LINE and len(rows) > 1:
            half = len(rows) // 2
            self._encode(table, rows[:half])
            self._encode(table, rows[half:])
            return
        if "\\ud" in line:  # an astral character, or half of one, which no column can hold
            columns = {name: _whole_characters(values) for name, values in columns.items()}
            line = _ENCODE(columns)[1:]
        self.size += len(line)
        if self.size > self._most:
            raise TooLargeError(f"more than {self._most:,} characters of rows")
        self._lines.setdefault(table, []).append(line)

    def _check(self, name: str, values: list[Value]) -> None:
        for value in values:
            if value is not None and len(value) > self._longest:  # type: ignore[arg-type]
                raise TooLargeError(f"{name} has more than {self._longest:,} characters")


def _whole_characters(values: list[Value]) -> list[Value]:
    return [
        value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
        for value in values
    ]


class RowWriter:
    """Rows -> Parquet files per table, by way of a spool beside them: never all in memory.

    DuckDB unfolds 2,048 lines at a time, however long they are, so a spool is made into a file
    before it is large.
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
        self.set_aside: set[tuple[str, str]] = set()  # table and target of what was not taken

    def encoder(self, longest: int, most: int) -> Encoder:
        """For the rows of one answer."""
        return Encoder(self._columns, longest, most)

    def write(self, table: str, target: str, read_at: float, rows: list[dict[str, Value]]) -> None:
        """Rows of one table from one answer; the time is in seconds since the epoch."""
        encoder = self.encoder(LARGEST_LINE, LARGEST_LINE)
        for row in rows:
            encoder.add(table, row)
        for name, lines in encoder.finish().items():
            self.write_encoded(name, target, read_at, lines)

    def write_encoded(self, table: str, target: str, read_at: float, tails: list[str]) -> None:
        """What an encoder gave, for one machine of perhaps many that answered the same."""
        head = _ENCODE({"target": target, "read_at": read_at})[:-1]
        for tail in tails:
            file = self._files.get(table)
            if file is None:
                path = self._spool(table)
                path.parent.mkdir(parents=True, exist_ok=True)
                file = self._files[table] = path.open("w", encoding="utf-8")
                self._sizes[table] = 0
            self._sizes[table] += file.write(f"{head},{tail}\n")
            if self._sizes[table] > MOST_SPOOLED:
                self._convert(table)

    def _spool(self, table: str) -> Path:
        return self._folder / table / f"{self._name}.ndjson"

    def _convert(self, table: str) -> None:
        """A table's spool into one more Parquet file."""
        self._files.pop(table).close()
        spool = self._spool(table)
        try:
            self._copy(table, spool)
        except (duckdb.IOException, duckdb.InternalException):  # the disk, or DuckDB itself
            raise
        except duckdb.Error:
            self._line_by_line(table, spool)
        spool.unlink()

    def _copy(self, table: str, spool: Path) -> None:
        kinds = self._columns[table]
        spooled = {n: _SHARED.get(n, f"{kind}[]") for n, kind in kinds.items()}
        picked = {n: f"unnest({identifier(n)})" for n in kinds if n not in _SHARED}
        picked |= {"target": "target", "read_at": moment("read_at")}
        query = ", ".join(f"{picked[n]} AS {identifier(n)}" for n in kinds)
        source = read_spool(spool, spooled, largest=2 * LARGEST_LINE)
        number = self._numbers.get(table, 0)
        part = self._folder / table / f"{self._name}-{number:03d}.parquet"
        copy_query(self._database, f"SELECT {query} FROM {source}", part)
        self._numbers[table] = number + 1

    def _line_by_line(self, table: str, spool: Path) -> None:
        """One line is what a table cannot take: it is set aside, the others are written."""
        alone = spool.with_suffix(".line")
        with spool.open(encoding="utf-8") as lines:
            for line in lines:
                alone.write_text(line, "utf-8")
                try:
                    self._copy(table, alone)
                except (duckdb.IOException, duckdb.InternalException):
                    raise
                except duckdb.Error:
                    self.set_aside.add((table, json.loads(line)["target"]))
        alone.unlink(missing_ok=True)

    def finish(self) -> None:
        """What is left of every table."""
        for table in list(self._files):
            self._convert(table)


def copy_query(database: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """The rows of a query as one Parquet file, complete or not there."""
    unfinished = path.with_suffix(".tmp")
    database.execute(f"COPY ({query}) TO {quote(str(unfinished))} {PARQUET}")
    unfinished.rename(path)
