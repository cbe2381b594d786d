"""Read many machines: transport in, snapshot rows out, ingest going on beside it."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from railwright.collect.request import Request
from railwright.collect.stream import MachineStream
from railwright.collect.switch_run import SwitchPlan
from railwright.errors import RailwrightError
from railwright.parse.base import Value
from railwright.reach.job import Limits, Outcome, Transport
from railwright.reach.process import Worker
from railwright.store.build import Building
from railwright.store.evidence import Answer

# Two, so that what comes last is not left to one core; each takes about 80 MB.
INGEST_PROCESSES = 2


class Rows(Protocol):
    """Where the rows of a run go: a snapshot in the making, or memory for a preflight."""

    def add_answer(self, answer: Answer) -> None:
        """One answer."""

    def add_host(self, row: dict[str, Value]) -> None:
        """One machine's own description."""

    def add_target(self, row: dict[str, Value]) -> None:
        """One machine is done."""


@dataclass
class Tally:
    """How far the run is; shown while it goes on."""

    total: int
    reached: int = 0
    failed: int = 0
    bytes: int = 0

    @property
    def to_go(self) -> int:
        """Machines that have not ended yet."""
        return self.total - self.reached - self.failed


class Collector:
    """Takes what the transport hears and makes rows of it."""

    def __init__(
        self,
        rows: Rows,
        request: Request,
        tally: Tally,
        after_rows: Callable[[], None] = lambda: None,
    ) -> None:
        self._rows = rows
        self._request = request
        self._probes = frozenset(probe.name for probe in request.probes)
        self._streams: dict[str, MachineStream] = {}
        self._after_rows = after_rows
        self.tally = tally

    def _stream(self, target: str) -> MachineStream:
        return MachineStream(target, self._request.run, self._probes, self._probes)

    def started(self, target: str) -> None:
        """A new attempt: an earlier one came to nothing before its first byte."""
        self._streams[target] = self._stream(target)

    def received(self, target: str, data: bytes) -> bool:
        """Bytes in, answers out; False once the machine has nothing more to say."""
        self.tally.bytes += len(data)
        stream = self._streams[target]
        for answer in stream.feed(data):
            self._rows.add_answer(answer)
        self._after_rows()  # while the machine still works: at the end all would come at once
        return not stream.wants_no_more

    def ended(self, outcome: Outcome) -> None:
        """The machine is done: its last rows."""
        stream = self._streams.pop(outcome.target, None) or self._stream(outcome.target)
        for answer in stream.missing():
            self._rows.add_answer(answer)
        host = stream.host_row()
        if host is not None:
            self._rows.add_host(host)
        status = stream.status(outcome.status)
        row = stream.target_row(status, outcome.words)
        row.update(
            started=outcome.started,
            duration_s=round(outcome.duration, 3),
            attempts=outcome.attempts,
            bytes_received=outcome.bytes_received,
        )
        self._rows.add_target(row)
        if status == "reached":
            self.tally.reached += 1
        else:
            self.tally.failed += 1
        self._after_rows()

    def interrupt(self) -> None:
        """The operator stops the run: machines under way end now."""
        for target in list(self._streams):
            self.ended(Outcome(target, "interrupted", "", None, 0.0, 0.0, 0))


async def _ingest_all(folder: Path | None, queue: asyncio.Queue[Path | None]) -> None:
    if folder is not None:
        await asyncio.gather(*(_ingest(folder, queue) for _ in range(INGEST_PROCESSES)))


async def _ingest(folder: Path, queue: asyncio.Queue[Path | None]) -> None:
    """Make parts of full spools, one after another, in a process beside this one."""
    worker: Worker | None = None
    try:
        while (spool := await queue.get()) is not None:
            worker = worker or Worker(
                [sys.executable, "-I", "-m", "railwright.collect.ingesting", str(folder)]
            )
            if not await worker.ask(str(spool)):
                words, worker = await worker.end(), None
                raise RailwrightError(
                    words[-500:] or "writing the snapshot failed: its process was killed",
                    why="The collected data is still in the spool.",
                    do="Free disk space if that is the reason, then: railwright store finish",
                )
    finally:
        if worker is not None:
            await worker.end()


@dataclass(frozen=True)
class Watch:
    """Called every moment with the tally, for the progress display."""

    show: Callable[[Tally], None] = lambda _tally: None
    every_s: float = 0.25


async def read_machines(  # noqa: PLR0913, PLR0917 (the parts of a run)
    targets: list[str],
    transport: Transport,
    request: Request,
    limits: Limits,
    rows: Rows,
    watch: Watch,
    *,
    building: Building | None = None,
    switches: SwitchPlan | None = None,
) -> bool:
    """Read every target and switch; False if the operator stopped it. Trouble is a row."""
    queue: asyncio.Queue[Path | None] = asyncio.Queue()

    def after_rows() -> None:
        spool = building.full_spool() if building is not None else None
        if spool is not None:
            queue.put_nowait(spool)

    tally = Tally(len(targets) + (len(switches.systems) if switches else 0))
    collector = Collector(rows, request, tally, after_rows)

    async def read_all() -> None:
        hosts = transport.run(targets, request.job(), limits, collector) if targets else None
        boxes = switches.run(rows, tally, after_rows) if switches else None
        await asyncio.gather(*(one for one in (hosts, boxes) if one is not None))

    reading = asyncio.ensure_future(read_all())
    folder = building.folder if building is not None else None
    ingesting = asyncio.ensure_future(_ingest_all(folder, queue))
    loop = asyncio.get_running_loop()
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in usual:
        loop.add_signal_handler(number, reading.cancel)
    try:
        finished = await _wait(reading, ingesting, collector, watch)
    finally:
        for number, handler in usual.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
    watch.show(tally)
    for _ in range(INGEST_PROCESSES):
        queue.put_nowait(None)
    await ingesting
    return finished


async def _wait(
    reading: asyncio.Future[None],
    ingesting: asyncio.Future[None],
    collector: Collector,
    watch: Watch,
) -> bool:
    while not reading.done():
        watch.show(collector.tally)
        await asyncio.wait({reading}, timeout=watch.every_s)
        if ingesting.done() and ingesting.exception() is not None:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            await ingesting  # raises what went wrong
    try:
        await reading
    except asyncio.CancelledError:
        collector.interrupt()
        return False
    return True
