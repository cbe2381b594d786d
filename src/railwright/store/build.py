"""Building a snapshot: rows arrive one by one, parts are made on the way, the end is one rename.

A folder that was cut off keeps its name with `.unfinished` behind it. `finish` turns what had
arrived by then into a snapshot that says what it lacks: the same code a whole run ends with.
"""

import json
import shutil
import time
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

import duckdb

from railwright import __version__
from railwright.errors import UsageError
from railwright.nodes import fold, is_machine_name
from railwright.parse.base import Value
from railwright.schema.table import Table, tables
from railwright.store.duck import (
    copy_query,
    file_list,
    identifier,
    moment,
    quote,
    read_spool,
    read_sql,
)
from railwright.store.evidence import (
    Answer,
    Spool,
    drop_torn_line,
)
from railwright.store.locks import LOCK
from railwright.store.snapshot import (
    FORMAT,
    SCRATCH,
    STARTING,
    UNFINISHED,
    Snapshot,
    cannot_write,
    hidden_folder,
    load,
    make_store,
    reserve,
    sync,
)

# Packed. A part costs some milliseconds per table whatever is in it: the first are small, so that
# there is work from the beginning, later ones twice as large each: 100 hosts of 8 GPUs at last.
SPOOL_BYTES = 1024 * 1024
LARGEST_SPOOL = 32 * SPOOL_BYTES


class Building:
    """A snapshot in the making."""

    def __init__(self, store: Path, run: dict[str, object], targets: dict[str, str]) -> None:
        _check_names(targets)
        make_store(store)
        head = {"format": FORMAT, "version": __version__, **run, "target_names": targets}
        ready, self.lock = hidden_folder(store, STARTING)  # until it says what it is
        try:
            (ready / "spool").mkdir()
            (ready / "run.json").write_text(json.dumps(head), "utf-8")
            # A merged one too is the latest there is.
            self.folder = reserve(store, time.time(), ready)
        except BaseException as error:
            shutil.rmtree(ready, ignore_errors=True)
            self.lock.release()
            if isinstance(error, OSError):
                raise cannot_write(store, error) from error
            raise
        self.lock.moved(self.folder)
        self.name = self.folder.name.removesuffix(UNFINISHED)
        self._evidence = Spool(self.folder / "spool", "part")
        self._target = Spool(self.folder / "spool", "target")
        self._host = Spool(self.folder / "spool", "host")
        self._spool_bytes = SPOOL_BYTES

    def add_answer(self, answer: Answer) -> None:
        """One row of evidence."""
        self._evidence.write(answer.spool_line())

    def add_host(self, row: dict[str, Value]) -> None:
        """What a machine says of itself."""
        self._host.write(json.dumps(row))

    def add_target(self, row: dict[str, Value]) -> None:
        """A machine is done: everything about it is now safe from the end of this process."""
        self._evidence.flush()
        self._host.flush()
        self._target.write(json.dumps(row))
        self._target.flush()

    def full_spool(self) -> Path | None:
        """The evidence spool, if it is time to make a part of it."""
        if self._evidence.size < self._spool_bytes:
            return None
        self._spool_bytes = min(2 * self._spool_bytes, LARGEST_SPOOL)
        return self._evidence.take()

    def close(self) -> None:
        """No more rows."""
        for spool in (self._evidence, self._target, self._host):
            spool.take()


def _check_names(targets: Iterable[str]) -> None:
    """Whoever names the machines of a snapshot: every one of them is a name and nothing else."""
    bad = [name for name in targets if not is_machine_name(name)]
    if bad:
        raise UsageError(
            f"{bad[0][:200]!r} is not a host name",
            why="Host names are passed to ssh and written to files.",
            do="Use only letters, digits, dots, - and _.",
        )


def _run_table_rows(folder: Path, name: str, database: duckdb.DuckDBPyConnection) -> str:
    """The rows that the run itself wrote (target, host), the last one per target."""
    kinds = tables()[name].column_types()
    spooled = {n: "DOUBLE" if t == "TIMESTAMP" else t for n, t in kinds.items()}
    picked = ", ".join(
        f"{moment(identifier(n))} AS {identifier(n)}" if t == "TIMESTAMP" else identifier(n)
        for n, t in kinds.items()
    )
    files = sorted((folder / "spool").glob(f"{name}-*.ndjson"))
    for file in files:
        drop_torn_line(file)
    if not files:
        return f"SELECT {picked} FROM ({empty(tables()[name], spooled)})"
    parts = " UNION ALL ".join(f"FROM {read_spool(file, spooled)}" for file in files)
    database.execute(f"CREATE OR REPLACE TEMP TABLE rows_of_{name} AS {parts}")
    return f"SELECT {picked} FROM rows_of_{name}"


def empty(table: Table, kinds: dict[str, str] | None = None) -> str:
    """No rows, with the table's columns and types."""
    columns = ", ".join(
        f"NULL::{kind} AS {identifier(name)}"
        for name, kind in (kinds or table.column_types()).items()
    )
    return f"SELECT {columns} WHERE false"


def in_our_columns(name: str, *queries: str) -> str:
    """Rows of runs of any version: what they did not have was not read then."""
    columns = ", ".join(
        f"coalesce({identifier(column)}, 'host') AS kind"  # before switches were read, all were
        if (name, column) == ("target", "kind")
        else f"{identifier(column)}::{kind} AS {identifier(column)}"
        for column, kind in tables()[name].column_types().items()
    )
    rows = " UNION ALL BY NAME ".join([*queries, f"({empty(tables()[name])})"])
    return f"SELECT {columns} FROM ({rows})"


def write_targets(
    folder: Path, run: dict[str, object], database: duckdb.DuckDBPyConnection
) -> None:
    """target.parquet: what ended, and for the rest that it was not collected."""
    named = run["target_names"]
    assert isinstance(named, dict)  # noqa: S101 (written by Building)
    switches = run.get("switches", [])
    assert isinstance(switches, list)  # noqa: S101 (written by the caller of Building)
    kinds = dict.fromkeys(switches, "switch")
    names = folder / "spool" / "names.ndjson"
    with names.open("w", encoding="utf-8") as file:
        for target, reason in named.items():
            kind = kinds.get(target, "host")
            row = {"target": target, "kind": kind, "out_of_service": reason}
            file.write(json.dumps(row) + "\n")
    everyone = read_spool(names, dict.fromkeys(("target", "kind", "out_of_service"), "VARCHAR"))
    ended = _run_table_rows(folder, "target", database)
    evidence = folder / "evidence" / "*.parquet"
    heard = (
        f"SELECT DISTINCT target FROM read_parquet({quote(str(evidence))})"
        if any(evidence.parent.glob("*.parquet"))
        else "SELECT NULL::VARCHAR AS target WHERE false"
    )
    others = ", ".join(
        identifier(c.name)
        for c in tables()["target"].columns
        if c.name not in ("target", "kind", "status", "out_of_service")
    )
    query = read_sql(__file__, "build_targets.sql").format(
        others=others, everyone=everyone, ended=ended, heard=heard
    )
    columns = ", ".join(identifier(column.name) for column in tables()["target"].columns)
    copy_query(database, f"SELECT {columns} FROM ({query})", folder / "facts" / "target.parquet")


def write_fact_files(
    folder: Path,
    database: duckdb.DuckDBPyConnection,
    *,
    run_tables: bool = True,
    names: Container[str] | None = None,
) -> None:
    """facts/<table>.parquet from the parts; the run's own tables too, unless they are there."""
    for name, table in tables().items():
        if name in ("target", "reference") or table.fed_by == "derived":
            continue
        if names and name not in names:
            continue
        if table.fed_by == "run" and not run_tables:
            continue
        if table.fed_by == "run":
            query = _run_table_rows(folder, name, database)
        else:
            parts = sorted((folder / "parts" / name).glob("*.parquet"))
            query = f"FROM read_parquet({file_list(parts)})" if parts else empty(table)
        copy_query(database, query, folder / "facts" / f"{name}.parquet")


def status_counts(database: duckdb.DuckDBPyConnection) -> dict[str, dict[str, object]]:
    """How many machines per status, and which, folded."""
    found = database.execute(
        "SELECT status, out_of_service <> '' AS out, list(target ORDER BY target) FROM target "
        "GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    return {
        f"{status}{' (out of service)' if out else ''}": {
            "count": len(names),
            "targets": fold(names),
        }
        for status, out, names in found
    }


def leftover_spools(folder: Path) -> Iterator[Path]:
    """Evidence that has not been made into a part yet."""
    yield from sorted((folder / "spool").glob("part-*.ndjson"))


def put_in_place(folder: Path, *, sealed_now: bool = False) -> Snapshot:
    """Clear the scratch folders and give the snapshot its name, in one step."""
    for scratch in SCRATCH:
        shutil.rmtree(folder / scratch, ignore_errors=True)
    final = folder.with_name(folder.name.removesuffix(UNFINISHED))
    folder.rename(final)
    (final / LOCK).unlink(missing_ok=True)  # not before: nobody else may take the folder up
    sync(final.parent)
    snapshot = load(final)
    if sealed_now:
        snapshot.verified.trust()
    return snapshot
