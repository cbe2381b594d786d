"""Which snapshot is meant: by path, by name, by the beginning of a date, or the latest."""

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from railwright.errors import SnapshotError
from railwright.store.snapshot import ANSWERED, Snapshot, load, order, snapshots


def find(store: Path, wanted: str | None) -> Snapshot:
    """By path, name or beginning of its date; without any, the latest that read a machine."""
    if wanted and ("/" in wanted or Path(wanted, "run.json").is_file()):
        return load(Path(wanted).absolute())
    stored = snapshots(store)
    if not stored:
        raise SnapshotError(f"no snapshot in {store}", do="Make one: railwright collect -w HOSTS")
    if not wanted:
        return _latest(stored)
    exact = [path for path in stored if path.name == wanted]
    found = exact or [path for path in stored if path.name.startswith(wanted)]
    if not found:
        near = get_close_matches(wanted, [path.name for path in stored], 3, 0.5)
        shown = near or [path.name for path in reversed(stored[-3:])]
        raise SnapshotError(
            f"unknown snapshot {wanted!r} in {store}",
            do=f"{'Did you mean' if near else 'The newest are'} {', '.join(shown)}"
            f"{'?' if near else '.'} railwright store list shows all.",
        )
    return load(found[-1])


def _latest(stored: list[Path]) -> Snapshot:
    """The newest of which anything was read; a run that reached no machine says nothing."""
    newest = load(stored[-1])
    answered, asked = newest.reached()
    if answered or not asked:
        return newest
    for path in reversed(stored[:-1]):
        earlier = load(path)
        if earlier.reached()[0]:
            said = f"the newest run, {newest.name}, reached 0 of {asked:,} machines"
            return replace(earlier, passed_over=said)
    return newest


def previous(store: Path, now: Snapshot) -> Snapshot:
    """The newest one before `now` that read a machine which `now` has read too."""
    mine = read_machines_of(now)
    for path in reversed(snapshots(store)):
        if order(path) < order(now.path):
            earlier = load(path)
            if mine & read_machines_of(earlier):
                return earlier
    raise SnapshotError(
        f"no snapshot before {now.name} in {store} has a host or switch in common with it",
        do="Name one of those that railwright store list shows.",
    )


def read_machines_of(snapshot: Snapshot) -> set[str]:
    """The machines of which something was read."""
    with snapshot.database("target") as database:
        rows = database.execute(
            "SELECT target FROM target WHERE list_contains(?, status)", [list(ANSWERED)]
        ).fetchall()
    return {name for (name,) in rows}
