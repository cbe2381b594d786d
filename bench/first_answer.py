"""How long it takes from a clean machine to the first answers.

    python -m bench.first_answer

Of the README the first three commands, in an environment that has nothing yet; of docs/start.md
what is typed up to the first check, on its 16 sshd hosts. What would be downloaded is there: wheels
of `just wheelhouse`. Needs root.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import NamedTuple

from bench.figures import write_section
from lab import guide

REPOSITORY = Path(__file__).parents[1]
WHEELHOUSE = REPOSITORY / "wheelhouse"
COMMANDS = 3  # install, look at broken sample data, have it checked
MOST_COMMANDS = 5  # on hosts of one's own, by ssh, with the environment made first
MOST_SECONDS = 60.0


class Step(NamedTuple):
    """A command of a reader."""

    command: str
    output: str
    seconds: float
    cpu_s: float


def typed_first() -> list[str]:
    """The first commands of the README."""
    return guide.commands((REPOSITORY / "README.md").read_text("utf-8"))[:COMMANDS]


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def on_a_clean_machine(wheelhouse: Path, home: Path) -> list[Step]:
    """The README's first commands in an empty home; pip takes wheels from a folder, no network."""
    venv.create(home / "venv", with_pip=True)
    environment = {
        "PATH": f"{home}/venv/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheelhouse),
        "PIP_CONFIG_FILE": os.devnull,
    }
    steps = []
    for command in typed_first():
        began, before = time.monotonic(), _children_cpu()
        done = subprocess.run(
            ["bash", "-c", command.replace("pip install .", "pip install railwright")],
            capture_output=True, text=True, cwd=home, env=environment,
        )  # fmt: skip
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{command}: {done.stderr}")
        took, cpu_s = time.monotonic() - began, _children_cpu() - before
        steps.append(Step(command, done.stdout, took, cpu_s))
    return steps


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
