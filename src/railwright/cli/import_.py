"""`railwright import`: answers that were made on the hosts themselves."""

from pathlib import Path

import typer

from railwright.cli.common import STORE
from railwright.collect.importing import import_files
from railwright.collect.saved import Saved, import_saved, time_of
from railwright.config import store_folder
from railwright.report.collected import print_collected
from railwright.report.console import next_step, output


def import_(
    files: list[Path] = typer.Argument(..., help="Files of `python3 -I rw.py > HOST.rw`."),
    kind: str | None = typer.Option(
        None,
        "--kind",
        help="The files hold the saved output of this probe's command instead; of a switch: sonic, "
        "cumulus, eos or onyx.",
    ),
    target: str = typer.Option("", "--target", help="With --kind: the machine it came from."),
    instance: str = typer.Option(
        "", "--instance", help="With --kind: the PCI address or network device it is about."
    ),
    at: str | None = typer.Option(
        None, "--at", help="With --kind: when it was saved. Default: the file's own time."
    ),
    store: Path | None = STORE,
) -> None:
    """Make a snapshot of files that a lone runner wrote: HOST.rw is host HOST."""
    folder = store_folder(store)
    if kind is None:
        snapshot = import_files(files, folder)
    else:
        saved = Saved(kind, target, instance, time_of(at) if at else None)
        snapshot = import_saved(files, saved, folder)
    whole = print_collected(output(), snapshot)
    next_step("railwright facts")
    raise typer.Exit(0 if whole else 3)
