"""Opening the snapshot that a verb was asked for, and what was decided about its findings."""

from pathlib import Path

from railwright.check.waivers import Waiver, load_waivers
from railwright.config import waiver_file
from railwright.model.remake import Work, is_remade, remade, work_on
from railwright.report.console import remarks
from railwright.report.screen import about
from railwright.store.snapshot import Snapshot, find


def opened(store: Path, wanted: str | None) -> Snapshot:
    """The snapshot that was asked for, with tables of this version."""
    snapshot = as_written(store, wanted)
    work = work_on(snapshot)
    if work is None:
        return snapshot
    short = work.is_short or is_remade(snapshot, parsed=True)
    if short and not is_remade(snapshot, parsed=True):
        _announce(snapshot, work)
    if not short:
        remarks().print(
            f"railwright: {snapshot.name} is of another version: {len(work.older.parsed)} of its "
            "tables count as not read. To parse its evidence again takes about "
            f"{about(work.seconds)}: railwright store upgrade {snapshot.name}"
        )
    return remade(snapshot, work, parsed=short)


def decisions(given: Path | None, store: Path) -> list[Waiver]:
    """Waivers and accepted gaps; a file that is named must be there."""
    file = waiver_file(given, store)
    return load_waivers(file if given or file.is_file() else None)


def as_written(store: Path, wanted: str | None) -> Snapshot:
    """The same as it lies on disk; one whose damage nobody could see says so."""
    snapshot = find(store, wanted)
    if not snapshot.verified.sealed:
        remarks().print(
            f"railwright: {snapshot.name} has no digests: an earlier version wrote it, and damage "
            "to its files cannot be seen"
        )
    return snapshot


def _announce(snapshot: Snapshot, work: Work) -> None:
    count = len(work.older.parsed) + len(work.older.derived)
    remarks().print(
        f"railwright: another version wrote {snapshot.name}; {count} of its tables are made again, "
        "once, in the cache"
    )
