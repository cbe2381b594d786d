"""The answer of a probe that reads files: many small files in one stream of bytes.

Each entry is `KIND LENGTH PATH\\n` followed by LENGTH bytes and a newline:

    F  a file's bytes                 C  the same, cut at the probe's cap
    L  a symbolic link's target       S  not read: its age (seconds since 1970) and its size
    E  why it could not be read: an errno name such as EACCES

LENGTH can be `312+3784`: 312 bytes follow, and 3784 bytes of zero were there and were not sent.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from railwright.parse.base import NotUnderstoodError, text_of

# The zeros have four digits: a few bytes cannot stand for gigabytes.
_HEAD = re.compile(rb"([FCLES]) ([0-9]{1,18})(?:\+([0-9]{1,4}))? ([^\n]*)\n")
_DIGITS = re.compile(r"[0-9]{1,15}", re.ASCII)
_KINDS = {b"F": "F", b"C": "C", b"L": "L", b"E": "E", b"S": "S"}

# (kind, body, zeros behind it): a plain tuple, for there are thousands per host.
Entry = tuple[str, bytes, int]

# sysfs says the same few things over and over: "0x15b3", "16", "32.0 GT/s PCIe".
_SHORT = 100


@lru_cache(maxsize=16384)
def _short_text(body: bytes) -> str:
    return text_of(body)


@lru_cache(maxsize=16384)
def _short_stripped(body: bytes) -> str:
    return text_of(body).strip()


def _text(body: bytes) -> str:
    return _short_text(body) if len(body) <= _SHORT else text_of(body)


def _stripped(body: bytes) -> str:
    return _short_stripped(body) if len(body) <= _SHORT else text_of(body).strip()


class Files:
    """The files of one answer, by path."""

    def __init__(self, entries: dict[str, Entry]) -> None:
        self._entries = entries
        self._children: dict[str, set[str]] | None = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    def content(self, path: str) -> bytes | None:
        """The bytes of a file that was read, whole or cut; None if it was not."""
        entry = self._entries.get(path)
        if entry is None or entry[0] not in "FC":
            return None
        return entry[1] + bytes(entry[2]) if entry[2] else entry[1]

    def text(self, path: str) -> str | None:
        """The stripped text of a file that was read; None if it was not."""
        body = self.content(path)
        return None if body is None else _stripped(body)

    def is_cut(self, path: str) -> bool:
        """Whether only the beginning of a file came: what is not in it may well exist."""
        entry = self._entries.get(path)
        return entry is not None and entry[0] == "C"

    def link(self, path: str) -> str | None:
        """Where a symbolic link points; None if it was not read."""
        entry = self._entries.get(path)
        return _text(entry[1]) if entry is not None and entry[0] == "L" else None

    def age_and_size(self, path: str) -> tuple[int, int] | None:
        """When a file was last written, and its size; None if that was not read."""
        entry = self._entries.get(path)
        words = _text(entry[1]).split(" ") if entry is not None and entry[0] == "S" else []
        if len(words) != 2 or not all(_DIGITS.fullmatch(word) for word in words):
            return None
        return int(words[0]), int(words[1])

    def error(self, path: str) -> str | None:
        """The errno name with which reading failed; None if it did not fail."""
        entry = self._entries.get(path)
        return _text(entry[1]) if entry is not None and entry[0] == "E" else None

    def below(self, folder: str) -> list[str]:
        """The distinct names directly below a folder, in order."""
        if self._children is None:
            self._children = self._index()
        return sorted(self._children.get(folder.rstrip("/"), ()))

    def _index(self) -> dict[str, set[str]]:
        """Every folder and the names in it, in one pass over the paths."""
        children: dict[str, set[str]] = {}
        for path in self._entries:
            rest = path
            while rest:
                rest, _, name = rest.rpartition("/")
                names = children.setdefault(rest, set())
                if name in names:
                    break  # its folders are known already
                names.add(name)
        return children


def read_files(data: bytes) -> Files:
    """Take a stream of entries apart; a stream that is not one is not understood."""
    entries: dict[str, Entry] = {}
    head, kinds, at, end_of_data = _HEAD.match, _KINDS, 0, len(data)
    while at < end_of_data:
        found = head(data, at)
        if found is None:
            raise NotUnderstoodError(f"no file entry at byte {at}")
        kind, size, zeros, path = found.groups()
        start = found.end()
        end = start + int(size)
        if data[end : end + 1] != b"\n":
            raise NotUnderstoodError(f"file entry at byte {at} is cut short")
        entries[_text(path)] = (kinds[kind], data[start:end], int(zeros) if zeros else 0)
        at = end + 1
    return Files(entries)


def is_missing(files: Files, path: str) -> bool:
    """Whether the machine said that this file or link does not exist.

    ENOENT counts: the runner saw the name and a moment later it was gone (a driver was unbound).
    """
    return path not in files or files.error(path) == "ENOENT"


def link_name(files: Files, path: str) -> str | None:
    """The last part of a link's target; '' where there is no link, None where it was not read."""
    if is_missing(files, path):
        return ""
    target = files.link(path)
    return None if target is None else target.rstrip("/").rpartition("/")[2]
