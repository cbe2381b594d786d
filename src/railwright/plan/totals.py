"""What each path would come to: changes, what stops for them, what they win back."""

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Any

from railwright.plan.paths import ALLOWED, PATHS, Limits, what_stops
from railwright.plan.plan import Total
from railwright.settings.setting import settings

EVERYTHING = "everything allowed"
_OUT_OF_SERVICE = ("link", "card", "host")  # a running job would lose it: drain first


def totals(rows: Collection[dict[str, Any]]) -> tuple[Total, ...]:
    """Of all changes that could be made, whatever path this plan takes."""
    limits = {name: Limits(name) for name in PATHS}
    limits[EVERYTHING] = Limits("aggressive", frozenset(ALLOWED))
    return tuple(_total(name, one, rows) for name, one in limits.items())


def _total(name: str, limits: Limits, rows: Collection[dict[str, Any]]) -> Total:
    drained, switches = set(), set()
    restarts: dict[str, set[tuple[str, str | None]]] = defaultdict(set)
    risk: Counter[tuple[str, str]] = Counter()
    changes, unpriced, gbps = 0, 0, 0.0
    for row in rows:
        setting = settings()[row["setting"]]
        if limits.held_back(setting, row["restart"] or ""):
            continue
        changes += row["subjects"]
        risk[setting.reach, setting.way_back] += row["subjects"]
        gbps += row["gbps"] or 0.0
        unpriced += row["subjects"] if row["gbps"] is None else 0
        if setting.area == "switch":
            switches.update(row["targets"])
        elif row["restart"] or what_stops(setting) in _OUT_OF_SERVICE:
            drained.update(row["targets"])
        if row["restart"]:
            restarts[row["restart"]].update((target, row["card"]) for target in row["targets"])
    hosts = {kind: {target for target, _ in at} for kind, at in restarts.items()}
    return Total(
        name,
        changes,
        len(drained),
        len(switches),
        len(restarts["firmware_reset"]),
        len(hosts.get("reboot", ())),
        len(hosts.get("power_cycle", ())),
        gbps,
        unpriced,
        tuple((*key, count) for key, count in sorted(risk.items())),
    )
