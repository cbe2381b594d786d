"""The first commands of the README, typed on a machine that has nothing yet."""

import os
import resource
import subprocess
import sys
import time
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
    """The README's first commands in an empty home; pipx takes wheels from folders, no network.

    pipx itself is there already, as a package of the system would be. It wants a recent pip to work
    with, which no wheelhouse has: its wheel is fetched before.
    """
    pip = [sys.executable, "-m", "pip"]
    subprocess.run(
        [*pip, "download", "-q", "--no-deps", "-d", str(home / "pip"), "pip"], check=True
    )
    programs = home / "programs"
    programs.mkdir()
    (programs / "pipx").symlink_to(Path(sys.executable).with_name("pipx"))
    environment = {
        "PATH": f"{home}/.local/bin:{programs}:/usr/bin:/bin",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PIPX_DEFAULT_PYTHON": sys.executable,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": f"{wheelhouse} {home / 'pip'}",
        "PIP_CONFIG_FILE": os.devnull,
    }
    steps = []
    for command in typed_first():
        began, before = time.monotonic(), _children_cpu()
        done = subprocess.run(
            ["bash", "-c", command.replace("pipx install .", "pipx install railwright")],
            capture_output=True, text=True, cwd=home, env=environment,
        )  # fmt: skip
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{command}: {done.stderr}")
        took, cpu_s = time.monotonic() - began, _children_cpu() - before
        steps.append(Step(command, done.stdout, took, cpu_s))
    return steps
