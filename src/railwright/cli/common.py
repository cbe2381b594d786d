"""Options that several verbs share."""

from enum import Enum

import typer

STORE = typer.Option(
    None,
    "--store",
    help="Folder of the snapshots. Default: $RAILWRIGHT_STORE or the user's state directory.",
    show_default=False,
)
JSON = typer.Option(False, "--json", help="Print JSON.")
SNAPSHOT = typer.Argument(
    None, help="Snapshot: path, name or start of its date. Default: the latest."
)
# The same in every verb; those that take the snapshot as an argument understand both.
SNAPSHOT_OPTION = typer.Option(
    None,
    "--snapshot",
    "-s",
    help="Snapshot: path, name or start of its date. Default: the latest.",
    show_default=False,
)
SITE = typer.Option(
    None,
    "--site",
    help="Site file: the intended fabric. Default: $RAILWRIGHT_SITE, site.toml in the store or "
    "~/.config/railwright/site.toml.",
    show_default=False,
)
WAIVERS = typer.Option(
    None,
    "--waivers",
    help="Waiver file. Default: $RAILWRIGHT_WAIVERS, waivers.toml in the store or "
    "~/.config/railwright/waivers.toml.",
    show_default=False,
)


class Form(str, Enum):
    """How it is printed."""

    text = "text"
    json = "json"


FORMAT = typer.Option(Form.text, "--format", help="Print text or JSON.")
JSON = typer.Option(False, "--json", help="Print JSON.")
