"""A packet on its way: the hops of every level, those that do the same as one."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import duckdb

from railwright.errors import UsageError
from railwright.fabric.ends import ClassFacts, End, classes_of, find_ends
from railwright.fabric.hop import Remark, Side, entry_words, exit_words, host_words
from railwright.fabric.infiniband import INFINIBAND, known_of
from railwright.fabric.packet import Packet, class_at, classes_at, cnp_packet, data_packet
from railwright.fabric.walk import Stop, Walk, walk_between
from railwright.intent.roles import make_site_ports
from railwright.intent.site import Site

OK, BROKEN, UNKNOWN = "ok", "broken", "unknown"
IN, OUT = "in", "out"
# What rules say of the ends on a packet's way: (machine, port, side) -> remarks.
Told = Mapping[tuple[str, str, str], tuple[Remark, ...]]
_NO_FACTS = ClassFacts()
_ROLE = "SELECT role FROM site_port WHERE target = ? AND device = ? AND port = ?"
_NOTHING = Side(
    ("not read",), (Remark(is_broken=False, what="nothing was read of this switch or port"),)
)


class Ports(NamedTuple):
    """Ports of one hop that do the same."""

    ports: tuple[str, ...]  # switch:port
    side: Side


class Group(NamedTuple):
    """Switches of one level that do the same."""

    switches: tuple[str, ...]
    tier: int | None
    by: str
    entries: tuple[Ports, ...]
    exits: tuple[Ports, ...]
    lost: tuple[Remark, ...]

    @property
    def remarks(self) -> list[tuple[str, Remark]]:
        """What is wrong or not known, with the first place where it is so."""
        found = [
            (ports.ports[0], remark)
            for ports in (*self.entries, *self.exits)
            for remark in ports.side.remarks
        ]
        return found + [(self.switches[0], remark) for remark in self.lost]


@dataclass(frozen=True)
class Trace:
    """One packet's way."""

    packet: Packet
    walk: Walk
    sender: Side
    receiver: Side
    levels: tuple[tuple[Group, ...], ...]

    def remarks(self) -> list[tuple[int, str, Remark]]:
        """Hop, place and remark, from the sender on. The receiver's hop is the last."""
        found = [(0, self.walk.source.name, remark) for remark in self.sender.remarks]
        if self.walk.lost:
            found.append((0, self.walk.source.name, Remark(is_broken=False, what=self.walk.lost)))
        for number, level in enumerate(self.levels, 1):
            found += [(number, *pair) for group in level for pair in group.remarks]
        last = len(self.levels) + 1
        return found + [
            (last, self.walk.destination.name, remark) for remark in self.receiver.remarks
        ]

    @property
    def verdict(self) -> str:
        """Broken wins over unknown: what is known to be wrong is wrong."""
        found = [remark.is_broken for _, _, remark in self.remarks()]
        if any(found):
            return BROKEN
        return UNKNOWN if found or self.packet.dscp is None else OK


def _merged(sides: dict[str, Side]) -> tuple[Ports, ...]:
    """Ports that do the same as one, the most first."""
    groups: dict[Side, list[str]] = defaultdict(list)
    for port, side in sides.items():
        groups[side].append(port)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), sorted(item[1])))
    return tuple(Ports(tuple(sorted(ports)), side) for side, ports in ordered)


class Sides(NamedTuple):
    """A switch on the way, and what its ports do."""

    stop: Stop
    entries: dict[str, Side]
    exits: dict[str, Side]


def _grouped(stops: list[Sides], walk: Walk) -> list[Group]:
    """Switches that do the same as one, the most first."""
    alike: dict[object, list[int]] = defaultdict(list)
    for place, (stop, entries, exits) in enumerate(stops):
        sides = (frozenset(entries.values()), frozenset(exits.values()))
        alike[sides, stop.lost.replace(stop.switch, ""), stop.by].append(place)
    found = []
    for places in sorted(alike.values(), key=lambda p: (-len(p), p)):
        first = stops[places[0]][0]
        ends = walk.ends.get(first.switch, {})
        entries = {name: side for p in places for name, side in stops[p][1].items()}
        exits = {name: side for p in places for name, side in stops[p][2].items()}
        tier = next((end.tier for end in ends.values()), None)
        switches = tuple(stops[p][0].switch for p in places)
        lost = (Remark(first.is_broken, first.lost),) if first.lost else ()
        found.append(Group(switches, tier, first.by, _merged(entries), _merged(exits), lost))
    return found


class _Tracer:
    def __init__(
        self, database: duckdb.DuckDBPyConnection, walk: Walk, packet: Packet, told: Told
    ) -> None:
        self._database, self._walk, self._packet, self._told = database, walk, packet, told
        classes = {number for met in Way(packet, walk).ends() for number in met.classes}
        switches = {stop.switch for level in walk.levels for stop in level}
        self._facts = classes_of(database, switches, classes) if classes else {}

    def _side(self, end: End, side: str, words: tuple[str, ...]) -> Side:
        return Side(words, self._told.get((end.target, end.port, side), ()))

    def _entry(self, end: End) -> Side:
        number = class_at(end, self._packet.dscp)
        facts = _NO_FACTS
        if isinstance(number, int):
            facts = self._facts.get((end.target, end.port, number), _NO_FACTS)
        return self._side(end, IN, entry_words(end, facts, self._packet))

    def _exit(self, end: End, classes: frozenset[int]) -> Side:
        """Entries that disagree about the class make several: then all are told."""
        said = [
            exit_words(
                end, one, self._facts.get((end.target, end.port, one), _NO_FACTS), self._packet
            )
            for one in sorted(classes)
        ] or [exit_words(end, None, _NO_FACTS, self._packet)]
        return self._side(end, OUT, tuple(dict.fromkeys(word for words in said for word in words)))

    def host(self, end: End, side: str) -> Side:
        """Where packets begin, or end."""
        if end.kind == INFINIBAND:
            return self._side(end, side, known_of(self._database, *end.rdma_port).words)
        return self._side(end, side, host_words(end, self._packet))

    def _stop(self, stop: Stop) -> Sides:
        ends = self._walk.ends.get(stop.switch, {})
        entries = {
            f"{stop.switch}:{port}": self._entry(ends[port]) if port in ends else _NOTHING
            for port in stop.entries
        }
        inside = [ends[port] for port in stop.entries & ends.keys()]
        classes = classes_at(inside, self._packet.dscp)
        exits = {
            ends[port].name: self._exit(ends[port], classes) for port in stop.exits & ends.keys()
        }
        return Sides(stop, entries, exits)

    def levels(self) -> tuple[tuple[Group, ...], ...]:
        """The groups of every level."""
        found = []
        for level in self._walk.levels:
            stops = [self._stop(stop) for stop in level]
            found.append(tuple(_grouped(stops, self._walk)))
        return tuple(found)


def trace(database: duckdb.DuckDBPyConnection, walk: Walk, packet: Packet, told: Told) -> Trace:
    """One packet along a walk."""
    tracer = _Tracer(database, walk, packet, told)
    sender, receiver = tracer.host(walk.source, OUT), tracer.host(walk.destination, IN)
    return Trace(packet, walk, sender, receiver, tracer.levels())


class Met(NamedTuple):
    """An end that a packet meets."""

    end: End
    side: str  # IN or OUT
    classes: frozenset[int]  # those that the packet may have there; none = not known


class Way(NamedTuple):
    """A packet and where it goes."""

    packet: Packet
    walk: Walk

    def ends(self) -> list[Met]:
        """Every end that it meets."""
        walk, dscp = self.walk, self.packet.dscp
        found = [Met(walk.source, OUT, classes_at([walk.source], dscp))]
        for stop in (stop for level in walk.levels for stop in level):
            known = walk.ends.get(stop.switch, {})
            entries = [known[port] for port in sorted(stop.entries & known.keys())]
            found += [Met(end, IN, classes_at([end], dscp)) for end in entries]
            inside = classes_at(entries, dscp)
            found += [Met(known[port], OUT, inside) for port in sorted(stop.exits & known.keys())]
        return [*found, Met(walk.destination, IN, classes_at([walk.destination], dscp))]


def ways(
    database: duckdb.DuckDBPyConnection, site: Site, source: str, destination: str, dscp: int | None
) -> list[Way]:
    """Data from one end to another, and the CNP that comes back; InfiniBand has none.

    Either member of a bond may carry them: then there are the ways of each.
    """
    firsts, lasts = find_ends(database, source), find_ends(database, destination)
    return [
        way
        for first in firsts
        for last in lasts
        for way in _ways(database, site, first, last, dscp)
    ]


def _ways(
    database: duckdb.DuckDBPyConnection, site: Site, first: End, last: End, dscp: int | None
) -> list[Way]:
    if first == last:
        raise UsageError(
            f"{first.name} is both source and destination",
            why="Packets from a port to itself do not leave the host.",
            do="Name two ports: railwright path gpu001:mlx5_0 gpu002:mlx5_0.",
        )
    if INFINIBAND in (first.kind, last.kind):
        return [_over_infiniband(database, first, last, dscp)]
    aside = _aside(database, site, first, last)
    data = data_packet(database, site, first, dscp, aside)
    cnp = cnp_packet(database, site, last, aside)
    return [
        Way(data, walk_between(database, first, last)),
        Way(cnp, walk_between(database, last, first)),
    ]


def _aside(database: duckdb.DuckDBPyConnection, site: Site, *ends: End) -> str:
    """Profiles describe traffic between compute ports, and nothing else."""
    database.execute(make_site_ports(site))
    for end in ends:
        row = database.execute(_ROLE, end.rdma_port).fetchone()
        if row and row[0] not in (None, "compute"):
            return f"{end.name} is a {row[0]} port, and the site file describes compute traffic"
    return ""


def _over_infiniband(
    database: duckdb.DuckDBPyConnection, first: End, last: End, dscp: int | None
) -> Way:
    if first.kind != last.kind:
        layers = (f"{end.name} is {_layer(end)}" for end in (first, last))
        raise UsageError(
            " and ".join(layers),
            why="RDMA packets do not pass between InfiniBand and Ethernet.",
            do="Name two ports with the same link layer.",
        )
    if dscp is not None:
        raise UsageError(
            f"--dscp {dscp} does not apply to {first.name}",
            why="InfiniBand packets have a service level, not a DSCP.",
            do="Leave out --dscp.",
        )
    return Way(Packet(INFINIBAND, None, ""), walk_between(database, first, last))


def _layer(end: End) -> str:
    return INFINIBAND if end.kind == INFINIBAND else "Ethernet"
