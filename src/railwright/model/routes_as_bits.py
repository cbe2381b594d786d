"""The routes of all switches as bits: which prefixes a switch sends to which neighbor.

A switch has many routes and few ways: those with the same ports are read as one. Some 1,300
switches with as many prefixes each are 1.6 million routes, and 160,000 numbers of 160 bytes.
"""

import ipaddress
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import duckdb

from railwright.model.circles import Sent, reversed_of
from railwright.store.duck import read_sql

_HOP = read_sql(__file__, "route_hops.sql")
_PREFIXES = """
    SELECT vrf || ' ' || prefix AS name, row_number() OVER (ORDER BY vrf, prefix) - 1 AS number
    FROM (SELECT DISTINCT vrf, prefix FROM switch_route)
"""
_SENT = read_sql(__file__, "route_ways.sql").format(prefixes=_PREFIXES, hops=_HOP)
_TIERS = read_sql(__file__, "route_tiers.sql")

Network = tuple[str, int, int, int]  # VRF, bits of an address, the first address, prefix length


@dataclass
class Routes:
    """Of all switches of a snapshot."""

    tiers: dict[str, int | None]  # every switch
    around: dict[str, list[str]]  # switch -> switches that it is connected to by lossless ports
    names: list[str]  # "vrf prefix", by the number of its bit
    sent: Sent = field(default_factory=dict)  # only switches whose routes were read
    held: dict[str, int] = field(default_factory=dict)  # prefixes that a switch has a route for
    _networks: dict[int, Network] = field(default_factory=dict)  # by the number of its bit

    def add(self, switch: str, peers: Iterable[str], numbers: list[int]) -> None:
        """Some routes with the same ports."""
        bits = _bits(numbers)
        self.held[switch] = self.held.get(switch, 0) | bits
        towards = self.sent.setdefault(switch, {})
        for peer in peers:
            towards[peer] = towards.get(peer, 0) | bits

    def one_of(self, bits: int) -> str:
        """A prefix of several."""
        return self.names[(bits & -bits).bit_length() - 1].rpartition(" ")[2]

    def _each(self, bits: int) -> Iterator[int]:
        while bits:
            lowest = bits & -bits
            yield lowest.bit_length() - 1
            bits ^= lowest

    def cover(self) -> None:
        """Let prefixes that reach a switch with only a wider route for them follow that one."""
        received = reversed_of(self.sent)
        for switch, held in self.held.items():
            arriving = 0
            for bits in received.get(switch, {}).values():
                arriving |= bits
            if arriving & ~held:
                self._cover(switch, arriving & ~held)

    def _cover(self, switch: str, missing: int) -> None:
        held = {self._network(number): number for number in self._each(self.held[switch])}
        starts = sorted((vrf, width, first) for vrf, width, first, _ in held)
        for number in self._each(missing):
            vrf, width, first, length = network = self._network(number)
            # Where it has parts of the prefix, packets follow those: nothing is said of the rest.
            at = bisect_left(starts, (vrf, width, first))
            last = first | (1 << (width - length)) - 1
            if at < len(starts) and starts[at] <= (vrf, width, last):
                continue
            wider = next((held[one] for one in _wider(network) if one in held), None)
            if wider is not None:
                like, bit = 1 << wider, 1 << number
                towards = self.sent[switch]
                for peer, bits in towards.items():
                    if bits & like:
                        towards[peer] = bits | bit

    def _network(self, number: int) -> Network:
        found = self._networks.get(number)
        if found is None:
            found = self._networks[number] = _network(self.names[number])
        return found


def _bits(numbers: list[int]) -> int:
    held = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        held[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(held, "little")


def _network(name: str) -> Network:
    vrf, _, prefix = name.rpartition(" ")
    try:
        found = ipaddress.ip_network(prefix, strict=False)
    except ValueError:  # somebody changed the snapshot: in a room of its own it covers nothing
        return name, 0, 0, 0
    return vrf, found.max_prefixlen, int(found.network_address), found.prefixlen


def _wider(network: Network) -> Iterator[Network]:
    """The networks that hold it, the narrowest first."""
    vrf, width, first, own = network
    for length in range(own - 1, -1, -1):
        yield vrf, width, first >> (width - length) << (width - length), length


def read_routes(database: duckdb.DuckDBPyConnection) -> Routes:
    """From the tables of a snapshot."""
    tiers = dict(database.execute(_TIERS).fetchall())
    around = database.execute(
        f"SELECT target, list(DISTINCT peer) FROM ({_HOP}) WHERE peer IN "
        "(SELECT target FROM target WHERE kind = 'switch') GROUP BY target"
    ).fetchall()
    names = database.execute(f"SELECT name FROM ({_PREFIXES}) ORDER BY number").fetchall()
    routes = Routes(tiers, dict(around), [name for (name,) in names])
    rows = database.execute(_SENT)
    while part := rows.fetchmany(10_000):
        for switch, peers, numbers in part:
            routes.add(switch, peers or (), numbers)
    routes.cover()
    return routes
