"""What a lab is made of: hosts of all models, switches of all systems, and the site file for them.

    cluster(64, 8, 12)      24 hosts on 8 rails through 8 leaves and 4 spines, 40 hosts beside them

HGX machines are on the fabric; BESIDE says why the others are not. All of it runs at 200G, because
Onyx ends with Spectrum-3: so every system can be next to every other.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from lab.fleet import MODELS
from lab.fleet.fabric import Fabric, Shape, build
from lab.fleet.fabric.hardware import SWITCH_MODELS, SYSTEMS
from lab.fleet.fabric.hosts import host_model
from lab.fleet.fabric.plan import CABLING, cabling, site
from lab.fleet.fabric.routes import planned_places
from lab.fleet.faults.sites import SITES
from lab.live.machine import HostMachine
from lab.live.part import LabError

ON_THE_FABRIC = "hgx_h100"
# Models whose hosts stand beside the fabric, as their models are, and why.
BESIDE = {
    "hgx_a100_infiniband": "its rails are InfiniBand",
    "two_socket_4x400g": "nobody has set its ports up for a lossless fabric: each would be a fault",
    "socket_direct": "its two legs share a cage: two netdevs of a host hear one port of a switch",
    "kubernetes_worker": "pods have taken its netdevs: neither end can hear the other",
    "passthrough_vm": "its rails are InfiniBand, and those of a virtual machine",
}
# Of these the site says that their ports are no part of the fabric.
NOT_LOSSLESS = "two_socket_4x400g"
_UNUSED = '[[role]]\nrole = "unused"\nhosts = "{hosts}"\ndevices = ["*"]\n'
MOST_RAILS = 8
MOST_PLANES = 2  # ports of a card
SITE = "site.toml"
# Hosts of each other model: one of so many of all.
_ONE_OF = 8
_SWITCH = "SN3700"
_PORTS = SWITCH_MODELS[_SWITCH].cages  # the fewest of all systems
_MBPS = 200_000
_MOST_LINKS = 2  # between a leaf and a spine


@dataclass(frozen=True)
class Cluster:
    """Hosts and the fabric that some of them are on."""

    machines: tuple[HostMachine, ...]  # those of the fabric first, in its order
    fabric: Fabric

    def site(self, variant: str = "usual") -> str:
        """The site file with which all of it is as wanted."""
        by_kind: dict[str, list[str]] = {}
        for one in self.machines:
            by_kind.setdefault(one.kind, []).append(one.name)
        on = node_set(by_kind.pop(ON_THE_FABRIC)) if len(by_kind) > 1 else ""
        others = by_kind.pop(NOT_LOSSLESS, [])
        unused = _UNUSED.format(hosts=node_set(others)) if others else ""
        rest = {kind: names for kind, names in by_kind.items() if kind != ON_THE_FABRIC}
        return site(self.fabric, variant, on) + unused + _classes(rest)

    def texts(self) -> dict[str, str]:
        """The site file and the plan of the fabric's cables, by name."""
        return {SITE: self.site(), CABLING: cabling(self.fabric)}


def node_set(names: Iterable[str]) -> str:
    """gpu[001-024], of names that differ in their number alone and follow each other."""
    listed = list(names)
    prefix = re.sub("[0-9]+$", "", listed[0])
    first, last = (name.removeprefix(prefix) for name in (listed[0], listed[-1]))
    return listed[0] if first == last else f"{prefix}[{first}-{last}]"


def _classes(by_kind: dict[str, list[str]]) -> str:
    """What hosts of each model have in them: as in the model's own site file."""
    found = []
    for kind, names in by_kind.items():
        text = SITES[kind]["usual"][2].partition("[[role]]")[0].strip()
        text = re.sub('name = "[a-z0-9]+"', f'name = "{kind}"', text)
        found.append(text.replace("[[class]]", f'[[class]]\nhosts = "{node_set(names)}"') + "\n")
    return "".join(found)


def _in_turns(first: int) -> tuple[str, ...]:
    """All systems, beginning with one of them."""
    at = first % len(SYSTEMS)
    return (*SYSTEMS[at:], *SYSTEMS[:at])


def _shape(hosts: int, rails: int, switches: int, planes: int) -> Shape:
    """As many of these hosts as there are ports for; two leaves to a spine, if it can be.

    A group of hosts has a leaf for each rail and plane; every leaf has links to every spine of its
    plane.
    """
    in_plane, over = divmod(switches, planes)
    if over:
        raise LabError(f"{planes} planes have as many switches each: {switches} cannot be shared.")
    if in_plane <= rails:
        of_each = f" in each of {planes} planes" if planes > 1 else ""
        raise LabError(
            f"{rails} rails need a leaf each and a spine{of_each}: "
            f"{(rails + 1) * planes} switches, not {switches}."
        )
    for groups in range(max(1, in_plane * 2 // 3 // rails), 0, -1):
        for each in range(_MOST_LINKS, 0, -1):
            leaves = groups * rails
            spines = in_plane - leaves
            on = min(hosts, groups * (_PORTS - spines * each))
            per_leaf = ceil(on / groups)
            if leaves * each <= _PORTS and on > 0 and ceil(on / per_leaf) == groups:
                return Shape(
                    on, rails=rails, planes=planes, hosts_per_leaf=per_leaf, uplinks=spines * each,
                    spines=spines, host_mbps=_MBPS, uplink_mbps=_MBPS, leaf_systems=_in_turns(0),
                    spine_systems=_in_turns(leaves * planes),
                    models={"sonic": _SWITCH, "cumulus": _SWITCH},
                )  # fmt: skip
    raise LabError(
        f"{switches} switches of {_PORTS} ports cannot be cabled with {rails} rails: "
        "every leaf has a link to every spine."
    )


def _beside(hosts: int) -> list[HostMachine]:
    """So many hosts of the other models, in turns."""
    made = []
    for number in range(hosts):
        turn, kind = divmod(number, len(BESIDE))
        name = list(BESIDE)[kind]
        made.append(HostMachine(name, MODELS[name](turn + 1)))
    return sorted(made, key=lambda one: (list(BESIDE).index(one.kind), one.healthy.number))


def lab_fabric(hosts: int, rails: int, switches: int, planes: int = 1) -> Fabric:
    """The fabric of a lab with so many hosts; LabError where it cannot be built."""
    if hosts < 1 or not 1 <= rails <= MOST_RAILS:
        raise LabError(f"A lab with switches has at least one host, and 1 to {MOST_RAILS} rails.")
    others = hosts // _ONE_OF * len(BESIDE)
    return build(_shape(hosts - others, rails, switches, planes))


def cluster(hosts: int, rails: int, switches: int, planes: int = 1) -> Cluster:
    """So many hosts, those of the fabric on so many rails."""
    fabric = lab_fabric(hosts, rails, switches, planes)
    places = planned_places(fabric)
    on = [
        HostMachine(ON_THE_FABRIC, host_model(fabric, number, places))
        for number in range(fabric.hosts)
    ]
    return Cluster((*on, *_beside(hosts - fabric.hosts)), fabric)
