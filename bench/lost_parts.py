"""Every part that a host can lose, lost: found by the rule that is to find it, at the right place.

    python -m bench.lost_parts PROGRESS [MINUTES]      as root; 120 by default

For every part of every model and every way to lose it: a fleet of 1, 4 and 16 hosts of which one
has lost it, judged under each kind of site file. What must come of it is written by hand in
lost_parts.toml. Losses come in an order that chance has given once and for all, of every sort (a
model, a kind of part, a way to lose it) one first, then of every sort another, so that a run which
ends early has tried a fair sample; PROGRESS gets a line per loss, and the next run goes on there.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.figures import write_section
from lab.harness.lost_parts import losses, prepared_and_tried
from lab.harness.resumable import go_on, read
from lab.harness.struck import CELLS, SITES

MINUTES = 120.0
SHOWN = 30


def rows_of(found: dict[str, dict[str, str]]) -> list[tuple[str, str, str]]:
    """For docs/figures.md."""
    total = len(losses())
    cells = [said for one in found.values() for said in one.values()]
    wrong = Counter(said for said in cells if said)
    by_site = Counter(
        (cell.partition(" ")[0], bool(said)) for one in found.values() for cell, said in one.items()
    )
    each = [
        (
            f"site {site}: cells, not as wanted",
            f"{by_site[site, False] + by_site[site, True]:,}, {by_site[site, True]:,}",
            "all, 0",
        )
        for site in SITES
    ]
    sorts = {loss.sort() for loss in losses()}
    seen = {loss.sort() for loss in losses() if loss.name() in found}
    return [
        (
            "sorts of losses (model, kind of part, way) tried",
            f"{len(seen):,} of {len(sorts):,}",
            "all",
        ),
        ("losses tried", f"{len(found):,} of {total:,}", "all"),
        ("cells", f"{len(cells):,} of {total * len(CELLS):,}", "all"),
        ("exit 0 with a part lost", f"{wrong['exit 0']:,}", "0"),
        ("not as the table has it", f"{sum(wrong.values()):,}", "0"),
        *each,
    ]


def main() -> None:
    """The command line."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    progress = Path(sys.argv[1])
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else MINUTES
    with tempfile.TemporaryDirectory(prefix="railwright-bench-", dir="/dev/shm") as name:
        trials = {loss.name(): (Path(name), loss) for loss in losses()}
        go_on(progress, trials, prepared_and_tried, minutes)
    found = read(progress)
    wrong = [(loss, c, said) for loss, one in found.items() for c, said in one.items() if said]
    for line in wrong[:SHOWN]:
        print("  ".join(line))
    words = "`python -m bench.lost_parts PROGRESS`: parts of 18 models, lost in every way."
    write_section("Lost parts", words, rows_of(found))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
