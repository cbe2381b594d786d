"""`railwright runner`: the program that is sent to hosts, as a file."""

import sys

import typer

from railwright.collect.probe import select
from railwright.collect.request import lone_runner


def runner(
    probe: list[str] = typer.Option([], help="Include only this probe. Repeatable."),
) -> None:
    """Print the runner, to read it or to run it on a host (python3 -I rw.py > HOST.rw)."""
    sys.stdout.write(lone_runner(select(probe)))
