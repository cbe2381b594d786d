"""`railwright diff`: what changed between two snapshots."""

from pathlib import Path

import typer

from railwright.cli.common import STORE
from railwright.cli.opening import opened
from railwright.config import store_folder
from railwright.report.changes import print_changes
from railwright.report.console import next_step, output
from railwright.report.screen import Screen


def diff(
    before: str = typer.Argument(
        ..., help="The older snapshot: path, name, beginning of its date."
    ),
    now: str | None = typer.Argument(None, help="The newer one. Default: the latest."),
    store: Path | None = STORE,
) -> None:
    """What changed, folded. Counters and readings that change by themselves are left out."""
    folder = store_folder(store)
    old, new = opened(folder, before), opened(folder, now)
    changed, incomplete = print_changes(Screen(output()), old, new)
    next_step(f"railwright sql --snapshot {new.name} 'SELECT …'")
    raise typer.Exit(1 if changed else 3 if incomplete else 0)
