"""`railwright store`: the snapshots that are kept."""

from pathlib import Path

import typer

from railwright.cli.common import SNAPSHOT, STORE
from railwright.cli.opening import as_written
from railwright.collect.admission import admit
from railwright.config import store_folder
from railwright.errors import SnapshotError, UsageError
from railwright.model.finish import finish_cut_off
from railwright.model.remake import is_remade, remade, work_on
from railwright.report.collected import print_collected
from railwright.report.console import next_step, output, remarks
from railwright.report.screen import about
from railwright.report.stored import print_stored
from railwright.report.verified import print_verified
from railwright.store.integrity import forget
from railwright.store.locks import BusyError, holder
from railwright.store.remove import remove, remove_remains
from railwright.store.snapshot import (
    UNFINISHED,
    find,
    load,
    snapshots,
    unfinished,
    unfinished_links,
)

app = typer.Typer(help="List, verify, upgrade, finish and prune snapshots.", no_args_is_help=True)


@app.command("list")
def list_(store: Path | None = STORE) -> None:
    """The snapshots of the store, oldest first, and collections that were cut off."""
    folder = store_folder(store)
    print_stored(output(), folder)
    next_step("railwright facts [SNAPSHOT]")


@app.command()
def verify(
    names: list[str] = typer.Argument(None, help="Snapshots. Default: all of the store."),
    store: Path | None = STORE,
) -> None:
    """Read every file and compare it with its digest. That shows damage, not forgery."""
    folder = store_folder(store)
    paths = [find(folder, name).path for name in names] if names else snapshots(folder)
    if not paths:
        raise UsageError(f"no snapshot yet in {folder}")
    raise typer.Exit(print_verified(output(), paths))


@app.command()
def upgrade(
    snapshot: str | None = SNAPSHOT,
    store: Path | None = STORE,
) -> None:
    """Parse the evidence of an older version's snapshot again. The snapshot stays as it is."""
    found = as_written(store_folder(store), snapshot)
    work = work_on(found)
    if work is None:
        output().print(f"{found.name} has the tables of this version.")
        return
    if not is_remade(found, parsed=True):
        remarks().print(
            f"railwright: parsing {work.answers:,} answers, {work.bytes / 1e6:,.0f} MB: "
            f"about {about(work.seconds)}"
        )
    made = remade(found, work, parsed=True)
    output().print(f"{found.name}: {len(made.remade_tables)} tables made again, in {made.facts}")
    next_step(f"railwright check {found.name}")


@app.command()
def finish(
    name: str = typer.Argument("", help="An unfinished collection. Default: the latest."),
    store: Path | None = STORE,
) -> None:
    """Keep what had arrived of a collection that was cut off; the snapshot says what it lacks."""
    folder = store_folder(store)
    there = unfinished(folder)
    found = [path for path in there if path.name == f"{name}{UNFINISHED}"]
    found = found or [path for path in there if path.name.startswith(name)]
    idle = [path for path in found if holder(path) is None]
    if not found:
        raise UsageError(
            f"no unfinished collection{' ' + name if name else ''} in {folder}",
            do="railwright store list shows what is there.",
        )
    snapshot = finish_cut_off((idle or found)[-1], admit)
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
    doomed += [*unfinished(folder), *unfinished_links(folder)] if unfinished_too else []
    console = output()
    if yes:
        remove_remains(folder)
    for path in doomed:
        name = path.name.removesuffix(UNFINISHED)
        running = holder(path) if path.name.endswith(UNFINISHED) else None
        if running is not None:
            console.print(f"not deleted {name}: {running.words()}")
        elif yes:
            _forget(path)
            console.print(_removed(path, name))
        else:
            console.print(f"would delete {name}")
    if not doomed:
        console.print("nothing to delete")
    elif not yes:
        next_step("the same with --yes")


def _removed(path: Path, name: str) -> str:
    try:
        return f"{'deleted' if remove(path) else 'gone already'} {name}"
    except BusyError as error:  # somebody has taken it up since we looked
        return f"not deleted {name}: {error.what}"


def _forget(path: Path) -> None:
    try:
        forget(load(path).run)
    except SnapshotError:  # damaged, or unfinished: then nothing is remembered of it
        pass
