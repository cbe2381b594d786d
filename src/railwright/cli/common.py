"""Options that several verbs share."""

from enum import Enum

import typer

STORE = typer.Option(
    None,
    "--store",
    help="Where snapshots are kept. Default: $RAILWRIGHT_STORE or the user's state directory.",
    show_default=False,
)
SNAPSHOT = typer.Argument(
    None, help="A snapshot: its path, its name, the beginning of its date. Default: the latest."
)
SITE = typer.Option(
    None,
    "--site",
    help="What this fabric is meant to be. Default: $RAILWRIGHT_SITE, site.toml in the store or "
    "~/.config/railwright/site.toml.",
    show_default=False,
)
WAIVERS = typer.Option(
    None,
    "--waivers",
    help="What was decided about findings. Default: $RAILWRIGHT_WAIVERS, waivers.toml in the store "
    "or ~/.config/railwright/waivers.toml.",
    show_default=False,
)


class Form(str, Enum):
    """How it is printed."""

    text = "text"
    json = "json"


FORMAT = typer.Option(Form.text, "--format", help="text for people, json for programs.")
