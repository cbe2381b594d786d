"""Host names are always shown folded: gpu[001-512]."""

from collections.abc import Iterable

from ClusterShell.NodeSet import NodeSet


def fold(names: Iterable[str]) -> str:
    """`gpu1, gpu2, gpu3` -> `gpu[1-3]`."""
    return str(NodeSet.fromlist(list(names)))
