"""`railwright store verify`."""

from pathlib import Path

from rich.console import Console

from railwright.errors import SnapshotError
from railwright.report.status import exit_status
from railwright.store.snapshot import load
from railwright.text import plain

WITHOUT = "no digests: written before there were any, damage cannot be seen"


def print_verified(console: Console, paths: list[Path]) -> int:
    """One line per snapshot, and one per file that is not as it was written; the exit status."""
    damaged = unknown = False
    for path in paths:
        faults, sealed = _faults(path)
        damaged, unknown = damaged or bool(faults), unknown or not sealed
        state = "DAMAGED" if faults else "as written" if sealed else WITHOUT
        console.print(plain(f"  {path.name:20}  {state}"))
        for fault in faults:
            console.print(plain(f"    {fault}"), soft_wrap=True)
    return exit_status(found=damaged, unknown=unknown)


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
