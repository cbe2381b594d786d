"""How long the SELECTs of the rules are: one that is long is hard to trust.

python -m bench.rule_lengths
"""

from statistics import median

from bench.figures import write_section
from railwright.check.rule import shipped

MOST_OF_MEDIAN = 40  # lines: what can be read at once, on one screen


def lengths() -> dict[str, int]:
    """Lines of each rule's SELECT, comments in it counted, the longest first."""
    found = {name: len(rule.sql.strip().splitlines()) for name, rule in shipped().items()}
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def main() -> None:
    found = lengths()
    longest = ", ".join(f"{name} {lines}" for name, lines in list(found.items())[:5])
    rows = [
        ("rules", str(len(found)), "-"),
        ("lines: median", f"{median(found.values()):g}", f"<= {MOST_OF_MEDIAN}"),
        ("rules with more lines", str(sum(n > MOST_OF_MEDIAN for n in found.values())), "-"),
        ("the longest", longest, "-"),
    ]
    write_section(
        "Rules: length of a SELECT",
        "`python -m bench.rule_lengths`: lines of every shipped rule below its header.",
        rows,
    )


if __name__ == "__main__":
    main()
