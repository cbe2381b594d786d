"""Addresses and routes: a /31 to every host port, a /24 per leaf, equal cost over all ways up.

Leaves know their own hosts and send the rest up; spines and cores know every leaf below them.
Addresses of host ports are those of the plan: a cable in the wrong place does not change them.
Networks between switches (100.64.0.0/10) are not in the tables: nothing is sent to them.
"""

from collections.abc import Iterator

from lab.fleet.fabric.model import End, Fabric, Links, Route, Switch

_FIRST_OCTET = 16
_BETWEEN = 100 << 24 | 64 << 16
Octets = tuple[int, int, int, int]


def _octets(value: int) -> Octets:
    return value >> 24, value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF


def text(address: Octets) -> str:
    """10.16.0.0."""
    return ".".join(map(str, address))


def leaf_base(leaf: int) -> Octets:
    """Of a leaf by its number among leaves."""
    return 10, _FIRST_OCTET + (leaf >> 8), leaf & 0xFF, 0


def leaf_prefix(leaf: int) -> str:
    """10.16.0.0/24."""
    return f"{text(leaf_base(leaf))}/24"


def planned_places(fabric: Fabric) -> dict[End, tuple[int, int]]:
    """Host end -> (leaf, its port there), as planned."""
    planned = fabric.planned
    return {
        End(planned.lower[link], planned.lower_port[link]): (
            planned.upper[link] - fabric.hosts,
            planned.upper_port[link],
        )
        for link in range(len(planned))
        if planned.tier[link] == 1
    }


def host_address(place: tuple[int, int]) -> Octets:
    """Of a host port, by leaf and port."""
    first, second, third, _ = leaf_base(place[0])
    return first, second, third, 2 * place[1]


def gateway(place: tuple[int, int]) -> Octets:
    """The leaf's end of the same network."""
    first, second, third, last = host_address(place)
    return first, second, third, last + 1


def between(link: int, *, upper: bool) -> str:
    """The address of one end of a link between switches."""
    return text(_octets(_BETWEEN + 2 * link + int(upper)))


def _ways(fabric: Fabric, switch: Switch) -> tuple[list[int], dict[int, list[int]]]:
    """Links up, and by machine links down, that are up."""
    up: list[int] = []
    down: dict[int, list[int]] = {}
    links = fabric.links
    for link in fabric.links_of(switch.number):
        is_lower = links.lower[link] == switch.number
        port = links.lower_port[link] if is_lower else links.upper_port[link]
        if not fabric.is_up(switch, port) or not links.up[link]:
            continue
        if is_lower:
            up.append(link)
        else:
            down.setdefault(links.lower[link], []).append(link)
    return up, down


def _to_leaf(links: Links, prefix: str, through: list[int]) -> Route:
    ports = tuple(links.upper_port[link] for link in through)
    hops = tuple(between(link, upper=False) for link in through)
    return Route(prefix, "bgp", ports, hops)


def _default(links: Links, up: list[int]) -> Route:
    ports = tuple(links.lower_port[link] for link in up)
    return Route("0.0.0.0/0", "bgp", ports, tuple(between(link, upper=True) for link in up))


class Routing:
    """Routes of all switches of a fabric: what lies below a switch is worked out once."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._leaves: dict[int, tuple[int, ...]] = {}  # of a switch: leaves below it
        self._ways = {switch.number: _ways(fabric, switch) for switch in fabric.switches}

    def _below(self, machine: int) -> tuple[int, ...]:
        """Leaves that are reached by going down only."""
        if machine not in self._leaves:
            fabric = self._fabric
            if fabric.is_host(machine):
                self._leaves[machine] = ()
            elif fabric.switch(machine).tier == 1:
                self._leaves[machine] = (machine - fabric.hosts,)
            else:
                found = {leaf for below in self._ways[machine][1] for leaf in self._below(below)}
                self._leaves[machine] = tuple(sorted(found))
        return self._leaves[machine]

    def _down(self, switch: Switch) -> Iterator[Route]:
        links, (_, down) = self._fabric.links, self._ways[switch.number]
        through: dict[int, list[int]] = {}
        for machine, listed in down.items():
            for leaf in self._below(machine):
                through.setdefault(leaf, []).extend(listed)
        for leaf in sorted(through):
            yield _to_leaf(links, leaf_prefix(leaf), sorted(through[leaf]))

    def _hosts(self, switch: Switch) -> Iterator[Route]:
        """A leaf's own networks: of each port that has a link."""
        leaf = switch.number - self._fabric.hosts
        links = self._fabric.links
        for listed in self._ways[switch.number][1].values():
            for link in listed:
                port = links.upper_port[link]
                network = text(host_address((leaf, port)))
                yield Route(f"{network}/31", "connected", (port,), ("",))

    def of(self, switch: Switch) -> list[Route]:
        """The routes of a switch, faults included."""
        fabric = self._fabric
        up, _ = self._ways[switch.number]
        found = list(self._hosts(switch) if switch.tier == 1 else self._down(switch))
        if up:
            found.append(_default(fabric.links, up))
        changed = {prefix: r for (machine, prefix), r in fabric.routes.items()
                   if machine == switch.number}  # fmt: skip
        return [changed.pop(route.prefix, route) for route in found] + list(changed.values())
