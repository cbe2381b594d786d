"""A written host, as the product's own parsers read it."""

import importlib

from lab.fleet import fill_sys
from lab.fleet.render import all_files
from lab.fleet.tree import Below, Memory
from lab.writes import HostState
from railwright.parse.base import Row


def answer(state: HostState, parser: str, command: str, instance: str = "") -> list[Row]:
    """What a parser makes of a command's answer."""
    said = state.run(command.split(" "))
    return rows(parser, said.stdout.encode(), instance)


def rows(parser: str, data: bytes, instance: str = "") -> list[Row]:
    """What a parser makes of bytes."""
    return list(importlib.import_module(f"railwright.parse.{parser}").parse(data, instance))


def _shown(files: Memory, path: str) -> str:
    """Where a path really is, links followed."""
    done = ""
    for word in path.lstrip("/").split("/"):
        name = f"{done}/{word}" if done else word
        entry = files.entries.get(name)
        done = files.make(name) if entry is not None and entry.link else name
    return done


def files(state: HostState, parser: str, *paths: str) -> list[Row]:
    """What a parser makes of files, as the runner sends them."""
    tree = Memory()
    model = state.model()
    fill_sys(Below(tree, "sys"), model)
    rendered = all_files(model)
    parts = []
    for path in paths:
        content = rendered.get(path)
        if content is None and path.startswith("/sys/"):
            entry = tree.entries.get(_shown(tree, path))
            content = None if entry is None else entry.content
        if content is not None:
            raw = content.encode() if isinstance(content, str) else content
            parts.append(b"F %d %s\n%s\n" % (len(raw), path.encode(), raw))
    return rows(parser, b"".join(parts))


def values(found: list[Row], table: str, **where: object) -> list[dict[str, object]]:
    """Rows of a table in which these columns have these values."""
    return [
        dict(row.values)
        for row in found
        if row.table == table and all(row.values.get(k) == v for k, v in where.items())
    ]
