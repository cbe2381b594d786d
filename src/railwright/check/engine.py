"""Run rules over a snapshot in a process apart, and stop what will not stop by itself."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import duckdb

from railwright.check.account import silent_targets, verdicts
from railwright.check.alike import alike_name, folding
from railwright.check.guarded import guarded
from railwright.check.lint import with_parameters
from railwright.check.rule import Rule
from railwright.errors import SnapshotError
from railwright.model.alike import FEWEST
from railwright.store.duck import quote

RULE_SECONDS = 120.0  # a rule over a million NICs takes a few
OPENING_SECONDS = 300.0  # the tables of a million NICs take a tenth of it
GRACE_SECONDS = 10.0  # from the interrupt to the kill


@dataclass(frozen=True)
class Request:
    """What is to be run over what."""

    rules: tuple[Rule, ...]
    facts: Path
    intent: Path
    out: Path
    before: Path | None = None
    seconds: float = RULE_SECONDS
    each: bool = False  # a row for every subject, also for those in order
    named: frozenset[str] = frozenset()  # the same for the subjects of these machines alone
    fold: bool | None = None  # machines that are alike are judged once; None = in large fleets
    alone: bool = False  # one rule at a time

    def text(self) -> str:
        """For the child: finished queries, nothing to load there."""
        large = self.machines() >= FEWEST
        folds = not self.each and (large if self.fold is None else self.fold)
        groups = folding(self.rules if folds else ())
        return json.dumps(
            {
                "rules": [
                    self._entry(rule, groups.place.get(rule.id), few=not large)
                    for rule in self.rules
                ],
                "groups": [sorted(group) for group in groups.groups],
                "facts": str(self.facts.resolve()),
                "intent": str(self.intent.resolve()),
                "out": str(self.out.resolve()),
                "before": str(self.before.resolve()) if self.before else "",
                "seconds": self.seconds,
                # Small queries are mostly planning, which takes one core: two rules at a time then,
                # and no threads of DuckDB's own beside them. Large ones take both cores.
                "threads": 2 if large or self.alone else 1,
                "at_once": {
                    "examples": 1 if self.alone else 2,
                    "all": 1 if large or self.alone else 2,
                },
            }
        )

    def _entry(self, rule: Rule, group: int | None, *, few: bool) -> dict[str, Any]:
        query = with_parameters(rule.sql, rule.parameters)
        entry: dict[str, Any] = {
            "rule": rule.id,
            "query": verdicts(rule, query, each=self.each, named=self.named, few=few),
            "probe": rule.subject.probe,
            "silent": silent_targets(rule),
        }
        if group is not None:
            folded = verdicts(rule, query, named=self.named, alike=alike_name(group))
            entry |= {"group": group, "folded": folded}
        return entry

    def machines(self) -> int:
        """How many the snapshot has."""
        with duckdb.connect(":memory:") as database:
            file = quote(str(self.facts / "target.parquet"))
            (found,) = database.execute(f"SELECT count(*) FROM read_parquet({file})").fetchall()
        return int(found[0])


class RunState(Enum):
    """What became of a rule."""

    RAN = "ran"
    SKIPPED = "skipped"  # it compares two snapshots, and there is one
    STOPPED = "stopped"  # it could not be run to its end: nothing is known


@dataclass(frozen=True)
class Ran:
    """How one rule went."""

    rule: str
    cpu_s: float
    trouble: str  # '' = it ran
    beside: bool = False  # another rule ran at the same time
    is_skipped: bool = False

    @property
    def state(self) -> RunState:
        """What became of it."""
        if self.is_skipped:
            return RunState.SKIPPED
        return RunState.STOPPED if self.trouble else RunState.RAN

    @property
    def file(self) -> str:
        """Its verdicts, below the folder of the request."""
        return f"{self.rule}.parquet"


def run(request: Request) -> list[Ran]:
    """Every rule. One that fails or has to be stopped says why; the others still run."""
    waiting = {rule.id: rule for rule in request.rules}
    done: dict[str, Ran] = {}
    while waiting:
        rules = tuple(waiting.values())
        found = list(_child(replace(request, rules=rules)))
        if not found:
            raise SnapshotError(
                "the process that runs the rules ended before the first rule",
                do="Run railwright store verify to check the snapshot's files for damage.",
            )
        for one in found:
            rule = waiting.pop(one.rule)
            if one.trouble and one.beside:  # the fault may be the other one's
                one = _alone(request, rule)  # noqa: PLW2901
            done[one.rule] = one
    return [done[rule.id] for rule in request.rules]


def _alone(request: Request, rule: Rule) -> Ran:
    """The same rule with nothing beside it."""
    found = list(_child(replace(request, rules=(rule,), alone=True)))
    return found[0] if found else Ran(rule.id, 0.0, "the process that was to run it did not start")


def _child(request: Request) -> Iterator[Ran]:
    """One process for as many rules as it survives."""
    request.out.mkdir(parents=True, exist_ok=True)
    under_way: dict[str, float] = {}
    beside: set[str] = set()
    trouble, heard = "", time.monotonic()
    with guarded("railwright.check.child", request.text()) as child:
        for line in child.lines():
            if line is None:
                # Between rules too the clock runs: to open a table can take for ever.
                most = request.seconds + GRACE_SECONDS if under_way else OPENING_SECONDS
                trouble = child.trouble(min(under_way.values(), default=heard), most)
                if trouble:
                    break
                continue
            heard = time.monotonic()
            word, _, rest = line.partition(" ")
            name, _, rest = rest.partition(" ")
            if word == "run":
                under_way[name] = time.monotonic()
                beside |= set(under_way) if len(under_way) > 1 else set()
            elif word == "fault":
                trouble = rest
            elif word in ("done", "failed"):
                spent, _, said = rest.partition(" ")
                yield Ran(name, float(spent), said if word == "failed" else "", name in beside)
                del under_way[name]
    if trouble and not under_way:
        raise SnapshotError(
            f"cannot open the tables of the snapshot: {trouble}",
            do="Run railwright store verify to check its files for damage.",
        )
    for name in under_way:
        yield Ran(name, 0.0, trouble or "the process that ran it was killed", name in beside)
