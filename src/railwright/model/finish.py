"""The end of a run: what has arrived becomes a snapshot, with the tables that are worked out.

A run that was cut off ends here too, and says what it lacks.
"""

import time
from pathlib import Path

from railwright.errors import SnapshotError
from railwright.model import derive
from railwright.model.reference import write_reference
from railwright.model.revision import revisions
from railwright.store.build import (
    Building,
    leftover_spools,
    put_in_place,
    status_counts,
    write_fact_files,
    write_targets,
)
from railwright.store.duck import connect, copy_query, identifier, quote
from railwright.store.evidence import EVIDENCE_COLUMNS, in_words
from railwright.store.ingest import LOST, Admit, as_it_is, ingest
from railwright.store.locks import Lock
from railwright.store.snapshot import REVISIONS, Snapshot, read_run, seal


def finish_building(
    building: Building, extra: dict[str, object] | None = None, admit: Admit = as_it_is
) -> Snapshot:
    """No more rows: everything that has arrived becomes a snapshot."""
    building.close()
    snapshot = finish(building.folder, extra, admit)
    building.lock.release()
    return snapshot


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
            f"{folder} is an unfinished merge: it does not have all rows of its sources",
            do="Merge again: the sources are unchanged. To delete this one: railwright store prune",
        )
    for spool in leftover_spools(folder):
        ingest(folder, spool, admit)
    (folder / "facts").mkdir(exist_ok=True)
    (folder / "evidence").mkdir(exist_ok=True)
    if not any((folder / "evidence").glob("*.parquet")):
        _no_evidence(folder)
    with connect(folder / "tmp") as database:
        write_targets(folder, run, database)
        write_reference(folder, database)
        write_fact_files(folder, database)
    lost = folder / LOST
    damage = {"answers_lost": lost.stat().st_size} if lost.exists() else {}
    complete_run(folder, run, {**damage, **extra})
    return put_in_place(folder, sealed_now=True)


def _begun(folder: Path) -> dict[str, object]:
    """What the run said of itself when it began."""
    why = "run.json does not list the hosts."
    try:
        run = read_run(folder)
        if "finished" in run or isinstance(run.get("target_names"), dict):
            return run
    except SnapshotError as error:
        why = error.what
    raise SnapshotError(
        f"{folder.name} ended before anything arrived, or is damaged",
        why=why,
        do="To delete it: railwright store prune --keep N --unfinished",
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
    run[REVISIONS] = revisions()
    run["finished"] = time.time()
    with connect() as database:
        target = folder / "facts" / "target.parquet"
        database.execute(f"CREATE VIEW target AS FROM read_parquet({quote(str(target))})")
        run["targets"] = status_counts(database)
    seal(folder, run)
