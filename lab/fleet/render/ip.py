"""`ip -j address`, `ip -j route show table all`, `ip -j rule` and `ip -j neigh` of iproute2.

Key order and which keys are left out: read off release 6.1 in a network namespace.
"""

import ipaddress
import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lab.fleet.model import HostModel, Netdev, Nic, netdev_is_here
from lab.fleet.render.base import Said
from lab.fleet.system_model import Route

FOREVER = 4_294_967_295
# What the kernel says of an address that it made of an advertised prefix; lifetimes are those of
# RFC 4861's defaults, less the seconds since the last advertisement.
ADVERTISED = {
    "dynamic": True, "mngtmpaddr": True, "valid_life_time": 2_591_870,
    "preferred_life_time": 604_670,
}  # fmt: skip
Row = dict[str, Any]


def _json(rows: list[Row]) -> str:
    return json.dumps(rows, separators=(",", ":")) + "\n"


def netdevs(host: HostModel) -> list[Netdev]:
    """What is in the host's own namespace, in the kernel's order."""
    found = [netdev for netdev in (*host.nics, *host.netdevs) if netdev_is_here(netdev)]
    return sorted(found, key=lambda netdev: netdev.index)


# ---- addresses


def _flags(netdev: Netdev, bonds: frozenset[str]) -> list[str]:
    if netdev.netdev == "lo":
        return ["LOOPBACK", "UP", "LOWER_UP"]
    # Switched on, but without a carrier.
    flags = [] if netdev.up or not netdev.enabled else ["NO-CARRIER"]
    flags += ["BROADCAST", "MULTICAST"]
    if netdev.netdev in bonds:
        flags.append("MASTER")
    if netdev.master in bonds:
        flags.append("SLAVE")
    if netdev.up:
        return [*flags, "UP", "LOWER_UP"]
    return [*flags, "UP"] if netdev.enabled else flags


@lru_cache(maxsize=4096)
def _scope(address: str) -> str:
    known = ipaddress.ip_interface(address).ip
    return "host" if known.is_loopback else "link" if known.is_link_local else "global"


@lru_cache(maxsize=4096)
def _broadcast(address: str) -> str:
    """'' where a network is too small to have one, and on the loopback."""
    interface = ipaddress.IPv4Interface(address)
    if interface.ip.is_loopback or interface.network.prefixlen >= 31:
        return ""
    return str(interface.network.broadcast_address)


def _address(netdev: Netdev, text: str) -> Row:
    local, _, prefix = text.partition("/")
    six = ":" in local
    row: Row = {"family": "inet6" if six else "inet", "local": local, "prefixlen": int(prefix)}
    if not six:
        broadcast = _broadcast(text)
        row |= {"broadcast": broadcast} if broadcast else {}
    row["scope"] = _scope(text)
    if not six:
        row["label"] = netdev.netdev
    return row | {"valid_life_time": FOREVER, "preferred_life_time": FOREVER}


def _interface(netdev: Netdev, bonds: frozenset[str]) -> Row:
    infiniband = isinstance(netdev, Nic) and netdev.link_layer == "InfiniBand"
    loopback = netdev.netdev == "lo"
    row: Row = {
        "ifindex": netdev.index,
        **({"link": netdev.lower} if netdev.lower else {}),
        "ifname": netdev.netdev,
        "flags": _flags(netdev, bonds),
        "mtu": netdev.mtu,
        # What only passes packets on has no queues.
        "qdisc": "noqueue" if loopback or netdev.netdev in bonds or netdev.lower else "mq",
    }
    if netdev.master:
        row["master"] = netdev.master
    row |= {
        "operstate": "UNKNOWN" if loopback else "UP" if netdev.up else "DOWN",
        "group": "default",
        "txqlen": 1000,
        "link_type": "loopback" if loopback else "infiniband" if infiniband else "ether",
        "address": netdev.mac,
        "broadcast": "ff:ff:ff:ff:ff:ff",
    }
    if loopback:
        row["broadcast"] = netdev.mac
    if infiniband:
        row["broadcast"] = "00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff"
    if netdev.permanent_mac and netdev.permanent_mac != netdev.mac:
        row["permaddr"] = netdev.permanent_mac
    row["addr_info"] = [_address(netdev, text) for text in netdev.addresses]
    row["addr_info"] += [_address(netdev, text) | ADVERTISED for text in netdev.dynamic]
    return row


def addresses(host: HostModel) -> list[Row]:
    """`ip -j address show`."""
    bonds = frozenset(bond.netdev for bond in host.bonds)
    return [_interface(netdev, bonds) for netdev in netdevs(host)]


# ---- routes


def _advertised(route: Route) -> Row:
    """A route of IPv6 that a router has told."""
    row: Row = {"dst": route.destination, "gateway": route.gateway, "dev": route.netdev}
    row |= {"protocol": route.protocol, "metric": route.metric, "flags": []}
    return row | {"pref": "medium"}


def _route(route: Route, down: frozenset[str]) -> Row:
    row: Row = {"dst": route.destination}
    if route.gateway:
        row["gateway"] = route.gateway
    row["dev"] = route.netdev
    if route.table != "main":
        row["table"] = route.table
    row["protocol"] = route.protocol
    if not route.gateway:
        row["scope"] = "link"
    if route.source:
        row["prefsrc"] = route.source
    if route.metric:
        row["metric"] = route.metric
    return row | {"flags": ["linkdown"] if route.netdev in down else []}


def _own(kind: str, destination: str, netdev: str, scope: str, source: str) -> Row:
    return {
        "type": kind,
        "dst": destination,
        "dev": netdev,
        "table": "local",
        "protocol": "kernel",
        "scope": scope,
        "prefsrc": source,
        "flags": [],
    }


def _local_routes(netdev: Netdev) -> Iterator[Row]:
    """What the kernel keeps for an IPv4 address itself."""
    for text in netdev.addresses:
        if ":" in text:
            continue
        source = text.partition("/")[0]
        if netdev.netdev == "lo":
            yield _own("local", "127.0.0.0/8", "lo", "host", source)
            yield _own("local", source, "lo", "host", source)
            yield _own("broadcast", "127.255.255.255", "lo", "link", source)
            continue
        yield _own("local", source, netdev.netdev, "host", source)
        if _broadcast(text):
            yield _own("broadcast", _broadcast(text), netdev.netdev, "link", source)


def _six(destination: str, netdev: Netdev, metric: int, kind: str = "") -> Row:
    row: Row = {"type": kind} if kind else {}
    row |= {"dst": destination, "dev": netdev.netdev}
    row |= {"table": "local"} if kind else {}
    return row | {"protocol": "kernel", "metric": metric, "flags": [], "pref": "medium"}


@lru_cache(maxsize=4096)
def _network(address: str) -> str:
    return str(ipaddress.ip_interface(address).network)


def _routes_v6(shown: list[Netdev]) -> Iterator[Row]:
    having = [
        (netdev, [text for text in (*netdev.dynamic, *netdev.addresses) if ":" in text])
        for netdev in shown
        if netdev.up
    ]
    for netdev, texts in having:
        for text in texts if netdev.netdev != "lo" else ():
            yield _six(_network(text), netdev, 256)
    for netdev, texts in having:
        for text in texts:
            yield _six(text.partition("/")[0], netdev, 0, "local")
    for netdev, texts in having:
        if texts and netdev.netdev != "lo":
            yield _six("ff00::/8", netdev, 256, "multicast")


def routes(host: HostModel) -> list[Row]:
    """`ip -j route show table all`: the site's tables, the main one, the kernel's own, IPv6."""
    shown = netdevs(host)
    names = {netdev.netdev for netdev in shown}
    down = frozenset(netdev.netdev for netdev in shown if not netdev.up)
    here = [route for route in host.routes if route.netdev in names]
    kept = [route for route in here if ":" not in route.gateway]
    told = [_advertised(route) for route in here if route not in kept]
    rows = [_route(route, down) for route in kept if route.table != "main"]
    rows += [_route(route, down) for route in kept if route.table == "main"]
    for netdev in shown:
        rows += _local_routes(netdev)
    return [*rows, *told, *_routes_v6(shown)]


def rules(host: HostModel) -> list[Row]:
    """`ip -j rule show`."""
    rows = []
    for rule in sorted(host.rules, key=lambda rule: rule.priority):
        source, _, length = rule.source.partition("/")
        row: Row = {"priority": rule.priority, "src": source}
        row |= {"srclen": int(length)} if length else {}
        rows.append(row | {"table": rule.table})
    return rows


def neighbors(host: HostModel) -> list[Row]:
    """`ip -j neigh show` of the two states without an answer: such an entry has no MAC address."""
    return [
        {"dst": address, "dev": netdev.netdev, "state": [state]}
        for netdev in netdevs(host)
        for address, state in netdev.unresolved
    ]


def commands(host: HostModel) -> Iterator[Said]:
    """All that probes ask."""
    yield Said("ip -j address show", _json(addresses(host)))
    yield Said("ip -j route show table all", _json(routes(host)))
    yield Said("ip -j rule show", _json(rules(host)))
    yield Said("ip -j neigh show nud failed nud incomplete", _json(neighbors(host)))
    # The script that answers puts the two addresses before it.
    for route in [route for route in host.routes if route.destination == "default"][:1]:
        back: Row = {"gateway": route.gateway, "dev": route.netdev, "flags": [], "cache": []}
        yield Said("ip -j route get", _json([back])[2:])
