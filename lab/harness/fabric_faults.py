"""A fabric with faults in it, judged: what was declared must be found, and nothing else.

It is judged by a site that says what it wants and has a cabling plan, or by the majority of similar
ports alone. Needs root.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.fleet.fabric import Fabric
from lab.fleet.fabric.plan import CABLING, cabling, site
from lab.fleet.faults.switch_fault import (
    FabricFault,
    FabricInjection,
    Verdict,
)
from lab.harness.fabric import fabric_snapshot
from railwright.check.rule import shipped
from railwright.check.run import Choice, checked, chosen
from railwright.intent.site import load_site
from railwright.store.snapshot import Snapshot

# Whose findings are declared here; those on hosts alone have their own matrix.
TOPICS = ("switch", "path")
ALSO = ("intent-pfc", "intent-trust")
LEAST_PEERS = 4  # of a kind, for a majority
_CASE_OF = {"usual": "expects", "storage": "expects", "observed": "by_cohort"}


@dataclass(frozen=True)
class Outcome:
    """What was found, beside what was declared."""

    expected: frozenset[Verdict]
    allowed: frozenset[Verdict]
    fails: frozenset[Verdict]
    open: frozenset[Verdict]  # those that no other finding explains
    unknown: dict[Verdict, str]
    trouble: dict[str, str]

    def differences(self) -> list[str]:
        """In words."""
        said = [f"not found: {r} {s}" for r, s in sorted(self.expected - self.fails)]
        said += [f"not declared: {r} {s}" for r, s in sorted(self.open - self.allowed)]
        said += [f"unknown: {r} {s} ({why})" for (r, s), why in sorted(self.unknown.items())]
        return said + [f"not run: {rule}: {words}" for rule, words in self.trouble.items()]


def _ours(rule: str) -> bool:
    return shipped()[rule].topic in TOPICS or rule in ALSO


def judge(
    folder: Path,
    fabric: Fabric,
    injections: Sequence[FabricInjection],
    variant: str = "usual",
    rules: tuple[str, ...] = (),
) -> Outcome:
    """Two snapshots an hour apart, and the rules on switches, links and paths."""
    folder.mkdir(parents=True, exist_ok=True)
    both = snapshots(folder, fabric, injections)
    return judged(folder, fabric, both, injections, variant, rules)


def snapshots(
    folder: Path, fabric: Fabric, injections: Sequence[FabricInjection]
) -> tuple[Snapshot, Snapshot]:
    """An hour ago, and now."""
    store = folder / "store"
    return (
        fabric_snapshot(store, fabric, injections, earlier=True),
        fabric_snapshot(store, fabric, injections),
    )


def judged(
    folder: Path,
    fabric: Fabric,
    both: tuple[Snapshot, Snapshot],
    injections: Sequence[FabricInjection],
    variant: str,
    rules: tuple[str, ...] = (),
) -> Outcome:
    """What the rules say under one site."""
    before, now = both
    (folder / "site.toml").write_text(site(fabric, variant))
    (folder / CABLING).write_text(cabling(fabric))
    wanted = load_site(folder / "site.toml")
    picked = {rule: one for rule, one in chosen(Choice(rules), wanted).items() if _ours(rule)}
    with checked(now, picked, wanted, [], before=before) as findings:
        rows = findings.database.execute(
            "SELECT rule, subject, verdict, state, why FROM finding"
        ).fetchall()
        trouble = {one.rule: one.trouble for one in findings.accounts() if one.trouble}
    case = _CASE_OF[variant]
    if case == "by_cohort" and len(fabric.switches) < LEAST_PEERS:
        case = "by_nobody"
    expected = frozenset[Verdict]().union(*(one.expected(case) for one in injections))
    allowed = frozenset[Verdict]().union(*(one.allowed(case) for one in injections))
    fails = [(rule, subject, state) for rule, subject, verdict, state, _ in rows
             if verdict == "fail"]  # fmt: skip
    return Outcome(
        frozenset(one for one in expected if one[0] in picked),
        allowed,
        frozenset((rule, subject) for rule, subject, _ in fails),
        frozenset((rule, subject) for rule, subject, state in fails if state == "open"),
        {(rule, subject): why for rule, subject, verdict, _, why in rows if verdict != "fail"},
        trouble,
    )


def rules_for(faults: Iterable[FabricFault]) -> tuple[str, ...]:
    """The default rules, and those in preview that have a fault."""
    usual = {name for name, rule in shipped().items() if not rule.preview}
    return tuple(sorted(usual | {fault.rule for fault in faults}))
