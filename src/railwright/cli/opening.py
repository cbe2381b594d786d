"""Opening the snapshot that a verb was asked for, and what was decided about its findings."""

import time
from pathlib import Path

from railwright.check.waivers import Waiver, load_waivers
from railwright.config import site_file, stands_in, waiver_file
from railwright.errors import UsageError
from railwright.intent.site import Site, load_site
from railwright.model.remake import Work, is_remade, remade, work_on
from railwright.report.console import remarks
from railwright.report.screen import about, age
from railwright.store.lookup import find, previous
from railwright.store.snapshot import Snapshot, order

PREVIOUS = "previous"


def one_of(argument: str | None, option: str | None) -> str | None:
    """A snapshot that may be given as an argument, with --snapshot, or both ways alike."""
    if argument and option and argument != option:
        raise UsageError(
            f"two snapshots given: {argument!r} and --snapshot {option!r}",
            do="Leave out one of them.",
        )
    return option or argument


def opened(store: Path, wanted: str | None, option: str | None = None) -> Snapshot:
    """The snapshot that was asked for, with tables of this version."""
    return _with_our_tables(as_written(store, one_of(wanted, option)))


def _with_our_tables(snapshot: Snapshot) -> Snapshot:
    work = work_on(snapshot)
    if work is None:
        return snapshot
    short = work.is_short or is_remade(snapshot, parsed=True)
    if short and not is_remade(snapshot, parsed=True):
        _announce(snapshot, work)
    if not short:
        remarks().print(
            f"railwright: another version wrote {snapshot.name}: {len(work.older.parsed)} of its "
            "tables count as not collected. To parse its evidence again (about "
            f"{about(work.seconds)}): railwright store upgrade {snapshot.name}"
        )
    return remade(snapshot, work, parsed=short)


def opened_before(store: Path, wanted: str, now: Snapshot) -> Snapshot:
    """An earlier snapshot to hold `now` against; the word `previous` takes the one before it."""
    if wanted == PREVIOUS:
        return _with_our_tables(_warned(previous(store, now)))
    earlier = _with_our_tables(_warned(find(store, wanted)))
    if earlier.path.resolve() == now.path.resolve():
        raise UsageError(
            f"{now.name} cannot be compared with itself",
            do="Name an earlier one; railwright store list shows them.",
        )
    if order(earlier.path) > order(now.path):
        raise UsageError(
            f"{earlier.name} is newer than {now.name}", do="Name the older snapshot first."
        )
    return earlier


def intended(given: Path | None, store: Path) -> Site:
    """What the site file says the fabric is meant to be."""
    return load_site(site_file(given, store))


def decisions(given: Path | None, store: Path) -> list[Waiver]:
    """Waivers and accepted gaps; a file that is named must be there."""
    file = waiver_file(given, store)
    return load_waivers(file if given or file.is_file() else None)


def as_written(store: Path, wanted: str | None) -> Snapshot:
    """The same as it lies on disk."""
    snapshot = find(store, wanted)
    say_demo(snapshot.path.parent)
    return _warned(snapshot)


def say_demo(store: Path) -> None:
    """Whose data it is, where the user has none."""
    if stands_in(store):
        remarks().print("railwright: demo data (railwright demo); your first collect ends it")


def _warned(snapshot: Snapshot) -> Snapshot:
    """One that is not the newest says so, and one whose damage would not be noticed."""
    if snapshot.passed_over:
        started = snapshot.run.get("started")
        old = f", {age(time.time() - started)} old" if isinstance(started, (int, float)) else ""
        remarks().print(f"railwright: {snapshot.passed_over}; using {snapshot.name}{old}")
    if not snapshot.verified.sealed:
        remarks().print(
            f"railwright: {snapshot.name} has no digests (an earlier version wrote it): damage to "
            "its files cannot be detected"
        )
    return snapshot


def _announce(snapshot: Snapshot, work: Work) -> None:
    count = len(work.older.parsed) + len(work.older.derived)
    remarks().print(
        f"railwright: another version wrote {snapshot.name}; {count} of its tables are rebuilt "
        "once, in the cache"
    )
