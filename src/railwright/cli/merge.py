"""`railwright merge`: shards of a large run as one snapshot."""

from pathlib import Path

import typer

from railwright.cli.common import JSON, STORE
from railwright.cli.opening import as_written
from railwright.config import own_store
from railwright.model.merge import merge as merge_snapshots
from railwright.report.collected import collected, tell_collected
from railwright.report.console import next_step
from railwright.report.status import exit_status


def merge(
    snapshots: list[str] = typer.Argument(..., help="Snapshots to merge: paths, names or dates."),
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Merge snapshots. Per host and probe, the better answer wins, then the later one.

    Exits 3 if the result is incomplete.
    """
    folder = own_store(store)
    merged = merge_snapshots(folder, [as_written(folder, name) for name in snapshots], {})
    told = collected(merged)
    status = exit_status(unknown=not told.is_whole)
    tell_collected("merge", told, status, as_json=as_json)
    next_step("railwright check")
    raise typer.Exit(status)
