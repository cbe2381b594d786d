"""Lines of text on any output: a wide terminal, 80 columns, a pipe, one that knows only ASCII."""

import re
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rich.console import Console
from rich.text import Text

from railwright.nodes import fold
from railwright.report.collected import short

BOXES = ("│  ", "├─ ", "└─ ", "   ")
ASCII_BOXES = ("|  ", "|- ", "`- ", "   ")
# What our own words use beyond ASCII; a machine's text that cannot be printed becomes "?".
_ASCII = str.maketrans({"…": "...", "⏎": "/"})

A_FEW = 200
# Even so, folding 100,000 hosts takes half a second: for more than this many of nearly all hosts a
# terminal, which would cut the list anyway, says which ones are missing.
MANY_HOSTS = 5_000
ENOUGH_ROOM = 24  # columns for hosts; in fewer a cut list says too little


class Screen:
    """An output and what it can do."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.is_terminal = console.is_terminal
        self.width = console.width
        self._encoding = console.encoding or "utf-8"
        self.ascii = not self._encoding.lower().replace("-", "").startswith("utf")
        self.boxes = ASCII_BOXES if self.ascii else BOXES

    def line(self, text: str = "", style: str = "") -> None:
        """One line, never cut or wrapped by us: what does not fit is the caller's to cut."""
        text = text.rstrip()
        if self.ascii:
            text = text.translate(_ASCII).encode(self._encoding, "replace").decode(self._encoding)
        self._console.print(Text(text, style), soft_wrap=True)

    def heading(self, text: str, rest: str = "") -> None:
        """A section's first line."""
        line = Text(text, "bold")
        line.append(rest, "not bold")
        self._console.print(line, soft_wrap=True)


def age(seconds: float) -> str:
    """`5 minutes`; the largest unit of which there are two."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}s"
    return f"{max(seconds, 0):.0f} seconds"


def moment(at: float) -> str:
    """2026-11-14 22:15 UTC."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))


def number_of(count: int, noun: str, plural: str = "") -> str:
    """`1 host`, `2 hosts`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def cut(screen: Screen, text: str, indent: int = 0) -> str:
    """What fits on a line of a terminal behind an indent; in a pipe everything."""
    return short(text, max(screen.width - indent, 8)) if screen.is_terminal else text


def widths(rows: Iterable[Sequence[str]]) -> list[int]:
    """The width of each column."""
    found: list[int] = []
    for row in rows:
        found += [0] * (len(row) - len(found))
        for place, cell in enumerate(row):
            found[place] = max(found[place], len(cell))
    return found


def padded(row: Sequence[str], columns: Sequence[int], right: int = 0) -> str:
    """The cells of a row, each as wide as its column; the first `right` ones to the right."""
    cells = (
        cell.rjust(width) if place < right else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(row, columns, strict=False))
    )
    return "  ".join(cells)


_NUMBERED = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


def _runs(names: Iterable[str]) -> list[str]:
    """Numbers in a row as one range: ClusterShell folds ranges five times as fast as names."""
    places: dict[tuple[str, str, int], list[int]] = {}
    found = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            found.append(name)
        else:
            before, digits, after = match.groups()
            places.setdefault((before, after, len(digits)), []).append(int(digits))
    for (before, after, width), numbers in places.items():
        numbers.sort()
        breaks = [
            place for place in range(1, len(numbers)) if numbers[place] - numbers[place - 1] > 1
        ]
        for first, last in zip([0, *breaks], [*breaks, len(numbers)], strict=True):
            low, high = f"{numbers[first]:0{width}d}", f"{numbers[last - 1]:0{width}d}"
            found.append(f"{before}{low if low == high else f'[{low}-{high}]'}{after}")
    return found


@lru_cache(maxsize=64)
def folded(names: tuple[str, ...]) -> str:
    """Folded, once per set: at many hosts most groups are the same hosts."""
    return fold(_runs(names) if len(names) > A_FEW else names)


def _hosts_that_fit(names: tuple[str, ...], everyone: list[str], room: int) -> str:
    """The folded list, or which hosts are missing of all where that is shorter; perhaps too long.

    "All but" is said of all targets of the snapshot: a host of which nothing is known is missing.
    """
    others = set(everyone).difference(names) if len(names) * 2 > len(everyone) else set()
    missing = f"all but {folded(tuple(sorted(others)))}" if others else ""
    if missing and len(names) > MANY_HOSTS:
        return missing
    whole = folded(names)
    return missing if len(whole) > room and 0 < len(missing) < len(whole) else whole


def with_hosts(
    screen: Screen, line: str, names: list[str], everyone: list[str], indent: int
) -> list[str]:
    """A line with its hosts: whole in a pipe; on a terminal cut, or on a line of their own."""
    ordered = tuple(sorted(names))
    if not screen.is_terminal:
        return [f"{line}  {folded(ordered)}"]
    room = screen.width - len(line) - 2
    hosts = _hosts_that_fit(ordered, everyone, room)
    if len(hosts) <= room or room >= ENOUGH_ROOM:
        return [f"{line}  {short(hosts, room)}"]
    return [line, " " * indent + short(hosts, screen.width - indent)]
