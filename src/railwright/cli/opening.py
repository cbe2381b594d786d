"""Opening the snapshot that a verb was asked for."""

from pathlib import Path

from railwright.facts.snapshot import Snapshot, find
from railwright.report.console import remarks


def opened(store: Path, wanted: str | None) -> Snapshot:
    """The snapshot that was asked for; one whose damage nobody could see says so."""
    snapshot = find(store, wanted)
    if not snapshot.verified.sealed:
        remarks().print(
            f"railwright: {snapshot.name} has no digests: an earlier version wrote it, and damage "
            "to its files cannot be seen"
        )
    return snapshot
