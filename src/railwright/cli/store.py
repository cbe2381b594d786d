"""`railwright store`: the snapshots that are kept."""

from pathlib import Path

import typer

from railwright.cli.common import STORE
from railwright.config import store_folder
from railwright.errors import UsageError
from railwright.facts.build import finish as finish_folder
from railwright.facts.snapshot import UNFINISHED, remove, snapshots, unfinished
from railwright.report.collected import print_collected
from railwright.report.console import next_step, output
from railwright.report.stored import print_stored

app = typer.Typer(help="List, finish and prune snapshots.", no_args_is_help=True)


@app.command("list")
def list_(store: Path | None = STORE) -> None:
    """The snapshots of the store, oldest first, and collections that were cut off."""
    folder = store_folder(store)
    print_stored(output(), folder)
    next_step("railwright facts [SNAPSHOT]")


@app.command()
def finish(
    name: str = typer.Argument("", help="An unfinished collection. Default: the latest."),
    store: Path | None = STORE,
) -> None:
    """Keep what had arrived of a collection that was cut off; the snapshot says what it lacks."""
    folder = store_folder(store)
    found = [path for path in unfinished(folder) if path.name.startswith(name)]
    if not found:
        raise UsageError(
            f"no unfinished collection{' ' + name if name else ''} in {folder}",
            do="railwright store list shows what is there.",
        )
    snapshot = finish_folder(found[-1], {"cut_off": True})
    print_collected(output(), snapshot)
    next_step(f"railwright collect --fill {snapshot.name}")
    raise typer.Exit(3)


@app.command()
def prune(
    keep: int = typer.Option(..., "--keep", min=0, help="How many of the newest to keep."),
    unfinished_too: bool = typer.Option(False, "--unfinished", help="Also what was cut off."),
    yes: bool = typer.Option(False, "--yes", help="Delete; without it only show what would go."),
    store: Path | None = STORE,
) -> None:
    """Delete the oldest snapshots."""
    folder = store_folder(store)
    kept = snapshots(folder)
    doomed = kept[: len(kept) - keep] if keep < len(kept) else []
    doomed += unfinished(folder) if unfinished_too else []
    console = output()
    for path in doomed:
        if yes:
            remove(path)
        console.print(
            f"{'deleted' if yes else 'would delete'} {path.name.removesuffix(UNFINISHED)}"
        )
    if not doomed:
        console.print("nothing to delete")
    elif not yes:
        next_step("the same with --yes")
