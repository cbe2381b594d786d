"""Evidence that is taken away never makes anything better.

    python -m bench.removed_evidence PROGRESS [MINUTES]      as root; 120 by default

A fleet of each model with faults on top of each other is judged; then once more for every probe,
whose answers are missing: on the hosts with faults, or everywhere. What was a finding must still be
one or be unknown; what was unknown must not be in order. A subject that nobody can name any more
must be unknown as its machine. PROGRESS gets a line per trial; the next run goes on there.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.figures import write_section
from lab.fleet import MODELS
from lab.harness.removed_evidence import SIDES, asked, tried
from lab.harness.resumable import go_on, read

MINUTES = 120.0
SHOWN = 40


def main() -> None:
    """The command line."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    progress = Path(sys.argv[1])
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else MINUTES
    with tempfile.TemporaryDirectory(prefix="railwright-bench-", dir="/dev/shm") as name:
        trials = {removal.name(): (Path(name), removal) for removal in asked(MODELS)}
        go_on(progress, trials, tried, minutes)
    found = read(progress)
    total = asked(MODELS)
    wrong = [(name, one) for name, said in found.items() for one in said]
    for line in wrong[:SHOWN]:
        print("  ".join(line))
    rules = Counter(one.split()[1] for _, one in wrong)
    rows = [
        ("removals tried", f"{len(found):,} of {len(total):,}", "all"),
        ("findings or unknowns that became better", f"{len(wrong):,}", "0"),
        ("of which rules", ", ".join(f"{r} {n}" for r, n in rules.most_common()) or "none", "none"),
        ("listed by hand: one side of a disagreement", f"{len(SIDES)}", "-"),
    ]
    words = (
        "`python -m bench.removed_evidence PROGRESS`: fleets with faults, without the answers to "
        "one probe, on the hosts with faults or everywhere."
    )
    write_section("Evidence taken away", words, rows)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
