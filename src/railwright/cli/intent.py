"""`railwright intent`: what the fabric is meant to be."""

import shlex
from pathlib import Path

import typer

from railwright.cli.common import JSON, SNAPSHOT, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import opened
from railwright.config import site_file, store_folder
from railwright.intent.propose import proposal
from railwright.intent.site import profiles, read_site
from railwright.report.console import next_step, output
from railwright.report.json_text import json_text
from railwright.report.screen import Screen, wrapped
from railwright.report.status import exit_status
from railwright.toml import load_toml

app = typer.Typer(
    help="Describe the intended fabric: profiles and the site file.", no_args_is_help=True
)


@app.command("init")
def init(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Print a site file that matches most hosts of a snapshot."""
    folder = store_folder(store)
    found = opened(folder, snapshot, named)
    with found.database() as database:
        text = proposal(database, found.name)
    read_site(text, "the proposal")  # what we propose we must take
    if as_json:
        site = load_toml(text, "the proposal")
        typer.echo(json_text("intent init", exit_status(), snapshot=found.name, site=site))
    else:
        if found.is_demo:
            output().print("# Demo data: this is not your fabric.")
        output().print(text, end="", soft_wrap=True)
    if found.is_demo:
        next_step("railwright collect -w HOSTS, then railwright intent init")
    elif site_file(None, folder) is not None:
        next_step("railwright check")
    else:
        words = ["railwright", "intent", "init", *filter(None, [snapshot or named])]
        # The store is there; ~/.config/railwright need not be.
        where = shlex.quote(str(folder / "site.toml"))
        next_step(f"{shlex.join(words)} > {where}, then railwright check")


@app.command("profiles")
def list_profiles(as_json: bool = JSON) -> None:
    """List the profiles."""
    screen = Screen(output())
    if as_json:
        found = [{"profile": name, "mode": None, **data} for name, data in profiles().items()]
        typer.echo(json_text("intent profiles", exit_status(), profiles=found))
    for name, data in () if as_json else profiles().items():
        screen.heading(name)
        for line in wrapped(screen, str(data["meaning"]), 2):
            screen.line(line)
    next_step("railwright intent init")
