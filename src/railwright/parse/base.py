"""What every parser gives and what every parser may lean on."""

import re
from typing import NamedTuple

Value = str | int | float | bool | None

# Colour codes reach us from tools that think they have a terminal (sudo's use_pty gives one).
_ODD = re.compile("[\r\x00\x1b]")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class Row(NamedTuple):
    """One row of a fact table. None means *not read*; "there is none" is a value of its own."""

    table: str
    values: dict[str, Value]


class NotUnderstoodError(Exception):
    """The answer holds something, but not what this parser knows. Says why, in a few words."""


def text_of(data: bytes) -> str:
    """The answer as text: any bytes survive, CR and colour codes do not.

    NUL becomes the replacement character: no tool prints one, and the store cannot hold it.
    """
    text = data.decode("utf-8", errors="replace")
    if not _ODD.search(text):  # nearly every file in sysfs
        return text
    text = text.replace("\r\n", "\n").replace("\r", "").replace("\x00", "\ufffd")
    return _ANSI.sub("", text)
