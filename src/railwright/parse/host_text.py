"""What the parsers of host facts share: streams or plain text, whole lines, lists of CPUs."""

import re
from collections.abc import Iterable

_STREAM = re.compile(rb"[FCLES] [0-9]{1,18}(?:\+[0-9]{1,4})? /")
_GAP = re.compile(r"^\s{0,40}\(?\.\.\.\)?\s{0,40}$", re.MULTILINE)
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", re.ASCII)


def is_stream(data: bytes) -> bool:
    """Whether an answer is a stream of files; else it is what a command printed."""
    return _STREAM.match(data) is not None


def without_last_line(text: str) -> str:
    """A text that was cut, up to its last whole line; the filter may have ended the cut one."""
    return text.rstrip("\n").rpartition("\n")[0]


def has_gap(text: str) -> bool:
    """Whether a printed text was cut: a row of dots in it, or no end of its last line."""
    return not text.endswith("\n") or _GAP.search(text) is not None


def whole_lines(text: str) -> list[str]:
    """The lines of a text without a last one that may have been cut: 224 reads as 22."""
    return text.split("\n")[:-1]


def fold(numbers: Iterable[int]) -> str:
    """CPU numbers as the kernel writes them: 0-55,112-167."""
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def cpu_count(text: str) -> int | None:
    """How many CPUs a list such as 0-55,112-167 names; None for anything else."""
    count = 0
    for part in text.split(",") if text else ():
        found = _RANGE.fullmatch(part)
        if found is None:
            return None
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            return None
        count += last - first + 1
    return count
