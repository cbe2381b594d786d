"""A declared fault of a fabric, the fault at a place, and what must be said about it.

To add one, put a `FabricFault` into FABRIC_FAULTS of a file switch_*.py in this folder. It says

    name        unique
    rule        the id of the rule that it is for
    at          what it may strike: host, leaf_down, leaf_up, spine_down, spine_up, core_down (an
                end of a link, seen from that machine), leaf, spine (a whole switch, by the end of
                its first link)
    systems     whose `show` commands tell it; of a host's end, those of the leaf
    by_majority it is one because most of the fabric is otherwise: not on many switches at once
    both_ends   the other end, too, must be a host or of these systems: else nothing can be compared
    change      what becomes of the fabric: a function of (fabric, place)
    before      how it was in the earlier snapshot; left out = as now

and declares, by reasoning from what the rule says and never from a run, what is found where

    expects     the site says what it wants and has a cabling plan: "RULE subject"
    by_cohort   the site says nothing, and four or more ends are alike: () = nothing can be told
    by_nobody   neither: both ends are named, since nobody knows which one is wrong
    implies     what else follows where the site says what it wants

A subject has {end} and {peer}, the two ends of the link as target:port; {switch} and {peer_switch};
where there is a second link {second}, {second_peer}, {second_switch} and {second_peer_switch}; of a
host's end {host} and {host_port}, its RDMA port. {ends} stands for all ends of the struck switch
that have a link.
"""

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from lab.fleet.fabric.hardware import SYSTEMS
from lab.fleet.fabric.hearing import netdev
from lab.fleet.fabric.model import End, Fabric, Switch

Verdict = tuple[str, str]  # rule, subject
CASES = ("expects", "by_cohort", "by_nobody")
_TIERS = {
    "host": (1, "lower"), "leaf_down": (1, "upper"), "leaf_up": (2, "lower"),
    "spine_down": (2, "upper"), "spine_up": (3, "lower"), "core_down": (3, "upper"),
    "leaf": (1, "upper"), "spine": (2, "upper"),
}  # fmt: skip
WHOLE = ("leaf", "spine")


@dataclass(frozen=True)
class Place:
    """A fabric and the end that is struck."""

    fabric: Fabric
    end: End

    @property
    def link(self) -> int:
        """The link of the end, as planned."""
        return self.fabric.by_end()[self.end]

    @property
    def peer(self) -> End:
        """Its other end."""
        other = self.fabric.other_end(self.end)
        if other is None:
            raise ValueError("no link is at this end")
        return other

    @property
    def switch(self) -> Switch:
        """The switch that is struck; of a host's end the leaf."""
        machine = self.end.machine
        return self.fabric.switch(self.peer.machine if self.fabric.is_host(machine) else machine)


Change = Callable[[Fabric, Place], None]
Other = Callable[[Place], int]  # the other link of two that are mixed up


@dataclass(frozen=True)
class FabricFault:
    """See above."""

    name: str
    rule: str
    at: tuple[str, ...]
    change: Change
    expects: tuple[str, ...]
    by_cohort: tuple[str, ...] = ()
    by_nobody: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    systems: tuple[str, ...] = SYSTEMS
    by_majority: bool = False
    both_ends: bool = False
    before: Change | None = None
    second: Other | None = None
    site: str = "usual"

    def __post_init__(self) -> None:
        if not set(self.at) <= set(_TIERS):
            raise ValueError(f"{self.name}: strikes one of {', '.join(_TIERS)}")
        if not any(text.startswith(f"{self.rule} ") for text in self.expects):
            raise ValueError(f"{self.name}: expects nothing of {self.rule}")


def places(fabric: Fabric, fault: FabricFault, at: str) -> Iterator[Place]:
    """Where it can strike in a healthy fabric; a whole switch once."""
    tier, side = _TIERS[at]
    links = fabric.links
    machines, ports = getattr(links, side), getattr(links, f"{side}_port")
    met: set[int] = set()
    for link in range(len(links)):
        if links.tier[link] != tier or (at in WHOLE and machines[link] in met):
            continue
        met.add(machines[link])
        place = Place(fabric, End(machines[link], ports[link]))
        if place.switch.system in fault.systems and (not fault.both_ends or _fits(place, fault)):
            yield place


def _fits(place: Place, fault: FabricFault) -> bool:
    machine, fabric = place.peer.machine, place.fabric
    return fabric.is_host(machine) or fabric.switch(machine).system in fault.systems


def end_text(fabric: Fabric, end: End) -> str:
    """target:port, as findings have it."""
    if fabric.is_host(end.machine):
        rail, plane = divmod(end.port, fabric.planes)
        return f"{fabric.host_name(end.machine)}:{netdev(rail, plane, fabric.planes)}"
    switch = fabric.switch(end.machine)
    return f"{switch.name}:{switch.ports[end.port].name}"


@dataclass(frozen=True)
class FabricInjection:
    """A fault at a place of a healthy fabric."""

    fault: FabricFault
    place: Place

    def apply(self, fabric: Fabric, *, before: bool) -> None:
        """Change the fabric, which may have other faults already."""
        work = self.fault.before if before and self.fault.before else self.fault.change
        work(fabric, self.place)

    def _words(self) -> dict[str, str]:
        place, fabric = self.place, self.place.fabric
        words = {"end": end_text(fabric, place.end), "peer": end_text(fabric, place.peer)}
        words["switch"] = place.switch.name
        words["peer_switch"] = fabric.name(place.peer.machine)
        if fabric.is_host(place.end.machine):
            words["host"] = fabric.host_name(place.end.machine)
            words["host_port"] = f"{words['host']}:mlx5_{place.end.port}/1"
        if self.fault.second is not None:
            link, links = self.fault.second(place), fabric.links
            lower = End(links.lower[link], links.lower_port[link])
            upper = End(links.upper[link], links.upper_port[link])
            mine, other = (lower, upper) if links.lower[place.link] == place.end.machine else (
                upper, lower)  # fmt: skip
            words |= {"second": end_text(fabric, mine), "second_peer": end_text(fabric, other)}
            words["second_switch"] = fabric.name(mine.machine)
            words["second_peer_switch"] = fabric.name(other.machine)
        return words

    def _verdicts(self, texts: Iterable[str]) -> frozenset[Verdict]:
        found = set()
        for text in texts:
            rule, _, template = text.partition(" ")
            if template == "{ends}":
                found |= {(rule, one) for one in self._ends()}
            else:
                found.add((rule, template.format(**self._words())))
        return frozenset(found)

    def _ends(self) -> Iterator[str]:
        switch = self.place.switch
        for port in range(len(switch.ports)):
            end = End(switch.number, port)
            if end in self.place.fabric.by_end():
                yield end_text(self.place.fabric, end)

    def expected(self, case: str = "expects") -> frozenset[Verdict]:
        """What must be found in one of CASES."""
        return self._verdicts(getattr(self.fault, case))

    def allowed(self, case: str = "expects") -> frozenset[Verdict]:
        """That, and what follows from it."""
        more = self.fault.implies if case == "expects" else ()
        return self.expected(case) | self._verdicts(more)


def changed(fabric: Fabric, faults: Iterable[FabricInjection], *, before: bool = False) -> Fabric:
    """A copy with the faults in it."""
    made = fabric.copy()
    for fault in faults:
        fault.apply(made, before=before)
    return made


@cache
def all_fabric_faults() -> dict[str, FabricFault]:
    """Every declared fault of a fabric by its name."""
    found: dict[str, FabricFault] = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        topic = import_module(f"lab.fleet.faults.{module.name}")
        for fault in getattr(topic, "FABRIC_FAULTS", ()):
            if fault.name in found:
                raise ValueError(f"two faults are called {fault.name}")
            found[fault.name] = fault
    return found
