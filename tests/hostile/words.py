"""Texts that mean harm, and names that a host may give."""

import os
import re

from tests.hostile.far_end import SENTINEL

MIB = 1 << 20
PWNED = os.environ.get(SENTINEL, "/nonexistent")

CODES = "\x1b]0;pwned\x07\x1b[31mRED\x1b[0m\x1b[2J\x9b31m\x85\x7f\r\t\b"
# Reordering, zero-width, joiners, fillers, tags, variation selectors, the soft hyphen.
HIDDEN = (
    "\u202eRTL\u2066\u200e\u061c\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u2028\u2029\ufff9"
    "\U000e0041\U0001d173\u034f\ufe0f\U000e0100"
)
MARKUP = "[bold red]markup[/bold red][link=http://evil]x[/link]:smile:<script>alert(1)</script>"
QUOTES = "'; DROP TABLE host; --|pipe|\"]]>&amp;,=cmd|' /C calc'!A0\\"
SHELL = (
    f"@x' /dev/null;touch {PWNED};touch pwned;echo leaf001 #",
    f"$(touch {PWNED})`touch pwned`",
    f"-oProxyCommand=touch {PWNED}",
    "leaf[1-999999999]",
    "leaf*,leaf001!leaf002&zzz^@all",
    "../../../../tmp/pwned",
)
NASTY = f"{CODES}{HIDDEN}{MARKUP}{QUOTES}\n{SHELL[0]}{SHELL[1]}"


def card(number: int) -> str:
    """A PCI address: a probe that runs once per card may answer about it."""
    return f"{number:04x}:18:00.0"


def interface(text: str) -> str:
    """What of a text can be the name of a network device: no blank, no slash, and short."""
    return re.sub(r"[/\s]", "", text)[:32]


# What the allow-lists keep on the host: neither the words nor any part of them may be kept here.
SECRET = "hunter2-0b5e7d"
