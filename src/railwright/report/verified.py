"""`railwright store verify`."""

from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from railwright.errors import SnapshotError
from railwright.report.json_text import json_text
from railwright.report.status import exit_status
from railwright.store.snapshot import load
from railwright.text import plain

WITHOUT = "no digests: written before there were any, damage cannot be seen"
_WORDS = {"damaged": "DAMAGED", "as written": "as written", "no digests": WITHOUT}


class Verified(NamedTuple):
    """A snapshot, and what is not as it was written."""

    name: str
    path: str
    state: str  # a key of _WORDS
    faults: list[str]


def verified(paths: list[Path]) -> list[Verified]:
    """Every file of every snapshot, compared with its digest."""
    found = []
    for path in paths:
        faults, sealed = _faults(path)
        state = "damaged" if faults else "as written" if sealed else "no digests"
        found.append(Verified(path.name, str(path), state, faults))
    return found


def verified_status(found: list[Verified]) -> int:
    """1 where a file is damaged, 3 where damage could not be told."""
    states = {one.state for one in found}
    return exit_status(found="damaged" in states, unknown="no digests" in states)


def print_verified(console: Console, found: list[Verified]) -> None:
    """One line per snapshot, and one per file that is not as it was written."""
    for one in found:
        console.print(plain(f"  {one.name:20}  {_WORDS[one.state]}"))
        for fault in one.faults:
            console.print(plain(f"    {fault}"), soft_wrap=True)


def verified_json(found: list[Verified]) -> str:
    """The same for programs."""
    snapshots = [one._asdict() for one in found]
    return json_text("store verify", verified_status(found), snapshots=snapshots)


def _faults(path: Path) -> tuple[list[str], bool]:
    """What is wrong with one, and whether digests could tell."""
    try:
        snapshot = load(path)
    except SnapshotError as error:
        return [error.what], True
    found = []
    for name in snapshot.verified.names():
        try:
            snapshot.verified.check_bytes(name)
        except SnapshotError as error:  # noqa: PERF203 (each file is a world of its own)
            found.append(error.what)
    return found, snapshot.verified.sealed
