"""Do the verbs contradict each other? Random fabrics with faults, each asked in every way.

    python -m bench.agreement PROGRESS [COUNT]      500 by default

What is stated, and by whom, is listed in lab/harness/agreement.py; the fabrics are those of
lab/harness/random_fabrics.py, by number. PROGRESS gets a line per fabric; a run that was cut off,
or that ended after its two hours, goes on where it was.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from bench.figures import write_section
from lab.harness.resumable import go_on, read

COUNT = 500
MINUTES = 110
SHOWN = 20  # contradictions that are printed; all are in the file


def compare(seed: int) -> Any:
    """One fabric, in a process of its own."""
    from lab.harness import agreeing  # noqa: PLC0415 (the rows it keeps are those of one process)

    return agreeing.compare(seed)


def main() -> None:
    """Try, and write the figure."""
    progress = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else COUNT
    go_on(progress, {str(seed): (seed,) for seed in range(count)}, compare, MINUTES)
    tried = read(progress)
    odd = {seed: said for seed, said in tried.items() if said["differences"]}
    for seed, said in list(odd.items())[:SHOWN]:
        print(seed, said["fabric"], *said["differences"], sep="\n  ")
    kinds = Counter(kind for said in tried.values() for kind in said["compared"])
    faults = Counter(len(said["fabric"]) for said in tried.values())
    rows = [
        ("fabrics tried", f"{len(tried):,}", f"{COUNT:,}"),
        ("fabrics on which two contradict each other", f"{len(odd):,}", "0"),
        ("kinds of statement that two or more made", f"{len(kinds):,}", "20 or more"),
        ("statements of the rarest kind", f"{min(kinds.values(), default=0):,} fabrics", "-"),
        ("faults in one fabric", f"{min(faults)} to {max(faults)}", "-"),
    ]
    write_section(
        "Agreement: what the verbs say of one snapshot",
        f"`python -m bench.agreement PROGRESS {count}`: check, links, path, rails, show, facts, "
        "explain and predict over random fabrics of two hosts, two leaves and two spines of four "
        "systems.",
        rows,
    )


if __name__ == "__main__":
    main()
