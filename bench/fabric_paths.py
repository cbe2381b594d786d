"""`path` against an independent walk over what the switches printed, on a fabric of three tiers.

    python -m bench.fabric_paths [PAIRS [SHAPE]]      1,000 pairs of rails_4096 by default

The walk is lab/harness/raw_walk.py. Some dozens of switches have a fault. Needs root.
"""

import sys
import tempfile
import time
from pathlib import Path

from bench.figures import write_section
from lab.fleet.fabric import SHAPES, build
from lab.harness.path_pairs import differences, pairs, struck

FAULTS = 40


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    shape = sys.argv[2] if len(sys.argv) > 2 else "rails_4096"
    fabric = build(SHAPES[shape])
    faults = struck(fabric, FAULTS, seed=4096)
    agree = broken = 0
    hops: set[int] = set()
    wrong: list[str] = []
    began = time.process_time()
    with tempfile.TemporaryDirectory(prefix="railwright-paths-", dir="/dev/shm") as name:
        for pair in pairs(Path(name), fabric, faults, count, seed=1):
            said = differences(pair)
            agree += not said
            broken += bool(pair.raw.broken)
            hops.add(len(pair.raw.entries))
            wrong += said
    size = f"{fabric.hosts:,} hosts, {len(fabric.switches):,} switches, {len(fabric.links):,} links"
    rows = [
        ("fabric", f"{size}, {FAULTS} faults", "4,096 hosts, 3 tiers"),
        ("pairs that agree: every switch, port, class of hops and broken hop",
         f"{agree:,} of {count:,}", "all"),
        ("of them with a broken hop", f"{broken:,}", "-"),
        ("switches on the way", ", ".join(map(str, sorted(hops))), "1, 3, 5"),
        ("CPU of everything, the fabric included", f"{time.process_time() - began:.0f} s", "-"),
    ]  # fmt: skip
    write_section(
        "Paths against an independent walk",
        f"`python -m bench.fabric_paths {count} {shape}`: pairs at random, each walked by `path` "
        "and by lab/harness/raw_walk.py, which reads the raw texts of the switches by itself.",
        rows,
    )
    for words in (*("  ".join(row) for row in rows), *wrong[:20]):
        print(words)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
