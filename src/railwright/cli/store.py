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
from railwright.report.status import exit_status
from railwright.report.stored import print_stored
from railwright.report.verified import print_verified
from railwright.store.integrity import forget
from railwright.store.locks import BusyError, holder
from railwright.store.lookup import find
from railwright.store.remove import remove, remove_remains
from railwright.store.snapshot import UNFINISHED, load, snapshots, unfinished, unfinished_links

app = typer.Typer(help="List, verify, upgrade, finish and prune snapshots.", no_args_is_help=True)


@app.command("list")
def list_(store: Path | None = STORE) -> None:
    """List snapshots, oldest first, and unfinished collections."""
    folder = store_folder(store)
    print_stored(output(), folder)
    next_step("railwright facts [SNAPSHOT]")


@app.command()
def verify(
    names: list[str] = typer.Argument(None, help="Snapshots to verify. Default: all."),
    store: Path | None = STORE,
) -> None:
    """Compare every file with its digest. Detects damage, not forgery.

    Exits 1 if a file is damaged, 3 if a snapshot has no digests.
    """
    folder = store_folder(store)
    paths = [find(folder, name).path for name in names] if names else snapshots(folder)
    if not paths:
        raise UsageError(f"no snapshot in {folder}", do="Make one: railwright collect -w HOSTS")
    raise typer.Exit(print_verified(output(), paths))


@app.command()
def upgrade(
    snapshot: str | None = SNAPSHOT,
    store: Path | None = STORE,
) -> None:
    """Parse the evidence of an older snapshot again. The snapshot itself does not change."""
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
    output().print(f"{found.name}: {len(made.remade_tables)} tables rebuilt in {made.facts}")
    next_step(f"railwright check {found.name}")


@app.command()
def finish(
    name: str = typer.Argument("", help="Unfinished collection. Default: the latest."),
    store: Path | None = STORE,
) -> None:
    """Make a snapshot from an unfinished collection and show what is missing. Exits 3."""
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
    raise typer.Exit(exit_status(unknown=True))  # it was cut off


@app.command()
def prune(
    keep: int = typer.Option(..., "--keep", min=0, help="Number of newest snapshots to keep."),
    unfinished_too: bool = typer.Option(
        False, "--unfinished", help="Also delete unfinished collections."
    ),
    yes: bool = typer.Option(
        False, "--yes", help="Delete. Without it, only show what would be deleted."
    ),
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
