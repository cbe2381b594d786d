"""Fleets with faults from whom the answers to one probe are taken away: what became better.

What was a finding must still be one or be unknown; what was unknown must not be in order. A subject
that nobody can name any more must be unknown as its machine.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lab.fleet.faults.fault import Verdict
from lab.fleet.faults.sites import site_text
from lab.harness.fault_fleet import Reader, Trial, verdicts_of
from lab.harness.fault_sets import overlapping
from lab.harness.fleets import STARTED, Reading, snapshot_of
from railwright.collect.probe import probes
from railwright.model.merge import merge

FAULTS = 20
SEED = 16
# Where two sources contradict each other, taking one away leaves the other's word: (probe, rule).
SIDES = {
    (
        "infiniband",
        "address-twice",
    ): "two machines claim one address: the one that was not read is unknown",
}

Said = tuple[set[Verdict], set[Verdict]]  # findings, unknown


class Removal(NamedTuple):
    """Which answers are missing, and where."""

    model: str
    probe: str
    where: str  # struck, everywhere

    def name(self) -> str:
        """As it stands in the progress file."""
        return " ".join(self)


class Fleet:
    """Hosts with faults and hosts without, and what is said of them."""

    def __init__(self, folder: Path, model: str) -> None:
        self._folder, self.model = folder, model
        trial: Trial = overlapping(model, FAULTS, SEED)
        reader = Reader(folder / "hosts")
        struck = {one.place.host.name for one in trial.injections}
        hosts = []
        for host in trial.hosts():
            for one in trial.injections:
                if one.place.host.name == host.name:
                    host = one.changed(host)  # noqa: PLW2901
            hosts.append(host)
        read = dict(zip((host.name for host in hosts), reader.read(hosts), strict=True))
        self._struck = {name: reading for name, reading in read.items() if name in struck}
        self._others = {name: reading for name, reading in read.items() if name not in struck}
        self._sound = snapshot_of(folder / "sound", self._others)
        self.whole = self._judged(folder / "whole", self._struck, None)

    def without(self, probe: str, where: str) -> Said:
        """What is said without the answers to a probe."""
        if not any(one.probe == probe for said in self._struck.values() for one in said.answers):
            return self.whole  # a probe of switches, or of nothing that these hosts have
        with tempfile.TemporaryDirectory(dir=self._folder) as own:
            others = _without(self._others, probe) if where == "everywhere" else None
            return self._judged(Path(own), _without(self._struck, probe), others)

    def _judged(
        self, folder: Path, struck: dict[str, Reading], others: dict[str, Reading] | None
    ) -> Said:
        """`others`: where they are not those that were parsed already."""
        first = snapshot_of(folder / "struck", struck)
        beside = self._sound if others is None else snapshot_of(folder / "others", others)
        now = merge(folder / "store", [beside, first], {"started": STARTED, "via": "test"})
        fails, unknown, trouble = verdicts_of(now, site_text(self.model, "usual"))
        # Rules that compare two snapshots did not run in either.
        wrong = {rule: words for rule, words in trouble.items() if "no baseline" not in words}
        if wrong:
            raise RuntimeError(f"{self.model}: {wrong}")
        return set(fails), set(unknown)


def _without(read: Mapping[str, Reading], probe: str) -> dict[str, Reading]:
    """The same hosts, which were asked and did not answer in time."""

    def silent(reading: Reading) -> Reading:
        return replace(
            reading,
            answers=tuple(
                replace(one, status="timeout", stdout=b"", packed=b"", exit_code=None)
                if one.probe == probe
                else one
                for one in reading.answers
            ),
        )

    return {name: silent(reading) for name, reading in read.items()}


def better(whole: Said, now: Said, probe: str) -> list[str]:
    """What is in order, or not asked any more, only because nobody has read it."""
    known = now[0] | now[1]
    return [
        f"{kind} {rule} {subject}"
        for kind, listed in zip(("finding", "unknown"), whole, strict=True)
        for rule, subject in sorted(listed)
        if (rule, subject) not in known
        and not now[1] & {(rule, f"{subject.partition(':')[0]}{tail}") for tail in ("", ":*")}
        and (probe, rule) not in SIDES
    ]


@cache
def fleet_of(folder: Path, model: str) -> Fleet:
    """Made once in each process."""
    return Fleet(folder / f"{model}-{os.getpid()}", model)


def asked(models: Iterable[str]) -> list[Removal]:
    """Every probe of hosts, struck hosts first; models take turns."""
    return [
        Removal(model, probe, where)
        for where in ("struck", "everywhere")
        for probe in probes()
        for model in models
    ]


def tried(folder: Path, removal: Removal) -> list[str]:
    """What became better."""
    fleet = fleet_of(folder, removal.model)
    return better(fleet.whole, fleet.without(removal.probe, removal.where), removal.probe)
