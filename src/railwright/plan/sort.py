"""The rows of a database, folded and in order: what is changed, held back, refused or undecided."""

from collections import defaultdict
from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any

import duckdb

from railwright.plan.changes import UNSAFE, State, UnsafeError, steps_of
from railwright.plan.digests import digests
from railwright.plan.guards import Kept
from railwright.plan.order import ordered
from railwright.plan.paths import Limits
from railwright.plan.plan import ByHand, Group, Member, Plan
from railwright.plan.restarts import RESET, put_back, restarts_of
from railwright.plan.totals import totals
from railwright.settings.setting import Setting, settings

AS_WANTED = "it is as wanted already, and the finding stands: look further"
NEVER_TOUCH = "the site file says never to touch it"

Row = dict[str, Any]


def sorted_plan(
    database: duckdb.DuckDBPyConnection, kept: Kept, by_hand: Collection[ByHand]
) -> Plan:
    """Of the table `grouped`."""
    rows: dict[str, list[Row]] = {"change": [], "held": [], "refused": [], "undecided": []}
    for row in _rows(database):
        where, row["why"] = _where(row, kept.limits, kept.never_touch)
        rows[where].append(row)
    changed = rows["change"]
    restarts = restarts_of(database, changed)
    again, lost = put_back(database, restarts)
    blind = {
        (one.setting, str(one.names), target)
        for restart in restarts
        for one in restart.blind
        for target in one.targets
    }
    refused = [row for row in rows["refused"] if not _is_blind(row, blind)]
    restarted = {target for one in restarts for target in one.targets}
    _delay(changed, restarted)
    groups = _folded([row for row in changed if row["setting"] != RESET])
    return Plan(
        kept.limits,
        totals([*changed, *rows["held"]]),
        digests(database, groups, restarted),
        groups,
        restarts,
        again,
        lost,
        _folded(rows["held"]),
        _folded(refused),
        _folded(rows["undecided"]),
        tuple(by_hand),
    )


def _rows(database: duckdb.DuckDBPyConnection) -> list[Row]:
    found = database.execute("FROM grouped ORDER BY number")
    columns = [one[0] for one in found.description]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


def _where(row: Row, limits: Limits, never: Collection[str]) -> tuple[str, str]:
    """In the plan, held back, refused or undecided; and why."""
    setting = settings()[row["setting"]]
    if row["state"] == State.LEAVE.value:
        return "refused", AS_WANTED
    if row["state"] != State.CHANGE.value:
        return row["state"], row["why"]
    touched = [name for name in row["names"].values() if name]
    if any(fnmatchcase(name, glob) for name in touched for glob in never):
        return "refused", NEVER_TOUCH
    try:
        row["filled"] = steps_of(
            setting.writes[row["write"]], row["now"], row["wanted"], row["names"]
        )
    except UnsafeError:
        return "refused", UNSAFE
    needed = limits.held_back(setting, row["restart"] or "")
    return ("held", needed) if needed else ("change", "")


def _is_blind(row: Row, blind: Collection[tuple[str, str, str]]) -> bool:
    return all((row["setting"], str(row["names"]), target) in blind for target in row["targets"])


def _delay(changed: Collection[Row], restarted: Collection[str]) -> None:
    """What a restart would lose comes after it, and what comes after that too."""
    known = settings()
    late: dict[str, set[str]] = defaultdict(set)
    rank = {name: number for number, name in enumerate(ordered(known.values()))}
    for row in sorted(changed, key=lambda row: rank[row["setting"]]):
        on = set(row["targets"])
        waits_for = [late[name] for name in known[row["setting"]].after]
        row["is_late"] = not on.isdisjoint(restarted) and (
            row["is_late"] or any(not on.isdisjoint(one) for one in waits_for)
        )
        if row["is_late"]:
            late[row["setting"]] |= on


def _folded(rows: Collection[Row]) -> tuple[Group, ...]:
    kept: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        key = (
            row["setting"],
            row["now"],
            row["wanted"],
            row["why"],
            row["by_peers"],
            row["owner"],
            row["is_late"],
        )
        kept[key].append(row)
    known = settings()
    in_order = {name: number for number, name in enumerate(ordered(known.values()))}
    made = [_group(known[key[0]], key, rows) for key, rows in kept.items()]
    return tuple(sorted(made, key=lambda one: (one.is_late, in_order[one.setting.id])))


def _group(setting: Setting, key: tuple[Any, ...], rows: list[Row]) -> Group:
    _, now, wanted, why, by_peers, owner, is_late = key
    members = tuple(
        Member(row["names"], tuple(row["targets"]), *row["filled"])
        for row in sorted(rows, key=lambda row: str(row["names"]))
        if "filled" in row
    )
    priced = [row["gbps"] for row in rows if row["gbps"] is not None]
    return Group(
        setting,
        now,
        wanted,
        tuple(sorted({rule for row in rows for rule in row["rules"]})),
        sum(row["subjects"] for row in rows),
        tuple(sorted({target for row in rows for target in row["targets"]})),
        members,
        why,
        is_late,
        sum(priced) if priced else None,
        by_peers,
        owner,
    )
