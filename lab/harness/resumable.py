"""Sweeps that go on where they were: a line per trial in a file of progress.

go_on(progress, {name: words of the trial}, work, minutes)     tries what has no line yet
read(progress)                                                 name -> what came of it
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import cycle, islice
from multiprocessing import SimpleQueue
from pathlib import Path
from typing import Any

WORKERS = 2

Work = Callable[..., Any]  # of a trial's words; what it gives must be JSON


def read(progress: Path) -> dict[str, Any]:
    """What was tried already; a line that was cut off does not count."""
    found: dict[str, Any] = {}
    for line in progress.read_text("utf-8").splitlines() if progress.exists() else []:
        try:
            kept = json.loads(line)
        except ValueError:
            continue
        found[kept["trial"]] = kept["said"]
    return found


def _take_core(cores: "SimpleQueue[int]") -> None:
    """Small tables: threads of one trial would only wait for each other."""
    os.sched_setaffinity(0, {cores.get()})


def _tried(work: Work, name: str, words: tuple[Any, ...]) -> tuple[str, Any]:
    return name, work(*words)


def go_on(
    progress: Path, trials: Mapping[str, tuple[Any, ...]], work: Work, minutes: float
) -> None:
    """Until all are tried, or the time is over; one that has begun is ended."""
    done, until = read(progress), time.monotonic() + 60 * minutes

    def waiting() -> Iterator[str]:
        for name in trials:
            if time.monotonic() > until:
                return
            if name not in done:
                yield name

    names = waiting()
    cores: SimpleQueue[int] = SimpleQueue()
    for core in islice(cycle(sorted(os.sched_getaffinity(0))), WORKERS):
        cores.put(core)
    pool = ProcessPoolExecutor(WORKERS, initializer=_take_core, initargs=(cores,))
    with progress.open("a", encoding="utf-8") as out, pool:
        out.write("\n")  # behind a line that was cut off
        running = {pool.submit(_tried, work, name, trials[name]) for name in islice(names, WORKERS)}
        while running:
            ended = next(as_completed(running))
            running.remove(ended)
            name, said = ended.result()
            print(name, said or "", flush=True)
            out.write(json.dumps({"trial": name, "said": said}) + "\n")
            out.flush()
            running |= {pool.submit(_tried, work, name, trials[name]) for name in islice(names, 1)}
