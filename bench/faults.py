"""The fault matrix over the evidence: nothing missed, no false alarm.

    python -m bench.faults [alone] [random] [overlapping]    all three by default

Each fault alone on every model that can have it; sets of 20 faults at random that have nothing to
do with each other; sets that lie on top of each other. Every fleet is read by the real runner, as
root, and judged by the default rules, with an earlier snapshot beside it. What was declared must be
said, and nothing else. Takes about 40 minutes on two cores.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.figures import write_section
from lab.fleet import MODELS
from lab.fleet.faults import all_faults
from lab.harness.fault_fleet import Outcome, Reader, Trial, judge
from lab.harness.fault_sets import alone, disjoint, overlapping
from railwright.check.rule import shipped

PER_SET = 20
PARTS = {
    "alone": "each fault alone on every model, and a healthy fleet of each",
    "random": "50 sets of 20 faults at random, on subjects that have nothing to do with each other",
    "overlapping": "20 sets of 20 faults that overlap",
}


def trials(part: str) -> Iterator[Trial]:
    """All fleets of one part; models take turns."""
    models = list(MODELS)
    if part == "random":
        yield from (disjoint(models[seed % len(models)], PER_SET, seed) for seed in range(50))
    elif part == "overlapping":
        yield from (overlapping(models[seed % len(models)], PER_SET, seed) for seed in range(20))
    else:
        for model in models:
            yield Trial("healthy", model, "usual", ())
            yield from alone(model, [f for f in all_faults().values() if model in f.models])


class Matrix:
    """Rule by rule: injected, found, extra."""

    def __init__(self) -> None:
        self.injected: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.extra: Counter[str] = Counter()
        self.differences: list[str] = []
        self.fleets = 0

    def add(self, outcome: Outcome) -> None:
        """One fleet; what another fault excuses or hides was not injected here."""
        declared = outcome.trial.declared()
        for one in outcome.trial.injections:
            for verdict in one.expected & declared.fails:
                self.injected[verdict[0]] += 1
                self.found[verdict[0]] += verdict in outcome.fails
        self.extra.update(rule for rule, _ in outcome.extra())
        trial = outcome.trial
        where = f"{trial.model} {trial.site} {trial.name}"
        self.differences += [f"{where}: {words}" for words in outcome.differences()]
        self.fleets += 1

    def rows(self) -> list[tuple[str, str, str]]:
        """For docs/figures.md: totals first, then every default rule that had to do with it."""
        default = {rule.id for rule in shipped().values() if not rule.preview}
        touched = set(self.injected) | set(self.extra)
        total = [
            ("fleets judged", f"{self.fleets}", "-"),
            ("injected, found", f"{self.injected.total():,}, {self.found.total():,}", "the same"),
            ("extra findings", f"{self.extra.total():,}", "0"),
            ("not as declared, unknowns included", f"{len(self.differences):,}", "0"),
        ]
        each = [
            (
                f"{rule}: injected, found, extra",
                f"{self.injected[rule]}, {self.found[rule]}, {self.extra[rule]}",
                "all, none",
            )
            for rule in sorted(touched)
        ]
        return [
            *total,
            ("default rules without a fault here", _listed(default - touched), "-"),
            *each,
        ]


def _listed(rules: set[str]) -> str:
    return ", ".join(sorted(rules)) or "none"


def run(part: str) -> bool:
    """One part, whether all was as declared."""
    matrix = Matrix()
    with tempfile.TemporaryDirectory(prefix="railwright-bench-", dir="/dev/shm") as name:
        reader = Reader(Path(name))
        for trial in trials(part):
            outcome = judge(reader, trial)
            matrix.add(outcome)
            said = outcome.differences()
            words = "as declared" if not said else f"{len(said)} not as declared"
            print(f"{trial.model} {trial.site} {trial.name}: {len(trial.injections)} {words}")
            for line in said:
                print(f"  {line}", flush=True)
    for row in matrix.rows():
        print("  ".join(row))
    words = f"`python -m bench.faults {part}`: {PARTS[part]}."
    write_section(f"Fault matrix: {part}", words, matrix.rows())
    return not matrix.differences


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    if not set(wanted) <= set(PARTS):
        sys.exit(__doc__)
    as_declared = [run(part) for part in wanted]
    sys.exit(0 if all(as_declared) else 1)


if __name__ == "__main__":
    main()
