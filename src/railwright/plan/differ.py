"""What two plans have that the other has not: by machine, name and value, whatever their order."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from railwright.node_sets import unfold
from railwright.nodes import fold


class One(NamedTuple):
    """A change on one machine, as two plans are compared."""

    setting: str
    now: str | None
    wanted: str | None
    names: tuple[tuple[str, str | None], ...]


class Difference(NamedTuple):
    """A change that only one of the plans has."""

    setting: str
    now: str | None
    wanted: str | None
    hosts: str
    machines: int


def differences(
    one: dict[str, Any], other: dict[str, Any]
) -> tuple[list[Difference], list[Difference]]:
    """(what only the first has, what only the second has)."""
    first, second = _all(one), _all(other)
    return _folded(first - second), _folded(second - first)


def _all(plan: dict[str, Any]) -> set[tuple[str, One]]:
    return {(host, change) for change, hosts in _changes(plan) for host in unfold(hosts)}


def _changes(plan: dict[str, Any]) -> Iterator[tuple[One, str]]:
    for change in plan["changes"]:
        for member in change["machines"]:
            names = tuple(sorted(member["names"].items()))
            yield One(change["setting"], change["from"], change["to"], names), member["hosts"]


def _folded(found: set[tuple[str, One]]) -> list[Difference]:
    hosts: dict[tuple[str, str | None, str | None], list[str]] = {}
    for host, one in found:
        hosts.setdefault(one[:3], []).append(host)
    made = [Difference(*key, fold(sorted(set(on))), len(on)) for key, on in hosts.items()]
    return sorted(made, key=str)
