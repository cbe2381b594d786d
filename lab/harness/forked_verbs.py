"""Verbs in forks of a process that has read the program once.

A run costs a third of what a new process would, and one that crashes takes nobody along.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from railwright import cli
from railwright.check.reasons import scope_reads
from railwright.check.rule import shipped
from railwright.schema.table import tables

REPOSITORY = Path(__file__).parents[2]
ADDRESS_SPACE = 8 << 30  # a length that was damaged must not take the machine along


@dataclass(frozen=True)
class Done:
    """How one verb ended."""

    status: int  # less than 0: by a signal
    out: bytes
    err: str
    seconds: float
    peak_mb: float
    is_late: bool = False


class Verbs:
    """A process that has read the program; each verb runs in a fork of it."""

    def __init__(self, folder: Path) -> None:
        self._out, self._err = folder / "out", folder / "err"
        temporary = folder / "tmp"
        temporary.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lab.harness.forked_verbs"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=REPOSITORY, text=True,
            env={**os.environ, "RAILWRIGHT_STORE": str(folder / "store"), "TMPDIR": str(temporary),
                 "XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config"),
                 "LANG": "C.UTF-8"},
        )  # fmt: skip

    def run(self, seconds: float, *words: object) -> Done:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"words": [*map(str, words)], "out": str(self._out), "err": str(self._err),
                 "seconds": seconds}  # fmt: skip
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        err = self._err.read_bytes().decode("utf-8", "replace")
        seconds, peak_mb = told["cost"]
        return Done(told["status"], self._out.read_bytes(), err, seconds, peak_mb, told["late"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve() -> None:
    """Run what each line of standard input says, in a process of its own."""
    warm_up()
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.monotonic()
        child = os.fork()
        if not child:
            become(asked)
            cli.main()
            sys.exit(0)
        late = False
        while True:
            ended, status, used = os.wait4(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - began > asked["seconds"] and not late:
                late = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
            time.sleep(0.002)
        cost = [time.monotonic() - began, used.ru_maxrss / 1024]
        code = os.waitstatus_to_exitcode(status)
        sys.stdout.write(json.dumps({"status": code, "cost": cost, "late": late}) + "\n")
        sys.stdout.flush()


def warm_up() -> None:
    """What every verb would read anew: the program, its rules and tables, and what they read."""
    for verb in cli.VERBS:
        cli.program(verb)
    shipped()
    tables()
    scope_reads()
    with (  # typer reads half of itself when the first command line is taken apart
        open(os.devnull, "w") as nothing,
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(nothing),
        contextlib.suppress(SystemExit),
    ):
        cli.program("store")(["list"])


def become(asked: dict[str, Any]) -> None:
    """In the fork: a process like any that a shell starts."""
    os.setsid()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(asked["out"], flags, 0o600), 1)
    os.dup2(os.open(asked["err"], flags, 0o600), 2)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.argv = ["railwright", *asked["words"]]


if __name__ == "__main__":
    serve()
