"""Which snapshot is meant: by path, by name, by the beginning of a date, or the latest."""

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from railwright.errors import SnapshotError
from railwright.store.snapshot import ANSWERED, Snapshot, load, order, snapshots

NO_SNAPSHOT = "Make one: railwright collect -w HOSTS. To look at demo data: railwright demo"


def find(store: Path, wanted: str | None) -> Snapshot:
    """By path, name or beginning of its date; without any, the latest that read a machine."""
    if wanted and ("/" in wanted or Path(wanted, "run.json").is_file()):
        return load(Path(wanted).absolute())
    stored = snapshots(store)
    if not stored:
        raise SnapshotError(f"no snapshot in {store}", do=NO_SNAPSHOT)
    if not wanted or wanted == LATEST:
        return _latest(stored)
    exact = [path for path in stored if path.name == wanted]
    found = exact or [path for path in stored if path.name.startswith(wanted)]
    if not found:
        raise _unknown(store, wanted, stored)
    return load(found[-1])


LATEST = "latest"
_SHOWN = 5  # snapshots that a mistake lists
_NEAR = 0.8  # two digits changed places in a name of seventeen; another date is further away


def _unknown(store: Path, wanted: str, stored: list[Path]) -> SnapshotError:
    """A name that the store has not: a slip, another date, a host, or a path of something else."""
    if Path(wanted).exists():
        load(Path(wanted).absolute())  # says what it is not
    latest = _latest(stored)
    with latest.database("target") as database:
        is_machine = database.execute("FROM target WHERE target = ?", [wanted]).fetchall()
    if is_machine:
        return SnapshotError(
            f"{wanted!r} is a host or switch of snapshot {latest.name}, not a snapshot",
            do=f"To see it: railwright show {wanted}",
        )
    names = [path.name for path in reversed(stored)]
    near = get_close_matches(wanted, names, 3, _NEAR)
    first = f"Did you mean {' or '.join(near)}?" if near else f"It has {', '.join(names[:_SHOWN])}"
    more = f" and {len(names) - _SHOWN:,} more" if not near and len(names) > _SHOWN else ""
    return SnapshotError(
        f"unknown snapshot {wanted!r} in {store}",
        do=f"{first}{more}{'' if near else '.'} railwright store list shows all.",
    )


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
    if len(snapshots(store)) == 1:
        raise SnapshotError(
            f"{now.name} is the only snapshot in {store}",
            do="Collect again to compare with it: railwright collect -w HOSTS",
        )
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
