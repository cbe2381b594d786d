"""Options that several verbs share."""

from pathlib import Path

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

StorePath = Path | None
