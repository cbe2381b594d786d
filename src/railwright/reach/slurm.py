"""Slurm's own fan-out: one `srun` for many nodes, its tree does the rest.

Lines come back labelled with the task's number. srun cuts labelled lines at 1,024 bytes (measured
with 22.05), which is why the runner's lines are shorter.
"""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from railwright.errors import ToolMissingError
from railwright.reach.bootstrap import NO_PYTHON
from railwright.reach.job import Job, Limits, Listener, Outcome
from railwright.reach.process import Ended, run_process

# Nodes per srun: a batch that cannot start (one node went down meanwhile) is tried again in halves.
BATCH = 512
LONGEST_LINE = 4096


@dataclass
class _Task:
    target: str
    received: int = 0


@dataclass
class _Labels:
    """Takes apart `12: text` lines of many tasks."""

    tasks: list[_Task]
    listener: Listener
    limit: int  # bytes per task: one node that floods must not end the others' step
    rest: bytes = b""

    def feed(self, data: bytes) -> bool:
        """Always more: one task that is done does not end the step of the others."""
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()[:LONGEST_LINE]
        for line in lines:
            label, colon, text = line.partition(b": ")
            number = label.strip()
            if colon and number.isdigit() and int(number[:9]) < len(self.tasks):
                task = self.tasks[int(number)]
                task.received += len(text) + 1
                if task.received <= self.limit:
                    self.listener.received(task.target, text + b"\n")
        return True


class SlurmTransport:
    """`srun` over the nodes of a target list; the targets are node names as Slurm knows them."""

    name = "slurm"

    def __init__(self, arguments: tuple[str, ...] = ()) -> None:
        found = shutil.which("srun")
        if found is None:
            raise ToolMissingError(
                "srun is not installed on this machine",
                why="--via slurm needs it.",
                do="Run railwright on a login node, or use --via ssh.",
            )
        self._srun = found
        self._arguments = arguments

    def argv(self, count: int, job: Job, limits: Limits) -> list[str]:
        """One task per node, in the order of the host file (SLURM_HOSTFILE)."""
        return [
            self._srun,
            f"--ntasks={count}",
            "--distribution=arbitrary",
            "--label",
            "--no-kill",
            "--kill-on-bad-exit=0",
            "--overlap",
            f"--immediate={max(1, round(limits.connect_s))}",
            "--job-name=railwright",
            "--chdir=/",
            *self._arguments,
            "/bin/sh",
            "-c",
            job.command,
        ]

    async def run(self, targets: list[str], job: Job, limits: Limits, listener: Listener) -> None:
        """Run the job in batches, one after another; a batch that cannot start is halved."""
        waiting = [targets[at : at + BATCH] for at in range(0, len(targets), BATCH)]
        while waiting:
            batch = waiting.pop(0)
            refused = await self._batch(batch, job, limits, listener)
            if refused is None:
                continue
            if len(batch) > 1:
                half = len(batch) // 2
                waiting[:0] = [batch[:half], batch[half:]]
            else:
                listener.ended(Outcome(batch[0], "no slot", refused, None, time.time(), 0.0, 0))

    async def _batch(
        self, batch: list[str], job: Job, limits: Limits, listener: Listener
    ) -> str | None:
        """None when the step ran; srun's words when it did not start at all."""
        started = time.time()
        tasks = [_Task(target) for target in batch]
        labels = _Labels(tasks, listener, limits.bytes)
        for task in tasks:
            listener.started(task.target)
        with _host_file(batch) as path:
            ended = await run_process(
                self.argv(len(batch), job, limits),
                stdin=job.stdin,
                hold_stdin=job.hold_stdin,
                total_s=limits.total_s + limits.connect_s,
                byte_limit=limits.bytes * len(batch),
                on_bytes=labels.feed,
                environment={"SLURM_HOSTFILE": path},
            )
        started_none = not any(task.received for task in tasks)
        said_no = ended.exit_code not in (0, None) and not ended.timed_out
        if started_none and said_no and NO_PYTHON not in ended.words:
            return ended.words or f"srun ended with {ended.exit_code}"
        for number, task in enumerate(tasks):
            flooded = ended.flooded or task.received > limits.bytes
            status = "flooding" if flooded else _status(task, number, ended)
            listener.ended(
                Outcome(
                    task.target,
                    status,
                    _words_of(ended.words, number),
                    None,
                    started,
                    time.time() - started,
                    task.received,
                )
            )
        return None


def _words_of(words: str, number: int) -> str:
    """What one task said on standard error, and what srun said about no task in particular."""
    kept = []
    for line in words.splitlines():
        label, colon, text = line.partition(": ")
        if colon and label.strip().isdigit():
            if int(label) == number:
                kept.append(text)
        else:
            kept.append(line)
    return "\n".join(kept)


def _status(task: _Task, number: int, ended: Ended) -> str:
    if NO_PYTHON in _words_of(ended.words, number):
        return "no python"
    if ended.timed_out:
        return "too slow" if task.received else "hanging"
    return "answered" if task.received else "closed"


@contextlib.contextmanager
def _host_file(targets: list[str]) -> Iterator[str]:
    """srun takes the order of tasks from this file, so that a label names a node."""
    handle, path = tempfile.mkstemp(prefix="railwright-hosts-")
    try:
        with os.fdopen(handle, "w") as file:
            file.write("\n".join(targets) + "\n")
        yield path
    finally:
        Path(path).unlink(missing_ok=True)
