"""`railwright import`: answers that were made on the hosts themselves."""

from pathlib import Path

import typer

from railwright.cli.common import STORE
from railwright.collect.importing import import_files
from railwright.config import store_folder
from railwright.report.collected import print_collected
from railwright.report.console import next_step, output


def import_(
    files: list[Path] = typer.Argument(..., help="Files of `python3 rw.py > HOST.rw`."),
    store: Path | None = STORE,
) -> None:
    """Make a snapshot of files that a lone runner wrote: HOST.rw is host HOST."""
    snapshot = import_files(files, store_folder(store))
    whole = print_collected(output(), snapshot)
    next_step("railwright facts")
    raise typer.Exit(0 if whole else 3)
