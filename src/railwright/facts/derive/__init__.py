"""Derived tables: one SELECT each, over the tables that the probes fill and over one another.

`<table>.sql` beside this file is the SELECT; `<table>.py` has `queries()` where the schema makes
it, or `by_table()` with one for each table that it reads, and `prepare(database)` where something
has to be worked out first that SQL cannot. They are made in the order of their `after`.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import duckdb

from railwright.facts.duck import connect, copy_query, file_list, identifier, quote
from railwright.facts.schema import tables

HERE = Path(__file__).parent
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
    return importlib.import_module(f"railwright.facts.derive.{name}")


def reads_of(name: str) -> tuple[str, ...]:
    """Tables that are read before the SELECTs of a derived table."""
    if (HERE / f"{name}.sql").is_file():
        return ()
    found: tuple[str, ...] = getattr(_module(name), "READS", ())
    return found


def _in_order() -> list[str]:
    """Each after the derived tables that it reads."""
    waiting = {n: set(t.after) for n, t in tables().items() if t.fed_by == "derived"}
    order: list[str] = []
    while waiting:
        ready = sorted(name for name, after in waiting.items() if after <= set(order))
        if not ready:
            raise ValueError(f"derived tables wait for one another: {sorted(waiting)}")
        order += ready
        for name in ready:
            del waiting[name]
    return order


# One pass over all machines. A link has two ends, perhaps in two chunks; digests are aggregates
# that nothing else reads, where every chunk would be another pass.
_BY_TABLE = ("digest", "likeness")
_IN_ONE_PASS = ("adjacency", "switch_place", "link_end", "route_turn", *_BY_TABLE)


def all_tables(
    facts: Path, around: Callable[[str], AbstractContextManager[object]] = nullcontext
) -> None:
    """Write every derived table beside the others; `around` is entered with each one's name."""
    order = _in_order()
    with connect(facts.parent / "tmp", threads=2, memory=MEMORY) as database:
        parts: dict[str, list[Path]] = {name: [] for name in order}
        names = _names(database, facts / "target.parquet")
        chunks = _chunks(names)
        for number, chunk in enumerate(chunks):
            _show_facts(database, facts, chunk)
            for name in order:
                if name not in _IN_ONE_PASS:
                    with around(name):
                        made = list(_write(database, name, facts / f".{name}-{number}"))
                    _show(database, name, made)
                    parts[name] += made
        if len(chunks) > 1:  # all machines again
            _show_facts(database, facts)
            for name, files in parts.items():
                if files:
                    _show(database, name, files)
        at_once = TABLES_AT_A_TIME if len(names) <= FEW_HOSTS else 1
        for name in _IN_ONE_PASS:
            with around(name):
                empty = _empty(database, facts, parts) if name in _BY_TABLE else frozenset[str]()
                parts[name] += _write(database, name, facts / f".{name}", empty, at_once)
            _show(database, name, parts[name])
        for name, files in parts.items():
            _join(database, files, facts / f"{name}.parquet")


def _empty(
    database: duckdb.DuckDBPyConnection, facts: Path, parts: dict[str, list[Path]]
) -> frozenset[str]:
    """Tables without a row, of those that are made already: most, in a small snapshot."""
    files = {name: parts.get(name, [facts / f"{name}.parquet"]) for name in tables()}
    listed = file_list(path for paths in files.values() for path in paths)
    query = f"SELECT file_name, num_rows FROM parquet_file_metadata({listed})"
    rows = dict(database.execute(query).fetchall())
    return frozenset(
        name for name, paths in files.items() if paths and not any(rows[str(p)] for p in paths)
    )


def _show_facts(database: duckdb.DuckDBPyConnection, facts: Path, chunk: str = "") -> None:
    for name, table in tables().items():
        if table.fed_by != "derived":
            _show(database, name, [facts / f"{name}.parquet"], chunk)


def _join(database: duckdb.DuckDBPyConnection, parts: list[Path], path: Path) -> None:
    if len(parts) == 1:
        parts[0].rename(path)
        return
    copy_query(database, f"FROM read_parquet({file_list(parts)})", path)
    for part in parts:
        part.unlink()


def _show(
    database: duckdb.DuckDBPyConnection, name: str, files: list[Path], chunk: str = ""
) -> None:
    database.execute(
        f"CREATE OR REPLACE TEMP VIEW {identifier(name)} AS "
        f"FROM read_parquet({file_list(files)}) {chunk}"
    )


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
    if reads_of(name):
        _module(name).prepare(database)
    selects = [f"SELECT {columns} FROM ({query})" for query in queries_of(name, empty)]
    for number, some in enumerate(_batched(selects, at_once)):
        part = stem.with_name(f"{stem.name}-{number}.parquet")
        copy_query(database, " UNION ALL ".join(some), part)
        yield part


def _batched(queries: list[str], size: int) -> Iterator[list[str]]:
    """So many at a time, in order."""
    for first in range(0, len(queries), size):
        yield queries[first : first + size]
