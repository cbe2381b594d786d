"""`railwright facts`: what a snapshot holds, folded."""

from pathlib import Path

import typer

from railwright.cli.common import JSON, SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import intended, opened
from railwright.config import store_folder
from railwright.report.console import next_step, output
from railwright.report.overview import print_overview
from railwright.report.overview_json import overview_json
from railwright.report.screen import Screen
from railwright.report.status import exit_status


def facts(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    as_json: bool = JSON,
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """Summarize what a snapshot holds, what is unknown and why.

    Exits 3 if not everything could be read.
    """
    folder = store_folder(store)
    found, wanted = opened(folder, snapshot, named), intended(site, folder)
    if as_json:
        text, status = overview_json(found, wanted)
        typer.echo(text)
    else:
        whole = print_overview(Screen(output()), found, site=wanted)
        status = exit_status(unknown=not whole, snapshot=found)
    next_step("railwright show HOST")
    raise typer.Exit(status)
