"""The first commands of the README, typed on a machine that has nothing yet."""

import os
import resource
import subprocess
import time
import venv
from pathlib import Path
from typing import NamedTuple

from lab import guide

REPOSITORY = Path(__file__).parents[2]
COMMANDS = 3  # install, look at broken sample data, have it checked


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
