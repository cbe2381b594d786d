"""Every fault under every kind of site file, on 1, 4 and 16 hosts: found, and never exit 0.

    python -m bench.fault_sites PROGRESS [MINUTES]      as root; 120 by default

One host of a fleet has one fault. PROGRESS gets a line per fault with what was said in each cell;
the next run goes on there. What must be said is written by hand in fault_sites.toml, and compared
when the figures are written. `full` is the site file that an operator of such hosts would write
(lab/fleet/faults/sites.py). Faults come in an order that chance has given once and for all, each on
the model that is read fastest.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.figures import write_section
from lab.fleet.faults import all_faults
from lab.harness.fault_sites import (
    EXIT_0,
    INCONCLUSIVE,
    LISTED_RULE,
    NO_FAULT,
    NO_REFERENCE,
    OWN_RULE,
    Said,
    faults,
    outcome,
    tried,
    wrong,
)
from lab.harness.resumable import go_on, read
from lab.harness.struck import CELLS, Cell

MINUTES = 120.0
SHOWN = 60


def _cell(text: str) -> Cell:
    site, _, size = text.partition(" ")
    return Cell(site, int(size))


def rows_of(found: dict[str, dict[str, Said]]) -> list[tuple[str, str, str]]:
    """For docs/figures.md."""
    judged = [
        (all_faults()[name], _cell(cell), said)
        for name, one in found.items()
        for cell, said in one.items()
    ]
    came = Counter(outcome(*one) for one in judged)
    faulty = len(judged) - came[NO_FAULT]
    open_part = f"{came[INCONCLUSIVE]:,} ({100 * came[INCONCLUSIVE] / max(faulty, 1):.1f} %)"
    return [
        ("faults tried", f"{len(found):,} of {len(faults()):,}", "all"),
        ("cells", f"{len(judged):,} of {len(faults()) * len(CELLS):,}", "all"),
        (NO_FAULT, f"{came[NO_FAULT]:,}", "-"),
        (OWN_RULE, f"{came[OWN_RULE]:,}", "-"),
        (LISTED_RULE, f"{came[LISTED_RULE]:,}", "-"),
        (NO_REFERENCE, f"{came[NO_REFERENCE]:,}", "-"),
        (INCONCLUSIVE, open_part, "<= 5 %"),
        (EXIT_0, f"{came[EXIT_0]:,}", "0"),
        ("not as the table has it", f"{sum(wrong(*one) != '' for one in judged):,}", "0"),
    ]


def main() -> None:
    """The command line."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    progress = Path(sys.argv[1])
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else MINUTES
    with tempfile.TemporaryDirectory(prefix="railwright-bench-", dir="/dev/shm") as name:
        go_on(progress, {fault: (Path(name), fault) for fault in faults()}, tried, minutes)
    found = read(progress)
    listed = [
        f"{name}  {cell}: {words}  {said}"
        for name, one in found.items()
        for cell, said in one.items()
        if (words := wrong(all_faults()[name], _cell(cell), said))
    ]
    print("\n".join(listed[:SHOWN]))
    words = "`python -m bench.fault_sites PROGRESS`: each fault on one of 1, 4 and 16 hosts."
    write_section("Faults under every site file", words, rows_of(found))
    sys.exit(1 if listed else 0)


if __name__ == "__main__":
    main()
