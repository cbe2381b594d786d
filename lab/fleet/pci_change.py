"""Changing the PCI tree of a host: functions replaced, taken out, or looked for."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from lab.fleet.model import Function, RootBus

Buses = tuple[RootBus, ...]
Path = tuple[Function, ...]


def changed(buses: Buses, change: Callable[[Function], Path]) -> Buses:
    """Every function replaced by what `change` makes of it, from the leaves up."""

    def inner(function: Function) -> Path:
        below = tuple(made for child in function.below for made in inner(child))
        same = len(below) == len(function.below) and all(map(_is, below, function.below))
        return change(function if same else replace(function, below=below))

    return tuple(
        replace(bus, functions=tuple(made for one in bus.functions for made in inner(one)))
        for bus in buses
    )


def _is(one: Function, other: Function) -> bool:
    return one is other


def without(buses: Buses, addresses: set[str]) -> Buses:
    """The tree without these functions and all below them; a bus that had nothing else goes too."""
    left = changed(buses, lambda function: () if function.address in addresses else (function,))
    return tuple(bus for bus in left if bus.functions)


def paths(buses: Buses) -> Iterator[Path]:
    """Every function at the end of its path from the root."""
    waiting: list[Path] = [(f,) for bus in reversed(buses) for f in reversed(bus.functions)]
    while waiting:
        path = waiting.pop()
        yield path
        waiting += [(*path, child) for child in reversed(path[-1].below)]


def whole(function: Function) -> Iterator[Function]:
    """A function and all below it."""
    yield function
    for child in function.below:
        yield from whole(child)
