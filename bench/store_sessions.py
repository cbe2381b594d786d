"""Sessions that cross: several of one user over one store, and nothing that was promised is lost.

    python -m bench.store_sessions [COUNT [SEED]]     200 by default, as root

An interleaving is a store on a disk of its own and two or three sessions beside each other. Each is
a random sequence of verbs, as processes of an ordinary user: collect, also killed, interrupted or
on a disk that fills; finish, prune, merge, check, list. What every one of them said is written
down, and at the end the store is held to it. The hosts are a program that speaks as the runner
does, so that a moment can be chosen. About 25 minutes on two cores.
"""

import sys
import time
from collections import Counter

from bench.figures import write_section
from lab.harness.store_sessions import SEED, VERBS, Ledger, interleavings
from lab.harness.user_verbs import place

COUNT = 200


def figures(ledgers: list[Ledger]) -> list[tuple[str, str, str]]:
    """Counted over all of them."""
    kinds = sum((ledger.kinds for ledger in ledgers), Counter[str]())
    said = [one for ledger in ledgers for one in ledger.said]
    refused = sum(one.status == 2 and not one.unworded() for one in said)
    wrong = Counter(words.partition(":")[0] for ledger in ledgers for words in ledger.wrong)
    each = ", ".join(f"{name} {kinds[name]}" for name in VERBS)
    made = (
        sum(len(ledger.promises) for ledger in ledgers),
        sum(len(one.deleted()) for one in said),
        kinds["snapshots at the end"],
    )
    cut = (kinds["cut off, finished at the end"], kinds["cut off, refused at the end"])
    return [
        (
            "interleavings, sessions, verbs",
            f"{len(ledgers)}, {kinds['sessions']}, {len(said)}",
            "-",
        ),
        ("verbs of the sessions", each, "-"),
        ("collects killed while they wrote", f"{kinds['killed while it wrote']}", "-"),
        ("collects that ended for want of room", f"{kinds['disk that was full']}", "-"),
        (
            "snapshots promised, deleted by a prune that said so, there at the end",
            ", ".join(f"{number}" for number in made),
            "-",
        ),
        ("refused in words, exit status 2", f"{refused}", "-"),
        ("left cut off: finished at the end, refused in words", f"{cut[0]}, {cut[1]}", "-"),
        (
            "interleavings that were not as they should be",
            f"{sum(bool(x.wrong) for x in ledgers)}",
            "0",
        ),
        *((f"wrong: {words}", f"{times}", "0") for words, times in sorted(wrong.items())),
    ]


def main() -> None:
    given = [int(word) for word in sys.argv[1:]]
    count, seed = (*given, *(COUNT, SEED)[len(given) :])
    ledgers = []
    began = time.monotonic()
    with place() as where:
        for ledger in interleavings(where, count, seed, 3):
            ledgers.append(ledger)
            state = f"{len(ledger.wrong)} wrong" if ledger.wrong else "as it should be"
            print(f"{len(ledgers)}: {len(ledger.said)} verbs, {state}", flush=True)
            for words in ledger.wrong:
                print("  " + words.replace("\n", "\n    "), flush=True)
    rows = figures(ledgers)
    for row in rows:
        print("  ".join(row))
    if (count, seed) == (COUNT, SEED):
        how = (
            f"`python -m bench.store_sessions`: {count} interleavings with seed {seed}, in "
            f"{(time.monotonic() - began) / 60:.0f} minutes."
        )
        write_section("Store: sessions that cross", how, rows)
    sys.exit(1 if any(ledger.wrong for ledger in ledgers) else 0)


if __name__ == "__main__":
    main()
