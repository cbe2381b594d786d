"""`railwright rails`: which leaf has which rail."""

from pathlib import Path

import typer

from railwright.cli.common import SNAPSHOT, STORE
from railwright.cli.opening import opened
from railwright.config import store_folder
from railwright.fabric.rails import rails as matrix
from railwright.report.console import next_step, output
from railwright.report.rails import print_rails, rails_json
from railwright.report.screen import Screen


def rails(
    snapshot: str | None = SNAPSHOT,
    as_json: bool = typer.Option(False, "--json", help="For programs."),
    store: Path | None = STORE,
) -> None:
    """Rails against leaves: how many hosts each leaf has of each rail, odd ones marked."""
    now = opened(store_folder(store), snapshot)
    with now.database() as database:
        found = matrix(database)
    if as_json:
        typer.echo(rails_json(now.name, found))
        status = 0 if found.rows and not found.unread and not found.alone else 3
    else:
        status = print_rails(Screen(output()), now.name, found)
    next_step("railwright links --odd" if found.odd else "railwright path")
    raise typer.Exit(status)
