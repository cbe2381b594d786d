"""`railwright diff`: what changed between two snapshots."""

from pathlib import Path

import typer

from railwright.cli.common import SNAPSHOT_OPTION, STORE
from railwright.cli.opening import PREVIOUS, opened, opened_before
from railwright.config import store_folder
from railwright.report.changes import print_changes
from railwright.report.console import next_step, output
from railwright.report.screen import Screen
from railwright.report.status import exit_status


def diff(
    before: str | None = typer.Argument(
        None, help="Older snapshot: path, name or start of its date. Default: the previous one."
    ),
    now: str | None = typer.Argument(None, help="Newer snapshot. Default: the latest."),
    named: str | None = SNAPSHOT_OPTION,
    store: Path | None = STORE,
) -> None:
    """Show what changed between two snapshots. Counters and readings are left out.

    Exits 1 if something changed, 3 if something could not be compared.
    """
    folder = store_folder(store)
    new = opened(folder, now, named)
    old = opened_before(folder, before or PREVIOUS, new)
    changed, incomplete = print_changes(Screen(output()), old, new)
    next_step(f"railwright sql --snapshot {new.name} 'SELECT …'")
    raise typer.Exit(exit_status(found=changed, unknown=incomplete, snapshot=new))
