"""Snapshots of synthetic fleets, read by the real runner and ingested as `collect` does it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from lab.fleet import HostModel
from lab.fleet.render.kubernetes import node_object
from lab.harness.hosts import answers
from railwright.collect.probe import probes
from railwright.collect.saved import node_answers
from railwright.collect.stream import MachineStream
from railwright.model.finish import finish
from railwright.parse.base import Value
from railwright.schema.table import tables
from railwright.store.build import Building
from railwright.store.duck import quote
from railwright.store.evidence import Answer
from railwright.store.snapshot import Snapshot

STARTED = 1794694500.0


@dataclass(frozen=True)
class Reading:
    """What one host said: about itself, and in answer to each probe."""

    host: dict[str, Value]
    answers: tuple[Answer, ...]

    def moved(self, seconds: float) -> "Reading":
        """The same, read so much later."""
        host = {**self.host, "read_at": _seconds(self.host) + seconds}
        said = (replace(one, started=one.started + seconds) for one in self.answers)
        return Reading(host, tuple(said))


def evidence_of(folder: Path, hosts: Iterable[HostModel]) -> dict[str, Reading]:
    """What each host answers, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    listed = list(hosts)
    for host, file in zip(listed, answers(folder, listed), strict=True):
        stream = MachineStream(file.stem, None, frozenset(probes()))
        said = stream.feed(file.read_bytes())
        row = stream.host_row()
        if row is None:
            raise RuntimeError(f"the runner said nothing about {file.stem}")
        row["clock_offset_s"] = None  # the file's age, not the clock's error
        reading = _with_node(file, host, Reading(row, tuple(said)))
        # All at one time, whenever they were really read: what grew is judged by the time between.
        found[file.stem] = reading.moved(STARTED - _seconds(reading.host))
        file.unlink()
    return found


def _with_node(file: Path, host: HostModel, reading: Reading) -> Reading:
    """What a cluster says about a host that is one of its nodes."""
    if not host.labels:
        return reading
    said = node_answers(file, json.dumps(node_object(host)).encode(), _seconds(reading.host))
    return replace(reading, answers=(*reading.answers, *said))


def _seconds(row: Mapping[str, Value]) -> float:
    read_at = row["read_at"]
    return read_at if isinstance(read_at, float) else STARTED


def snapshot_of(
    store: Path,
    evidence: Mapping[str, Reading],
    *,
    gone: Iterable[str] = (),
    out_of_service: dict[str, str] | None = None,
    started: float = STARTED,
) -> Snapshot:
    """Hosts that answered, and hosts that did not."""
    away = out_of_service or {}
    missing = list(gone)
    names = {name: away.get(name, "") for name in [*evidence, *missing]}
    building = Building(store, {"started": started, "via": "test"}, names)
    for name, reading in evidence.items():
        for answer in reading.answers:
            building.add_answer(replace(answer, target=name))
        building.add_host({**reading.host, "target": name})
        building.add_target({"target": name, "status": "reached", "words": ""})
    for name in missing:
        building.add_target({"target": name, "status": "silent", "words": "no answer"})
    building.close()
    return finish(building.folder)


def earlier_snapshot(
    store: Path, now: Snapshot, seconds: float, otherwise: Mapping[str, Reading]
) -> Snapshot:
    """The same fleet, read so much earlier, when some of its hosts were otherwise.

    Facts are moved and not parsed once more: most hosts are the same, and parsing is dear.
    """
    past = {name: reading.moved(-seconds) for name, reading in otherwise.items()}
    changed = snapshot_of(store, past, started=STARTED - seconds) if past else None
    folder = store / "earlier"
    (folder / "facts").mkdir(parents=True)
    listed = ", ".join(quote(name) for name in ("", *otherwise))
    with duckdb.connect() as database:
        for table, file in now.files().items():
            query = f"FROM read_parquet({quote(str(file))}) WHERE target NOT IN ({listed})"
            if "read_at" in tables()[table].column_types():
                moved = f"read_at - to_seconds({seconds}) AS read_at"
                query = f"SELECT * REPLACE ({moved}) {query}"
            if changed is not None:
                other = changed.path / "facts" / file.name
                query = f"({query}) UNION ALL BY NAME FROM read_parquet({quote(str(other))})"
            target = quote(str(folder / "facts" / file.name))
            database.execute(f"COPY ({query}) TO {target} (FORMAT parquet)")
    # It has digests of its own, or none: these are other files.
    return Snapshot(folder, {k: v for k, v in now.run.items() if k not in ("files", "digest")})
