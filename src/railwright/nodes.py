"""Host names are always shown folded: gpu[001-512]."""

import re
from collections.abc import Iterable

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

from railwright.errors import UsageError

STEPS = 5  # so many names at equal distance are written as leaf[001-015/2]
A_FEW = 1000  # below this many names folding them takes no time that anybody notices

_NUMBERED = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


def _runs(names: Iterable[str]) -> list[str]:
    """Numbers in a row as one range: ClusterShell folds ranges five times as fast as names."""
    places: dict[tuple[str, str, int], list[int]] = {}
    found = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            found.append(name)
        else:
            before, digits, after = match.groups()
            places.setdefault((before, after, len(digits)), []).append(int(digits))
    for (before, after, width), numbers in places.items():
        numbers.sort()
        breaks = [
            place for place in range(1, len(numbers)) if numbers[place] - numbers[place - 1] > 1
        ]
        for first, last in zip([0, *breaks], [*breaks, len(numbers)], strict=True):
            low, high = f"{numbers[first]:0{width}d}", f"{numbers[last - 1]:0{width}d}"
            found.append(f"{before}{low if low == high else f'[{low}-{high}]'}{after}")
    return found


def fold(names: Iterable[str]) -> str:
    """`gpu1, gpu2, gpu3` -> `gpu[1-3]`."""
    found = list(names)
    return str(NodeSet.fromlist(_runs(found) if len(found) > A_FEW else found, autostep=STEPS))


def unfold(text: str) -> list[str]:
    """`gpu[1-3]` -> `gpu1, gpu2, gpu3`; without groups, which only the site itself can resolve."""
    try:
        return [str(name) for name in NodeSet(text, resolver=RESOLVER_NOGROUP)]
    except NodeSetException as error:
        raise UsageError(
            f"{text!r} is not a node set: {error}", do="Write for example gpu[001-512]."
        ) from error
