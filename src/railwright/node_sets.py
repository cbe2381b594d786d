"""Node sets that an operator writes: gpu[001-512], @slurm:gpu, gpu[1-8]!gpu3.

The only module that knows ClusterShell. Its parser looks groups up through shell commands of the
site's groups.conf, so a text is checked before the parser sees it: signs, names of groups, and how
many machines its ranges would name.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
from ClusterShell.NodeUtils import (
    GroupResolver,
    GroupResolverConfig,
    GroupResolverError,
    GroupResolverSourceError,
    GroupSource,
)

from railwright.errors import RailwrightError, UsageError
from railwright.nodes import is_machine_name

MOST_MACHINES = 1_000_000  # ten times the largest cluster; a range beyond it is a slip

_RANGE = r"\[[0-9]+(?:-[0-9]+(?:/[0-9]+)?)?(?:,[0-9]+(?:-[0-9]+(?:/[0-9]+)?)?)*\]"
_NAME = re.compile(rf"(?:[A-Za-z0-9_.:@%*?-]|{_RANGE})+", re.ASCII)
_GROUP = re.compile(rf"@{{1,2}}(?:[A-Za-z0-9_.-]+:)?(?:\*|(?:[A-Za-z0-9_.-]|{_RANGE})+)", re.ASCII)
_GROUP_NAME = re.compile(r"[A-Za-z0-9_.:-]+", re.ASCII)
_OPERATORS = re.compile(r"[,!&^](?![^\[\]]*\])")  # not the commas between brackets
_BRACKETS = re.compile(r"\[([^\]]*)\]")
DO = "Write for example gpu[001-512] or gpu1,gpu2."


class Groups(Protocol):
    """A source of groups of our own, such as Slurm's partitions."""

    def of(self, group: str) -> str:
        """The machines of one group, with commas between them."""

    def all(self) -> str:
        """The machines of all groups."""

    def names(self) -> str:
        """The groups, with blanks between them."""


def unfold(text: str) -> list[str]:
    """`gpu[1-3]` -> `gpu1, gpu2, gpu3`; without groups, which only the site itself can resolve."""
    if re.search(r"(?:^|[,!&^])\s*@|[*?]", text):
        raise _wrong(text, "groups and patterns are not supported here", DO)
    return _expand(text, RESOLVER_NOGROUP, DO)


def unfold_groups(text: str, ours: Mapping[str, Groups]) -> list[str]:
    """The same with the site's groups (ClusterShell's groups.conf) and ours."""
    do = "Write for example -w gpu[001-512], -w gpu1,gpu2 or -w @slurm:partition."
    resolver = _resolver(ours)
    names = _expand(text, resolver, do)
    for word in map(str.strip, _OPERATORS.split(text)):
        # A group that is not there names no machine, and would leave out none either.
        if word.startswith("@") and not _expand(word, resolver, do):
            raise UsageError(
                f"unknown group {word.lstrip('@')!r}, or one without hosts",
                do="Groups are those of ClusterShell's groups.conf, and Slurm's partitions: "
                "-w @slurm:PARTITION. Or name the hosts: -w gpu[001-512].",
            )
    return names


def _wrong(text: str, why: str, do: str) -> UsageError:
    return UsageError(f"{text[:200]!r} is not a node set: {why}", do=do)


def _expand(text: str, resolver: object, do: str) -> list[str]:
    _check(text, do)
    try:
        names = [str(name) for name in NodeSet(text, resolver=resolver)]
    except RailwrightError:  # of our own groups: sinfo is not there, or fails
        raise
    except GroupResolverSourceError as error:
        raise UsageError(
            f"unknown group source {str(error)!r} in {text[:200]!r}",
            do="Sources are those of ClusterShell's groups.conf, and slurm: -w @slurm:PARTITION.",
        ) from error
    except (NodeSetException, GroupResolverError) as error:
        raise _wrong(text, str(error), do) from error
    except Exception as error:  # its parser has no other words for some slips
        raise _wrong(text, type(error).__name__, do) from error
    bad = [name for name in names if not is_machine_name(name)]
    if bad:
        raise UsageError(
            f"{bad[0][:200]!r} is not a host name",
            why="Host names are passed to ssh and srun as arguments.",
        )
    return names


def _check(text: str, do: str) -> None:
    """Only names, groups and ranges of a bearable size reach the parser."""
    count = 0
    for part in _OPERATORS.split(text):
        word = part.strip()
        if not word:
            raise _wrong(text, "a name is missing", do)
        if not (_GROUP if word.startswith("@") else _NAME).fullmatch(word):
            raise _wrong(text, f"{word[:200]!r} is neither a name nor a group", do)
        count += math.prod(_size(inside) for inside in _BRACKETS.findall(word))
    if count > MOST_MACHINES:
        raise UsageError(
            f"{text[:200]!r} names {count:,} machines",
            why=f"The limit is {MOST_MACHINES:,}.",
            do=do,
        )


def _size(inside: str) -> int:
    """How many numbers a pair of brackets holds: `1-8,10-20/2`."""
    count = 0
    for part in inside.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        if max(map(len, (low, high, step))) > 18:  # digits
            return MOST_MACHINES + 1
        count += max(int(high or low) - int(low), 0) // max(int(step or 1), 1) + 1
    return count


class _CheckedGroups:
    """What asks a shell for a group never gets a name that the shell could take for more."""

    def group_nodes(self, group: str, namespace: str | None = None) -> Any:
        for name in (group, namespace or "-"):
            if not _GROUP_NAME.fullmatch(name):
                raise _wrong(f"@{name}", "unknown group", DO)
        return super().group_nodes(group, namespace)  # type: ignore[misc]


class _SiteGroups(_CheckedGroups, GroupResolverConfig):  # type: ignore[misc]
    """Those of groups.conf."""


class _NoSiteGroups(_CheckedGroups, GroupResolver):  # type: ignore[misc]
    """Where there is no groups.conf."""


class _Ours(GroupSource):  # type: ignore[misc]
    """Our own groups as ClusterShell asks for them."""

    def __init__(self, name: str, groups: Groups) -> None:
        super().__init__(name)
        self._groups = groups

    def resolv_map(self, group: str) -> str:
        return self._groups.of(group)

    def resolv_list(self) -> str:
        return self._groups.names()

    def resolv_all(self) -> str:
        return self._groups.all()


def _resolver(ours: Mapping[str, Groups]) -> GroupResolver:
    """ClusterShell's own groups.conf where the site has one, and ours in any case."""
    configs = [
        "/etc/clustershell/groups.conf",
        str(Path.home() / ".config/clustershell/groups.conf"),
    ]
    try:
        resolver = _SiteGroups(configs)
        known = resolver.sources()
    except GroupResolverError as error:
        raise UsageError(f"groups.conf: {error}", do="Correct that file.") from error
    except KeyError:  # no groups.conf at all
        resolver, known = _NoSiteGroups(), []
    for name, groups in ours.items():
        if name not in known:
            resolver.add_source(_Ours(name, groups))
    return resolver
