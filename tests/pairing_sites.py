"""The sites of healthy_pairings.toml: a small fabric each, read and judged as an operator would.

Hosts are read by the real runner, switches answer in the words of their systems; both become a
snapshot by the way of `collect`. Hosts of one preset are read once: behind other switches they
only hear other neighbors.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from lab.fleet import HostModel, add_shell
from lab.fleet import build as write_host
from lab.fleet.fabric import End, Fabric, Heard, Routing, Shape, answers, build
from lab.fleet.fabric.hosts import host_model
from lab.fleet.fabric.presets import switch_preset
from lab.harness.fleets import STARTED, Reading, evidence_of
from railwright.cli import program
from railwright.collect.probe import probes, select
from railwright.collect.request import lone_runner
from railwright.collect.stream import MachineStream
from railwright.model.finish import finish
from railwright.store.build import Building
from railwright.store.evidence import Answer
from railwright.toml import load_toml

STRANGERS = "strangers"
RAILS = 2
HOSTS = 2
# What a preset sets is judged by these; the others look at PCI, firmware, kernels and the like. No
# patterns: they would also take rules in preview.
JUDGE_PRESETS = (
    *(f"SWQ-{number:02d}" for number in (1, 2, 3, 4, 6, 8, 13, 14, 15, 16, 17, 18, 19)),
    *(
        "link-lossless-differs",
        "link-settings-differ",
        "rdma-mtu-small",
        "rdma-mtu-differs",
        "host-mtu-above-switch",
        "fabric-mtu-small",
        "uplinks-missing",
        "neighbors-disagree",
        "pfc-deadlock-possible",
    ),
    *(
        "trust-pcp-untagged",
        "data-dscp-lossy",
        "host-global-pause",
        "ecn-half-enabled",
        "default-tc-lossy",
        "tc-not-for-gpu",
        "cc-priorities-not-aligned",
        "cnp-in-paused-class",
        "gid-index-unusable",
    ),
    *("intent-trust", "intent-pfc", "intent-data-dscp", "intent-cnp-dscp", "intent-cnp-priority"),
    *("intent-ecn", "intent-programmable-cc", "intent-adaptive-routing", "intent-compute-nics"),
)
# What answers otherwise where a host is in another preset; PCI read requests, which presets also
# set, are judged where all is read.
ASK_PRESETS = (
    *("mlnx_qos", "dcb_app", "dcb_buffer", "dcb_ets", "dcb_pfc", "ecn", "roce_tos", "mlxconfig"),
    *(
        "ethtool_pause",
        "ethtool_driver",
        "ip_address",
        "ip_route",
        "ip_rule",
        "ip_sysctl",
        "netdev",
    ),
    *("infiniband", "ibv_devinfo", "rdma_link", "libraries", "modules"),
)
NEIGHBOURS = ("lldpctl",)
FIRST = ("by-hand", 400_000)  # read whole, as the first pairing needs it


@dataclass(frozen=True)
class Pairing:
    """One of healthy_pairings.toml."""

    number: int
    leaf: str
    host: str  # '' = hosts are not read
    profile: str
    spine: str = ""  # '' = as the leaf
    mbps: int = 400_000
    fabric: Mapping[str, Any] | None = None  # over the profile
    findings: Mapping[str, int] | None = None
    unknown: Mapping[str, str] | None = None  # those of the system included
    whole: bool = False

    @property
    def system(self) -> str:
        """Of its switches."""
        return self.leaf.partition("/")[0]

    def site(self) -> str:
        """The site file."""
        wanted = "".join(f"{key} = {json.dumps(value)}\n" for key, value in
                         (self.fabric or {}).items())  # fmt: skip
        devices = json.dumps([f"mlx5_{rail}" for rail in range(RAILS)])
        return (
            f'profile = "{self.profile}"\n[fabric]\n{wanted}'
            f'[[class]]\nname = "hgx"\ncompute_nics = {RAILS}\ngpus = 8\n'
            f'[[role]]\nrole = "compute"\ndevices = {devices}\n'
            '[[role]]\nrole = "storage"\ndevices = ["mlx5_8", "mlx5_9"]\n'
        )

    def built(self) -> Fabric:
        """Two leaves, a spine above them, two hosts with a rail on each leaf."""
        system, _, name = self.leaf.partition("/")
        above = self.spine.partition("/")[2] or name
        stranger = system == STRANGERS
        model = "" if stranger else switch_preset(system, name).model
        model = model or ("SN3700" if system == "onyx" else "")
        known = "eos" if stranger else system
        fabric = build(
            Shape(
                HOSTS, rails=RAILS, hosts_per_leaf=HOSTS, uplinks=2, spines=1, host_mbps=self.mbps,
                uplink_mbps=self.mbps, leaf_systems=(known,), spine_systems=(known,),
                leaf_presets={} if stranger else {system: name},
                spine_presets={} if stranger else {system: above},
                models={system: model} if model else {},
            )
        )  # fmt: skip
        fabric.host_preset = self.host
        if stranger:
            for host in range(HOSTS):
                for port in range(RAILS):
                    heard = Heard(-1, 0, f"qfx{port + 1}", f"02:00:00:00:00:{port:02x}", "et-0/0/0")
                    fabric.hearing[End(host, port)] = (heard._replace(port_id=f"et-0/0/{host}"),)
        return fabric


def pairings(file: Path) -> Iterator[Pairing]:
    """All, in their order."""
    listed: dict[str, Any] = load_toml(file.read_text(), file.name)
    for one in listed["pairing"]:
        found = Pairing(**one)
        common = listed["unknown"].get(found.system, {})
        yield replace(found, unknown={**common, **(found.unknown or {})})


def _some(folder: Path, host: HostModel, asked: Sequence[str]) -> list[Answer]:
    """What a host answers to some probes."""
    script = folder / "some.py"
    script.write_text(lone_runner(select(list(asked))))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        write_host(Path(name), host)
        add_shell(Path(name))
        command = ["/usr/bin/python3", str(script), "--root", name]
        said = subprocess.run(command, capture_output=True, check=True).stdout
    stream = MachineStream(host.name, None, frozenset(probes()))
    return [replace(one, started=STARTED) for one in stream.feed(said)]


class Sites:
    """Snapshots of pairings, and what `check` says of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[tuple[str, int], dict[str, Reading]] = {}

    def _hosts(self, pairing: Pairing, fabric: Fabric) -> dict[str, Reading]:
        """Where all rules judge, all is read; else what a preset sets, beside what it does not."""
        key = (pairing.host, pairing.mbps)
        models = [host_model(fabric, host) for host in range(HOSTS)]
        if key not in self._read and (pairing.whole or key == FIRST or key[1] != FIRST[1]):
            self._read[key] = evidence_of(self._folder / "hosts", models)
            return self._read[key]
        if key not in self._read and FIRST not in self._read:
            first = replace(pairing, host=FIRST[0])
            self._hosts(first, first.built())
        known = self._read.get(key, self._read.get(FIRST, {}))
        asked = NEIGHBOURS if key in self._read else (*NEIGHBOURS, *ASK_PRESETS)
        found = {}
        for model in models:
            kept = tuple(one for one in known[model.name].answers if one.probe not in asked)
            told = _some(self._folder, model, asked)
            found[model.name] = Reading(known[model.name].host, (*kept, *told))
        return found

    def _snapshot(self, pairing: Pairing) -> Path:
        fabric = pairing.built()
        hosts = self._hosts(pairing, fabric) if pairing.host else {}
        switches = [] if pairing.system == STRANGERS else fabric.switches
        names = [*hosts, *(switch.name for switch in switches)]
        head = {"started": STARTED, "via": "test", "switches": names[len(hosts) :]}
        store = self._folder / f"{pairing.number}"
        building = Building(store, head, dict.fromkeys(names, ""))
        for name, reading in hosts.items():
            for one in reading.answers:
                building.add_answer(replace(one, target=name))
            building.add_host({**reading.host, "target": name})
        routing = Routing(fabric)
        for switch in switches:
            for said in answers(fabric, switch, routing):
                building.add_answer(
                    Answer(
                        switch.name, said.probe, said.command, "ok", argv=said.command.split(),
                        exit_code=0, stdout=said.text.encode(), started=STARTED,
                    )
                )  # fmt: skip
        for name in names:
            building.add_target({"target": name, "status": "reached", "words": ""})
        building.close()
        return finish(building.folder).path

    def checked(self, pairing: Pairing) -> dict[str, Any]:
        """What `railwright check --format json` prints."""
        path = self._snapshot(pairing)
        site = self._folder / f"site-{pairing.number}.toml"
        site.write_text(pairing.site())
        asked = ["check", str(path), "--site", str(site), "--format", "json"]
        for rules in () if pairing.whole else JUDGE_PRESETS:
            asked += ["--select", rules]
        done = CliRunner().invoke(program(), asked)
        if done.exit_code not in (0, 1, 3):
            raise AssertionError(done.output)
        found: dict[str, Any] = json.loads(done.stdout)
        return found
