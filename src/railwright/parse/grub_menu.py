"""The menu of a grub.cfg, cut down on the host: entries, submenus, and which is the default.

GRUB counts entries from 0, and those of a submenu from 0 again; `1>0` is the first of the second's.
What it was told to start may be such a number, a title or an id (GRUB manual, `default`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_ENTRY = re.compile(
    r"(menuentry|submenu) (?:'([A-Za-z0-9 ,.()_/+:>-]{1,160})'|-)"
    r" (?:'([A-Za-z0-9 ,.()_/+:-]{1,200})'|-) \{"
)
_DEFAULT = re.compile(r"set default (?:\"([^\"]{0,200})\"|'([^']{0,200})'|(\S{1,200}))")
_VARIABLE = re.compile(r"\$\{?([a-z_]{1,40})\}?")
NEXT, SAVED = "next_entry", "saved_entry"


@dataclass
class Entry:
    """An entry, or a submenu with its own."""

    title: str | None = None
    id: str | None = None
    is_submenu: bool = False
    kernel: str = ""  # path of the image
    words: str | None = None  # arguments; None = it starts no kernel
    was_read: bool = True
    entries: list["Entry"] = field(default_factory=list)


@dataclass
class Menu:
    """What one grub.cfg says."""

    entries: list[Entry] = field(default_factory=list)
    is_whole: bool = True  # False: an entry was not understood, or the file was cut
    reads_others: bool = False  # has blscfg
    defaults: list[str | None] = field(default_factory=list)  # None = not one that may leave
    variables: dict[str, str] = field(default_factory=dict)

    def is_a_menu(self) -> bool:
        """Whether it has entries of its own or reads some; a stub only loads another file."""
        return bool(self.entries) or self.reads_others


class _Reader:
    """Walks the lines; an entry ends with the brace that closes it."""

    def __init__(self, others: list[Entry]) -> None:
        self.menu = Menu()
        self._others = others
        self._open: list[Entry | None] = []  # None = a block that is no entry

    def take(self, line: str) -> None:
        """One line."""
        word, _, rest = line.partition(" ")
        inner = next((entry for entry in reversed(self._open) if entry is not None), None)
        if word in ("menuentry", "submenu"):
            self._enter(line, inner)
        elif line == "{":
            self._open.append(None)
        elif line == "}":
            if not self._open:
                self.menu.is_whole = False
            else:
                self._open.pop()
        elif word == "linux" and inner is not None and not inner.is_submenu:
            inner.kernel, _, inner.words = rest.partition(" ")
        elif line == "blscfg":
            self.menu.is_whole &= not self.menu.reads_others and inner is None
            self.menu.reads_others = True
            self._siblings(inner).extend(self._others)
        elif word == "set":
            self._default(line)
        elif word in ("kernelopts", "tuned_params", "default_kernelopts"):
            self.menu.variables[word] = rest

    def end(self) -> Menu:
        """What was read; braces that are still open belong to a file that is not whole."""
        self.menu.is_whole &= not self._open
        return self.menu

    def _siblings(self, inner: Entry | None) -> list[Entry]:
        return self.menu.entries if inner is None else inner.entries

    def _enter(self, line: str, inner: Entry | None) -> None:
        found = _ENTRY.fullmatch(line)
        if found is None or (inner is not None and not inner.is_submenu):
            self.menu.is_whole = False
        if found is not None:
            entry = Entry(found[2], found[3], found[1] == "submenu")
            self._siblings(inner).append(entry)
            self._open.append(entry)

    def _default(self, line: str) -> None:
        found = _DEFAULT.fullmatch(line)
        value = None if found is None else next((g for g in found.groups() if g is not None), "")
        self.menu.defaults.append(value)


def read_menu(lines: list[str], others: list[Entry]) -> Menu:
    """The menu; `others` are what its command blscfg reads."""
    reader = _Reader(others)
    for line in lines:
        reader.take(line)
    return reader.end()


def walk(entries: list[Entry], above: str = "") -> Iterator[tuple[str, Entry]]:
    """Every entry that can be started, with its number."""
    for number, entry in enumerate(entries):
        place = f"{above}{number}"
        if entry.is_submenu:
            yield from walk(entry.entries, f"{place}>")
        else:
            yield place, entry


def _wanted(menu: Menu, environment: dict[str, str] | None) -> str | None:
    """What GRUB was told to start next; None where that is not known."""
    said: set[str | None] = set()
    for default in menu.defaults:
        variable = _VARIABLE.fullmatch(default or "")
        if variable is None:
            said.add(default)
        elif environment is None or variable[1] not in (NEXT, SAVED):
            return None
        elif variable[1] == SAVED:
            said.add(environment.get(SAVED, ""))
        elif environment.get(NEXT, ""):
            return environment[NEXT]  # for one boot, whatever else is set
    if not menu.defaults:
        return ""  # then it is the first
    return said.pop() if len(said) == 1 else None


def _find(entries: list[Entry], part: str) -> int | None:
    """Number of the entry that is meant; None where none is, or where more than one may be."""
    if re.fullmatch(r"[0-9]{1,4}", part, re.ASCII):
        return int(part) if int(part) < len(entries) else None
    found = [n for n, entry in enumerate(entries) if part in (entry.title, entry.id)]
    return found[0] if found else None


def default_place(menu: Menu, environment: dict[str, str] | None) -> str | None:
    """The number of the entry that the next boot starts; None where that is not known."""
    wanted = _wanted(menu, environment)
    if not menu.is_whole or wanted is None or not menu.entries:
        return None
    parts = wanted.split(">") if wanted else ["0"]
    place, entries = "", menu.entries
    for depth, part in enumerate(parts):
        number = _find(entries, part)
        if number is None:
            return None
        place += f"{'>' if depth else ''}{number}"
        entry = entries[number]
        if entry.is_submenu != (depth + 1 < len(parts)):
            return None
        entries = entry.entries
    return place
