"""Snapshots of synthetic fleets, read by the real runner and ingested as `collect` does it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bench.hosts import answers
from lab.fleet import HostModel
from railwright.collect.probe import probes
from railwright.collect.stream import MachineStream
from railwright.facts.build import Building, finish
from railwright.facts.evidence import Answer
from railwright.facts.snapshot import Snapshot


def evidence_of(folder: Path, hosts: Iterable[HostModel]) -> dict[str, list[Answer]]:
    """What each host answers, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for file in answers(folder, hosts):
        stream = MachineStream(file.stem, None, frozenset(probes()))
        found[file.stem] = stream.feed(file.read_bytes())
        file.unlink()
    return found


def snapshot_of(
    store: Path,
    evidence: dict[str, list[Answer]],
    *,
    gone: Iterable[str] = (),
    out_of_service: dict[str, str] | None = None,
    started: float = 1794694500.0,
) -> Snapshot:
    """Hosts that answered, and hosts that did not."""
    away = out_of_service or {}
    missing = list(gone)
    names = {name: away.get(name, "") for name in [*evidence, *missing]}
    building = Building(store, {"started": started, "via": "test"}, names)
    for name, said in evidence.items():
        for answer in said:
            building.add_answer(replace(answer, target=name))
        building.add_target({"target": name, "status": "reached", "words": ""})
    for name in missing:
        building.add_target({"target": name, "status": "silent", "words": "no answer"})
    building.close()
    return finish(building.folder)
