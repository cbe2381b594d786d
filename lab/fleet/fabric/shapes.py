"""Fabrics of any size, from a few numbers: rails in two or three tiers, planes, fat trees.

    build(Shape(hosts=512, hosts_per_leaf=64, uplinks=64, spines=64))

What cannot be built is refused: a switch has as many cages and lanes as its model, no more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from lab.fleet.fabric.hardware import (
    SWITCH_MODELS,
    PortName,
    SwitchModel,
    layout,
    ports_per_cage,
)
from lab.fleet.fabric.headroom import Wire
from lab.fleet.fabric.model import Fabric, Links, Switch
from lab.fleet.fabric.presets import WISHED, SwitchPreset, switch_preset
from lab.fleet.fabric.setting import Setting

MODEL_OF = {"sonic": "SN5600", "cumulus": "SN5600", "eos": "DCS-7060X6-64PE", "onyx": "SN3700"}
SEVERAL = -1


@dataclass(frozen=True)
class Shape:
    """What a fabric is made of."""

    hosts: int
    rails: int = 8
    planes: int = 1
    rail_optimised: bool = True  # False = all rails of a host end in neighboring leaves
    hosts_per_leaf: int = 32  # ports of a leaf that go to hosts
    uplinks: int = 32  # of a leaf
    spines: int = 16  # of a plane; with pods, of each pod and plane
    # Host groups (with rails) or leaves (without) that share spines; 0 = two tiers.
    per_pod: int = 0
    spine_uplinks: int = 0
    cores: int = 0  # that each spine of a pod is connected to
    host_mbps: int = 400_000
    host_lanes: int = 4
    uplink_mbps: int = 400_000
    uplink_lanes: int = 4
    # Systems of a tier, in turns.
    leaf_systems: tuple[str, ...] = ("sonic",)
    spine_systems: tuple[str, ...] = ("sonic",)
    core_systems: tuple[str, ...] = ("sonic",)
    models: dict[str, str] = field(default_factory=dict)  # where it is not MODEL_OF
    # By system, where it is not WISHED: the preset of leaves, and that of all above them.
    leaf_presets: dict[str, str] = field(default_factory=dict)
    spine_presets: dict[str, str] = field(default_factory=dict)
    # (cable, length that switches are told) to hosts, to spines, to cores
    metres: tuple[tuple[float, float], ...] = ((3.0, 5.0), (30.0, 40.0), (150.0, 300.0))

    def model(self, system: str) -> SwitchModel:
        """The switch of a system."""
        return SWITCH_MODELS[self.models.get(system, MODEL_OF[system])]

    def preset(self, system: str, tier: int) -> SwitchPreset:
        """What switches of a system and tier are set to."""
        chosen = self.leaf_presets if tier == 1 else self.spine_presets
        return switch_preset(system, chosen.get(system, WISHED))


class _Side(NamedTuple):
    """Ports of a switch towards one tier."""

    ports: int
    wire: Wire  # with the length that the switch is told
    to_host: bool


class _Leaf(NamedTuple):
    """A leaf before it is built: its place, and its (host, host port) pairs."""

    pod: int
    plane: int
    rail: int
    ends: list[tuple[int, int]]


def _cages(model: SwitchModel, name: str, sides: tuple[_Side, ...]) -> tuple[int, ...]:
    """In how many parts each cage is split; spare cages stay whole."""
    parts: list[int] = []
    for side in sides:
        each = ports_per_cage(model, side.wire.mbps, side.wire.lanes)
        if not each:
            raise ValueError(f"{name}: {model.name} has no ports of {side.wire.mbps} Mb/s")
        parts += [each] * ceil(side.ports / each)
    if len(parts) > model.cages:
        raise ValueError(f"{name}: needs {len(parts)} cages, {model.name} has {model.cages}")
    return (*parts, *[1] * (model.cages - len(parts)))


class _Rack:
    """Makes switches; those of a role share what they can."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.switches: list[Switch] = []
        self._roles: dict[object, tuple[tuple[PortName, ...], tuple[Setting, ...], list[int]]] = {}
        self.starts: list[list[int]] = []  # of each switch, its first port of each side

    def add(
        self, name: str, system: str, place: tuple[int, int, int, int], sides: tuple[_Side, ...]
    ) -> int:
        """One more switch; `place` is tier, rail, plane, pod. Gives its number among switches."""
        preset = self.shape.preset(system, place[0])
        key = (preset, sides)
        if key not in self._roles:
            self._roles[key] = self._role(name, preset, sides)
        ports, settings, starts = self._roles[key]
        number = len(self.switches)
        self.switches.append(
            Switch(name, self.shape.hosts + number, system, self.shape.model(system), *place,
                   ports, settings, preset.software)
        )  # fmt: skip
        self.starts.append(starts)
        return number

    def _role(
        self, name: str, preset: SwitchPreset, sides: tuple[_Side, ...]
    ) -> tuple[tuple[PortName, ...], tuple[Setting, ...], list[int]]:
        model = self.shape.model(preset.system)
        ports = layout(preset.system, model, _cages(model, name, sides))
        settings: list[Setting] = []
        starts = []
        for side in sides:
            starts.append(len(settings))
            each = ports_per_cage(model, side.wire.mbps, side.wire.lanes)
            one = preset.port(model, side.wire, to_host=side.to_host)
            settings += [one] * (ceil(side.ports / each) * each)
        wire = Wire(model.cage_mbps(), model.lanes, sides[0].wire.metres)
        spare = preset.port(model, wire, to_host=False, up=False)
        settings += [spare] * (len(ports) - len(settings))
        return ports, tuple(settings), starts


def _grouped(shape: Shape) -> Iterator[_Leaf]:
    """A leaf for each rail and plane of a group of hosts."""
    for first in range(0, shape.hosts, shape.hosts_per_leaf):
        hosts = range(first, min(first + shape.hosts_per_leaf, shape.hosts))
        group = first // shape.hosts_per_leaf
        pod = group // shape.per_pod if shape.per_pod else 0
        for rail in range(shape.rails):
            for plane in range(shape.planes):
                port = rail * shape.planes + plane
                yield _Leaf(pod, plane, rail, [(host, port) for host in hosts])


def _packed(shape: Shape) -> Iterator[_Leaf]:
    """Leaves that are filled host by host."""
    for plane in range(shape.planes):
        ends = [
            (host, rail * shape.planes + plane)
            for host in range(shape.hosts)
            for rail in range(shape.rails)
        ]
        for leaf, first in enumerate(range(0, len(ends), shape.hosts_per_leaf)):
            pod = leaf // shape.per_pod if shape.per_pod else 0
            yield _Leaf(pod, plane, SEVERAL, ends[first : first + shape.hosts_per_leaf])


def _evenly(whole: int, parts: int, what: str) -> int:
    if not parts or whole % parts:
        raise ValueError(f"{whole} {what} cannot be spread over {parts} switches")
    return whole // parts


def _in_turns(systems: tuple[str, ...], number: int) -> str:
    return systems[number % len(systems)]


class _Builder:
    """The tiers, one after the other."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.rack = _Rack(shape)
        self.links = Links()
        self.planned = list(_grouped(shape) if shape.rail_optimised else _packed(shape))
        self.width = max(3, len(str(len(self.planned))))

    def _side(self, count: int, tier: int) -> _Side:
        shape = self.shape
        speed = (shape.host_mbps, shape.host_lanes) if tier == 0 else (
            shape.uplink_mbps, shape.uplink_lanes)  # fmt: skip
        return _Side(count, Wire(*speed, shape.metres[tier][1]), tier == 0)

    def _name(self, kind: str, number: int) -> str:
        return f"{kind}{number + 1:0{self.width}d}"

    def leaves(self) -> dict[tuple[int, int], list[int]]:
        """Leaves and their hosts. Gives the leaves of each (pod, plane)."""
        shape, found = self.shape, dict[tuple[int, int], list[int]]()
        sides = (self._side(shape.hosts_per_leaf, 0), self._side(shape.uplinks, 1))
        for number, leaf in enumerate(self.planned):
            system = _in_turns(shape.leaf_systems, number)
            place = (1, leaf.rail, leaf.plane, leaf.pod)
            made = self.rack.add(self._name("leaf", number), system, place, sides)
            for port, (host, host_port) in enumerate(leaf.ends):
                rail = host_port // shape.planes
                self.links.add(
                    host, host_port, shape.hosts + made, port, 1, rail, leaf.plane, leaf.pod,
                    shape.host_mbps, shape.host_lanes, shape.metres[0][0], True,
                )  # fmt: skip
            found.setdefault((leaf.pod, leaf.plane), []).append(made)
        return found

    def spines(self, leaves: dict[tuple[int, int], list[int]]) -> dict[tuple[int, int], list[int]]:
        """Every leaf of a pod and plane to every spine of it."""
        shape, found = self.shape, dict[tuple[int, int], list[int]]()
        each = _evenly(shape.uplinks, shape.spines, "uplinks of a leaf")
        largest = max(map(len, leaves.values()))
        down = self._side(largest * each, 1)
        sides = (down, self._side(shape.spine_uplinks, 2)) if shape.per_pod else (down,)
        number = 0
        for (pod, plane), below in leaves.items():
            rails = {self.rack.switches[leaf].rail for leaf in below}
            rail = rails.pop() if len(rails) == 1 else SEVERAL
            for spine in range(shape.spines):
                system = _in_turns(shape.spine_systems, number)
                made = self.rack.add(
                    self._name("spine", number), system, (2, rail, plane, pod), sides
                )
                found.setdefault((pod, plane), []).append(made)
                number += 1
                for place, leaf in enumerate(below):
                    for copy in range(each):
                        start = self.rack.starts[leaf][1]
                        lower = (leaf, start + copy * shape.spines + spine)
                        self._link(lower, (made, place * each + copy), 2, pod)
        return found

    def cores(self, spines: dict[tuple[int, int], list[int]]) -> None:
        """Spine s of every pod to the cores of group s."""
        shape = self.shape
        each = _evenly(shape.spine_uplinks, shape.cores, "uplinks of a spine")
        pods = len({pod for pod, _ in spines})
        sides = (self._side(pods * each, 2),)
        number = 0
        for plane in range(shape.planes):
            for group in range(shape.spines):
                for core in range(shape.cores):
                    system = _in_turns(shape.core_systems, number)
                    place = (3, SEVERAL, plane, SEVERAL)
                    made = self.rack.add(self._name("core", number), system, place, sides)
                    number += 1
                    for pod in range(pods):
                        spine = spines[pod, plane][group]
                        for copy in range(each):
                            start = self.rack.starts[spine][1]
                            lower = (spine, start + copy * shape.cores + core)
                            self._link(lower, (made, pod * each + copy), 3, SEVERAL)

    def _link(self, lower: tuple[int, int], upper: tuple[int, int], tier: int, pod: int) -> None:
        """Between (switch, port) and (switch, port)."""
        shape, below = self.shape, self.rack.switches[lower[0]]
        self.links.add(
            shape.hosts + lower[0], lower[1], shape.hosts + upper[0], upper[1], tier, below.rail,
            below.plane, pod, shape.uplink_mbps, shape.uplink_lanes, shape.metres[tier - 1][0],
            True,
        )  # fmt: skip


def build(shape: Shape) -> Fabric:
    """The fabric, healthy and cabled as planned."""
    builder = _Builder(shape)
    spines = builder.spines(builder.leaves())
    if shape.per_pod:
        builder.cores(spines)
    return Fabric(
        shape.hosts,
        shape.rails,
        shape.planes,
        builder.rack.switches,
        builder.links,
        builder.links.copy(),
        name_width=max(3, len(str(shape.hosts))),
    )
