"""Everything that a host's tools say: one module per tool, found by being in this folder."""

import pkgutil
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

from lab.fleet.model import HostModel
from lab.fleet.render.base import Said

__all__ = ["Said", "all_commands", "all_files", "programs_module"]


@lru_cache(maxsize=1)
def _modules() -> tuple[ModuleType, ...]:
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}") for name in names)


def programs_module(program: str) -> Any:
    """The module that is named as the program, where that is one with answers; else None."""
    if program.isidentifier():
        for module in _modules():
            if module.__name__.rpartition(".")[2] == program and hasattr(module, "commands"):
                return module
    return None


def all_commands(host: HostModel) -> Iterator[Said]:
    """Every command line that some renderer answers."""
    for module in _modules():
        commands: Callable[[HostModel], Iterator[Said]] | None = getattr(module, "commands", None)
        if commands is not None:
            yield from commands(host)


def all_files(host: HostModel) -> dict[str, str | bytes]:
    """Absolute path -> content, people's own writes included; links are in `host.files` only.

    A path that two renderers claim is a mistake.
    """
    found: dict[str, str | bytes] = {}
    for module in _modules():
        files: Callable[[HostModel], dict[str, str]] | None = getattr(module, "files", None)
        more = files(host) if files is not None else {}
        twice = found.keys() & more.keys()
        if twice:
            raise ValueError(f"two renderers write {', '.join(sorted(twice))}")
        found |= more
    for path, content in host.files.items():
        found.pop(path, None)
        if isinstance(content, bytes):
            found[path] = content
    return found
