"""One local process (an ssh, an srun), its bytes and its end, under limits.

Bytes are read as they come and never by line: ClusterShell's line readers lose and reorder text
with carriage returns and cannot cap a stream without newline (docs/decisions/0002).
"""

import asyncio
import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

CHUNK = 65536
WORDS_CAP = 4096
DRAIN_S = 1.0  # after the process is gone: its pipes may be held by an ssh ControlPersist master
LINGER_S = 3.0  # after its output is closed: then it is killed, and nobody waits for it


@dataclass
class Ended:
    """How a process ended."""

    exit_code: int | None
    words: str
    bytes_received: int
    duration: float
    timed_out: bool = False
    flooded: bool = False


@cache
def _die_with_us() -> tuple[str, ...]:
    """A prefix that makes the child die with this process, even if that dies by kill -9.

    Then ssh's connection closes, and the far end's runner sees its standard input end.
    """
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL") if setpriv else ()


class _Stream:
    def __init__(self, limit: int, on_bytes: Callable[[bytes], None]) -> None:
        self.limit = limit
        self.on_bytes = on_bytes
        self.received = 0
        self.words = b""
        self.flooded = asyncio.Event()

    async def read_output(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(CHUNK):
            if self._count(data):
                return
            self.on_bytes(data)

    async def read_words(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(CHUNK):
            if self._count(data):
                return
            if len(self.words) < WORDS_CAP:
                self.words = (self.words + data)[:WORDS_CAP]

    def _count(self, data: bytes) -> bool:
        self.received += len(data)
        if self.received > self.limit:
            self.flooded.set()
            return True
        return False


async def _write(writer: asyncio.StreamWriter, data: bytes, *, hold: bool) -> None:
    # A process that never reads, or is gone already: its end tells, not ours.
    with contextlib.suppress(OSError):
        writer.write(data)
        await writer.drain()
        if not hold:
            writer.close()


def _kill(process: asyncio.subprocess.Process) -> None:
    # The whole group: ssh may have started a ProxyCommand.
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


async def run_process(  # noqa: PLR0913 (each is a bound or an end of the pipe)
    argv: list[str],
    *,
    stdin: bytes,
    hold_stdin: bool,
    total_s: float,
    byte_limit: int,
    on_bytes: Callable[[bytes], None],
    environment: dict[str, str] | None = None,
) -> Ended:
    """Run to the end or to a limit; always reaped, never raises for what the process does."""
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *_die_with_us(),
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # no terminal: nothing can ask a question there
        env=None if environment is None else {**os.environ, **environment},
    )
    assert process.stdin is not None  # noqa: S101 (all three are pipes)
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    stream = _Stream(byte_limit, on_bytes)
    writing = asyncio.ensure_future(_write(process.stdin, stdin, hold=hold_stdin))
    output = asyncio.ensure_future(stream.read_output(process.stdout))
    words = asyncio.ensure_future(stream.read_words(process.stderr))
    gone = asyncio.ensure_future(process.wait())
    flood = asyncio.ensure_future(stream.flooded.wait())
    ended = Ended(None, "", 0, 0.0)
    try:
        await asyncio.wait(
            {output, gone, flood}, timeout=total_s, return_when=asyncio.FIRST_COMPLETED
        )
        ended.flooded = stream.flooded.is_set()
        if gone.done():
            await asyncio.wait({output, words}, timeout=DRAIN_S)
        elif output.done() and not ended.flooded:
            await asyncio.wait({gone}, timeout=LINGER_S)
        else:
            ended.timed_out = not ended.flooded
    finally:
        tasks = (writing, output, words, flood)
        for task in tasks:
            task.cancel()
        _kill(process)
        process.stdin.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Killed: what is left is a moment, or a process in the kernel that nobody can wait for.
        await asyncio.wait({gone}, timeout=LINGER_S)
        # Not only the process: its pipes may be held open by others.
        process._transport.close()  # type: ignore[attr-defined]
    ended.exit_code = process.returncode
    ended.flooded = ended.flooded or stream.flooded.is_set()
    ended.words = stream.words.decode("utf-8", "replace").strip()
    ended.bytes_received = stream.received
    ended.duration = time.monotonic() - began
    return ended
