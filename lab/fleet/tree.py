"""Writing many small files quickly: one open folder, names relative to it.

A host is about 3,500 files and fleets have hundreds of hosts; pathlib takes four times as long.
What is written can go into memory instead, to be compared with what was there before.
"""

import os
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_NO_LINKS: Mapping[str, str] = {}


class Tree(Protocol):
    """What a host's files are written into."""

    def make(self, name: str) -> str:
        """The folder `name`, with those above it."""

    def write(
        self,
        name: str,
        files: Mapping[str, str | bytes],
        links: Mapping[str, str] = _NO_LINKS,
        mode: int = 0o644,
    ) -> None:
        """Files and symbolic links into the folder `name`."""


class Folder:
    """A folder that files are written below."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._base = str(path)
        self._made = {""}

    def make(self, name: str) -> str:
        """The folder `name` below this one, with those above it."""
        if name not in self._made:
            self.make(name.rpartition("/")[0])
            try:
                os.mkdir(f"{self._base}/{name}")  # noqa: PTH102 (speed)
            except FileExistsError:
                pass
            self._made.add(name)
        return f"{self._base}/{name}"

    def write(
        self,
        name: str,
        files: Mapping[str, str | bytes],
        links: Mapping[str, str] = _NO_LINKS,
        mode: int = 0o644,
    ) -> None:
        """Files and symbolic links into the folder `name`."""
        handle = os.open(self.make(name), os.O_RDONLY)
        try:
            for file, content in files.items():
                out = os.open(file, _NEW, mode, dir_fd=handle)
                os.write(out, content.encode() if isinstance(content, str) else content)
                if mode & 0o111:
                    os.fchmod(out, mode)  # whatever the umask: a tool must be executable for all
                os.close(out)
            for link, target in links.items():
                try:
                    os.symlink(target, link, dir_fd=handle)
                except FileExistsError:
                    os.unlink(link, dir_fd=handle)
                    os.symlink(target, link, dir_fd=handle)
        finally:
            os.close(handle)


class Entry(NamedTuple):
    """A file, or a symbolic link where `link` is set."""

    content: bytes
    mode: int = 0o644
    link: str = ""


class Memory:
    """The same as a folder, kept in memory: names below its top, without a slash in front."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.folders: set[str] = {""}

    def make(self, name: str) -> str:
        """The folder `name`, with those above it; where it really is, if links lead there."""
        if name in self.folders:
            return name
        above, _, last = name.rpartition("/")
        above = self.make(above)
        name = f"{above}/{last}" if above else last
        if name in self.entries:
            return self.make(posixpath.normpath(f"{above}/{self.entries[name].link}"))
        self.folders.add(name)
        return name

    def write(
        self,
        name: str,
        files: Mapping[str, str | bytes],
        links: Mapping[str, str] = _NO_LINKS,
        mode: int = 0o644,
    ) -> None:
        """Files and symbolic links into the folder `name`."""
        name = self.make(name)
        above = f"{name}/" if name else ""
        for file, content in files.items():
            raw = content.encode() if isinstance(content, str) else content
            self.entries[above + file] = Entry(raw, mode)
        for link, target in links.items():
            self.entries[above + link] = Entry(b"", 0, target)


class Below:
    """A folder inside another tree, as a tree of its own."""

    def __init__(self, tree: Tree, name: str) -> None:
        self._tree, self._name = tree, name

    def make(self, name: str) -> str:
        """The folder `name`, with those above it."""
        return self._tree.make(self._inside(name))

    def write(
        self,
        name: str,
        files: Mapping[str, str | bytes],
        links: Mapping[str, str] = _NO_LINKS,
        mode: int = 0o644,
    ) -> None:
        """Files and symbolic links into the folder `name`."""
        self._tree.write(self._inside(name), files, links, mode)

    def _inside(self, name: str) -> str:
        return f"{self._name}/{name}" if name else self._name


def up(path: str) -> str:
    """`../` as often as it takes from a folder below the top to the top."""
    return "../" * (path.count("/") + 1)
