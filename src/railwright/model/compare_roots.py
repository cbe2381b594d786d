"""Which change is the cause of which, at one machine: a lost card, and all that went with it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from railwright.model.compare_plan import Fact, fact_of, facts

PRESENT = "present"
_MOVED = ("appeared", "gone")
_WEAK = ("known now", "unknown now", "appeared, not asked", "gone, not asked")
_LINK = ("PCIe width", "PCIe speed (GT/s)")  # of a card, and of the port above it


class Change(NamedTuple):
    """One value, or one row, of one table."""

    table: str
    probe: str
    thing: str  # PCI address, name of a device, port of a switch; '' = the machine
    other: str
    what: str  # which row, where the thing has several
    column: str  # '' where the row came or went
    kind: str  # changed, appeared, gone, known now, unknown now; of a device that was not asked
    old: str | None
    new: str | None

    @property
    def is_known(self) -> bool:
        """It was read in both."""
        return self.kind not in _WEAK


class Thing(NamedTuple):
    """What a change is about."""

    thing: str
    pci: str
    device: str
    netdev: str
    pci_class: str
    vendor: str
    parent: str
    physical_function: str
    machine: str  # host or switch


class Unknown(NamedTuple):
    """A value that is known in one snapshot only, and no consequence of anything."""

    what: str
    probe: str
    side: str  # where it is missing


@dataclass(eq=False)
class Group:
    """All changes of one fact at one thing, the best first."""

    thing: str
    fact: str
    ranked: list[tuple[int, Change]]
    cause: "Group | None" = None
    changes: list[Change] = field(default_factory=list)

    @property
    def lead(self) -> Change:
        """What tells it best."""
        return self.changes[0]

    def root(self) -> "Group":
        """The cause of the cause."""
        one = self
        while one.cause is not None:
            one = one.cause
        return one


@dataclass(frozen=True, eq=False)
class Caused:
    """A change that nothing else explains, and what follows from it."""

    group: Group
    following: tuple[Group, ...]

    @property
    def count(self) -> int:
        """How many more changes hang on the lines that tell it."""
        return sum(len(one.changes) for one in (self.group, *self.following))


def _groups(changes: Iterable[Change]) -> list[Group]:
    found: dict[tuple[str, str], Group] = {}
    for change in changes:
        fact, rank = fact_of(change.table, change.column, change.what)
        group = found.setdefault((change.thing, fact), Group(change.thing, fact, []))
        # What was known in both tells more than what was not.
        group.ranked.append((rank + (0 if change.is_known else 1000), change))
    for group in found.values():
        group.ranked.sort(key=lambda one: one[0])
        group.changes = [change for _, change in group.ranked]
    return list(found.values())


_NOTHING = Fact("", ())


class _Machine:
    """The groups of one machine."""

    def __init__(self, groups: list[Group], things: dict[str, Thing]) -> None:
        self._things = things
        self._at: dict[str, list[Group]] = {}
        for group in groups:
            self._at.setdefault(group.thing, []).append(group)
        # What is behind a port, by the port.
        self._below: dict[str, list[str]] = {}
        for thing in things.values():
            if thing.parent:
                self._below.setdefault(thing.parent, []).append(thing.thing)

    def cause(self, group: Group) -> Group | None:
        """What explains a group; None = nothing does."""
        return self._here(group) or self._beside(group) or self._elsewhere(group)

    def _is_cause(self, other: Group, group: Group) -> bool:
        """A change that is known explains others, and one that only came along nothing."""
        return other is not group and other.lead.is_known

    def _here(self, group: Group) -> Group | None:
        """Another fact of the same thing."""
        tables = {change.table for change in group.changes}
        for other in self._at[group.thing]:
            fact = facts().get(other.fact, _NOTHING)
            if self._is_cause(other, group) and any(
                fact.covers(group.fact, table, is_known=group.lead.is_known) for table in tables
            ):
                return other
        return None

    def _present(self, thing: str, kind: str = "") -> Group | None:
        """The loss, or the arrival, of a thing."""
        for group in self._at.get(thing, ()):
            lead = group.lead
            if group.fact == PRESENT and lead.kind in _MOVED and kind in ("", lead.kind):
                return group
        return None

    def _beside(self, group: Group) -> Group | None:
        """The same of another function of the card, or of what is behind a port."""
        thing = self._things.get(group.thing)
        if thing is None or not thing.pci:
            return None
        if group.fact == PRESENT:
            return self._whole_card(group, thing)
        if thing.thing != thing.pci and (found := self._present(thing.pci)):
            return found
        for below in self._below.get(thing.pci, ()):
            if found := self._present(below):
                return found
            for other in self._at[below] if group.fact in _LINK else ():
                if other.fact == group.fact and other.lead.is_known:
                    return other
        return None

    def _whole_card(self, group: Group, thing: Thing) -> Group | None:
        kind = group.lead.kind
        if thing.physical_function:
            return self._present(thing.physical_function, kind)
        first = f"{thing.pci.rpartition('.')[0]}.0"
        if thing.pci != first and (found := self._present(first, kind)):
            return found
        below = self._cards_below(thing.pci, kind)
        if len(below) == 1:  # a port that firmware hides once nothing is behind it
            return self._present(f"{below.pop()}.0", kind)
        above = self._present(thing.parent, kind) if thing.parent else None
        return above if above and len(self._cards_below(thing.parent, kind)) > 1 else None

    def _cards_below(self, pci: str, kind: str, depth: int = 8) -> set[str]:
        """Cards that came or went with a bridge; a host that lies has circles of them."""
        found: set[str] = set()
        for below in self._below.get(pci, ()) if depth else ():
            if self._present(below, kind):
                deeper = self._cards_below(below, kind, depth - 1)
                found |= deeper or {self._things[below].pci.rpartition(".")[0]}
        return found

    def _elsewhere(self, group: Group) -> Group | None:
        """A change of another thing: the other one of two, a card whose rules went, a reboot."""
        for change in group.changes:
            if change.other and (found := self._present(change.other)):
                return found
        for other in self._at.get("", ()):
            fact = facts().get(other.fact, _NOTHING)
            if other.fact == "rebooted" and group.fact in fact.explains_host:
                return other
        if group.thing:
            return None
        for others in self._at.values():
            for other in others:
                wide = facts().get(other.fact, _NOTHING).explains_host
                tables = {change.table for change in group.changes}
                named = group.fact in wide or not tables.isdisjoint(wide)
                if named and self._is_cause(other, group):
                    return other
        return None


def settled(
    changes: Iterable[Change], things: dict[str, Thing]
) -> tuple[list[Caused], list[Unknown]]:
    """Causes with what follows from each, and values that are known in one snapshot only."""
    order = {name: place for place, name in enumerate(facts())}
    groups = sorted(
        _groups(changes), key=lambda one: (order.get(one.fact, len(order)), one.thing, one.fact)
    )
    machine = _Machine(groups, things)
    for group in groups:
        cause = machine.cause(group)
        group.cause = None if cause is None or cause.root() is group else cause
    following: dict[int, list[Group]] = {}
    for group in groups:
        if group.cause is not None:
            following.setdefault(id(group.root()), []).append(group)
    roots = [group for group in groups if group.cause is None]
    known = [Caused(one, tuple(following.get(id(one), ()))) for one in roots if one.lead.is_known]
    unknown = [_unknown(change) for one in roots if not one.lead.is_known for change in one.changes]
    return known, unknown


def _unknown(change: Change) -> Unknown:
    column = f".{change.column}" if change.column else ""
    side = "before" if change.kind in ("known now", "appeared, not asked") else "now"
    return Unknown(f"{change.table}{column}", change.probe, side)
