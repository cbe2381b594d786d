"""Run rules over a snapshot in a process apart, and stop what will not stop by itself."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from railwright.check.guarded import guarded
from railwright.check.rule import Rule

RULE_SECONDS = 120.0  # a rule over a million NICs takes about one
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

    def text(self) -> str:
        """For the child."""
        listed = [
            (str(rule.path), str(_folder(rule)), {p.name: p.default for p in rule.parameters})
            for rule in self.rules
        ]
        return json.dumps(
            {
                "rules": listed,
                "facts": str(self.facts),
                "intent": str(self.intent),
                "out": str(self.out),
                "before": str(self.before) if self.before else "",
                "seconds": self.seconds,
                "each": self.each,
            }
        )


def _folder(rule: Rule) -> Path:
    depth = len(Path(rule.topic).parts)
    return rule.path.parents[depth] if depth else rule.path.parent


@dataclass(frozen=True)
class Ran:
    """How one rule went."""

    rule: str
    cpu_s: float
    trouble: str  # '' = it ran

    @property
    def file(self) -> str:
        """Its verdicts, below the folder of the request."""
        return f"{self.rule}.parquet"


def run(request: Request) -> list[Ran]:
    """Every rule, in order. One that fails or has to be stopped says why; the others still run."""
    waiting = list(request.rules)
    done: list[Ran] = []
    while waiting:
        found = list(_child(replace(request, rules=tuple(waiting))))
        done += found
        waiting = waiting[len(found) :]
        if not found:
            raise RuntimeError("the process that runs rules ended before the first one")
    return done


def _child(request: Request) -> Iterator[Ran]:
    """One process for as many rules as it survives."""
    request.out.mkdir(parents=True, exist_ok=True)
    under_way = ""
    began = time.monotonic()
    with guarded("railwright.check.child", request.text()) as child:
        for line in child.lines():
            if line is None:
                trouble = child.trouble(began, request.seconds + GRACE_SECONDS)
                if trouble and under_way:
                    yield Ran(under_way, 0.0, trouble)
                    return
                continue
            word, _, rest = line.partition(" ")
            name, _, rest = rest.partition(" ")
            if word == "run":
                under_way, began = name, time.monotonic()
            elif word in ("done", "failed"):
                spent, _, trouble = rest.partition(" ")
                yield Ran(name, float(spent), trouble if word == "failed" else "")
                under_way = ""
    if under_way:
        yield Ran(under_way, 0.0, "the process that ran it was killed")
