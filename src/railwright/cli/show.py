"""`railwright show`: one host on one screen."""

from pathlib import Path

import typer

from railwright.cli.common import SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import opened
from railwright.config import site_file, store_folder
from railwright.intent.site import load_site
from railwright.report.console import next_step, output
from railwright.report.host import print_host
from railwright.report.screen import Screen
from railwright.report.status import exit_status


def show(
    host: str = typer.Argument(..., help="Host or switch, as it was collected."),
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """Show one host: NUMA nodes, PCIe switches, GPUs, NICs, links, and what is unknown.

    Exits 3 if the host was not reached.
    """
    folder = store_folder(store)
    found, wanted = opened(folder, snapshot, named), load_site(site_file(site, folder))
    reached = print_host(Screen(output()), found, host, site=wanted)
    next_step("railwright facts")
    raise typer.Exit(exit_status(unknown=not reached, snapshot=found))
