"""Text from machines, made safe to show."""

import re

# What comes from a machine may hold escape codes, which a terminal would act on, and signs that
# reorder a line or cannot be seen: control characters, all of Unicode's category Cf (format), line
# and paragraph separators, halves of pairs, variation selectors and blank fillers.
_UNSEEN = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = re.compile(f"[{_UNSEEN}]")
_CONTROL_IN_LINES = re.compile(f"(?!\n)[{_UNSEEN}]")


def plain(text: str) -> str:
    """A machine's text on one line, without what a terminal acts on or nobody sees."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\n", " ⏎ ").replace("\r", "").replace("\t", " ")
    return _CONTROL.sub("?", text)


def harmless(text: str) -> str:
    """The same sign by sign, its lines kept: what any console lets through."""
    return text if text.isascii() and text.isprintable() else _CONTROL_IN_LINES.sub("?", text)
