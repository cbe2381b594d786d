"""Text from machines, made safe to show."""

import re

# What comes from a machine may hold escape codes; a terminal must never act on them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """A machine's text without control characters, on one line."""
    return _CONTROL.sub("?", text.replace("\n", " ⏎ ").replace("\r", ""))
