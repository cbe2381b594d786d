"""Derived tables: one SELECT each, over the tables that the probes fill and over one another.

`<table>.sql` beside this file is the SELECT; `<table>.py` has `queries()` where the schema makes
it, or `by_table()` with one for each table that it reads, and `prepare(database)` where something
has to be worked out first that SQL cannot. They are made in the order of their `after`, some
thousand machines at a time; those with `whole`, where one machine is held against the others, of
all machines at once.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from railwright.schema.table import Table, tables
from railwright.store.duck import connect, copy_query, file_list, identifier, quote

HERE = Path(__file__).parent / "derived"
HOSTS_AT_A_TIME = 5_000
MEMORY = "384MB"
# Where there are few hosts, beginning a file costs more than what is in it.
FEW_HOSTS = 500
TABLES_AT_A_TIME = 10


def queries_of(name: str, empty: frozenset[str] = frozenset()) -> list[str]:
    """The SELECTs of one derived table; those that read only what is `empty` are left out."""
    file = HERE / f"{name}.sql"
    if file.is_file():
        return [file.read_text("utf-8").rstrip("; \n")]
    if name in _BY_TABLE:
        each: dict[str, str] = _module(name).by_table()
        # One stays in any case: it makes the file.
        return [sql for table, sql in each.items() if table not in empty] or [*each.values()][:1]
    made: list[str] = _module(name).queries()
    return made


def _module(name: str) -> Any:
    return importlib.import_module(f"railwright.model.derived.{name}")


def reads_of(name: str) -> tuple[str, ...]:
    """Tables that are read before the SELECTs of a derived table."""
    if (HERE / f"{name}.sql").is_file():
        return ()
    found: tuple[str, ...] = getattr(_module(name), "READS", ())
    return found


def prepare(database: duckdb.DuckDBPyConnection, name: str) -> None:
    """What has to be worked out before the SELECTs of a derived table."""
    if reads_of(name):
        _module(name).prepare(database)


class Round(NamedTuple):
    """Derived tables that are made together: some thousand machines at a time, or all at once."""

    whole: bool
    names: list[str]


def rounds() -> list[Round]:
    """Each table after those that it reads; tables of some machines and of all take turns."""
    waiting = {n: t for n, t in tables().items() if t.fed_by == "derived"}
    made: list[Round] = []
    done: set[str] = set()
    while waiting:
        before = len(waiting)
        for whole in (False, True):
            names = _ready({n: t for n, t in waiting.items() if t.whole is whole}, done)
            if names:
                made.append(Round(whole, names))
                done |= set(names)
                waiting = {n: t for n, t in waiting.items() if n not in done}
        if len(waiting) == before:
            raise ValueError(f"derived tables wait for one another: {sorted(waiting)}")
    return made


def _ready(waiting: dict[str, Table], done: set[str]) -> list[str]:
    """Those that wait for nothing but what is done and one another, in order."""
    order: list[str] = []
    while True:
        known = done | set(order)
        ready = sorted(n for n, t in waiting.items() if n not in order and set(t.after) <= known)
        if not ready:
            return order
        order += ready


# One SELECT for each table that they read.
_BY_TABLE = ("digest", "likeness")

Around = Callable[[str], AbstractContextManager[object]]
Parts = dict[str, list[Path]]


def all_tables(facts: Path, around: Around = nullcontext) -> None:
    """Write every derived table beside the others; `around` is entered with each one's name."""
    with connect(facts.parent / "tmp", threads=2, memory=MEMORY) as database:
        making = _Making(database, facts, around, {}, {})
        names = _names(database, facts / "target.parquet")
        for one in rounds():
            if one.whole:
                at_once = TABLES_AT_A_TIME if len(names) <= FEW_HOSTS else 1
                making.of_all(one.names, at_once)
            else:
                making.in_chunks(one.names, _chunks(names))
        for name, files in making.parts.items():
            _join(database, files, facts / f"{name}.parquet")


class _Making(NamedTuple):
    """Where the tables lie, and the files of those that are made already."""

    database: duckdb.DuckDBPyConnection
    facts: Path
    around: Around
    parts: Parts
    shown: dict[str, tuple[list[Path], str]]  # which files and machines each view is of

    def in_chunks(self, names: list[str], chunks: list[str]) -> None:
        made: Parts = {name: [] for name in names}
        for number, chunk in enumerate(chunks):
            self._show_facts(chunk)
            for name in names:
                with self.around(name):
                    files = list(_write(self.database, name, self.facts / f".{name}-{number}"))
                self._show(name, files)
                made[name] += files
        self.parts.update(made)

    def of_all(self, names: list[str], at_once: int) -> None:
        self._show_facts()
        for name in names:
            with self.around(name):
                empty = frozenset[str]()
                if name in _BY_TABLE:
                    empty = _empty(self.database, self.facts, self.parts)
                stem = self.facts / f".{name}"
                self.parts[name] = list(_write(self.database, name, stem, empty, at_once))
            self._show(name, self.parts[name])

    def _show_facts(self, chunk: str = "") -> None:
        """What probes filled and what is made already, of some machines or of all."""
        for name, table in tables().items():
            if table.fed_by != "derived":
                self._show(name, [self.facts / f"{name}.parquet"], chunk)
            elif name in self.parts:
                self._show(name, self.parts[name], chunk)

    def _show(self, name: str, files: list[Path], chunk: str = "") -> None:
        """Where it is not there yet: to make the views of a round again costs a fifth of it all."""
        if self.shown.get(name) == (files, chunk):
            return
        self.database.execute(
            f"CREATE OR REPLACE TEMP VIEW {identifier(name)} AS "
            f"FROM read_parquet({file_list(files)}) {chunk}"
        )
        self.shown[name] = (files, chunk)


def _empty(database: duckdb.DuckDBPyConnection, facts: Path, parts: Parts) -> frozenset[str]:
    """Tables without a row, of those that are made already: most, in a small snapshot."""
    files = {
        name: parts.get(name, [] if table.fed_by == "derived" else [facts / f"{name}.parquet"])
        for name, table in tables().items()
    }
    listed = file_list(path for paths in files.values() for path in paths)
    query = f"SELECT file_name, num_rows FROM parquet_file_metadata({listed})"
    rows = dict(database.execute(query).fetchall())
    return frozenset(
        name for name, paths in files.items() if paths and not any(rows[str(p)] for p in paths)
    )


def _join(database: duckdb.DuckDBPyConnection, parts: list[Path], path: Path) -> None:
    if len(parts) == 1:
        parts[0].rename(path)
        return
    copy_query(database, f"FROM read_parquet({file_list(parts)})", path)
    for part in parts:
        part.unlink()


def _names(database: duckdb.DuckDBPyConnection, target: Path) -> list[str]:
    query = f"SELECT target FROM read_parquet({quote(str(target))}) ORDER BY target"
    return [name for (name,) in database.execute(query).fetchall()]


def _chunks(names: list[str]) -> list[str]:
    """Conditions that take some thousand hosts each: what is made of them fits into memory."""
    if len(names) <= HOSTS_AT_A_TIME:
        return [""]
    starts = names[::HOSTS_AT_A_TIME]
    return [
        f"WHERE target >= {quote(first)}" + (f" AND target < {quote(after)}" if after else "")
        for first, after in zip(starts, [*starts[1:], ""], strict=True)
    ]


def _write(
    database: duckdb.DuckDBPyConnection,
    name: str,
    stem: Path,
    empty: frozenset[str] = frozenset(),
    at_once: int = 1,
) -> Iterator[Path]:
    columns = ", ".join(
        f"{identifier(column.name)}::{column.type} AS {identifier(column.name)}"
        for column in tables()[name].columns
    )
    prepare(database, name)
    selects = [f"SELECT {columns} FROM ({query})" for query in queries_of(name, empty)]
    for number, some in enumerate(_batched(selects, at_once)):
        part = stem.with_name(f"{stem.name}-{number}.parquet")
        copy_query(database, " UNION ALL ".join(some), part)
        yield part


def _batched(queries: list[str], size: int) -> Iterator[list[str]]:
    """So many at a time, in order."""
    for first in range(0, len(queries), size):
        yield queries[first : first + size]
