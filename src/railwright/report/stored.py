"""`railwright store list`."""

from pathlib import Path

from rich.console import Console

from railwright.errors import SnapshotError
from railwright.store.locks import holder
from railwright.store.snapshot import Snapshot, load, snapshots, unfinished
from railwright.text import plain


def _size(folder: Path) -> float:
    """In MB; 0 for one that another session deletes at this moment."""
    try:
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    except OSError:
        return 0.0


def _counts(snapshot: Snapshot) -> tuple[int, int]:
    statuses = snapshot.run.get("targets")
    total = reached = 0
    for status, entry in statuses.items() if isinstance(statuses, dict) else ():
        total += entry["count"]
        reached += entry["count"] if status.startswith("reached") else 0
    return total, reached


def print_stored(console: Console, store: Path) -> None:
    """One line per snapshot: how many targets, how many reached, how large, how it came about."""
    console.print(f"Store {store}")
    found = snapshots(store)
    for path in found:
        try:
            snapshot = load(path)
        except SnapshotError as error:
            if not path.exists():
                continue  # pruned by another session at this moment
            console.print(f"  {path.name:20}  damaged: {error.what}")
            continue
        total, reached = _counts(snapshot)
        notes = [
            key.replace("_", " ")
            for key in ("filled_from", "merged_from", "interrupted", "cut_off")
            if snapshot.run.get(key)
        ]
        notes += [] if snapshot.verified.sealed else ["no digests"]
        via = plain(snapshot.text("via"))
        console.print(
            f"  {path.name:20}  {reached:6} of {total:6} reached  {_size(path):9.1f} MB  "
            f"via {via}{', ' + ', '.join(notes) if notes else ''}"
        )
    for path in unfinished(store):
        running = holder(path)
        state = running.words() if running else "cut off: railwright store finish, or store prune"
        console.print(plain(f"  {path.name}  {state}"), soft_wrap=True)
    if not found:
        console.print("  no snapshot yet")
