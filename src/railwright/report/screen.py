"""Lines of text on any output: a wide terminal, 80 columns, a pipe, one that knows only ASCII."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from railwright.nodes import fold
from railwright.report.collected import short
from railwright.store.snapshot import Snapshot
from railwright.text import plain

BOXES = ("│  ", "├─ ", "└─ ", "   ")
ASCII_BOXES = ("|  ", "|- ", "`- ", "   ")
# What our own words use beyond ASCII; a machine's text that cannot be printed becomes "?".
_ASCII = str.maketrans({"…": "...", "⏎": "/"})

UNBROKEN = "\xa0"  # a blank at which `wrapped` does not break
A_FEW = 200
# Even so, folding 100,000 hosts takes half a second: for more than this many of nearly all hosts a
# terminal, which would cut the list anyway, says which ones are missing.
MANY_HOSTS = 5_000
PROSE_WIDTH = 100  # columns; longer lines are hard to read
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

    def _printable(self, text: str) -> str:
        text = plain(text)
        if not self.ascii:
            return text
        return text.translate(_ASCII).encode(self._encoding, "replace").decode(self._encoding)

    def line(self, text: str = "", style: str = "") -> None:
        """One line, never cut or wrapped by us: what does not fit is the caller's to cut."""
        self._console.print(Text(self._printable(text.rstrip()), style), soft_wrap=True)

    def styled(self, line: Text) -> None:
        """One line whose parts have styles of their own."""
        self._console.print(line, soft_wrap=True)

    def heading(self, text: str, rest: str = "") -> None:
        """A section's first line."""
        line = Text(self._printable(text), "bold")
        line.append(self._printable(rest), "not bold")
        self._console.print(line, soft_wrap=True)


def about(seconds: float) -> str:
    """How long something takes, for somebody who decides whether to wait."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(seconds, 1):.0f} s"


def age(seconds: float) -> str:
    """`5 minutes`; the largest unit of which there are two."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}s"
    return number_of(round(max(seconds, 0)), "second")


def how_old(snapshot: Snapshot, now: float) -> str:
    """`, 5 minutes old`, for a head line; '' where it is not known. The demo has no age."""
    started = snapshot.run.get("started")
    if snapshot.is_demo:
        return ", demo data"
    return f", {age(now - started)} old" if isinstance(started, (int, float)) else ""


def moment(at: float) -> str:
    """2026-11-14 22:15 UTC."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))


def number_of(count: int, noun: str, plural: str = "") -> str:
    """`1 host`, `2 hosts`, `2 switches`."""
    many = plural or (f"{noun}es" if noun.endswith("ch") else f"{noun}s")
    return f"{count:,} {noun if count == 1 else many}"


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


def in_phrases(text: str) -> str:
    """Text that `wrapped` breaks at commas only."""
    return text.replace(" ", UNBROKEN).replace(f",{UNBROKEN}", ", ")


def wrapped(screen: Screen, text: str, indent: int) -> list[str]:
    """Text of which nothing may be cut, behind an indent: as many lines as it takes.

    It is not broken at hyphens: names and commands have some, and are copied.
    """
    room = max(screen.width, indent + 20) if screen.is_terminal else indent + len(text) + 1
    before, behind = " " * indent, " " * (indent + 2)
    lines = wrap(
        text, room, initial_indent=before, subsequent_indent=behind, break_on_hyphens=False
    )
    return [line.replace(UNBROKEN, " ") for line in lines]


_ITEM = re.compile(r"(?:\d+\.|-) ")


def reflowed(screen: Screen, text: str, indent: int) -> Iterator[str]:
    """Prose that was broken for an editor, broken for this screen; items keep their lines."""
    for paragraph in text.split("\n\n"):
        items: list[str] = []
        for line in paragraph.splitlines():
            if not items or _ITEM.match(line):
                items.append(line)
            else:
                items[-1] += f" {line.strip()}"
        for item in items:
            mark = _ITEM.match(item)
            room = min(max(screen.width, indent + 20), PROSE_WIDTH)
            before, behind = " " * indent, " " * (indent + len(mark[0] if mark else ""))
            # A command or an address stays in one piece.
            yield from wrap(
                item, room, initial_indent=before, subsequent_indent=behind,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip


@lru_cache(maxsize=64)
def folded(names: tuple[str, ...]) -> str:
    """Folded, once per set: at many hosts most groups are the same hosts."""
    return fold(names)


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
    screen: Screen, line: str, names: Sequence[str], everyone: list[str], indent: int
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
