"""The PCI tree of a host as a flat list: what is above and below each function.

A walk of its own, not the one that writes /sys: the test that holds `lspci` here to the real lspci
over the written tree then compares two derivations.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from lab.fleet.model import Function, RootBus
from lab.fleet.pci import SPEEDS

# Usable bandwidth per lane: Linux include/linux/pci.h PCIE_SPEED2MBS_ENC(), in Mb/s.
LANE_MBPS = {1: 2000, 2: 4000, 3: 7876, 4: 15753, 5: 31507, 6: 64000}


class Spot(NamedTuple):
    """A function as it shows itself, and where it is."""

    function: Function
    bus: str  # the root bus: 0000:15
    above: tuple[str, ...]  # addresses from the root port down to the port above it
    numa: int
    group: int  # of the IOMMU


@lru_cache(maxsize=64)
def spots(buses: tuple[RootBus, ...]) -> dict[str, Spot]:
    """Every function by its address."""
    return {spot.function.address: spot for spot in _walk(buses)}


def _walk(buses: tuple[RootBus, ...]) -> Iterator[Spot]:
    group = 0
    for bus in buses:
        for function in bus.functions:
            yield Spot(_shown(function), bus.name, (), bus.numa, group)
            group += 1
            yield from _below(Spot(function, bus.name, (), bus.numa, group))
            group += bool(function.below)


def _below(spot: Spot) -> Iterator[Spot]:
    above = (*spot.above, spot.function.address)
    for child in spot.function.below:
        yield spot._replace(function=_shown(child), above=above)
        yield from _below(spot._replace(function=child, above=above))


def _shown(function: Function) -> Function:
    """A port above a link shows that link; without anything below it the link rests."""
    if function.kind not in ("root_port", "downstream"):
        return function
    if not function.below or (function.below[0].dead and not function.dead):
        return replace(function, generation=1, width=0)
    end = function.below[0]
    return replace(function, generation=end.generation, width=end.width)


def buses_below(function: Function) -> tuple[int, int]:
    """Secondary and subordinate bus; 0, 0 where nothing is below."""
    if not function.below:
        return 0, 0
    numbers = [int(child.address[5:7], 16) for child in function.below]
    return numbers[0], max(*numbers, *(buses_below(child)[1] for child in function.below))


def _gigabits(generation: int, width: int) -> str:
    megabits = LANE_MBPS[generation] * width
    return f"{megabits // 1000}.{megabits % 1000:03d} Gb/s"


def bandwidth(spot: Spot, places: dict[str, Spot]) -> tuple[str, bool]:
    """What pcie_print_link_status() says, and whether something limits the device.

    It goes up from the device; of links that are equally narrow it names the uppermost.
    """
    function = spot.function
    limit, narrowest = function, LANE_MBPS[function.generation] * function.width
    for address in reversed(spot.above):
        port = places[address].function
        found = LANE_MBPS[port.generation] * port.width
        if found <= narrowest:
            limit, narrowest = port, found
    best = f"{SPEEDS[function.generation_max]} GT/s PCIe x{function.width_max} link"
    most = _gigabits(function.generation_max, function.width_max)
    text = f"{_gigabits(limit.generation, limit.width)} available PCIe bandwidth"
    if narrowest >= LANE_MBPS[function.generation_max] * function.width_max:
        return f"{text} ({best})", False
    now = f"{SPEEDS[limit.generation]} GT/s PCIe x{limit.width} link"
    return f"{text}, limited by {now} at {limit.address} (capable of {most} with {best})", True
