"""`railwright facts`: what a snapshot holds, folded."""

from pathlib import Path

import typer

from railwright.cli.common import SITE, SNAPSHOT, STORE
from railwright.cli.opening import opened
from railwright.config import site_file, store_folder
from railwright.intent.site import load_site
from railwright.report.console import next_step, output
from railwright.report.overview import print_overview
from railwright.report.screen import Screen
from railwright.report.status import exit_status


def facts(
    snapshot: str | None = SNAPSHOT, site: Path | None = SITE, store: Path | None = STORE
) -> None:
    """Summarize what a snapshot holds, what is unknown and why.

    Exits 3 if not everything could be read.
    """
    folder = store_folder(store)
    found, wanted = opened(folder, snapshot), load_site(site_file(site, folder))
    whole = print_overview(Screen(output()), found, site=wanted)
    next_step("railwright show HOST")
    raise typer.Exit(exit_status(unknown=not whole, snapshot=found))
