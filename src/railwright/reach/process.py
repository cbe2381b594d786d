"""One local process (an ssh, an srun), its bytes and its end, under limits.

Bytes are read as they come and never by line: ClusterShell's line readers lose and reorder text
with carriage returns and cannot cap a stream without newline (docs/decisions/0002). Not asyncio's
own subprocesses either: their `wait` returns only when the last holder of a pipe lets go, and ssh's
ControlPersist master holds standard error for minutes.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

from railwright.errors import RailwrightError
from railwright.reach.job import Conversation

CHUNK = 65536
WORDS_CAP = 4096
DRAIN_S = 1.0  # after the process is gone: for what its pipes still hold
LINGER_S = 3.0  # after its output is closed: then it is killed, and nobody waits for it
LISTEN_S = 0.2  # how often somebody who waits for a word is asked whether it is overdue
POLL_S = 0.05  # where the kernel has no pidfd (before Linux 5.3)


@dataclass
class Ended:
    """How a process ended."""

    exit_code: int | None
    words: str
    bytes_received: int
    duration: float
    timed_out: bool = False
    flooded: bool = False
    fault: str = ""  # what listening to it raised: trouble of this machine, and of no other


@cache
def _die_with_us() -> tuple[str, ...]:
    """A prefix that makes the child die with this process, even if that dies by kill -9.

    Then ssh's connection closes, and the far end's runner sees its standard input end.
    """
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL") if setpriv else ()


class _Pipe:
    """One output of the process; `done` is set at its end or when the limit is passed."""

    def __init__(self, pipe: IO[bytes], take: Callable[[bytes], bool]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._take = take
        self.done = asyncio.Event()
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_reader(pipe.fileno(), self._readable)

    def _readable(self) -> None:
        try:
            data = os.read(self._pipe.fileno(), CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data or not self._take(data):
            self.close()

    def close(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._pipe.close()
        self.done.set()


class _Input:
    """Standard input: written as the process takes it, then held open or closed."""

    def __init__(self, pipe: IO[bytes], data: bytes, *, hold: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._data = memoryview(data)
        self._hold = hold
        self._writing = True
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_writer(pipe.fileno(), self._writable)

    def _writable(self) -> None:
        try:
            self._data = self._data[os.write(self._pipe.fileno(), self._data[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # the process does not read, or is gone: its end tells, not ours
            self.close()
            return
        if not self._data:
            self._stop_writing()
            if not self._hold:
                self.close()

    def write(self, data: bytes) -> None:
        """More, behind what has not been taken yet."""
        if self._pipe.closed or not data:
            return
        self._data = memoryview(bytes(self._data) + data)
        if not self._writing:
            self._writing = True
            self._loop.add_writer(self._pipe.fileno(), self._writable)

    def _stop_writing(self) -> None:
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._pipe.fileno())

    def close(self) -> None:
        if not self._pipe.closed:
            self._stop_writing()
            with contextlib.suppress(OSError):
                self._pipe.close()


async def _gone(process: "subprocess.Popen[bytes]") -> None:
    """Returns when the process has ended, whoever still holds its pipes."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        while process.poll() is None:  # noqa: ASYNC110 (nothing tells us)
            await asyncio.sleep(POLL_S)
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    process.wait()


class _Running:
    """A process with its pipes attached to the loop."""

    def __init__(  # noqa: PLR0913 (each is a bound or an end of the pipe)
        self,
        argv: list[str],
        *,
        stdin: bytes,
        hold_stdin: bool,
        byte_limit: int,
        on_bytes: Callable[[bytes], bool],  # False: nothing more is wanted
        environment: dict[str, str] | None,
        conversation: Conversation | None = None,
    ) -> None:
        self._conversation = conversation
        self.received = 0
        self.words = b""
        self.flooded = False
        self.fault = ""
        self.ours: RailwrightError | None = None
        self._limit = byte_limit
        self._on_bytes = on_bytes
        self.process = subprocess.Popen(
            [*_die_with_us(), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # no terminal: nothing can ask a question there
            env=None if environment is None else {**os.environ, **environment},
            bufsize=0,
        )
        assert self.process.stdin is not None  # noqa: S101 (all three are pipes)
        assert self.process.stdout is not None  # noqa: S101
        assert self.process.stderr is not None  # noqa: S101
        self.input = _Input(self.process.stdin, stdin, hold=hold_stdin)
        self.output = _Pipe(self.process.stdout, self._take_output)
        self.errors = _Pipe(self.process.stderr, self._take_words)

    def _count(self, data: bytes) -> bool:
        self.received += len(data)
        if self.received > self._limit:
            self.flooded = True
            self.output.done.set()
        return not self.flooded

    def _take_output(self, data: bytes) -> bool:
        if not self._count(data):
            return False
        try:
            answer = self._heard(data)
        except RailwrightError as error:  # our own trouble, such as a full disk
            self.ours, answer = error, None
        except Exception as error:  # a machine's bytes end its own session and nothing else
            self.fault, answer = type(error).__name__, None
        if answer is None:
            return self._hang_up()
        self.input.write(answer)
        return True

    def _heard(self, data: bytes) -> bytes | None:
        """What to send now; None to hang up."""
        if not self._on_bytes(data):
            return None
        return b"" if self._conversation is None else self._conversation.heard(data)

    def _hang_up(self) -> bool:
        """The far end takes the closing of its input as "stop"."""
        self.input.close()
        self.output.done.set()
        return False

    def _take_words(self, data: bytes) -> bool:
        if len(self.words) < WORDS_CAP:
            self.words = (self.words + data)[:WORDS_CAP]
        return self._count(data)

    def end(self) -> None:
        """Kill the whole group (ssh may have started a ProxyCommand) and let go of the pipes."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for pipe in (self.input, self.output, self.errors):
            pipe.close()


async def run_process(  # noqa: PLR0913 (each is a bound or an end of the pipe)
    argv: list[str],
    *,
    stdin: bytes,
    hold_stdin: bool,
    total_s: float,
    byte_limit: int,
    on_bytes: Callable[[bytes], bool],  # False: nothing more is wanted
    environment: dict[str, str] | None = None,
    conversation: Conversation | None = None,
) -> Ended:
    """Run to the end or to a limit; always reaped, never raises for what the process does."""
    began = time.monotonic()
    running = _Running(
        argv,
        stdin=stdin,
        hold_stdin=hold_stdin,
        byte_limit=byte_limit,
        on_bytes=on_bytes,
        environment=environment,
        conversation=conversation,
    )
    gone = asyncio.ensure_future(_gone(running.process))
    silent = asyncio.ensure_future(running.output.done.wait())
    timed_out = False
    try:
        await _until_end({gone, silent}, total_s, conversation)
        if gone.done():
            rest = {silent, asyncio.ensure_future(running.errors.done.wait())}
            _, late = await asyncio.wait(rest, timeout=DRAIN_S)
            for task in late:
                task.cancel()
        elif silent.done() and not running.flooded:
            await asyncio.wait({gone}, timeout=LINGER_S)
        else:
            timed_out = not running.flooded
    finally:
        running.end()
        silent.cancel()
        # Killed: what is left is a moment, or a process in the kernel that nobody can wait for.
        await asyncio.wait({gone}, timeout=LINGER_S)
        gone.cancel()
    if running.ours is not None:
        raise running.ours
    return Ended(
        exit_code=running.process.poll(),
        words=running.words.decode("utf-8", "replace").strip(),
        bytes_received=running.received,
        duration=time.monotonic() - began,
        timed_out=timed_out,
        flooded=running.flooded,
        fault=running.fault,
    )


async def _until_end(
    ends: "set[asyncio.Future[Any]]", total_s: float, conversation: Conversation | None
) -> None:
    """Until the process is gone or silent, the time is up, or the speaker has waited enough."""
    deadline = time.monotonic() + total_s
    while (left := deadline - time.monotonic()) > 0:
        step = left if conversation is None else min(left, LISTEN_S)
        done, _ = await asyncio.wait(ends, timeout=step, return_when=asyncio.FIRST_COMPLETED)
        if done or (conversation is not None and conversation.waited_enough()):
            return


class Worker:
    """A process of our own beside this one that is asked line by line; it ends with its input."""

    def __init__(self, argv: list[str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._answers: asyncio.Queue[bytes] = asyncio.Queue()
        self._rest = b""
        self._words = b""
        self._process = subprocess.Popen(
            [*_die_with_us(), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdout is not None  # noqa: S101 (all three are pipes)
        assert self._process.stderr is not None  # noqa: S101
        self._output = _Pipe(self._process.stdout, self._take)
        self._errors = _Pipe(self._process.stderr, self._take_words)

    def _take(self, data: bytes) -> bool:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._answers.put_nowait(line)
        return True

    def _take_words(self, data: bytes) -> bool:
        self._words = (self._words + data)[-WORDS_CAP:]
        return True

    async def ask(self, line: str) -> bool:
        """One line there, one line back; False if the process is gone."""
        assert self._process.stdin is not None  # noqa: S101
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except OSError:
            return False
        answer = asyncio.ensure_future(self._answers.get())
        closed = asyncio.ensure_future(self._output.done.wait())
        await asyncio.wait({answer, closed}, return_when=asyncio.FIRST_COMPLETED)
        answered = answer.done()
        answer.cancel()
        closed.cancel()
        return answered

    async def end(self) -> str:
        """Close its input and wait for it; what it said on standard error."""
        assert self._process.stdin is not None  # noqa: S101
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        await _gone(self._process)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._errors.done.wait(), DRAIN_S)
        self._output.close()
        self._errors.close()
        return self._words.decode("utf-8", "replace").strip()
