"""Waivers that cover nothing: a slip of the pen, or a fault that was mended."""

from typing import NamedTuple

from railwright.check.engine import RunState
from railwright.check.findings import Findings
from railwright.check.rule import shipped
from railwright.check.waivers import Waiver
from railwright.store.duck import read_sql

_UNUSED = read_sql(__file__, "unused.sql")
_THINGS = read_sql(__file__, "things.sql")
_BEHIND = (":", "/", "#", "[", "+")  # where a part of a subject ends


class Unused(NamedTuple):
    """A waiver that covers nothing, and why."""

    waiver: Waiver
    why: str


def unused(findings: Findings) -> list[Unused]:
    """Those of the rules that ran; of some machines alone (`--on`) nothing is said."""
    if findings.on or not findings.waivers:
        return []
    ran = [name for name, one in findings.ran.items() if one.state is RunState.RAN]
    by_default = {name for name, rule in shipped().items() if not rule.preview}
    rows = findings.database.execute(
        _UNUSED, {"rules": ran, "all_rules": by_default <= set(findings.rules)}
    ).fetchall()
    return [_unused(findings.waivers[number], is_here=here) for number, here in rows]


def _unused(waiver: Waiver, *, is_here: bool) -> Unused:
    nothing = "no such finding" if waiver.verdict == "fail" else "nothing is inconclusive there"
    return Unused(waiver, nothing if is_here else "not in this snapshot")


def unknown_subjects(findings: Findings, waiver: Waiver) -> list[str]:
    """What its subjects name that the snapshot does not have: a machine, or a part of one."""
    things: dict[str, list[str]] = {}
    for target, name in findings.database.execute(_THINGS).fetchall():
        things.setdefault(target, []).append(name)
    known = set(findings.targets())
    found = []
    for target, prefix in waiver.prefixes():
        rest = prefix.partition(":")[2] if target != "*" else ""
        if target != "*" and target not in known:
            found.append(f"no machine is called {target}")
        elif rest and target in things and not any(_begins(rest, one) for one in things[target]):
            found.append(f"{target} has nothing called {rest}")
    return found


def _begins(rest: str, name: str) -> bool:
    return rest == name or any(rest.startswith(f"{name}{sign}") for sign in _BEHIND)
