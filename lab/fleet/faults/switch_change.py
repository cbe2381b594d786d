"""The words that changes of fabrics are made of: each gives a function (fabric, place)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lab.fleet.fabric.model import End, Fabric, Heard, Route, Switch
from lab.fleet.fabric.routes import between, leaf_prefix
from lab.fleet.fabric.setting import Marking, Setting
from lab.fleet.faults.switch_fault import Change, Other, Place
from lab.fleet.model import HostModel, with_faults


def _struck(fabric: Fabric, place: Place) -> Switch:
    """The switch in the copy that is changed."""
    return fabric.switch(place.switch.number)


def port(**values: Any) -> Change:
    """Fields of the struck port."""

    def change(fabric: Fabric, place: Place) -> None:
        fabric.set_port(fabric.switch(place.end.machine), place.end.port, **values)

    return change


def worked_out(work: Callable[[Setting], Mapping[str, Any]]) -> Change:
    """Fields of the struck port, made of what it is set to."""

    def change(fabric: Fabric, place: Place) -> None:
        switch = fabric.switch(place.end.machine)
        setting = switch.settings[place.end.port]
        fabric.set_port(switch, place.end.port, **work(setting))

    return change


def marking(**values: Any) -> Change:
    """Of the queue of data on the struck port."""

    def work(setting: Setting) -> dict[str, Any]:
        changed: dict[int, Marking] = {
            queue: replace(one, **values) for queue, one in setting.marking.items()
        }
        return {"marking": changed}

    return worked_out(work)


def whole_switch(work: Callable[[Setting], Mapping[str, Any]]) -> Change:
    """Fields of all ports of the struck switch: what its system has one setting for."""

    def change(fabric: Fabric, place: Place) -> None:
        switch = _struck(fabric, place)
        known = {id(one): replace(one, **work(one)) for one in switch.settings}
        switch.settings = tuple(known[id(one)] for one in switch.settings)
        switch.changed = True

    return change


def switch_field(**values: Any) -> Change:
    """Fields of the struck switch itself."""

    def change(fabric: Fabric, place: Place) -> None:
        switch = _struck(fabric, place)
        for name, value in values.items():
            setattr(switch, name, value)
        switch.changed = True

    return change


def several(*changes: Change) -> Change:
    """One after the other."""

    def change(fabric: Fabric, place: Place) -> None:
        for one in changes:
            one(fabric, place)

    return change


def dscp(code: int, to: int) -> Callable[[Setting], Mapping[str, Any]]:
    """The map with one code point elsewhere."""

    def work(setting: Setting) -> dict[str, Any]:
        known = setting.dscp_class
        return {"dscp_class": (*known[:code], to, *known[code + 1 :])}

    return work


def counted(**values: int) -> Change:
    """Counters of the struck port, by name and number: queue_drops_3=7."""

    def work(setting: Setting) -> dict[str, Any]:
        more = {}
        for key, value in values.items():
            name, _, number = key.rpartition("_")
            more[name, int(number)] = value
        return {"counters": {**setting.counters, **more}}

    return worked_out(work)


def untouched(fabric: Fabric, place: Place) -> None:
    """As it is: healthy in the earlier snapshot."""


def host_card(values: Mapping[str, Any]) -> Change:
    """Fields of the card at a host's end."""

    def change(fabric: Fabric, place: Place) -> None:
        name = f"mlx5_{place.end.port}"

        def work(host: HostModel) -> HostModel:
            return with_faults(host, {(name, key): value for key, value in values.items()})

        machine = place.end.machine
        fabric.host_work[machine] = (*fabric.host_work.get(machine, ()), work)

    return change


# ---- cables


def cut(fabric: Fabric, place: Place) -> None:
    """The link is down."""
    fabric.cut(place.link)


def swapped(second: Other) -> Change:
    """Two cables are mixed up at their upper ends."""

    def change(fabric: Fabric, place: Place) -> None:
        fabric.recable(place.link, second(place))

    return change


def next_rail(place: Place) -> int:
    """The link of the same host and plane on the next rail, or on the one before."""
    fabric, end = place.fabric, place.end
    rail, plane = divmod(end.port, fabric.planes)
    other = rail + 1 if rail + 1 < fabric.rails else rail - 1
    return fabric.by_end()[End(end.machine, other * fabric.planes + plane)]


def other_plane(place: Place) -> int:
    """The link of the same card in the next plane."""
    fabric, end = place.fabric, place.end
    rail, plane = divmod(end.port, fabric.planes)
    other = (plane + 1) % fabric.planes
    return fabric.by_end()[End(end.machine, rail * fabric.planes + other)]


def _uplinks(fabric: Fabric, machine: int) -> list[int]:
    return [at for at in fabric.links_of(machine) if fabric.links.lower[at] == machine]


def own_uplink(place: Place) -> int:
    """Another uplink of the same switch, to another switch."""
    links = place.fabric.links
    mine = place.link
    found = [
        at
        for at in _uplinks(place.fabric, place.end.machine)
        if links.upper[at] != links.upper[mine]
    ]
    return found[0]


def foreign_uplink(place: Place) -> int:
    """An uplink of the next switch of the same pod and plane, to another switch."""
    fabric, links, mine = place.fabric, place.fabric.links, place.link
    own = place.switch
    for switch in fabric.switches:
        alike = (switch.tier, switch.pod, switch.plane) == (own.tier, own.pod, own.plane)
        if alike and switch.number != own.number:
            for at in _uplinks(fabric, switch.number):
                if links.upper[at] != links.upper[mine]:
                    return at
    raise ValueError("no other switch has uplinks there")


# ---- what is heard


def deaf(fabric: Fabric, place: Place) -> None:
    """The struck end hears nobody."""
    fabric.hearing[place.end] = ()


def both_deaf(fabric: Fabric, place: Place) -> None:
    """Neither end hears the other."""
    fabric.hearing[place.end] = fabric.hearing[place.peer] = ()


def hears_another(fabric: Fabric, place: Place) -> None:
    """The struck end hears the port beside its neighbor's: somebody forwards LLDP."""
    peer = place.peer
    beside = peer.port + 1 if peer.port else peer.port + 2
    fabric.hearing[place.end] = (Heard(peer.machine, beside),)


# ---- routes


def next_leaf(place: Place) -> int:
    """The first link of a spine to another leaf than that of the struck one."""
    links, mine = place.fabric.links, place.link
    found = (
        at
        for at in place.fabric.links_of(place.end.machine)
        if links.upper[at] == place.end.machine and links.lower[at] != links.lower[mine]
    )
    return next(found)


def bounce(fabric: Fabric, place: Place) -> None:
    """Two spines send a leaf's packets to other leaves, which send them up again.

    The struck spine does it through the second leaf, the next spine through the first: each of the
    four links between them then waits for the next one.
    """
    links, healthy = fabric.links, place.fabric
    first = place.switch
    twin = next(
        s
        for s in healthy.switches
        if (s.tier, s.pod, s.plane) == (2, first.pod, first.plane) and s.number != first.number
    )
    leaves = sorted({links.lower[at] for at in healthy.links_of(first.number)
                     if links.upper[at] == first.number})  # fmt: skip
    target = leaf_prefix(leaves[2] - fabric.hosts)
    for spine, through in ((first, leaves[1]), (twin, leaves[0])):
        at = next(at for at in healthy.links_of(spine.number) if links.lower[at] == through)
        route = Route(target, "bgp", (links.upper_port[at],), (between(at, upper=False),))
        fabric.routes[spine.number, target] = route
