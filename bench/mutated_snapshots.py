"""Damaged snapshots, thousands of them: refused in plain words, or answered as if they were whole.

    python -m bench.mutated_snapshots PROGRESS [COUNT]      5,000 by default

The mutations are those of lab/harness/mutations.py, by number: each is the same in every run.
PROGRESS gets a line per mutation; what has one is not tried again, so that a run which was cut off,
or which ended after its two hours, goes on where it was. Another version of Railwright is another
file.
"""

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.figures import write_section
from lab.harness.damaging import Damaging, Trial

COUNT = 5_000
SECONDS = 7_200.0
SHOWN = 20  # faults that are printed; all are in the file

Rows = list[tuple[str, str, str]]


def line_of(trial: Trial) -> str:
    """What is kept of a trial."""
    runs = {
        name: {"status": done.status, "seconds": round(done.seconds, 2), "mb": round(done.peak_mb)}
        for name, done in trial.runs.items()
    }
    kept = {
        "number": trial.number,
        "mutation": trial.mutation,
        "runs": runs,
        "faults": trial.faults,
    }
    return json.dumps(kept)


def read(progress: Path) -> dict[int, dict[str, Any]]:
    """What was tried already; a line that was cut off does not count."""
    found: dict[int, dict[str, Any]] = {}
    for line in progress.read_text("utf-8").splitlines() if progress.exists() else []:
        try:
            kept = json.loads(line)
        except ValueError:
            continue
        found[kept["number"]] = kept
    return found


class Lines:
    """The progress, written by several at once; a trial that is done is never lost."""

    def __init__(self, progress: Path, waiting: list[int]) -> None:
        self._out = progress.open("a", encoding="utf-8")
        self._out.write("\n")  # behind a line that was cut off
        self._lock = threading.Lock()
        self._waiting = iter(waiting)
        self._began = time.monotonic()
        self._done = 0

    def next(self) -> int | None:
        """The next number; None when all are done, or the time is over."""
        with self._lock:
            if time.monotonic() - self._began > SECONDS:
                return None
            return next(self._waiting, None)

    def add(self, trial: Trial) -> None:
        with self._lock:
            self._out.write(line_of(trial) + "\n")
            self._out.flush()
            self._done += 1
            if trial.faults:
                print(trial.words(), flush=True)
            if self._done % 500 == 0:
                spent = time.monotonic() - self._began
                print(f"{self._done:,} after {spent:.0f} s", flush=True)

    def close(self) -> None:
        self._out.close()


def _work(lines: Lines, folder: Path) -> None:
    with Damaging(folder) as damaging:
        while (number := lines.next()) is not None:
            lines.add(damaging.trial(number))


def go_on(progress: Path, count: int, folder: Path) -> None:
    """Try what has not been tried, on every core, until the time is over."""
    known = read(progress)
    waiting = [number for number in range(count) if number not in known]
    if not waiting:
        return
    cores = len(os.sched_getaffinity(0))
    with closing(Lines(progress, waiting)) as lines, ThreadPoolExecutor(cores) as pool:
        for future in [pool.submit(_work, lines, folder / str(n)) for n in range(cores)]:
            future.result()


def _without_digests(kept: dict[str, Any]) -> bool:
    return str(kept["mutation"]).startswith("without digests")


def rows_of(found: list[dict[str, Any]], count: int) -> Rows:
    """The figures."""
    runs = [run for kept in found for run in kept["runs"].values()]
    seconds = sorted(run["seconds"] for run in runs)
    statuses = Counter(run["status"] for run in runs)
    faults = [fault for kept in found for fault in kept["faults"]]
    half = sum(map(_without_digests, found))
    refused = sum(2 in [run["status"] for run in kept["runs"].values()] for kept in found)
    return [
        ("mutations tried", f"{len(found):,}", f"{count:,}"),
        ("of these with the digests taken away first", f"{half:,}", "half"),
        ("mutations that a verb refused", f"{refused:,}", "-"),
        ("runs that ended with 2, in 2 to 4 lines", f"{statuses[2]:,} of {len(runs):,}", "-"),
        ("runs that ended by a signal", f"{sum(n for s, n in statuses.items() if s < 0)}", "0"),
        ("runs that were not as wanted", f"{len(faults):,}", "0"),
        ("seconds of a run: median", f"{statistics.median(seconds):.2f}", "-"),
        ("seconds of a run: longest", f"{seconds[-1]:.1f}", "< 30"),
        ("peak memory of a run", f"{max(run['mb'] for run in runs):,} MB", "-"),
    ]


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("Say which file keeps the progress: python -m bench.mutated_snapshots PROGRESS")
    progress = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) == 3 else COUNT
    with tempfile.TemporaryDirectory(prefix="railwright-mutated-", dir="/dev/shm") as name:
        go_on(progress, count, Path(name) / "damaging")
    found = [kept for number, kept in sorted(read(progress).items()) if number < count]
    rows = rows_of(found, count)
    for row in rows:
        print("  ".join(row), flush=True)
    faults = [(kept, fault) for kept in found for fault in kept["faults"]]
    for kept, fault in faults[:SHOWN]:
        print(f"{kept['number']}: {kept['mutation']}: {fault}", flush=True)
    write_section(
        "Damaged snapshots",
        "`python -m bench.mutated_snapshots PROGRESS`: a sealed snapshot of four hosts, damaged in "
        "one way at a time; then `check` and one other verb, by chance, are run over it.",
        rows,
    )
    sys.exit(1 if faults or len(found) < count else 0)


if __name__ == "__main__":
    main()
