"""`path` and the walk over raw texts (raw_walk.py) on the same fabric, pair by pair."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lab.fleet.fabric import Fabric, Routing, answers
from lab.fleet.fabric.hearing import netdev
from lab.fleet.fabric.routes import host_address, planned_places, text
from lab.fleet.faults.switch_fault import FabricInjection, Place, all_fabric_faults, changed, places
from lab.harness.fabric import fabric_snapshot
from lab.harness.raw_walk import RawWalk, RawWay, Texts, taken_apart
from railwright.check.along import rules_on_path, told_along
from railwright.check.run import checked
from railwright.fabric.trace import Trace, trace, ways
from railwright.intent.site import read_site
from railwright.store.snapshot import Snapshot

SITE = read_site('profile = "roce-lossless"\n', "pairs")
# Faults that a packet on its way feels, and where they may be.
FELT = (
    "switch_pfc_off", "switch_trust_pcp", "data_in_best_effort", "no_marks", "marks_not_enabled",
    "no_headroom", "fabric_mtu_small",
)  # fmt: skip


def struck(fabric: Fabric, count: int, seed: int) -> list[FabricInjection]:
    """Some faults at random, each on a switch of its own."""
    chance, taken, found = random.Random(seed), set[str](), list[FabricInjection]()
    while len(found) < count:
        fault = all_fabric_faults()[chance.choice(FELT)]
        place: Place = chance.choice(list(places(fabric, fault, chance.choice(fault.at))))
        if place.switch.name not in taken:
            taken.add(place.switch.name)
            found.append(FabricInjection(fault, place))
    return found


def raw_switches(fabric: Fabric) -> dict[str, Texts]:
    """What every switch prints; SONiC only."""
    routing, found = Routing(fabric), {}
    for switch in fabric.switches:
        said = {(one.probe, one.command): one.text for one in answers(fabric, switch, routing)}
        (routes,) = (text for (probe, _), text in said.items() if probe == "sonic_route")
        found[switch.name] = Texts(
            said["sonic_config_db", ""], said["sonic_show", "show lldp table"], routes
        )
    return found


class Pair(NamedTuple):
    """Two host ports of one rail, and what both walks say."""

    source: str
    destination: str
    raw: RawWay
    trace: Trace


def pairs(
    folder: Path, fabric: Fabric, faults: list[FabricInjection], count: int, seed: int
) -> Iterator[Pair]:
    """Pairs at random."""
    snapshot = fabric_snapshot(folder, fabric, faults)
    broken = changed(fabric, faults)
    texts = {name: taken_apart(one) for name, one in raw_switches(broken).items()}
    walk = RawWalk(texts, fabric.host_mtu)
    yield from _compared(snapshot, fabric, walk, count, seed)


def _compared(
    snapshot: Snapshot, fabric: Fabric, walk: RawWalk, count: int, seed: int
) -> Iterator[Pair]:
    chance, addresses = random.Random(seed), planned_places(fabric)
    by_end = {end: link for end, link in fabric.by_end().items() if fabric.is_host(end.machine)}
    rails = {rail: [end for end in by_end if end.port == rail] for rail in range(fabric.host_ports)}
    links = fabric.links
    # Judged once: every pair of the fabric meets the same ends.
    with checked(snapshot, rules_on_path(), SITE, [], each=True) as findings:
        for _ in range(count):
            first, last = chance.sample(rails[chance.randrange(fabric.host_ports)], 2)
            source, destination = (
                f"{fabric.host_name(end.machine)}:{netdev(end.port, 0, 1)}" for end in (first, last)
            )
            link = by_end[first]
            leaf = fabric.switch(links.upper[link])
            entry = (leaf.name, leaf.ports[links.upper_port[link]].name)
            raw = walk.between(entry, text(host_address(addresses[last])))
            way = ways(findings.database, SITE, source, destination, None)[0]
            told = told_along(findings, way)
            judged = trace(findings.database, way.walk, way.packet, told)
            yield Pair(source, destination, raw, judged)


def differences(pair: Pair) -> list[str]:
    """In words; none where the two walks agree."""
    levels = pair.trace.walk.levels
    own = [
        {stop.switch: (set(stop.entries), set(stop.exits)) for stop in level} for level in levels
    ]
    raw = [
        {name: (ports, pair.raw.exits[hop].get(name, set())) for name, ports in met.items()}
        for hop, met in sorted(pair.raw.entries.items())
    ]
    said = [] if own == raw else [f"{pair.source} -> {pair.destination}: {own} by path, {raw} raw"]
    machine, _, port = pair.destination.partition(":")
    if pair.raw.arrived != {(machine, port)}:
        said.append(f"{pair.source}: the raw walk ends at {pair.raw.arrived}")
    broken = {hop for hop, _, remark in pair.trace.remarks() if remark.is_broken}
    if broken != pair.raw.broken:
        said.append(
            f"{pair.source} -> {pair.destination}: broken at {broken}, raw {pair.raw.broken}"
        )
    grouped = [{name for group in level for name in group.switches} for level in pair.trace.levels]
    if grouped != [set(level) for level in raw]:
        said.append(f"{pair.source} -> {pair.destination}: classes {grouped}")
    return said
