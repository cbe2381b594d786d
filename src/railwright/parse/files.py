"""The answer of a probe that reads files: many small files in one stream of bytes.

Each entry is `KIND LENGTH PATH\\n` followed by LENGTH bytes and a newline:

    F  a file's bytes                 C  the same, cut at the probe's cap
    L  a symbolic link's target       E  why it could not be read: an errno name such as EACCES
"""

from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, text_of


class Entry(NamedTuple):
    """One file or link as the machine gave it."""

    kind: str
    body: bytes


class Files:
    """The files of one answer, by path."""

    def __init__(self, entries: dict[str, Entry]) -> None:
        self._entries = entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    def content(self, path: str) -> bytes | None:
        """The bytes of a file that was read, whole or cut; None if it was not."""
        entry = self._entries.get(path)
        return entry.body if entry is not None and entry.kind in "FC" else None

    def text(self, path: str) -> str | None:
        """The stripped text of a file that was read; None if it was not."""
        body = self.content(path)
        return None if body is None else text_of(body).strip()

    def link(self, path: str) -> str | None:
        """Where a symbolic link points; None if it was not read."""
        entry = self._entries.get(path)
        return text_of(entry.body) if entry is not None and entry.kind == "L" else None

    def error(self, path: str) -> str | None:
        """The errno name with which reading failed; None if it did not fail."""
        entry = self._entries.get(path)
        return text_of(entry.body) if entry is not None and entry.kind == "E" else None

    def below(self, folder: str) -> list[str]:
        """The distinct names directly below a folder, in order."""
        prefix = folder.rstrip("/") + "/"
        names = {
            path[len(prefix) :].split("/", 1)[0]
            for path in self._entries
            if path.startswith(prefix)
        }
        return sorted(names)


def read_files(data: bytes) -> Files:
    """Take a stream of entries apart; a stream that is not one is not understood."""
    entries: dict[str, Entry] = {}
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        head = data[at:end].split(b" ", 2) if end >= 0 else []
        if len(head) != 3 or head[0] not in (b"F", b"C", b"L", b"E") or not head[1].isdigit():
            raise NotUnderstoodError(f"no file entry at byte {at}")
        size = int(head[1])
        body = data[end + 1 : end + 1 + size]
        if len(body) != size or data[end + 1 + size : end + 2 + size] != b"\n":
            raise NotUnderstoodError(f"file entry at byte {at} is cut short")
        entries[text_of(head[2])] = Entry(head[0].decode("ascii"), body)
        at = end + 2 + size
    return Files(entries)
