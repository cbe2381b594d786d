"""Fabrics with faults in them, judged: what was declared must be found, and nothing else.

    python -m bench.fabric_faults [SHAPE ...]      systems_512 and onyx_512 by default

Every declared fault at every kind of place on every system that tells it, as many in one fabric as
do not touch each other's machines; each fabric is judged by a site that says what it wants and has
a cabling plan, and by the majority of similar ports alone. Needs root.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.figures import write_section
from lab.fleet.fabric import SHAPES, Fabric, build
from lab.fleet.faults.switch_fault import (
    FabricInjection,
    all_fabric_faults,
)
from lab.fleet.faults.switch_places import apart
from lab.harness.fabric_faults import Outcome, judged, rules_for, snapshots

USUAL = ("systems_512", "onyx_512")


class Matrix:
    """Rule by rule: injected, found, extra."""

    def __init__(self) -> None:
        self.injected: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.extra: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()  # of the healthy fabric
        self.differences: list[str] = []
        self.faults = 0

    def add(self, injections: Sequence[FabricInjection], variant: str, outcome: Outcome) -> None:
        """One fabric under one site."""
        self.injected.update(rule for rule, _ in outcome.expected)
        self.found.update(rule for rule, _ in outcome.expected & outcome.fails)
        self.extra.update(rule for rule, _ in outcome.open - outcome.allowed)
        self.faults += len(injections)
        if not injections:
            self.unknown.update(rule for rule, _ in outcome.unknown)
        said = [words for words in outcome.differences() if not words.startswith("unknown: ")]
        self.differences += [f"{variant}: {words}" for words in said]
        print(f"{variant}: {len(injections)} faults, {len(outcome.expected)} declared, "
              f"{len(said)} not so", flush=True)  # fmt: skip

    def rows(self, fabric: Fabric, fabrics: int) -> list[tuple[str, str, str]]:
        """For docs/figures.md."""
        size = (
            f"{fabric.hosts:,} hosts, {len(fabric.switches)} switches, {len(fabric.links):,} links"
        )
        listed = ", ".join(f"{rule} {count:,}" for rule, count in sorted(self.unknown.items()))
        injected, found, extra = self.injected, self.found, self.extra
        return [
            ("each fabric", size, "512 hosts x 8 rails"),
            ("fabrics; faults, under both sites", f"{fabrics}; {self.faults}", "-"),
            ("declared findings that were found", f"{found.total()} of {injected.total()}", "all"),
            ("undeclared findings", str(extra.total()), "0"),
            ("unknown in the healthy fabric: what its systems do not tell", listed or "0", "-"),
            *(
                (rule, f"injected {injected[rule]}, found {found[rule]}, extra {extra[rule]}", "-")
                for rule in sorted(injected | extra)
            ),
        ]


def run(shape: str) -> list[str]:
    """The matrix of one fabric; what was not as declared."""
    fabric = build(SHAPES[shape])
    faults = list(all_fabric_faults().values())
    matrix, sets = Matrix(), [[], *apart(fabric, faults)]
    rules = rules_for(faults)
    with tempfile.TemporaryDirectory(prefix="railwright-bench-", dir="/dev/shm") as name:
        for injections in sets:
            folder = Path(name)
            both = snapshots(folder, fabric, injections)
            wanted = injections[0].fault.site if injections else "usual"
            for variant in (wanted, "observed"):
                outcome = judged(folder, fabric, both, injections, variant, rules)
                matrix.add(injections, variant, outcome)
    write_section(
        f"Faults of fabrics: {shape}",
        f"`python -m bench.fabric_faults {shape}`: every declared fault at a host, a leaf's "
        "downlink, a leaf's uplink, a spine, on every system that tells it; by a site with a plan, "
        "and by the majority of similar ports alone.",
        matrix.rows(fabric, len(sets)),
    )
    return matrix.differences


def main() -> None:
    wrong = [words for shape in sys.argv[1:] or USUAL for words in run(shape)]
    for words in wrong:
        print(words)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
