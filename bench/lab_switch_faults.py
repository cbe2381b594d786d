"""Every fault of switches, struck in a lab that is up and found over SSH as declared.

    python -m bench.lab_switch_faults [FAULT ...]

Each fault at every kind of place on every system, in the smallest of LABS that has such a place;
as many at once as do not touch each other's machines. Hosts and switches are read in one run by
`railwright collect`, before and after. Needs root.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.figures import write_section
from lab import site
from lab.fleet.fabric import Fabric
from lab.fleet.fabric.hardware import SYSTEMS
from lab.fleet.faults.switch_fault import (
    FabricFault,
    FabricInjection,
    all_fabric_faults,
    places,
)
from lab.fleet.faults.switch_places import apart, is_possible
from lab.harness.fabric_faults import judged, rules_for
from lab.live.cluster import Cluster, cluster
from lab.live.fabric import StruckFabric
from lab.live.whole import Whole, running
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot

# Hosts, rails, switches, planes: each system once; leaves and spines of all systems, in planes;
# enough ends for a majority.
LABS = ((2, 2, 4, 1), (2, 2, 8, 2), (4, 4, 6, 1), (4, 8, 12, 1))
Wanted = set[tuple[str, str, str]]  # fault, kind of place, system


@dataclass
class Matrix:
    """What became of all of them."""

    faults: int = 0
    declared: int = 0
    found: int = 0
    extra: int = 0
    differences: list[str] = field(default_factory=list)
    nowhere: list[str] = field(default_factory=list)


def needs_peers(fault: FabricFault) -> bool:
    """No wish of a site tells which end is wrong, only the majority of like ends."""
    return fault.expects == fault.by_cohort != fault.by_nobody


def _has_place(fabric: Fabric, fault: FabricFault, at: str, system: str) -> bool:
    return any(
        place.switch.system == system and is_possible(fault, place)
        for place in places(fabric, fault, at)
    )


def chosen(fabrics: Sequence[Fabric], faults: Sequence[FabricFault]) -> Iterator[Wanted]:
    """For each fabric what is to be struck there: what none before it has a place for."""
    left = {(fault.name, at, system) for fault in faults for at in fault.at for system in SYSTEMS}
    by_name = {fault.name: fault for fault in faults}
    for number, fabric in enumerate(fabrics):
        is_last = number == len(fabrics) - 1
        mine = {
            (name, at, system)
            for name, at, system in left
            if (is_last or not needs_peers(by_name[name]))
            and _has_place(fabric, by_name[name], at, system)
        }
        left -= mine
        yield mine


def _read(whole: Whole, name: str) -> Snapshot:
    store = whole.folder / name
    done = whole.collect(store)
    if done.returncode != 0:
        raise RuntimeError(f"collect: {done.stderr}")
    return find(store, None)


def _struck(whole: Whole, injections: Sequence[FabricInjection], *, earlier: bool) -> None:
    for injection in injections:
        whole.switches.put(StruckFabric(injection, earlier))


def try_all(made: Cluster, sets: Sequence[Sequence[FabricInjection]], matrix: Matrix) -> None:
    """Bring up one lab, and strike one set after the other."""
    with (
        tempfile.TemporaryDirectory(prefix="railwright-bench-", dir="/dev/shm") as name,
        running(made, Path(name) / "lab") as whole,
    ):
        healthy = _read(whole, "healthy")
        for number, injections in enumerate(sets):
            began = time.monotonic()
            before = healthy
            if any(one.fault.before for one in injections):
                _struck(whole, injections, earlier=True)
                before = _read(whole, f"before{number}")
            _struck(whole, injections, earlier=False)
            now = _read(whole, f"now{number}")
            whole.switches.heal()
            variant = injections[0].fault.site
            rules = rules_for(one.fault for one in injections)
            outcome = judged(whole.folder, made.fabric, (before, now), injections, variant, rules)
            said = [one for one in outcome.differences() if not one.startswith("unknown: ")]
            words = ", ".join(sorted({one.fault.name for one in injections}))
            seconds = time.monotonic() - began
            print(f"{words}: {len(outcome.expected)} declared, {len(said)} not so; {seconds:.0f} s")
            print("".join(f"  {one}\n" for one in said), end="", flush=True)
            matrix.faults += len(injections)
            matrix.declared += len(outcome.expected)
            matrix.found += len(outcome.expected & outcome.fails)
            matrix.extra += len(outcome.open - outcome.allowed)
            matrix.differences += said


def run(names: Sequence[str]) -> Matrix:
    """All faults, or those that are named."""
    unknown = set(names) - set(all_fabric_faults())
    if unknown:
        sys.exit(f"no fault is called {', '.join(sorted(unknown))}")
    site.make_root()
    faults = [one for one in all_fabric_faults().values() if not names or one.name in names]
    labs = [cluster(*one) for one in LABS]
    matrix, met = Matrix(), set[str]()
    for made, wanted in zip(labs, chosen([one.fabric for one in labs], faults), strict=True):
        met |= {name for name, _, _ in wanted}
        sets = apart(made.fabric, faults, wanted)
        print(f"{len(made.machines)} hosts, {len(made.fabric.switches)} switches: "
              f"{len(wanted)} faults in {len(sets)} sets", flush=True)  # fmt: skip
        if sets:
            try_all(made, sets, matrix)
    matrix.nowhere = [one.name for one in faults if one.name not in met]
    return matrix


def main() -> None:
    names = sys.argv[1:]
    matrix = run(names)
    rows = [
        ("faults struck", str(matrix.faults), "-"),
        ("declared findings that were found", f"{matrix.found} of {matrix.declared}", "all"),
        ("undeclared findings", str(matrix.extra), "0"),
        ("faults that no lab has a place for", ", ".join(matrix.nowhere) or "none", "none"),
    ]
    for row in rows:
        print("  ".join(row))
    if not names:
        write_section(
            "Faults of switches, struck live",
            "`python -m bench.lab_switch_faults`: every declared fault at every kind of place on "
            "every system, in a lab that is up, read over SSH and judged by a site with a plan.",
            rows,
        )
    sys.exit(1 if matrix.differences or matrix.nowhere else 0)


if __name__ == "__main__":
    main()
