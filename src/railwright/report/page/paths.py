"""Paths of the page: those asked for, one for each kind of fault, one of each length."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from railwright.check.along import judged_ways
from railwright.check.findings import Findings
from railwright.check.waivers import Waiver
from railwright.errors import RailwrightError
from railwright.fabric.trace import Way, ways
from railwright.intent.site import Site
from railwright.nodes import fold
from railwright.report.paths import packets_json
from railwright.store.duck import read_sql

MOST = 8
LARGE = 20_000  # compute ports; from here on only the paths that were asked for: rules run again
_PORTS = read_sql(__file__, "views/compute_ports.sql")
_FAULTS = read_sql(__file__, "views/path_faults.sql")


class _Port(NamedTuple):
    host: str
    device: str
    rail: int | None
    leaf: str
    pod: str | None
    level: int

    @property
    def name(self) -> str:
        """As `railwright path` takes it."""
        return f"{self.host}:{self.device}"


def chosen_pairs(findings: Findings) -> list[tuple[str, str]]:
    """Ports between which something is worth looking at."""
    ports = [_Port(*row) for row in findings.database.execute(_PORTS).fetchall()]
    if len(ports) > LARGE:
        return []
    found = dict.fromkeys([*_at_faults(findings, ports), *_of_each_length(ports)])
    return list(found)[:MOST]


def _far(ports: list[_Port], one: _Port) -> _Port | None:
    """A sound port of its rail on another leaf, or the next best."""
    others = [p for p in ports if p.host != one.host]
    return min(
        others,
        key=lambda p: (p.leaf == one.leaf, p.rail != one.rail, p.level not in (0, 8), p.name),
        default=None,
    )


def _of_each_length(ports: list[_Port]) -> Iterator[tuple[str, str]]:
    """Below one leaf, below two, and through the top."""
    sound = [port for port in ports if port.level in (0, 8)]
    seen = set()
    for first in sound[:1]:
        for port in sound:
            kind = (port.leaf == first.leaf, port.pod == first.pod)
            if port.host != first.host and port.rail == first.rail and kind not in seen:
                seen.add(kind)
                yield first.name, port.name


def _at_faults(findings: Findings, ports: list[_Port]) -> Iterator[tuple[str, str]]:
    for rule, target, device, partner, _ in findings.database.execute(_FAULTS).fetchall():
        if not findings.rules[rule].on_path:
            continue
        near = [
            port
            for port in ports
            if (port.host == target and port.device.split("/")[0] == device)
            or port.leaf in {target, partner}
        ]
        own = [port for port in near if port.host == target] or near
        far = _far(ports, own[0]) if own else None
        if far:
            yield own[0].name, far.name


def traced(
    findings: Findings, site: Site, waivers: list[Waiver], asked: list[tuple[str, str]]
) -> list[list[dict[str, Any]]]:
    """What `railwright path --json` says of each pair; one that was asked for must be known."""
    found = [list(ways(findings.database, site, *pair, None)) for pair in asked]
    for pair in chosen_pairs(findings):
        if pair not in asked:
            found += _known(findings, site, pair)
    judged = judged_ways(findings.snapshot, site, waivers, found)
    return [[_folded(packet) for packet in packets_json(one)] for one in judged]


def _known(findings: Findings, site: Site, pair: tuple[str, str]) -> list[list[Way]]:
    """The ways of a pair that we chose, unless its ends turn out not to be known."""
    try:
        return [list(ways(findings.database, site, *pair, None))]
    except RailwrightError:
        return []


def _folded(packet: dict[str, Any]) -> dict[str, Any]:
    """Switches and ports by their sets: at a spine there may be hundreds."""
    for level in packet["hops"]:
        for group in level:
            group["count"] = len(group["switches"])
            group["switches"] = fold(group["switches"])
            for side in ("in", "out"):
                for end in group[side]:
                    names = end["ports"]
                    end["count"], end["ports"] = len(names), names[0] if names else ""
    return packet
