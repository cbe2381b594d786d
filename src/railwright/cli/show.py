"""`railwright show`: one host on one screen."""

from pathlib import Path

import typer

from railwright.cli.common import SNAPSHOT, STORE
from railwright.cli.opening import opened
from railwright.config import store_folder
from railwright.report.console import next_step, output
from railwright.report.host import print_host
from railwright.report.screen import Screen


def show(
    host: str = typer.Argument(..., help="The host or switch, as it was named when it was read."),
    snapshot: str | None = SNAPSHOT,
    store: Path | None = STORE,
) -> None:
    """One host: NUMA nodes, PCIe switches, GPUs, NICs, links, neighbours, and what is unknown."""
    reached = print_host(Screen(output()), opened(store_folder(store), snapshot), host)
    next_step("railwright facts")
    raise typer.Exit(0 if reached else 3)
