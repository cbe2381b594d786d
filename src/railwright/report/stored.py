"""`railwright store list`."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from railwright.errors import SnapshotError
from railwright.report.json_text import json_text
from railwright.store.locks import holder
from railwright.store.snapshot import UNFINISHED, Snapshot, load, snapshots, unfinished
from railwright.text import plain

_CAME_ABOUT = ("filled_from", "joined_to", "merged_from", "interrupted", "cut_off")


class Stored(NamedTuple):
    """A snapshot of the store; of a damaged one only its name, where it is and what is wrong."""

    name: str
    path: str
    damaged: str = ""  # what is wrong; '' = nothing was noticed
    started: float | None = None
    via: str | None = None
    targets: int | None = None
    reached: int | None = None
    megabytes: float | None = None
    has_digests: bool | None = None
    came_about: tuple[str, ...] = ()  # of _CAME_ABOUT
    is_demo: bool = False


class Running(NamedTuple):
    """A collection that has not ended, or was cut off."""

    name: str
    path: str
    held_by: str  # '' = cut off


def stored(store: Path) -> Iterator[Stored]:
    """All of them, the oldest first."""
    for path in snapshots(store):
        try:
            snapshot = load(path)
        except SnapshotError as error:
            if path.exists():  # else pruned by another session at this moment
                yield Stored(path.name, str(path), error.what)
            continue
        total, reached = _counts(snapshot)
        started = snapshot.run.get("started")
        yield Stored(
            path.name,
            str(path),
            "",
            float(started) if isinstance(started, (int, float)) else None,
            snapshot.text("via"),
            total,
            reached,
            _size(path),
            snapshot.verified.sealed,
            tuple(key for key in _CAME_ABOUT if snapshot.run.get(key)),
            snapshot.is_demo,
        )


def running(store: Path) -> Iterator[Running]:
    """Unfinished collections."""
    for path in unfinished(store):
        held = holder(path)
        name = path.name.removesuffix(UNFINISHED)
        yield Running(name, str(path), held.words() if held else "")


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
    found = list(stored(store))
    console.print(f"Store {store}")
    for one in found:
        if one.damaged:
            console.print(f"  {one.name:20}  damaged: {one.damaged}")
            continue
        notes = [key.replace("_", " ") for key in one.came_about]
        notes += ["demo data"] if one.is_demo else []
        notes += [] if one.has_digests else ["no digests"]
        via = plain(one.via or "")
        console.print(
            f"  {one.name:20}  {one.reached:6} of {one.targets:6} reached  "
            f"{one.megabytes:9.1f} MB  via {via}{', ' + ', '.join(notes) if notes else ''}"
        )
    for left in running(store):
        state = left.held_by or "cut off: railwright store finish, or store prune"
        console.print(plain(f"  {left.name}{UNFINISHED}  {state}"), soft_wrap=True)
    if not found:
        console.print("  no snapshot yet")


def stored_json(store: Path, status: int) -> str:
    """The same for programs."""
    return json_text(
        "store list",
        status,
        store=str(store),
        snapshots=[one._asdict() for one in stored(store)],
        unfinished=[one._asdict() for one in running(store)],
    )
