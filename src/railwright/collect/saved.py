"""`railwright import --kind`: what a site's own tools saved, as if a probe had read it.

Where a site does not let us in, its own output still counts: the same filters, parsers and tables.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from railwright.collect import job_logs
from railwright.collect.probe import probes
from railwright.collect.runner import apply_filter
from railwright.collect.switch import systems
from railwright.collect.switch_saved import Place, switch_answers
from railwright.errors import UsageError, nearest
from railwright.model.finish import finish_building
from railwright.store.build import Building
from railwright.store.evidence import Answer
from railwright.store.ingest import ingest
from railwright.store.snapshot import Snapshot

KUBERNETES = "kubernetes"
# Of a node object only this leaves the file: annotations may hold anything.
NODE_LABELS = ("nvidia.com/", "network.nvidia.com/", "rdma/", "feature.node.kubernetes.io/rdma",
               "feature.node.kubernetes.io/pci-15b3", "node.kubernetes.io/instance-type",
               "topology.kubernetes.io/")  # fmt: skip


@dataclass(frozen=True)
class Saved:
    """Where saved output belongs."""

    kind: str
    target: str = ""
    instance: str = ""
    at: float | None = None  # seconds since the epoch; None = the file's own time


def kinds() -> list[str]:
    """What can be imported."""
    return sorted([*probes(), KUBERNETES, *systems(), *job_logs.KINDS])


def time_of(text: str) -> float:
    """2026-11-14T22:15:00Z in seconds since the epoch; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a time", do="Write it as 2026-11-14T22:15:00Z."
        ) from error
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def import_saved(files: list[Path], saved: Saved, store: Path) -> Snapshot:
    """One snapshot of files that hold the output of one probe's command."""
    if saved.kind not in kinds():
        raise UsageError(f"unknown kind {saved.kind!r}", do=nearest(saved.kind, kinds()))
    answers = [answer for file in files for answer in _answers(file, saved)]
    targets = dict.fromkeys((answer.target for answer in answers), "")
    head: dict[str, object] = {
        "started": time.time(),
        "asked_by": "import",
        "via": f"import --kind {saved.kind}",
        "become": False,
        "probes": [saved.kind],
    }
    if saved.kind in systems():
        head |= {"probes": [], "switches": list(targets),
                 "switch_systems": dict.fromkeys(targets, saved.kind)}  # fmt: skip
    building = Building(store, head, targets)
    for answer in answers:
        building.add_answer(answer)
    for target in targets:
        building.add_target(_target_row(target, answers))
        spool = building.full_spool()
        if spool is not None:
            ingest(building.folder, spool)
    return finish_building(building)


def _target_row(target: str, answers: list[Answer]) -> dict[str, str | float | int | bool | None]:
    started = min(answer.started for answer in answers if answer.target == target)
    return {"target": target, "status": "reached", "words": "", "out_of_service": "",
            "started": started, "attempts": 0}  # fmt: skip


def _answers(file: Path, saved: Saved) -> Iterator[Answer]:
    try:
        data = file.read_bytes()
        at = file.stat().st_mtime if saved.at is None else saved.at
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error.strerror}", do="Name a readable file."
        ) from error
    if saved.kind == KUBERNETES:
        yield from node_answers(file, data, at)
        return
    if not saved.target:
        raise UsageError("--kind needs --target", do="Name the host: --target gpu017.")
    if saved.kind in systems():
        yield from switch_answers(file, data, saved.kind, Place(saved.target, saved.instance, at))
        return
    if saved.kind in job_logs.KINDS:
        kept, dropped = job_logs.keep(saved.kind, data)
        is_other = bool(data.strip()) and not kept.strip()
        yield Answer(
            saved.target, saved.kind, saved.instance or file.stem,
            "not understood" if is_other else "ok",
            reason=f"no line of it is of {saved.kind}" if is_other else "",
            stdout=kept, dropped=dropped, started=at,
        )  # fmt: skip
        return
    raw: dict[str, Any] = {"stdout": data, "status": "ok", "reason": "", "dropped": 0}
    probe = probes()[saved.kind]
    apply_filter(raw, probe.request()["keep"])
    if data.strip() and not raw["stdout"].strip() and raw["status"] == "ok":
        raw.update(status="not understood", reason="nothing in it is what this probe keeps")
    yield Answer(
        saved.target, saved.kind, saved.instance, raw["status"], reason=raw["reason"],
        stdout=raw["stdout"], dropped=raw["dropped"], started=at,
    )  # fmt: skip


def node_answers(file: Path, data: bytes, at: float) -> Iterator[Answer]:
    """`kubectl get nodes -o json`, one answer per node; or one node alone."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{file} is not JSON", do="Write it with: kubectl get nodes -o json > FILE"
        ) from error
    nodes = parsed.get("items") if isinstance(parsed, dict) and "items" in parsed else [parsed]
    for node in nodes if isinstance(nodes, list) else []:
        name = node.get("metadata", {}).get("name") if isinstance(node, dict) else None
        if not isinstance(name, str) or not name:
            raise UsageError(
                f"{file} has an object without a name",
                do="Write it with: kubectl get nodes -o json > FILE",
            )
        kept = json.dumps(_reduced(node)).encode()
        yield Answer(name, KUBERNETES, "", "ok", stdout=kept, started=at)


def _reduced(node: dict[str, dict[str, object]]) -> dict[str, object]:
    metadata, spec, status = (node.get(part) or {} for part in ("metadata", "spec", "status"))
    labels = metadata.get("labels")
    kept = {
        name: value
        for name, value in (labels.items() if isinstance(labels, dict) else ())
        if any(part in name for part in NODE_LABELS)
    }
    conditions = status.get("conditions")
    return {
        "kind": node.get("kind"),
        "metadata": {"name": metadata.get("name"), "labels": kept},
        "spec": {"unschedulable": spec.get("unschedulable", False), "taints": spec.get("taints")},
        "status": {
            "nodeInfo": status.get("nodeInfo"),
            "capacity": status.get("capacity"),
            "allocatable": status.get("allocatable"),
            "conditions": [
                {"type": one.get("type"), "status": one.get("status")}
                for one in (conditions if isinstance(conditions, list) else [])
                if isinstance(one, dict)
            ],
        },
    }
