"""One process per machine, at most `fan_out` at a time, with one later retry."""

import asyncio
import heapq
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from railwright.reach.job import PASSING, Job, Limits, Listener, Outcome
from railwright.reach.process import Ended, run_process

RETRY_AFTER_S = 1.0  # a bastion at its MaxStartups limit needs a moment


@dataclass(frozen=True)
class OneByOne:
    """How to run the job on one machine, and what its end means."""

    argv: Callable[[str], list[str]]
    status: Callable[[Ended], str]
    job: Callable[[str], Job] | None = None  # where machines get different ones


class _Queue:
    """Targets still to do: fresh ones first, then those whose retry is due."""

    def __init__(self, targets: list[str]) -> None:
        self._fresh = deque(targets)
        self._later: list[tuple[float, str, int]] = []

    def next(self) -> tuple[str, int] | float | None:
        """A target and its attempt, or how long to wait, or None when nothing is left."""
        if self._fresh:
            return self._fresh.popleft(), 1
        if not self._later:
            return None
        due = self._later[0][0] - time.monotonic()
        if due > 0:
            return due
        _, target, attempt = heapq.heappop(self._later)
        return target, attempt

    def again(self, target: str, attempt: int, after_s: float) -> None:
        heapq.heappush(self._later, (time.monotonic() + after_s, target, attempt))


async def run_each(
    targets: list[str], job: Job, limits: Limits, listener: Listener, how: OneByOne
) -> None:
    """Run the job on every target; a slow machine costs one slot, never the others' time."""
    queue = _Queue(targets)
    rng = random.Random()  # noqa: S311 (spreads connections, guards nothing)

    async def attempt(target: str, number: int) -> None:
        if limits.jitter_s:
            await asyncio.sleep(rng.uniform(0, limits.jitter_s))
        asked = job if how.job is None else how.job(target)
        outcome = await _attempt(target, asked, limits, listener, how)
        if outcome.status in PASSING and outcome.bytes_received == 0 and number <= limits.retries:
            queue.again(target, number + 1, RETRY_AFTER_S + rng.uniform(0, limits.jitter_s))
        else:
            listener.ended(replace(outcome, attempts=number))

    async def work() -> None:
        while (item := queue.next()) is not None:
            if isinstance(item, float):
                await asyncio.sleep(item)
            else:
                await attempt(*item)

    # Workers leave when nothing is left to start; one that is still busy may put a retry back and
    # then takes it up itself.
    await asyncio.gather(*(work() for _ in range(min(limits.fan_out, len(targets)))))


async def _attempt(
    target: str, job: Job, limits: Limits, listener: Listener, how: OneByOne
) -> Outcome:
    started = time.time()
    got = 0

    def take(data: bytes) -> bool:
        nonlocal got
        got += len(data)
        return listener.received(target, data)

    listener.started(target)
    try:
        ended = await run_process(
            how.argv(target),
            stdin=job.stdin,
            hold_stdin=job.hold_stdin,
            total_s=limits.total_s,
            byte_limit=limits.bytes,
            on_bytes=take,
            conversation=job.conversation(target) if job.conversation else None,
        )
    except OSError as error:  # no ssh here, or no more processes: a row like any other
        return Outcome(target, "failed", str(error), None, started, time.time() - started, 0)
    status, words = how.status(ended), ended.words
    if ended.fault:
        status, words = "damaged", f"what it sent could not be taken apart: {ended.fault}"
    elif ended.flooded:
        status = "flooding"
    elif ended.timed_out:
        status = "too slow" if got else "hanging"
    return Outcome(target, status, words, ended.exit_code, started, ended.duration, got)
