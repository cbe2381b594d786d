"""Where the faults of a fabric can strike in one at hand, and which can be there at once."""

from collections.abc import Collection, Iterator, Sequence

from lab.fleet.fabric.hardware import SYSTEMS
from lab.fleet.fabric.model import Fabric
from lab.fleet.faults.switch_fault import (
    WHOLE,
    FabricFault,
    FabricInjection,
    Place,
    all_fabric_faults,
    changed,
    end_text,
    places,
)


def is_possible(fault: FabricFault, place: Place) -> bool:
    """Whether all is there that the fault needs: a second rail, another spine, a third leaf."""
    try:
        if fault.second is not None and fault.second(place) == place.link:
            return False
        injection = FabricInjection(fault, place)
        changed(place.fabric, [injection])
        injection.allowed()
    except (KeyError, IndexError, StopIteration, ValueError):
        return False
    return True


def port_names(place: Place) -> tuple[str, ...]:
    """What somebody would call the place on its switch: its port; of a host's end the leaf's."""
    end = place.peer if place.fabric.is_host(place.end.machine) else place.end
    port = place.switch.ports[end.port]
    return tuple(name for name in (port.name, port.alias) if name)


def on_switch(fabric: Fabric, fault: FabricFault, switch: str) -> Iterator[Place]:
    """Where a fault can strike on one switch, by its name."""
    for at in fault.at:
        for place in places(fabric, fault, at):
            if place.switch.name == switch and is_possible(fault, place):
                yield place


def faults_of(fabric: Fabric, switch: str = "") -> dict[str, FabricFault]:
    """Faults that a switch of the fabric can have, or any of them."""
    named = [switch] if switch else [one.name for one in fabric.switches]
    return {
        name: fault
        for name, fault in all_fabric_faults().items()
        if any(next(on_switch(fabric, fault, one), None) for one in named)
    }


def place_words(place: Place) -> str:
    """For people: target:port of the end that is struck."""
    return end_text(place.fabric, place.end)


def _touched(place: Place, fault: FabricFault) -> set[int]:
    """Machines that a fault has to do with."""
    found = {place.end.machine, place.peer.machine}
    if fault.second is not None:
        link, links = fault.second(place), place.fabric.links
        found |= {links.lower[link], links.upper[link]}
    return {machine for machine in found if not place.fabric.is_host(machine)}


def _machines(place: Place, fault: FabricFault, at: str) -> set[int]:
    """A whole switch stands for itself; its first neighbor is nothing special."""
    if at in WHOLE:
        return {place.end.machine}
    return _touched(place, fault) | {place.end.machine, place.peer.machine}


def _is_full(fabric: Fabric, fault: FabricFault, struck: Sequence[FabricInjection]) -> bool:
    """Whether one more of a fault would leave no majority without it."""
    return fault.by_majority and 2 * (len(struck) + 1) >= len(fabric.switches)


def apart(
    fabric: Fabric,
    faults: Sequence[FabricFault],
    wanted: Collection[tuple[str, str, str]] | None = None,
) -> list[list[FabricInjection]]:
    """Every fault at every kind of place on every system, in as few fabrics as keep them apart.

    `wanted` are the (fault, kind of place, system) that count, where not all do.
    """
    found: list[list[FabricInjection]] = []
    taken: list[set[int]] = []
    sites: list[str] = []
    for fault in faults:
        for at in fault.at:
            where = list(places(fabric, fault, at))
            for system in SYSTEMS:
                mine = [place for place in where if place.switch.system == system]
                if wanted is not None and (fault.name, at, system) not in wanted:
                    continue
                if not any(is_possible(fault, place) for place in mine):
                    continue
                for number in range(len(found) + 1):
                    if number == len(found):
                        found.append([])
                        taken.append(set())
                        sites.append(fault.site)
                    room = (
                        place for place in mine
                        if not _is_full(fabric, fault, found[number])
                        and place.end.machine not in taken[number]
                        and is_possible(fault, place)
                        and not _machines(place, fault, at) & taken[number]
                    )  # fmt: skip
                    place = next(room, None) if sites[number] == fault.site else None
                    if place is not None:
                        found[number].append(FabricInjection(fault, place))
                        taken[number] |= _machines(place, fault, at)
                        break
    return found
