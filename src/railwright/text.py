"""Text from machines, made safe to show."""

import re

# What comes from a machine may hold escape codes; a terminal must never act on them.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]"  # and reordering marks
)


def plain(text: str) -> str:
    """A machine's text without control characters, on one line."""
    return _CONTROL.sub("?", text.replace("\n", " ⏎ ").replace("\r", ""))
