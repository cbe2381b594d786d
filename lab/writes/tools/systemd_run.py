"""systemd-run with a timer: the undo that happens unless somebody stops it."""

import re
import shlex
from typing import TYPE_CHECKING

from lab.writes.outcome import Outcome, refused

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("systemd-run",)
_SPAN = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(ms|s|sec|m|min|h)?", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "": 1, "m": 60, "min": 60, "h": 3600}


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`systemd-run --on-active=600 --unit=NAME PROGRAM …`; without a timer it runs at once."""
    del program, stdin
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        if not equals and name in ("--on-active", "--unit", "-u", "-p", "--property") and rest:
            value = rest.pop(0)
        given[{"-u": "--unit"}.get(name, name)] = value
    if not rest:
        raise refused("Command line to execute required.\n")
    unit = given.get("--unit", f"run-r{len(state.timers)}").removesuffix(".service")
    if "--on-active" not in given:
        return state.run(rest)
    span = _SPAN.fullmatch(given["--on-active"].strip())
    if span is None:
        raise refused(f"Failed to parse timer value: {given['--on-active'][:200]}\n")
    if unit in state.timers:
        raise refused(f"Failed to start transient timer unit: Unit {unit}.timer already exists.\n")
    state.set_timer(unit, float(span[1]) * _SECONDS[span[2] or ""], shlex.join(rest))
    said = f"Running timer as unit: {unit}.timer\nWill run service as unit: {unit}.service\n"
    return Outcome("", said)
