"""Every parser under fire: mutated outputs, and outputs that grow.

    python -m bench.parsers [MUTATIONS]       200,000 by default, over all parsers together

Mutations are made by hypothesis from the evidence cases of tests/evidence. Growth: 0.5, 1 and 2 MB
of one output, CPU time of this process with cold caches, in turns.
"""

import sys
import time

from bench.figures import write_section
from lab.harness.parsers import fuzz, growth, parsers


def main() -> None:
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    names = parsers()
    each = -(-total // len(names))
    began = time.process_time()
    for name in names:
        fuzz(name, each)
    fuzzed = time.process_time() - began
    results = {name: growth(name) for name in names}
    slowest = max(results, key=lambda name: results[name][0])
    steepest = max(results, key=lambda name: results[name][1])
    mutated = f"0 of {each * len(names):,}, {fuzzed:.0f} s CPU"
    rows = [
        ("parsers", f"{len(names)}", "-"),
        ("mutated inputs that raise", mutated, "0 of 200,000"),
        ("cost of doubled input, the worst", f"{results[steepest][1]:.2f} ({steepest})", "<= 2.3"),
        ("2 MB, the slowest", f"{results[slowest][0]:.2f} s ({slowest})", "< 2 s"),
    ]
    for name, (seconds, _) in results.items():
        rows.append((f"2 MB, {name}", f"{seconds * 1000:.0f} ms", ""))
    write_section("Parsers", f"`python -m bench.parsers {total}`.", rows)
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
