"""The plan file: JSON that a person can read and another program can use, and back again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from railwright.errors import UsageError
from railwright.nodes import fold
from railwright.plan.plan import Again, Blind, ByHand, Group, Lost, Member, Plan, Restart, Total
from railwright.settings.setting import Step

FORMAT = "railwright-plan-1"


class Head(NamedTuple):
    """What the plan is made of, by whom, and when."""

    snapshot: str
    snapshot_digest: str
    started: float | None  # when the snapshot was collected
    site: str  # its file; '' = none
    site_digest: str
    profile: str
    made_at: str
    author: str
    exit_status: int


def as_json(head: Head, plan: Plan) -> dict[str, Any]:
    """The whole plan."""
    return {
        "format": FORMAT,
        **head._asdict(),
        "path": plan.limits.path,
        "allow": sorted(plan.limits.allow),
        "totals": [_total(one) for one in plan.totals],
        "machines": plan.digests,
        "changes": [_change(number, one) for number, one in enumerate(plan.groups, 1)],
        "restarts": [_restart(one) for one in plan.restarts],
        "again": [_again(one) for one in plan.again],
        "lost": [_lost(one) for one in plan.lost],
        "held_back": [_left(one) for one in plan.held_back],
        "refused": [_left(one) for one in plan.refused],
        "render_for": [_render(one) for one in plan.render_for],
        "undecided": [_left(one) for one in plan.undecided],
        "by_hand": [_by_hand(one) for one in plan.by_hand],
    }


def _change(number: int, group: Group) -> dict[str, Any]:
    setting = group.setting
    return {
        "number": number,
        **_left(group),
        "takes_hold": setting.takes_hold,
        "reach": setting.reach,
        "way_back": setting.way_back,
        "disturbs": setting.disturbs,
        "remark": setting.remark,
        "gain": setting.gain,
        "gbps": group.gbps,
        "after_restart": group.is_late,
        "hazards": list(setting.hazards),
        "lost_at": list(setting.lost_at),
        "kept_by": list(setting.kept_by),
        "proof": sorted(setting.reads),
        "machines": [_member(one) for one in group.members],
    }


def _member(member: Member) -> dict[str, Any]:
    return {
        "hosts": fold(member.targets),
        "names": member.names,
        "steps": [_step(one) for one in member.steps],
        "undo": [_step(one) for one in member.undo],
    }


def _total(one: Total) -> dict[str, Any]:
    risk = [{"reach": reach, "way_back": way, "changes": n} for reach, way, n in one.risk]
    return {**one._asdict(), "gbps": round(one.gbps, 1), "risk": risk}


def _restart(one: Restart) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "hosts": fold(one.targets),
        "machines": len(one.targets),
        "names": one.names,
        "for": list(one.settings),
        "found_by": list(one.rules),
        "blind": [_blind(first) for first in one.blind],
        "steps": [_step(step) for step in one.steps],
    }


def _blind(one: Blind) -> dict[str, Any]:
    steps = [_step(step) for step in one.steps]
    return {"setting": one.setting, "to": one.wanted, "names": one.names, "steps": steps}


def _again(one: Again) -> dict[str, Any]:
    return {
        "setting": one.setting,
        "value": one.value,
        "hosts": fold(one.targets),
        "names": one.names,
        "steps": [_step(step) for step in one.steps],
    }


def _lost(one: Lost) -> dict[str, Any]:
    return {"setting": one.setting, "why": one.why, "hosts": fold(one.targets)}


def _step(step: Step) -> dict[str, Any]:
    """Only what it has; a line that comes back as it was has a file and a key."""
    told = {name: value for name, value in step._asdict().items() if value and name != "kind"}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in told.items()}


def _left(group: Group) -> dict[str, Any]:
    return {
        "setting": group.setting.id,
        "title": group.setting.title,
        "from": group.now,
        "to": group.wanted,
        "by_peers": group.by_peers,
        "why": group.why,
        "found_by": list(group.rules),
        "subjects": group.subjects,
        "hosts": fold(group.targets),
    }


def _render(group: Group) -> dict[str, Any]:
    """What its owner is to be told."""
    return {
        "owner": group.owner,
        "setting": group.setting.id,
        "from": group.now,
        "to": group.wanted,
        "found_by": list(group.rules),
        "subjects": group.subjects,
        "hosts": fold(group.targets),
    }


def _by_hand(one: ByHand) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "severity": one.severity,
        "subjects": one.subjects,
        "hosts": fold(one.targets),
        "places": list(one.places),
    }


def written(head: Head, plan: Plan) -> Iterator[str]:
    """The text of the file."""
    yield json.dumps(as_json(head, plan), indent=1, ensure_ascii=False)
    yield "\n"


def read(path: Path) -> dict[str, Any]:
    """A plan file; says what is wrong where it is none."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not a plan: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f"{path} is not a plan of this version", do="Make one: railwright plan")
    return data
