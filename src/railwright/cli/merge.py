"""`railwright merge`: shards of a large run as one snapshot."""

from pathlib import Path

import typer

from railwright.cli.common import STORE
from railwright.cli.opening import as_written
from railwright.config import store_folder
from railwright.model.merge import merge as merge_snapshots
from railwright.report.collected import print_collected
from railwright.report.console import next_step, output
from railwright.report.status import exit_status


def merge(
    snapshots: list[str] = typer.Argument(..., help="Snapshots to merge: paths, names or dates."),
    store: Path | None = STORE,
) -> None:
    """Merge snapshots. Per host and probe, the better answer wins, then the later one.

    Exits 3 if the result is incomplete.
    """
    folder = store_folder(store)
    merged = merge_snapshots(folder, [as_written(folder, name) for name in snapshots], {})
    whole = print_collected(output(), merged)
    next_step("railwright facts")
    raise typer.Exit(exit_status(unknown=not whole))
