"""`railwright path A B`: a packet's way, hop by hop; hops that do the same as one."""

import json
from collections import Counter
from typing import Any

from railwright.fabric.hop import Remark, Side
from railwright.fabric.infiniband import INFINIBAND
from railwright.fabric.packet import SITE, Packet
from railwright.fabric.trace import BROKEN, UNKNOWN, Group, Ports, Trace
from railwright.fabric.walk import BY_ROUTES, BY_TOPOLOGY, Walk
from railwright.nodes import fold
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, in_phrases, number_of, wrapped
from railwright.report.status import exit_status
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-path-2"
_STYLES = {True: "red", False: "yellow"}


def traces_status(traces: list[Trace], snapshot: Snapshot | None) -> int:
    """1: something breaks a packet's way; 3: not all of it is known."""
    verdicts = {trace.verdict for trace in traces}
    return exit_status(found=BROKEN in verdicts, unknown=UNKNOWN in verdicts, snapshot=snapshot)


def print_traces(screen: Screen, traces: list[Trace]) -> None:
    """Data, then the CNP that comes back."""
    for number, trace in enumerate(traces):
        if number:
            screen.line()
        _print_trace(screen, trace)


def _known_by(walk: Walk) -> str:
    counts = {BY_ROUTES: 0, BY_TOPOLOGY: 0}
    for level in walk.levels:
        for stop in level:
            counts[stop.by] += 1
    to = plain(walk.address) or "an address that was not read"
    routes, cables = counts[BY_ROUTES], counts[BY_TOPOLOGY]
    if not cables:
        return f"next hops by the routes to {to}"
    way = "shortest ways over the cables: "
    way += "no routes were read" if walk.address else "the address was not read"
    if not routes:
        return f"next hops by {way}"
    told = number_of(cables, "switch")
    return f"next hops by the routes to {to}, of {told} by {way}"


def _print_trace(screen: Screen, trace: Trace) -> None:
    packet, walk = trace.packet, trace.walk
    if packet.name == INFINIBAND:
        screen.heading(f"{INFINIBAND} {walk.source.name} -> {walk.destination.name}")
        _print_way(screen, trace)
        return
    dscp = "DSCP unknown" if packet.dscp is None else f"DSCP {packet.dscp} ({packet.dscp_from})"
    name = packet.name[:1].upper() + packet.name[1:]
    screen.heading(f"{name} {walk.source.name} -> {walk.destination.name}", f", {dscp}")
    if packet.dscp is None:
        for line in wrapped(screen, f"What it is sent with was not read: {_ASK[packet.name]}", 2):
            screen.line(line, "yellow")
    if walk.levels:
        for line in wrapped(screen, _known_by(walk), 2):
            screen.line(line, "dim")
    _print_way(screen, trace)


class _Open:
    """What is inconclusive on one way: what a system never tells is said at its first port only."""

    def __init__(self, trace: Trace) -> None:
        self._times = Counter(one.what for _, _, one in trace.remarks() if not one.is_broken)
        self._said: set[str] = set()

    def heading(self, remark: Remark) -> str:
        """What is set before it; '' = it was said."""
        if remark.is_broken:
            return "fault"
        if remark.what in self._said:
            return ""
        self._said.add(remark.what)
        return "inconclusive" + (", here and further on" * (self._times[remark.what] > 1))


def _print_way(screen: Screen, trace: Trace) -> None:
    walk, told = trace.walk, _Open(trace)
    _print_host(screen, 0, walk.source.name, trace.sender, told)
    if walk.lost:
        _print_remark(screen, Remark(is_broken=False, what=walk.lost), told)
    for number, level in enumerate(trace.levels, 1):
        _print_level(screen, number, level, told)
    last = len(trace.levels) + 1
    _print_host(screen, last, walk.destination.name, trace.receiver, told)
    _print_verdict(screen, trace)


_ASK = {
    "data": "name it with --dscp, or data_dscp in the site file.",
    "CNP": "name it with cnp_dscp in the site file.",
}


def _print_host(screen: Screen, number: int, name: str, side: Side, told: _Open) -> None:
    screen.line(f" {number:>2}  {plain(name)}")
    _print_words(screen, "", side, told)


def _print_level(screen: Screen, number: int, groups: tuple[Group, ...], told: _Open) -> None:
    usual = groups[0]
    total = sum(len(group.switches) for group in groups)
    if total == 1:
        screen.line(f" {number:>2}  {plain(usual.switches[0])}, {_tier(usual)}")
    else:
        most = len(usual.switches)
        alike = "all alike" if most == total else "no two alike" if most == 1 else f"{most} alike"
        line = f" {number:>2}  {number_of(total, 'switch')}, {_tier(usual)}, {alike}"
        rest = f": {fold(usual.switches)}" if most > 1 else ""
        screen.line(cut(screen, line + plain(rest)))
    for place, group in enumerate(groups):
        if place or (total > 1 and len(usual.switches) == 1):
            differs = "" if not place else " differs" if len(group.switches) == 1 else " differ"
            screen.line(cut(screen, f"     {plain(fold(group.switches))}{differs}"))
        _print_group(screen, group, usual if place else None, told)


def _tier(group: Group) -> str:
    return f"tier {'not known' if group.tier is None else group.tier}"


def _same(ports: tuple[Ports, ...]) -> set[Side]:
    return {one.side for one in ports}


def _print_group(screen: Screen, group: Group, usual: Group | None, told: _Open) -> None:
    """Of switches that differ from most only what differs."""
    for word, own, others in (
        ("in", group.entries, usual.entries if usual else ()),
        ("out", group.exits, usual.exits if usual else ()),
    ):
        if usual is None or _same(own) != _same(others):
            for ports in own:
                _print_words(screen, f"{word:<3} {_ports(ports, group)}: ", ports.side, told)
    for remark in group.lost:
        _print_remark(screen, remark, told)


def _ports(ports: Ports, group: Group) -> str:
    if len(ports.ports) > 1:
        return number_of(len(ports.ports), "port")
    name = ports.ports[0]
    return plain(name if len(group.switches) > 1 else name.partition(":")[2])


def _print_words(screen: Screen, head: str, side: Side, told: _Open) -> None:
    text = head.replace(" ", "\xa0") + in_phrases(", ".join(side.words))
    for line in wrapped(screen, text.replace(":\xa0", ": ", 1), 5):
        screen.line(line)
    for remark in side.remarks:
        _print_remark(screen, remark, told)


def _print_remark(screen: Screen, remark: Remark, told: _Open) -> None:
    heading = told.heading(remark)
    if not heading:
        return
    for line in wrapped(screen, f"{heading}: {plain(remark.what)}", 7):
        screen.line(line, _STYLES[remark.is_broken])


def _print_verdict(screen: Screen, trace: Trace) -> None:
    found = trace.remarks()
    worst = [one for one in found if one[2].is_broken] or found
    if not worst:
        if trace.packet.dscp is None and trace.packet.name in _ASK:
            said = "  Inconclusive: class, PFC and ECN depend on the DSCP."
            screen.line(said, _STYLES[False])
        else:
            _print_sound(screen, trace.packet)
        return
    hop, place, remark = worst[0]
    word = "First fault" if remark.is_broken else "Inconclusive"
    more = f"; {number_of(len(worst) - 1, 'more')}".replace("mores", "more")
    text = f"{word} at hop {hop}, {plain(place)}: {plain(remark.what)}"
    text += more if len(worst) > 1 else ""
    for line in wrapped(screen, text, 2):
        screen.line(line, _STYLES[remark.is_broken])
    packet = trace.packet
    if packet.dscp is not None and packet.is_meant and packet.dscp_from not in (SITE, "--dscp"):
        said = "judged by the DSCP that this packet has; check does not know it without a site file"
        for line in wrapped(screen, said, 4):
            screen.line(line, "dim")


def _print_sound(screen: Screen, packet: Packet) -> None:
    if packet.is_meant:
        screen.line("  No fault on this path.", "green")
        return
    said = "MTU and routes are in order; class, PFC and ECN were not judged"
    for line in wrapped(screen, f"{said}: {plain(packet.aside)}.", 2):
        screen.line(line, "yellow")


def _side_json(side: Side) -> dict[str, Any]:
    return {
        "does": list(side.words),
        "broken": [one.what for one in side.remarks if one.is_broken],
        "unknown": [one.what for one in side.remarks if not one.is_broken],
    }


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "switches": list(group.switches),
        "tier": group.tier,
        "next_hops_by": group.by,
        "in": [{"ports": list(one.ports), **_side_json(one.side)} for one in group.entries],
        "out": [{"ports": list(one.ports), **_side_json(one.side)} for one in group.exits],
        "broken": [one.what for one in group.lost if one.is_broken],
        "unknown": [one.what for one in group.lost if not one.is_broken],
    }


def packets_json(traces: list[Trace]) -> list[dict[str, Any]]:
    """Each packet's way, hop by hop, and what is wrong on it."""
    packets = []
    for trace in traces:
        packet, walk = trace.packet, trace.walk
        packets.append(
            {
                "packet": packet.name,
                "from": walk.source.name,
                "to": walk.destination.name,
                "address": walk.address or None,
                "dscp": packet.dscp,
                "dscp_from": packet.dscp_from or None,
                "class_not_judged": packet.aside or None,
                "sender": _side_json(trace.sender),
                "hops": [[_group_json(group) for group in level] for level in trace.levels],
                "receiver": _side_json(trace.receiver),
                "lost": walk.lost or None,
                "verdict": trace.verdict,
                "remarks": [
                    {
                        "hop": hop,
                        "at": place,
                        "broken": one.is_broken,
                        "rule": one.rule or None,
                        "what": one.what,
                    }
                    for hop, place, one in trace.remarks()
                ],
            }
        )
    return packets


def traces_json(snapshot: str, status: int, traces: list[Trace]) -> str:
    """The same for programs."""
    return _json(snapshot, status, packets_json(traces), None)


def not_read_json(snapshot: str, status: int, why: str) -> str:
    """The same where a machine at one end was not read: there is no packet to follow."""
    return _json(snapshot, status, [], why)


def _json(snapshot: str, status: int, packets: list[dict[str, Any]], why: str | None) -> str:
    head = {"format": FORMAT, "snapshot": snapshot, "exit_status": status}
    return json.dumps({**head, "packets": packets, "not_read": why}, indent=1)
