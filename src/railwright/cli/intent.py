"""`railwright intent`: what the fabric is meant to be."""

from pathlib import Path

import typer

from railwright.cli.common import SNAPSHOT, STORE
from railwright.cli.opening import opened
from railwright.config import store_folder
from railwright.intent.propose import proposal
from railwright.intent.site import profiles, read_site
from railwright.report.console import next_step, output
from railwright.report.screen import Screen, wrapped

app = typer.Typer(
    help="Describe the intended fabric: profiles and the site file.", no_args_is_help=True
)


@app.command("init")
def init(snapshot: str | None = SNAPSHOT, store: Path | None = STORE) -> None:
    """Print a site file that matches most hosts of a snapshot."""
    found = opened(store_folder(store), snapshot)
    with found.database() as database:
        text = proposal(database, found.name)
    read_site(text, "the proposal")  # what we propose we must take
    output().print(text, end="", soft_wrap=True)
    next_step("railwright intent init > ~/.config/railwright/site.toml, then railwright check")


@app.command("profiles")
def list_profiles() -> None:
    """List the profiles."""
    screen = Screen(output())
    for name, data in profiles().items():
        screen.heading(name)
        for line in wrapped(screen, str(data["meaning"]), 2):
            screen.line(line)
    next_step("railwright intent init")
