"""`railwright merge`: shards of a large run as one snapshot."""

from pathlib import Path

import typer

from railwright.cli.common import STORE
from railwright.cli.opening import as_written
from railwright.config import store_folder
from railwright.model.merge import merge as merge_snapshots
from railwright.report.collected import print_collected
from railwright.report.console import next_step, output


def merge(
    snapshots: list[str] = typer.Argument(..., help="Snapshots: paths, names or dates."),
    store: Path | None = STORE,
) -> None:
    """Join snapshots: per host and probe the better answer wins, then the later one."""
    folder = store_folder(store)
    merged = merge_snapshots(folder, [as_written(folder, name) for name in snapshots], {})
    whole = print_collected(output(), merged)
    next_step("railwright facts")
    raise typer.Exit(0 if whole else 3)
