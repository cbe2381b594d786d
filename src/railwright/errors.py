"""The exceptions of the tool itself.

    RailwrightError            exit 2
    ├── UsageError             the command line or a file written by hand is wrong
    ├── ProbeError             a probe definition was refused when it was loaded
    ├── RuleError              a rule, its cases or a rule pack was refused
    ├── SnapshotError          a snapshot is missing, damaged or of another format
    ├── NotReadError           exit 3: the question is right, and the machine did not answer
    └── ToolMissingError       a program of this machine that was asked for is not there

A machine that fails is a row, never an exception. Each error says what happened, why it matters
and what to do, because the reader is in a hurry and is not the author of this program.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class RailwrightError(Exception):
    """A fault of the tool or of its use; never of a machine it looked at."""

    exit_code = 2

    def __init__(self, what: str, *, why: str = "", do: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.do = do

    def lines(self) -> list[str]:
        """The error as a person reads it: what, why it matters, what to do."""
        return [text for text in (self.what, self.why, self.do) if text]


_FEW = 12  # names that are listed although a near one is known


def nearest(name: str, known: Iterable[str], else_do: str = "") -> str:
    """What was probably meant by a name; without a near one all there are, or where they stand."""
    names = list(known)
    folded = {one.casefold(): one for one in names}
    near = [folded[one] for one in get_close_matches(name.casefold(), folded, 3, 0.6)]
    listed = else_do or f"Choose one of {', '.join(names)}."
    if near and not else_do and len(names) > _FEW:
        listed = ""
    return " ".join(filter(None, [f"Did you mean {' or '.join(near)}?" if near else "", listed]))


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    """Why a file cannot be read, without its name, which the reader has just been told."""
    return (
        "it is not text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
    )


class UsageError(RailwrightError):
    """The command line, or a file written by hand, is wrong."""


class ProbeError(RailwrightError):
    """A probe definition was refused when it was loaded."""


class RuleError(RailwrightError):
    """A rule, its cases or a rule pack was refused when it was loaded."""


class SnapshotError(RailwrightError):
    """A snapshot is missing, damaged, unfinished or of another format."""


class NotReadError(RailwrightError):
    """What was asked for is a machine that did not answer: nobody knows, which is no wrong use."""

    exit_code = 3


class ToolMissingError(RailwrightError):
    """A program of this machine that was asked for is not installed."""
