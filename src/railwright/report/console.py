"""Where things are printed: data to standard output, progress and remarks to standard error."""

import re

from rich.console import Console

# What comes from a machine may hold escape codes; a terminal must never act on them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def output() -> Console:
    """Standard output. Colour only on a terminal; in a pipe lines are never cut or wrapped."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=10_000)
    return console


def remarks() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def plain(text: str) -> str:
    """A machine's text without control characters, on one line."""
    return _CONTROL.sub("?", text.replace("\n", " ⏎ ").replace("\r", ""))


def next_step(command: str) -> None:
    """The last line of each verb: the next command. For people only, never in a pipe."""
    console = remarks()
    if console.is_terminal:
        console.print(f"Next: {command}", style="dim")
    else:
        console.print(f"Next: {command}")
