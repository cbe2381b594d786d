"""Where packets go, level by level: sets of switches, never one path at a time.

From a level of switches follow the ports that their routes name for the destination, all equal-cost
ones; of a switch whose routes were not read, those that lie on a shortest way. What leaves there
is the next level. The cost is that of the links that are used, however many paths they make.
"""

import ipaddress
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import duckdb

from railwright.fabric.ends import End, Ends, ends_of
from railwright.fabric.infiniband import INFINIBAND, known_of, not_followed
from railwright.store.duck import read_sql

MOST_LEVELS = 16  # a fabric of seven tiers has 13
BY_ROUTES, BY_TOPOLOGY = "routes", "topology"
Members = dict[tuple[str, str], set[str]]
_ADDRESS = read_sql(__file__, "address.sql")
_LONGEST = read_sql(__file__, "longest_route.sql")


class Stop(NamedTuple):
    """A switch on the way, with all ports by which packets come in and go out."""

    switch: str
    entries: frozenset[str]
    exits: frozenset[str]
    by: str  # what the exits are known by
    lost: str  # why packets do not get any further; '' = they do
    is_broken: bool  # whether that is a fault, or only not known


@dataclass
class Walk:
    """The way of packets from one end to another."""

    source: End
    destination: End
    address: str
    levels: list[list[Stop]] = field(default_factory=list)
    lost: str = ""  # why it does not even begin
    ends: Ends = field(default_factory=dict)  # all ends of the switches on the way

    @property
    def by(self) -> set[str]:
        """What next hops are known by."""
        return {stop.by for level in self.levels for stop in level if stop.by}


class Forwarding:
    """What switches do with packets to one destination."""

    def __init__(self, database: duckdb.DuckDBPyConnection, destination: End) -> None:
        self._database = database
        self._destination = destination
        self.address = self._address()
        self._distances: dict[str, int] | None = None

    def _address(self) -> str:
        """The address of the destination; '' = not read."""
        asked = {"target": self._destination.target, "port": self._destination.port}
        found = self._database.execute(_ADDRESS, asked).fetchone()
        return str(found[0]) if found else ""

    def _links(self) -> dict[str, list[tuple[str, str]]]:
        rows = self._database.execute(
            "SELECT target, port, peer FROM link_end WHERE kind = 'switch' "
            "AND peer_kind = 'switch' AND is_up IS DISTINCT FROM false"
        ).fetchall()
        links: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for target, port, peer in rows:
            links[target].append((port, peer))
        return links

    def _steps(self) -> dict[str, int]:
        """Of each switch how many steps it is away from the destination's switch."""
        if self._distances is None:
            neighbors: dict[str, set[str]] = defaultdict(set)
            for switch, links in self._links().items():
                for _, peer in links:
                    neighbors[switch].add(peer)
                    neighbors[peer].add(switch)
            level = {self._destination.peer or ""}
            distances = dict.fromkeys(level, 0)
            while level:
                level = {n for s in level for n in neighbors[s] if n not in distances}
                distances |= dict.fromkeys(level, max(distances.values()) + 1)
            self._distances = distances
        return self._distances

    def routes(self, switches: set[str]) -> dict[str, str | None]:
        """Of each switch with routes the ports for the destination; None = no route fits."""
        if not self.address:
            return {}
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:  # no address, whatever a host calls so: then no route is known for it
            return {}
        if address.version == 4:
            asked = {"switches": sorted(switches), "address": int(address)}
            rows = self._database.execute(_LONGEST, asked).fetchall()
        else:
            rows = self._longest_of_all(switches, address)
        read = self._database.execute(
            "SELECT DISTINCT target FROM switch_route WHERE target IN "
            "(SELECT unnest(?::VARCHAR[]))",
            [sorted(switches)],
        ).fetchall()
        found: dict[str, str | None] = {target: None for (target,) in read}
        return found | dict(rows)

    def _longest_of_all(
        self, switches: set[str], address: ipaddress.IPv4Address | ipaddress.IPv6Address
    ) -> list[tuple[str, str]]:
        best: dict[str, tuple[tuple[int, bool], str]] = {}
        rows = self._database.execute(
            "SELECT target, vrf, prefix, ports FROM switch_route WHERE prefix LIKE '%:%' AND "
            "target IN (SELECT unnest(?::VARCHAR[]))",
            [sorted(switches)],
        ).fetchall()
        for target, vrf, prefix, ports in rows:
            try:
                network = ipaddress.ip_network(prefix, strict=False)
            except ValueError:
                continue
            rank = (network.prefixlen, vrf == "default")
            if address in network and (target not in best or best[target][0] < rank):
                best[target] = (rank, ports)
        return [(target, ports) for target, (_, ports) in best.items()]

    def members(self, switches: set[str]) -> Members:
        """The ports of each bundle of ports."""
        found: Members = defaultdict(set)
        rows = self._database.execute(
            "SELECT DISTINCT target, vlan_mode, port FROM switch_port WHERE vlan_mode <> '' "
            "AND target IN (SELECT unnest(?::VARCHAR[]))",
            [sorted(switches)],
        ).fetchall()
        for target, bundle, port in rows:
            found[target, bundle].add(port)
        return found

    def nearer(self, switch: str, ends: Ends) -> frozenset[str]:
        """The ports that lie on a shortest way."""
        if switch == self._destination.peer:
            return frozenset([self._destination.peer_port or ""])
        steps = self._steps()
        here = steps.get(switch)
        if here is None:
            return frozenset()
        return frozenset(
            port
            for port, end in ends.get(switch, {}).items()
            if end.peer_kind == "switch"
            and end.is_up is not False
            and steps.get(end.peer or "") == here - 1
        )


class _Walker:
    """Goes from level to level."""

    def __init__(self, database: duckdb.DuckDBPyConnection, walk: Walk, to: Forwarding) -> None:
        self._database, self._walk, self._forwarding = database, walk, to
        self._seen: set[str] = set()
        self._routes: dict[str, str | None] = {}  # of the level at hand
        self._members: Members = {}

    def go(self) -> None:
        """Level by level until nothing follows."""
        walk = self._walk
        arrivals = {walk.source.peer or "": {walk.source.peer_port or ""}}
        while arrivals and len(walk.levels) < MOST_LEVELS:
            switches = set(arrivals)
            self._seen |= switches
            walk.ends |= ends_of(self._database, switches)
            self._routes = self._forwarding.routes(switches)
            self._members = self._forwarding.members(switches)
            level = []
            following: dict[str, set[str]] = defaultdict(set)
            for switch, entries in sorted(arrivals.items()):
                ahead, stop = self._follow(self._stop(switch, entries))
                level.append(stop)
                for peer, ports in ahead.items():
                    following[peer] |= ports
            walk.levels.append(level)
            arrivals = following

    def _stop(self, switch: str, entries: set[str]) -> Stop:
        into, nowhere = frozenset(entries), frozenset[str]()
        if switch not in self._routes:
            exits = self._forwarding.nearer(switch, self._walk.ends)
            lost = "" if exits else "no way from here to the destination is known"
            return Stop(switch, into, exits, BY_TOPOLOGY, lost, is_broken=False)
        told = self._routes[switch]
        if not told:
            why = f"no route to {self._walk.address}"
            why = why if told is None else f"the route to {self._walk.address} ends here"
            return Stop(switch, into, nowhere, BY_ROUTES, why, is_broken=True)
        exits, lost = self._exits(switch, told.split(","))
        return Stop(switch, into, exits, BY_ROUTES, lost, is_broken=False)

    def _exits(self, switch: str, names: list[str]) -> tuple[frozenset[str], str]:
        """The ports that a route names, as ends of links; and why some are none."""
        exits: set[str] = set()
        known = self._walk.ends.get(switch, {})
        lost = ""
        for name in names:
            if name in known:
                exits.add(name)
            elif self._members.get((switch, name)):
                exits |= self._members[switch, name] & known.keys()
            elif switch == self._walk.destination.peer:  # a VLAN: the cable tells the port
                exits |= self._forwarding.nearer(switch, self._walk.ends)
            else:
                lost = f"goes out through {name}, where no link is known"
        return frozenset(exits), lost

    def _follow(self, stop: Stop) -> tuple[dict[str, set[str]], Stop]:
        """Where the exits lead: the next switches, and what went wrong on the way."""
        following: dict[str, set[str]] = defaultdict(set)
        lost, is_broken = stop.lost, stop.is_broken
        aim = (self._walk.destination.target, self._walk.destination.port)
        for port in sorted(stop.exits):
            end = self._walk.ends.get(stop.switch, {}).get(port)
            if end is None or not end.peer:
                lost = lost or f"whom {stop.switch}:{port} is connected to is not known"
            elif end.peer_kind == "switch" and end.peer in self._seen:
                lost, is_broken = f"{port} leads back to {end.peer}: a loop", True
            elif end.peer_kind == "switch":
                following[end.peer].add(end.peer_port or "")
            elif end.peer_kind == "stranger":
                lost = lost or f"{port} leads to {end.peer}, which was not read"
            elif (end.peer, end.peer_port) != aim:
                lost, is_broken = f"{port} leads to {end.peer}:{end.peer_port}", True
        return following, stop._replace(lost=lost, is_broken=is_broken)


def walk_between(database: duckdb.DuckDBPyConnection, source: End, destination: End) -> Walk:
    """The whole way, or as far as it is known."""
    if source.kind == INFINIBAND:
        ends = (known_of(database, *end.rdma_port) for end in (source, destination))
        return Walk(source, destination, "", lost=not_followed(*ends))
    forwarding = Forwarding(database, destination)
    walk = Walk(source, destination, forwarding.address)
    for end in (source, destination):
        if end.peer_kind != "switch":
            who = "LLDP has no neighbor there" if end.peer == "" else "LLDP was not read"
            who = f"its neighbor {end.peer} was not read" if end.peer else who
            walk.lost = f"which switch {end.name} is connected to is not known: {who}"
            return walk
    _Walker(database, walk, forwarding).go()
    return walk
