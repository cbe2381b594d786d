"""ip link, address and route of iproute2, as far as simple."""

import ipaddress
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.fleet.model import Netdev, Nic
from lab.fleet.port_model import GidEntry
from lab.fleet.system_model import Route
from lab.writes import attributes, link
from lab.writes.outcome import KernelError, Outcome, number, refused

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("ip",)
_OBJECTS = {"l": "link", "link": "link", "a": "address", "addr": "address", "address": "address",
            "r": "route", "route": "route"}  # fmt: skip


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`ip link set`, `ip addr add|del|replace`, `ip route add|del|replace`."""
    del program, stdin
    words = [word for word in arguments if not word.startswith("-")]
    if len(words) < 2 or words[0] not in _OBJECTS:
        return None
    what, action = _OBJECTS[words[0]], words[1]
    try:
        if what == "link" and action == "set":
            return _link(state, words[2:])
        if what == "address" and action in ("add", "del", "delete", "replace", "change"):
            return _address(state, action, words[2:])
        if what == "route" and action in ("add", "del", "delete", "replace", "change"):
            return _route(state, action, words[2:])
    except KernelError as error:
        raise refused(f"RTNETLINK answers: {error.words}\n", 2) from None
    return None


def _netdev(state: "HostState", name: str) -> Netdev:
    found = state.netdev(name)
    if found is None:
        raise refused(f'Cannot find device "{name[:200]}"\n')
    return found


def _link(state: "HostState", words: list[str]) -> Outcome:
    rest = [word for word in words if word != "dev"]
    if not rest:
        raise refused('Not enough information: "dev" argument is required.\n', 255)
    names = [w for w in rest if state.netdev(w) is not None]
    name = names[0] if names else rest[0]
    known = _netdev(state, name)
    rest.remove(name)
    while rest:
        word = rest.pop(0)
        if word in ("up", "down"):
            if known.enabled != (word == "up"):
                link.switch(state, name, on=word == "up")
        elif word == "mtu" and rest:
            text = rest.pop(0)
            size = number(text, 0, 2**32 - 1)
            if size is None:
                raise refused(
                    f'Error: argument "{text[:200]}" is wrong: Invalid "mtu" value\n\n', 255
                )
            most = attributes.MTU[1]
            if size > most and name != "lo":
                raise refused("Error: mtu greater than device maximum.\n", 2)
            if size < attributes.MTU[0]:
                raise refused("Error: mtu less than device minimum.\n", 2)
            attributes.set_mtu(state, name, size)
        elif word in ("txqueuelen", "alias") and rest:
            rest.pop(0)
        else:
            raise refused(
                f'Error: either "dev" is duplicate, or "{word[:200]}" is a garbage.\n', 255
            )
    return Outcome()


def _interface(text: str) -> str:
    """10.21.0.1 -> 10.21.0.1/32."""
    try:
        found = ipaddress.ip_interface(text)
    except ValueError:
        words = f'any valid prefix is expected rather than "{text[:200]}".'
        raise refused(f"Error: {words}\n") from None
    return f"{found.ip}/{found.network.prefixlen}"


def _after(words: list[str], key: str) -> str:
    place = words.index(key) + 1 if key in words else len(words)
    return words[place] if place < len(words) else ""


def _address(state: "HostState", action: str, words: list[str]) -> Outcome:
    if not words:
        raise refused('Not enough information: "dev" argument is required.\n', 255)
    netdev = _netdev(state, _after(words, "dev"))
    text = _interface(words[0] if words[0] != "dev" else _after(words, words[1]))
    there = text in netdev.addresses
    if action in ("del", "delete"):
        if not there:
            raise refused("RTNETLINK answers: Cannot assign requested address\n", 2)
        new = tuple(one for one in netdev.addresses if one != text)
    elif there:
        if action == "add":
            raise refused("RTNETLINK answers: File exists\n", 2)
        return Outcome()
    else:
        new = (*netdev.addresses, text)
    if state.set(netdev.netdev, "addresses", new):
        _connected(state, netdev.netdev, text, added=action not in ("del", "delete"))
        nic = state.nic(netdev.netdev)
        if nic is not None and nic.link_layer == "Ethernet":
            _gids(state, nic, text, added=action not in ("del", "delete"))
    return Outcome()


def _connected(state: "HostState", netdev: str, text: str, *, added: bool) -> None:
    """The kernel's own route; of IPv6 the renderer derives it."""
    interface = ipaddress.ip_interface(text)
    if interface.version == 6:
        return
    route = Route(str(interface.network), netdev, source=str(interface.ip))
    now = state.model().routes
    if added and route not in now and interface.network.prefixlen < 32:
        state.force("host", "routes", (*now, route))
    elif not added:
        gone = [r for r in now if r.netdev == netdev and r.source == route.source]
        state.force("host", "routes", tuple(one for one in now if one not in gone))


def _gids(state: "HostState", nic: Nic, text: str, *, added: bool) -> None:
    """A GID appears in the first two free slots, or goes: others keep their index."""
    ip = ipaddress.ip_interface(text).ip
    six = ip if ip.version == 6 else ipaddress.IPv6Address(f"::ffff:{ip}")
    gid = six.packed.hex(":", 2)
    if not added:
        left = tuple(one for one in nic.gids if one.gid != gid)
        state.force(nic.name, "gids", left)
        return
    used = {one.index for one in nic.gids}
    free = [index for index in range(256) if index not in used][:2]
    new = [GidEntry(index, gid, kind, nic.netdev)
           for index, kind in zip(free, ("IB/RoCE v1", "RoCE v2"), strict=False)]  # fmt: skip
    state.force(nic.name, "gids", tuple(sorted((*nic.gids, *new), key=lambda one: one.index)))


def _route(state: "HostState", action: str, words: list[str]) -> Outcome:
    if not words:
        raise refused('Error: either "to" is duplicate, or "" is a garbage.\n', 255)
    destination = words[0]
    if destination != "default":
        try:
            destination = str(ipaddress.ip_network(destination))
        except ValueError:
            answer = f'Error: any valid prefix is expected rather than "{destination[:200]}".\n'
            raise refused(answer) from None
    table = _after(words, "table") or "main"
    gateway, dev = _after(words, "via"), _after(words, "dev")
    metric = number(_after(words, "metric") or "0", 0, 2**32 - 1) or 0
    now = state.model().routes
    same = [
        one for one in now
        if (one.destination, one.table) == (destination, table)
        and (not dev or one.netdev == dev) and (not gateway or one.gateway == gateway)
    ]  # fmt: skip
    if action in ("del", "delete"):
        if not same:
            raise refused("RTNETLINK answers: No such process\n", 2)
        state.set("host", "routes", tuple(one for one in now if one is not same[0]))
        return Outcome()
    if not dev and gateway:
        via = ipaddress.ip_address(gateway) if _is_address(gateway) else None
        netdevs = [one.netdev for one in (*state.model().nics, *state.model().netdevs)
                   for text in one.addresses
                   if via is not None and via in ipaddress.ip_interface(text).network]  # fmt: skip
        dev = netdevs[0] if netdevs else ""
    if not dev:
        raise refused("RTNETLINK answers: No such device\n", 2)
    _netdev(state, dev)
    if same and action == "add":
        raise refused("RTNETLINK answers: File exists\n", 2)
    protocol = _after(words, "proto") or "boot"
    route = Route(destination, dev, gateway, _after(words, "src"), table, protocol, metric)
    kept = tuple(
        one for one in now
        if action == "add" or (one.destination, one.table) != (destination, table)
    )  # fmt: skip
    state.set("host", "routes", (*kept, replace(route)))
    return Outcome()


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
