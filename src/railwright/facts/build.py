"""Building a snapshot: rows arrive one by one, parts are made on the way, the end is one rename.

A folder that was cut off keeps its name with `.unfinished` behind it. `finish` turns what had
arrived by then into a snapshot that says what it lacks: the same code a whole run ends with.
"""

import json
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

from railwright import __version__
from railwright.errors import SnapshotError, UsageError
from railwright.facts import derive
from railwright.facts.duck import (
    connect,
    copy_query,
    file_list,
    identifier,
    moment,
    quote,
    read_spool,
)
from railwright.facts.evidence import (
    EVIDENCE_COLUMNS,
    Answer,
    Spool,
    drop_torn_line,
    in_words,
)
from railwright.facts.ingest import LOST, Admit, as_it_is, ingest
from railwright.facts.locks import LOCK, Lock
from railwright.facts.schema import Table, tables
from railwright.facts.snapshot import (
    FORMAT,
    SCRATCH,
    STARTING,
    UNFINISHED,
    Snapshot,
    cannot_write,
    hidden_folder,
    load,
    make_store,
    read_run,
    reserve,
    seal,
    sync,
)
from railwright.nodes import fold, is_machine_name
from railwright.parse.base import Value

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

    def finish(self, extra: dict[str, object] | None = None, admit: Admit = as_it_is) -> Snapshot:
        """No more rows: everything that has arrived becomes a snapshot."""
        self.close()
        snapshot = finish(self.folder, extra, admit)
        self.lock.release()
        return snapshot


def _check_names(targets: Iterable[str]) -> None:
    """Whoever names the machines of a snapshot: every one of them is a name and nothing else."""
    bad = [name for name in targets if not is_machine_name(name)]
    if bad:
        raise UsageError(
            f"not the name of a machine: {bad[0][:200]!r}",
            why="A name goes to ssh, into files and onto the screen.",
            do="A name has letters, digits, dots, - and _.",
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
        return f"SELECT {picked} FROM ({_empty(tables()[name], spooled)})"
    parts = " UNION ALL ".join(f"FROM {read_spool(file, spooled)}" for file in files)
    database.execute(f"CREATE OR REPLACE TEMP TABLE rows_of_{name} AS {parts}")
    return f"SELECT {picked} FROM rows_of_{name}"


def _empty(table: Table, kinds: dict[str, str] | None = None) -> str:
    """No rows, with the table's columns and types."""
    columns = ", ".join(
        f"NULL::{kind} AS {identifier(name)}"
        for name, kind in (kinds or table.column_types()).items()
    )
    return f"SELECT {columns} WHERE false"


def _targets(folder: Path, run: dict[str, object], database: duckdb.DuckDBPyConnection) -> None:
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
    query = f"""
        SELECT everyone.target,
               everyone.kind,
               coalesce(ended.status,
                        CASE WHEN heard.target IS NULL THEN 'not collected' ELSE 'incomplete' END
               ) AS status,
               everyone.out_of_service,
               {others}
        FROM {everyone} AS everyone
        LEFT JOIN ({ended}) AS ended USING (target)
        LEFT JOIN ({heard}) AS heard USING (target)
    """
    columns = ", ".join(identifier(column.name) for column in tables()["target"].columns)
    copy_query(database, f"SELECT {columns} FROM ({query})", folder / "facts" / "target.parquet")


def write_fact_files(
    folder: Path, database: duckdb.DuckDBPyConnection, *, run_tables: bool = True
) -> None:
    """facts/<table>.parquet from the parts; the run's own tables too, unless they are there."""
    for name, table in tables().items():
        if name == "target" or table.fed_by == "derived":
            continue
        if table.fed_by == "run" and not run_tables:
            continue
        if table.fed_by == "run":
            query = _run_table_rows(folder, name, database)
        else:
            parts = sorted((folder / "parts" / name).glob("*.parquet"))
            query = f"FROM read_parquet({file_list(parts)})" if parts else _empty(table)
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


def finish_cut_off(folder: Path, admit: Admit = as_it_is) -> Snapshot:
    """What had arrived of a run that nobody is at work on any more."""
    lock = Lock(folder)
    try:
        return finish(folder, {"cut_off": True}, admit)
    finally:
        lock.release()


def finish(
    folder: Path, extra: dict[str, object] | None = None, admit: Admit = as_it_is
) -> Snapshot:
    """Everything that has arrived becomes a snapshot; what has not is named in it."""
    with in_words():
        return _finish(folder, extra or {}, admit)


def _finish(folder: Path, extra: dict[str, object], admit: Admit) -> Snapshot:
    run = _begun(folder)
    if "finished" in run:  # cut off between its last word and its name
        return put_in_place(folder)
    if "merged_from" in run:
        raise SnapshotError(
            f"{folder} is a merge that was cut off: it has not got all rows of its sources",
            do="Merge again: the sources are untouched. railwright store prune removes this one.",
        )
    for spool in leftover_spools(folder):
        ingest(folder, spool, admit)
    (folder / "facts").mkdir(exist_ok=True)
    (folder / "evidence").mkdir(exist_ok=True)
    if not any((folder / "evidence").glob("*.parquet")):
        _no_evidence(folder)
    with connect(folder / "tmp") as database:
        _targets(folder, run, database)
        write_fact_files(folder, database)
    lost = folder / LOST
    damage = {"answers_lost": lost.stat().st_size} if lost.exists() else {}
    complete_run(folder, run, {**damage, **extra})
    return put_in_place(folder, sealed_now=True)


def _begun(folder: Path) -> dict[str, object]:
    """What the run said of itself when it began."""
    why = "run.json does not say which machines were asked"
    try:
        run = read_run(folder)
        if "finished" in run or isinstance(run.get("target_names"), dict):
            return run
    except SnapshotError as error:
        why = error.what
    raise SnapshotError(
        f"{folder.name} was cut off before anything had arrived, or is damaged",
        why=why,
        do="railwright store prune --keep N --unfinished removes it.",
    )


def _no_evidence(folder: Path) -> None:
    columns = ", ".join(
        f"NULL::{kind} AS {identifier(name)}" for name, (_, kind) in EVIDENCE_COLUMNS.items()
    )
    with connect() as database:
        copy_query(database, f"SELECT {columns} WHERE false", folder / "evidence" / "none.parquet")


def complete_run(folder: Path, run: dict[str, object], extra: dict[str, object]) -> None:
    """Derived tables, then the last word in run.json: who was reached and who was not."""
    derive.all_tables(folder / "facts")
    run = {key: value for key, value in run.items() if key != "target_names"}
    run.update(extra)
    run["finished"] = time.time()
    with connect() as database:
        target = folder / "facts" / "target.parquet"
        database.execute(f"CREATE VIEW target AS FROM read_parquet({quote(str(target))})")
        run["targets"] = status_counts(database)
    seal(folder, run)


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
