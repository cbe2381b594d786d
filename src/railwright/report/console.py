"""Where things are printed: data to standard output, progress and remarks to standard error."""

import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from railwright.text import harmless, plain

__all__ = ["next_step", "output", "plain", "remarks"]


CUT_OFF = 141  # 128 + SIGPIPE: nobody read to the end, so there is no verdict


class _Console(Console):
    """The only door to the terminal: nothing passes that it would act on."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*map(_harmless, objects), **options)

    def on_broken_pipe(self) -> None:
        """`railwright facts | head`: the reader has left, and nobody is there to be told."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(CUT_OFF)


def _harmless(printed: Any) -> Any:
    if isinstance(printed, str):
        return harmless(printed)
    if isinstance(printed, Text):
        printed.plain = harmless(printed.plain)  # sign by sign: the styles stay where they are
    return printed


def output() -> Console:
    """Standard output. Colour only on a terminal; in a pipe lines are never cut or wrapped."""
    console = _Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = _Console(highlight=False, markup=False, emoji=False, width=10_000)
    return console


def remarks() -> Console:
    """Standard error."""
    return _Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def next_step(command: str) -> None:
    """The last line of each verb: the next command, in one line, on standard error."""
    console, command = remarks(), plain(command)
    if console.is_terminal:
        console.print(f"Next: {command}", style="dim")
    else:
        console.print(f"Next: {command}")
