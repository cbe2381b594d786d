"""An independent walk over what switches printed: one packet, one next hop at a time.

Written against the texts alone (`config_db.json`, `show lldp table` and `show ip route json` of
SONiC); it shares no line with the parsers, the tables or the walk that it is held against.
"""

import ipaddress
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

DSCP, CLASS = "26", "3"
_NEIGHBOR = re.compile(r"^(Ethernet\d+) +(\S+) +(\S+) +\S+ +(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Texts:
    """What one switch printed."""

    config: str
    neighbors: str
    routes: str


@dataclass
class RawSwitch:
    """The same, taken apart by hand."""

    config: dict[str, Any]
    peers: dict[str, tuple[str, str]]  # port -> (machine, its port)
    routes: list[tuple[ipaddress.IPv4Network, list[str]]]

    def exits(self, address: str) -> list[str]:
        """The ports of the longest prefix."""
        wanted = ipaddress.IPv4Address(address)
        fitting = [(net.prefixlen, ports) for net, ports in self.routes if wanted in net]
        return max(fitting)[1] if fitting else []

    def class_of(self, port: str) -> str | None:
        """The traffic class that data gets where it comes in; None = not by its DSCP."""
        name = self.config["PORT_QOS_MAP"][port].get("dscp_to_tc_map")
        return self.config["DSCP_TO_TC_MAP"][name].get(DSCP) if name else None

    def pauses(self, port: str, traffic_class: str) -> bool:
        """Whether PFC is on."""
        listed = self.config["PORT_QOS_MAP"][port].get("pfc_enable", "")
        return traffic_class in listed.split(",")

    def _entry(self, table: str, port: str, number: str, field_name: str) -> str:
        for key, entry in self.config.get(table, {}).items():
            ports, _, numbers = key.rpartition("|")
            first, _, last = numbers.partition("-")
            if port in ports.split(",") and int(first) <= int(number) <= int(last or first):
                found = entry.get(field_name, "")
                if found:
                    return str(found)
        return ""

    def headroom(self, port: str, traffic_class: str) -> int:
        """What may arrive behind a pause."""
        profile = self._entry("BUFFER_PG", port, traffic_class, "profile")
        return int(self.config["BUFFER_PROFILE"].get(profile, {}).get("xoff", 0))

    def marks(self, port: str, traffic_class: str) -> bool:
        """Whether the queue of a class marks."""
        name = self.config["PORT_QOS_MAP"][port]["tc_to_queue_map"]
        queue = self.config["TC_TO_QUEUE_MAP"][name][traffic_class]
        profile = self._entry("QUEUE", port, queue, "wred_profile")
        wred = self.config.get("WRED_PROFILE", {}).get(profile, {})
        is_on = wred.get("ecn") in ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")
        return is_on and wred.get("wred_green_enable") == "true"


def taken_apart(texts: Texts) -> RawSwitch:
    """From texts to dictionaries."""
    routes = []
    for prefix, entries in json.loads(texts.routes).items():
        ports = [hop["interfaceName"] for hop in entries[0]["nexthops"]]
        routes.append((ipaddress.IPv4Network(prefix), ports))
    peers = {
        port: (machine, described)
        for port, machine, _, described in _NEIGHBOR.findall(texts.neighbors)
    }
    return RawSwitch(json.loads(texts.config), peers, routes)


@dataclass
class RawWay:
    """Every switch by the hop at which it is met, with the ports that are used there."""

    entries: dict[int, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(dict))
    exits: dict[int, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(dict))
    arrived: set[tuple[str, str]] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)  # hops


class RawWalk:
    """All paths between two ends, each step by itself."""

    def __init__(self, switches: dict[str, RawSwitch], host_mtu: int) -> None:
        self._switches = switches
        self._mtu = host_mtu

    def between(self, first: tuple[str, str], address: str) -> RawWay:
        """From a leaf's port, where packets come in, to an address."""
        way = RawWay()
        self._step(way, 1, first[0], first[1], address, set())
        return way

    def _step(
        self, way: RawWay, hop: int, name: str, port: str, address: str,
        done: set[tuple[int, str, str]],
    ) -> None:  # fmt: skip
        if (hop, name, port) in done:
            return
        done.add((hop, name, port))
        switch = self._switches[name]
        way.entries[hop].setdefault(name, set()).add(port)
        traffic_class = switch.class_of(port)
        ports = switch.exits(address)
        if traffic_class != CLASS or self._is_bad(switch, port, ports):
            way.broken.add(hop)
        for exit_port in ports:
            way.exits[hop].setdefault(name, set()).add(exit_port)
            machine, far_port = switch.peers[exit_port]
            if machine in self._switches:
                self._step(way, hop + 1, machine, far_port, address, done)
            else:
                way.arrived.add((machine, far_port))

    def _is_bad(self, switch: RawSwitch, entry: str, exits: list[str]) -> bool:
        """Whether data of the right class is hurt here."""
        small = any(int(switch.config["PORT"][p]["mtu"]) < self._mtu for p in (entry, *exits))
        lossy = not switch.pauses(entry, CLASS) or not switch.headroom(entry, CLASS)
        deaf = any(not switch.pauses(port, CLASS) for port in exits)
        return small or lossy or deaf or any(not switch.marks(port, CLASS) for port in exits)
