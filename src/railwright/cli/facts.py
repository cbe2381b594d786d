"""`railwright facts`: what a snapshot holds, folded."""

from pathlib import Path

import typer

from railwright.cli.common import SNAPSHOT, STORE
from railwright.cli.opening import opened
from railwright.config import store_folder
from railwright.report.console import next_step, output
from railwright.report.overview import print_overview
from railwright.report.screen import Screen


def facts(snapshot: str | None = SNAPSHOT, store: Path | None = STORE) -> None:
    """What is known about the hosts, in groups, and what is not known and why."""
    whole = print_overview(Screen(output()), opened(store_folder(store), snapshot))
    next_step("railwright show HOST")
    raise typer.Exit(0 if whole else 3)
