"""NVUE: from one tree of paths to another, as settings of ports; and the difference as text."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from lab.fleet.fabric.setting import Setting
from lab.switch_writes.nvue_paths import _UNTIL, GLOBAL, Path, Place, Row, Tree, found_row, numbers

_PROFILE = re.compile(r"\{name\}")
_PART = re.compile(r"([a-z_]+)([0-9]+)(?:(s)([0-9]+))?")


def spread(text: str, there: Sequence[str]) -> list[str]:
    """swp1, swp1-4, swp1s0-3 and lists of them; a name that is not there stays."""
    found: list[str] = []
    for part in text.split(","):
        first, dash, last = part.rpartition("-")
        known = _PART.fullmatch(first) if dash else None
        if known is None or not (last.isascii() and last.isdigit() and len(last) < 4):
            found.append(part)
            continue
        stem, start = re.fullmatch(r"(.*?)([0-9]+)", first).groups()  # type: ignore[union-attr]
        names = [f"{stem}{number}" for number in range(int(start), int(last) + 1)]
        found += [name for name in names if name in there] or [part]
    return found


def bound(tree: Tree, port: str, group: str) -> str:
    """The profile of a port."""
    return tree.get(("interface", port, "qos", group, "profile"), GLOBAL)


def _below(tree: Tree, beginning: Path) -> dict[Path, str]:
    size = len(beginning)
    return {path[size:]: value for path, value in tree.items() if path[:size] == beginning}


def _numbers(row: Row, path: Path) -> tuple[int, ...]:
    pairs = zip(row.words, path, strict=True)
    found = [numbers(given, _UNTIL[word]) or () for word, given in pairs if word in _UNTIL]
    return found[-1] if found else ()


def _row(path: Path) -> tuple[Row, Path, str] | None:
    """The row of a path without its value."""
    return found_row(path) or found_row((*path, ""))


class Changing:
    """All ports of a switch on the way from one tree to another."""

    def __init__(
        self, ports: Sequence[str], settings: Sequence[Setting], healthy: Sequence[Setting]
    ) -> None:
        self.ports, self.settings, self.healthy = ports, list(settings), healthy
        self._before: Tree = {}

    def to(self, before: Tree, after: Tree) -> None:
        """Do what differs: what is gone first, then what is new, bindings last."""
        self._before = before
        gone = {path for path in before if path not in after}
        new = {path for path in after if before.get(path) != after[path]}
        for path in sorted(gone | new, key=lambda one: (one[-1] == "profile", one in new, one)):
            self.do(path, after.get(path), after)

    def do(self, path: Path, value: str | None, tree: Tree) -> None:
        """One path, on every port that it is about."""
        found = _row(path)
        if found is None:
            return
        row = found[0]
        if path[0] == "interface" and path[-1] == "profile":
            self._bind(path[1], path[3], tree)
            return
        if row.words[0] == "interface":
            chosen, below = [path[1]], _below(tree, path[:2])
        elif _PROFILE.search(row.pattern):
            chosen = [name for name in self.ports if bound(tree, name, path[1]) == path[2]]
            below = _below(tree, path[:3])
        else:
            chosen, below = list(self.ports), {}
        for name in chosen:
            self._one(name, row, path, value, below)

    def _one(self, name: str, row: Row, path: Path, value: str | None, below: Tree) -> None:
        if name not in self.ports:
            return
        at = self.ports.index(name)
        place = Place(self.settings[at], self.healthy[at], _numbers(row, path), below, value)
        self.settings[at] = replace(self.settings[at], **row.work(place))

    def _bind(self, port: str, group: str, tree: Tree) -> None:
        """A port that gets another profile: what the group says of it begins anew."""
        name = bound(tree, port, group)
        every = {path for path in (*self._before, *tree) if path[:2] == ("qos", group)}
        for path in sorted(every, key=lambda one: one[2] == name):
            value = tree.get(path) if path[2] == name else None
            found = _row(path)
            if found is not None:
                self._one(port, found[0], path, value, _below(tree, path[:3]))


# ---- as text


def difference(before: Tree, after: Tree) -> tuple[dict[Path, str], list[Path]]:
    """What is set, and what is unset."""
    new = {path: value for path, value in after.items() if before.get(path) != value}
    return new, [path for path in before if path not in after]


def nested(paths: Tree) -> dict[str, Any]:
    """The tree as objects; what has no value is an empty one."""
    found: dict[str, Any] = {}
    for path, value in sorted(paths.items()):
        at = found
        for word in path[:-1]:
            at = at.setdefault(word, {})
            if not isinstance(at, dict):
                break
        else:
            at.setdefault(path[-1], value or {})
    return found


def _yaml(tree: Any, indent: int) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield f"{' ' * indent}{key}:"
            yield from _yaml(value, indent + 2)
        else:
            yield f"{' ' * indent}{key}: {value if value != {} else '{}'}"


def told(new: Tree, gone: Sequence[Path], form: str) -> str:
    """`nv config diff`, as YAML, JSON or commands."""
    if form == "commands":
        lines = [f"nv unset {' '.join(path)}" for path in gone]
        lines += [" ".join(["nv set", *path, value]).rstrip() for path, value in new.items()]
        return "".join(f"{line}\n" for line in lines)
    parts = [("unset", nested(dict.fromkeys(gone, ""))), ("set", nested(new))]
    if form == "json":
        return json.dumps([{name: tree} for name, tree in parts if tree], indent=2) + "\n"
    lines = []
    for name, tree in parts:
        if tree:
            lines += [f"- {name}:", *_yaml(tree, 4)]
    return "".join(f"{line}\n" for line in lines)
