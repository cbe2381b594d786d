"""What a reader makes of a command's bytes: ClusterShell's line reader beside reach.process.

    python -m bench.clustershell_readers

Both readers get the same shell command, each in a process of its own, so that its peak memory is
its own. ClusterShell gets its most frugal form: an event handler (ev_read) and no message tree.
Then asyncio's own subprocesses: how long they wait for a command that left behind a child which
holds the pipe, as ssh's ControlPersist master holds the pipes of the first ssh.
"""

import asyncio
import json
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from railwright.reach.process import run_process

MEGABYTE = 1_000_000
CASES = {
    "CR CR LF": r"printf 'a\r\r\nb'",
    "CR inside a line": r"printf 'x\ry\rz\n'",
    "CR, two writes": r"printf 'one\rtwo\n'; sleep 0.3; printf 'three\n'",
    "CR at the end": r"printf 'a\nb\r'",
    "NUL": r"printf 'a\0b\n'",
    "20 MB, no newline": f"head -c {20 * MEGABYTE} /dev/zero | tr '\\0' x",
}
HELD = "sleep 5 & sleep 0.3; echo done"
SHOWN = 100  # bytes: longer output is counted and not kept


@dataclass
class Pieces:
    """What a reader hands on, piece by piece: kept while it is short, else only counted."""

    shown: list[str] = field(default_factory=list)
    size: int = 0
    largest: int = 0

    def add(self, data: bytes) -> bool:
        self.size += len(data)
        self.largest = max(self.largest, len(data))
        if self.size <= SHOWN:
            self.shown.append(repr(data))
        return True

    def text(self) -> str:
        if self.size <= SHOWN:
            return " ".join(self.shown)
        return f"{self.size:,} bytes, the largest piece {self.largest:,}"


@dataclass(frozen=True)
class Reading:
    """What one reader handed on, and what that cost."""

    handed_on: str
    grown_mb: float
    cpu_s: float


def _clustershell(command: str) -> Pieces:
    from ClusterShell.Event import EventHandler  # noqa: PLC0415 (only this reader pays for it)
    from ClusterShell.Task import task_self  # noqa: PLC0415

    pieces = Pieces()

    class Handler(EventHandler):  # type: ignore[misc]
        def ev_read(self, worker: object, node: object, sname: object, msg: bytes) -> None:  # noqa: ARG002
            pieces.add(msg)

    task: Any = task_self()
    task.set_default("stdout_msgtree", False)
    task.shell(command, handler=Handler())
    task.resume()
    return pieces


def _ours(command: str) -> Pieces:
    pieces = Pieces()
    asyncio.run(
        run_process(
            ["/bin/sh", "-c", command],
            stdin=b"",
            hold_stdin=False,
            total_s=60,
            byte_limit=32 * MEGABYTE,
            on_bytes=pieces.add,
        )
    )
    return pieces


READERS = {"ClusterShell": _clustershell, "railwright": _ours}


def _peak_mb() -> float:
    """Not getrusage: its maximum counts what the parent held before the exec."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / MEGABYTE
    raise RuntimeError("no VmHWM in /proc/self/status")


def _read(reader: str, case: str) -> Reading:
    READERS[reader]("true")  # what every run needs, whatever it reads
    before, cpu = _peak_mb(), time.process_time()
    pieces = READERS[reader](CASES[case])
    return Reading(pieces.text(), _peak_mb() - before, time.process_time() - cpu)


def _in_a_process(reader: str, case: str) -> Reading:
    argv = [sys.executable, "-m", "bench.clustershell_readers", reader, case]
    ended = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    return Reading(**json.loads(ended.stdout))


def _sent(command: str) -> str:
    pieces = Pieces()
    pieces.add(subprocess.run(["/bin/sh", "-c", command], stdout=subprocess.PIPE).stdout)
    return pieces.text()


def _print_table() -> None:
    print(f"ClusterShell {version('ClusterShell')}, Python {platform.python_version()}")
    print(f"{'case':18} {'reader':13} {'grown MB':>8} {'CPU s':>6}  handed on")
    for case, command in CASES.items():
        print(f"{case:18} {'(sent)':13} {'':8} {'':6}  {_sent(command)}")
        for reader in READERS:
            found = _in_a_process(reader, case)
            cost = f"{found.grown_mb:8.1f} {found.cpu_s:6.2f}"
            print(f"{'':18} {reader:13} {cost}  {found.handed_on}")


async def _asyncio_subprocess(command: str) -> tuple[float, float]:
    """When Process.wait returned, and when the last pipe was closed."""
    began = time.monotonic()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_shell(command, stdout=pipe, stderr=pipe)
    await process.wait()
    waited = time.monotonic() - began
    await process.communicate()
    return waited, time.monotonic() - began


def _print_held_pipe() -> None:
    waited, read = asyncio.run(_asyncio_subprocess(HELD))
    began = time.monotonic()
    _ours(HELD)
    print(f"\nThe command ends after 0.3 s, its child holds the pipes for 5 s ({HELD}):")
    print(f"  asyncio's Process.wait returns after {waited:.1f} s, communicate after {read:.1f} s")
    print(f"  run_process returns after {time.monotonic() - began:.1f} s")


def main() -> None:
    """The table; with a reader and a case as arguments, that one reading as JSON."""
    if len(sys.argv) == 3:
        print(json.dumps(asdict(_read(sys.argv[1], sys.argv[2]))))
        return
    _print_table()
    _print_held_pipe()


if __name__ == "__main__":
    main()
