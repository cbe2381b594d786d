"""How long the SELECTs of the rules are: one that is long is hard to trust.

python -m bench.rule_lengths
"""

from statistics import median

from bench.figures import write_section
from lab.harness.rule_lengths import MOST_OF_MEDIAN, lengths


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
