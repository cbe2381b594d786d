"""A picture of a terminal: the real output of a command, drawn by Rich as SVG.

Rich's own format loads a font from a network. Here the reader's own fonts are used: the width of
every piece of text is given, so columns stay where they are.
"""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS, ROWS = 120, 100
LEFT_OUT = "…"
FORMAT = """\
<svg class="railwright-terminal" viewBox="0 0 {width} {height}" role="img" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
  font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def printed(words: list[str], environment: dict[str, str]) -> str:
    """What a command prints to a terminal of that size, colors and all; remarks aside."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, close_fds=True,
        env={**environment, "TERM": "xterm-256color"},
    ):  # fmt: skip
        os.close(theirs)
        parts = []
        with contextlib.suppress(OSError):  # the other side has closed it
            while part := os.read(ours, 65536):
                parts.append(part)
        os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


def bare(text: str) -> str:
    """Without its colors."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def beginning(text: str, until: str) -> str:
    """Up to a line that begins so, which is left out with all that follows."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if bare(line).startswith(until))
    return "\n".join(lines[:at]).rstrip() + f"\n{LEFT_OUT}\n"


def picture(command: str, output: str) -> str:
    """The SVG, the same for the same text."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(
            record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor",
            highlight=False, markup=False, emoji=False, legacy_windows=False,
        )  # fmt: skip
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(output), soft_wrap=True)
        drawn = console.export_svg(title="", code_format=FORMAT, unique_id="railwright")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"
