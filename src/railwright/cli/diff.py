"""`railwright diff`: what changed between two snapshots."""

from pathlib import Path

import typer

from railwright.cli.common import JSON, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import PREVIOUS, opened, opened_before
from railwright.config import store_folder
from railwright.errors import UsageError
from railwright.model.compare import difference, names_of
from railwright.node_sets import unfold
from railwright.report.changes import changes_json, diff_status, print_changes
from railwright.report.console import next_step, output
from railwright.report.screen import Screen
from railwright.store.snapshot import Snapshot


def diff(
    before: str | None = typer.Argument(
        None, help="Older snapshot: path, name or start of its date. Default: the previous one."
    ),
    now: str | None = typer.Argument(None, help="Newer snapshot. Default: the latest."),
    named: str | None = SNAPSHOT_OPTION,
    on: str | None = typer.Option(
        None,
        "--on",
        "-w",
        metavar="HOSTS",
        help="Compare only these hosts and switches, e.g. gpu[001-004].",
    ),
    unfolded: bool = typer.Option(
        False, "--all", "-a", help="Show every change below the one it depends on."
    ),
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Show what changed between two snapshots, causes first. Counters and readings are left out.

    Exits 1 if something changed, 3 if something could not be compared.
    """
    folder = store_folder(store)
    new = opened(folder, now, named)
    old = opened_before(folder, before or PREVIOUS, new)
    found = difference(old, new, _chosen(on, old, new))
    status = diff_status(found, new)
    if as_json:
        typer.echo(changes_json(old, new, found, status))
    else:
        print_changes(Screen(output()), old, new, found, unfolded=unfolded)
    if found.has_changes and not unfolded:
        next_step("railwright diff --all --on HOST")
    else:
        next_step("railwright check")
    raise typer.Exit(status)


def _chosen(on: str | None, old: Snapshot, new: Snapshot) -> list[str] | None:
    """The machines that were asked for, all of which must be in one of the two."""
    if on is None:
        return None
    wanted = unfold(on)
    strange = sorted(set(wanted) - names_of(old, new))
    if strange:
        raise UsageError(
            f"no machine {strange[0]!r} in {old.name} or {new.name}",
            do="railwright sql 'SELECT target FROM target' lists them.",
        )
    return wanted
