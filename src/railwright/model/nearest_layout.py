"""Which layout of PCIe slots is the nearest: by what is shared, never by equality.

And whether the operator's names tell two builds of one model apart.
"""

from collections import defaultdict
from typing import NamedTuple

# Judgement, both: so much of what is seen on a host must be in the layout (a card that was added or
# moved, an address that a hypervisor draws by lot), and so much of the layout must be seen (a host
# may have lost all its GPUs, which are nearly half of what it has).
SHARE_OF_SEEN = 0.8
SHARE_OF_LAYOUT = 0.5
# Judgement: three are no group, one of them may be the only one that is right.
FEWEST = 4
# Against a fleet in which every host is unlike all others: the work stays bounded.
MOST_LAYOUTS = 500


class Layout(NamedTuple):
    """The slots that machines of one class have in use."""

    key: str  # the model, '' = none is known
    gpu: str
    slots: frozenset[str]
    members: int
    first: str = ""  # of a class without a model: the host that it is called after


def nearest(slots: frozenset[str], gpu: str, layouts: list[Layout]) -> Layout | None:
    """The one that shares most with these slots; None where none shares enough."""
    best: tuple[float, int] = (0.0, 0)
    found = None
    for layout in layouts[:MOST_LAYOUTS]:
        if gpu not in ("", layout.gpu) or not slots:
            continue
        shared = len(slots & layout.slots)
        if shared < SHARE_OF_SEEN * len(slots) or shared < SHARE_OF_LAYOUT * len(layout.slots):
            continue
        score = (shared / len(slots | layout.slots), layout.members)
        if score > best:
            best, found = score, layout
    return found


class Votes(NamedTuple):
    """How many hosts of one class and one kind of name have a part in a slot."""

    name: str  # of the class
    pattern: str
    hosts: int  # of that name
    part: str
    votes: int


def split_by_name(disputed: list[Votes]) -> dict[str, list[str]]:
    """Classes whose members' names tell two builds apart: which names, by class.

    Only where each build has something that the other lacks. One that merely lacks something may
    have lost it, whatever its name.
    """
    classes: dict[str, dict[str, dict[str, Votes]]] = defaultdict(lambda: defaultdict(dict))
    for one in disputed:
        classes[one.name][one.pattern][one.part] = one
    found = {}
    for name, patterns in classes.items():
        builds = {p: _build(list(parts.values())) for p, parts in patterns.items()}
        known = {p: b for p, b in builds.items() if b is not None}
        if len(known) < 2 or len(known) < len(builds):
            continue
        if all(a - b and b - a for p, a in known.items() for q, b in known.items() if p != q):
            found[name] = sorted(known)
    return found


def _build(parts: list[Votes]) -> frozenset[str] | None:
    """What all hosts of a name have of what is disputed; None where they are too few or differ."""
    if parts[0].hosts < FEWEST or any(0 < 2 * one.votes <= one.hosts for one in parts):
        return None
    return frozenset(one.part for one in parts if one.votes)
