"""`railwright store`: the snapshots that are kept."""

from pathlib import Path
from typing import NamedTuple

import typer

from railwright.cli.common import JSON, SNAPSHOT, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import as_written, one_of, say_demo
from railwright.collect.admission import admit
from railwright.config import own_store, store_folder
from railwright.errors import SnapshotError, UsageError
from railwright.model.finish import finish_cut_off
from railwright.model.remake import is_remade, remade, work_on
from railwright.report.collected import collected, tell_collected
from railwright.report.console import next_step, output, remarks
from railwright.report.json_text import json_text
from railwright.report.screen import about
from railwright.report.status import exit_status
from railwright.report.stored import print_stored, stored_json
from railwright.report.verified import print_verified, verified, verified_json, verified_status
from railwright.store.integrity import forget
from railwright.store.locks import BusyError, holder
from railwright.store.lookup import NO_SNAPSHOT, find
from railwright.store.remove import remove, remove_remains
from railwright.store.snapshot import UNFINISHED, load, snapshots, unfinished, unfinished_links

app = typer.Typer(help="List, verify, upgrade, finish and prune snapshots.", no_args_is_help=True)


@app.command("list")
def list_(as_json: bool = JSON, store: Path | None = STORE) -> None:
    """List snapshots, oldest first, and unfinished collections."""
    folder = store_folder(store)
    say_demo(folder)
    if as_json:
        typer.echo(stored_json(folder, exit_status()))
    else:
        print_stored(output(), folder)
    there = bool(snapshots(folder))
    next_step("railwright check [SNAPSHOT]" if there else "railwright collect -w HOSTS")


@app.command()
def verify(
    names: list[str] = typer.Argument(None, help="Snapshots to verify. Default: all."),
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Compare every file with its digest. Detects damage, not forgery.

    Exits 1 if a file is damaged, 3 if a snapshot has no digests.
    """
    folder = store_folder(store)
    say_demo(folder)
    paths = [find(folder, name).path for name in names] if names else snapshots(folder)
    if not paths:
        raise UsageError(f"no snapshot in {folder}", do=NO_SNAPSHOT)
    found = verified(paths)
    if as_json:
        typer.echo(verified_json(found))
    else:
        print_verified(output(), found)
    raise typer.Exit(verified_status(found))


@app.command()
def upgrade(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Parse the evidence of an older snapshot again. The snapshot itself does not change."""
    found = as_written(store_folder(store), one_of(snapshot, named))
    work = work_on(found)
    if work is not None and not is_remade(found, parsed=True):
        remarks().print(
            f"railwright: parsing {work.answers:,} answers, {work.bytes / 1e6:,.0f} MB: "
            f"about {about(work.seconds)}"
        )
    made = remade(found, work, parsed=True) if work is not None else found
    count = len(made.remade_tables)
    if as_json:
        about_it = {"snapshot": made.name, "path": str(made.path), "tables": str(made.facts)}
        typer.echo(json_text("store upgrade", exit_status(), **about_it, rebuilt=count))
    elif work is None:
        output().print(f"{found.name} has the tables of this version.")
    else:
        output().print(f"{found.name}: {count} tables rebuilt in {made.facts}")
    if work is not None:
        next_step(f"railwright check {found.name}")


@app.command()
def finish(
    name: str = typer.Argument("", help="Unfinished collection. Default: the latest."),
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Make a snapshot from an unfinished collection and show what is missing. Exits 3."""
    folder = own_store(store)
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
    status = exit_status(unknown=True)  # it was cut off
    tell_collected("store finish", collected(snapshot), status, as_json=as_json)
    next_step(f"railwright collect --fill {snapshot.name}")
    raise typer.Exit(status)


@app.command()
def prune(
    keep: int = typer.Option(
        ..., "--keep", metavar="COUNT", min=0, help="Number of newest snapshots to keep."
    ),
    unfinished_too: bool = typer.Option(
        False, "--unfinished", help="Also delete unfinished collections."
    ),
    yes: bool = typer.Option(
        False, "--yes", help="Delete. Without it, only show what would be deleted."
    ),
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Delete the oldest snapshots."""
    folder = own_store(store)
    kept = snapshots(folder)
    doomed = kept[: len(kept) - keep] if keep < len(kept) else []
    doomed += [*unfinished(folder), *unfinished_links(folder)] if unfinished_too else []
    if yes:
        remove_remains(folder)
    outcomes = [_pruned(path, really=yes) for path in doomed]
    if as_json:
        said = [one._asdict() for one in outcomes]
        typer.echo(json_text("store prune", exit_status(), store=str(folder), snapshots=said))
    for one in () if as_json else outcomes:
        output().print(f"{one.outcome} {one.name}{f': {one.reason}' if one.reason else ''}")
    if not doomed and not as_json:
        output().print("nothing to delete")
    elif doomed and not yes:
        next_step("the same with --yes")


class Pruned(NamedTuple):
    """What became of a snapshot that is one too many."""

    name: str
    outcome: str
    reason: str = ""


def _pruned(path: Path, *, really: bool) -> Pruned:
    name = path.name.removesuffix(UNFINISHED)
    running = holder(path) if path.name.endswith(UNFINISHED) else None
    if running is not None:
        return Pruned(name, "not deleted", running.words())
    if not really:
        return Pruned(name, "would delete")
    _forget(path)
    try:
        return Pruned(name, "deleted" if remove(path) else "gone already")
    except BusyError as error:  # somebody has taken it up since we looked
        return Pruned(name, "not deleted", error.what)


def _forget(path: Path) -> None:
    try:
        forget(load(path).run)
    except SnapshotError:  # damaged, or unfinished: then nothing is remembered of it
        pass
