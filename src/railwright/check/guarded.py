"""A process of our own for what others wrote: no keys, little memory, an end that comes."""

import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RESIDENT_MB = 3000  # DuckDB is held to 2 GB; this is for what it does not count
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR")


class Guarded:
    """A running child of this program."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def lines(self) -> Iterator[str | None]:
        """What it says, line by line; None where it said nothing for a moment."""
        output = self._process.stdout
        assert output is not None  # noqa: S101 (asked for when it was started)
        held = b""
        while True:
            ready, _, _ = select.select([output], [], [], 0.2)
            if not ready:
                yield None
                continue
            data = os.read(output.fileno(), 65536)
            if not data:
                return
            *whole, held = (held + data).split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in whole)

    def trouble(self, since: float, seconds: float) -> str:
        """Why it must be stopped: too long, or too large; '' while it may go on."""
        passed = time.monotonic() - since
        if passed > seconds:
            return f"killed after {passed:.0f} s"
        try:
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1])
        except (OSError, IndexError):
            return ""
        resident = pages * resource.getpagesize() // 2**20
        return f"killed at {resident:,} MB of memory" if resident > RESIDENT_MB else ""


@contextmanager
def guarded(module: str, request: str) -> Iterator[Guarded]:
    """Run a module of this package with a request on standard input; gone when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        cwd="/",
        start_new_session=True,
    )
    assert process.stdin is not None  # noqa: S101 (asked for above)
    try:
        try:
            process.stdin.write(request.encode("utf-8"))
            process.stdin.close()
        except BrokenPipeError:
            pass  # it ended at once: its silence will tell
        yield Guarded(process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
