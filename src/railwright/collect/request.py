"""What is sent to a machine: the runner and its request. Nothing else ever is."""

import secrets
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from railwright.collect.probe import Probe
from railwright.reach.bootstrap import REMOTE_COMMAND, feed
from railwright.reach.job import Job

RUNNER = Path(__file__).with_name("runner.py")
# The runner stops this long before the collector gives up, so that it can still say so.
MARGIN_S = 5.0


@dataclass(frozen=True)
class Request:
    """One run: its id, what to read, and for how long."""

    run: str
    probes: tuple[Probe, ...]
    seconds: float
    become: bool = False
    hold: bool = True

    def literal(self) -> str:
        """The request as the runner reads it: a Python literal."""
        return ascii(
            {
                "run": self.run,
                "seconds": self.seconds,
                "become": self.become,
                "hold": self.hold,
                "probes": [probe.request() for probe in self.probes],
            }
        )

    def job(self) -> Job:
        """The one constant command and the bytes that follow it."""
        packed = zlib.compress(self.literal().encode("ascii"), 9)
        return Job(REMOTE_COMMAND, feed(_program(), packed), hold_stdin=self.hold)


@cache
def _program() -> bytes:
    return zlib.compress(RUNNER.read_bytes(), 9)


def new_request(probes: list[Probe], total_s: float, *, become: bool = False) -> Request:
    """A request with a fresh id."""
    seconds = max(total_s - MARGIN_S, total_s * 0.8)
    return Request(secrets.token_hex(4), tuple(probes), seconds, become)


def lone_runner(probes: list[Probe], seconds: float = 600.0) -> str:
    """The runner as a file that works by itself on a host."""
    source = RUNNER.read_text("utf-8")
    request = Request("00000000", tuple(probes), seconds, hold=False)
    before, mark, after = source.partition("\nREQUEST = None")
    if not mark:
        raise RuntimeError("the runner has no place for its request")
    return f"{before}\nREQUEST = {request.literal()}{after}"
