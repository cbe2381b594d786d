"""How long it takes from a clean machine to the first answers.

    python -m bench.first_answer

Of the README the first three commands, in an environment that has nothing yet; of docs/start.md
what is typed up to the first check, on its 16 sshd hosts. What would be downloaded is there: wheels
of `just wheelhouse`. Needs root.
"""

import re
import sys
import tempfile
from pathlib import Path

from bench.figures import write_section
from lab import guide
from lab.harness.first_answer import COMMANDS, Step, on_a_clean_machine

REPOSITORY = Path(__file__).parents[1]
WHEELHOUSE = REPOSITORY / "wheelhouse"
MOST_COMMANDS = 5  # on hosts of one's own, by ssh, with the environment made first
MOST_SECONDS = 60.0


def _apart(steps: list[tuple[str, float]]) -> str:
    return ", ".join(f"`{name}` {seconds:.1f} s" for name, seconds in steps)


def rows(steps: list[Step], page: list[tuple[str, guide.Ran]]) -> list[tuple[str, str, str]]:
    """The section of docs/figures.md."""
    sample, site = sum(one.seconds for one in steps), sum(ran.seconds for _, ran in page)
    said = re.search(r"^Checked: (.*?),", page[-1][1].output, re.MULTILINE)
    return [
        ("README: commands to the first findings", f"{len(steps)}", f"{COMMANDS}"),
        ("seconds, the download aside", f"{sample:.1f} s", f"< {MOST_SECONDS:.0f} s"),
        ("of them", _apart([(one.command, one.seconds) for one in steps]), "-"),
        ("CPU of them", f"{sum(one.cpu_s for one in steps):.1f} s", "-"),
        (
            f"docs/start.md: commands to a first verdict on {guide.HOSTS} hosts, ordinary login",
            f"{len(page)}", f"<= {MOST_COMMANDS}",
        ),
        ("seconds, the download aside", f"{site:.1f} s", f"< {MOST_SECONDS:.0f} s"),
        ("of them", _apart([(command, ran.seconds) for command, ran in page]), "-"),
        ("judged there; nothing listens on one", said.group(1) if said else "nothing", "-"),
    ]  # fmt: skip


def main() -> None:
    if not WHEELHOUSE.is_dir():
        sys.exit("The wheels are missing: run just wheelhouse first.")
    with tempfile.TemporaryDirectory(prefix="railwright-first-") as name:
        steps = on_a_clean_machine(WHEELHOUSE, Path(name))
    lines = guide.to_first_verdict(guide.PAGE.read_text("utf-8"))
    page = list(zip(lines, guide.run_on_site(lines, WHEELHOUSE), strict=True))
    found = rows(steps, page)
    for row in found:
        print("  ".join(row))
    how = (
        "`python -m bench.first_answer`: what a reader types, with wheels that are there already; "
        "the hosts are real sshd ones on the same machine."
    )
    write_section("First answer", how, found)


if __name__ == "__main__":
    main()
