"""Killed, hanging, closed early, or silent: how a host leaves."""

import os
import signal
import time
from functools import partial

from tests.hostile.far_end import FarEnd, answer_fields, frame_text, payload, scenario
from tests.hostile.fields import with_one_answer
from tests.hostile.words import NASTY, card

endings = partial(scenario, "frames")
hanging = partial(scenario, "hanging")


@endings("reached", "lscpu")
def late_close(far: FarEnd) -> None:
    """All was said and standard output is closed, but it stays."""
    with_one_answer(far)
    os.close(1)
    far.stay()


@endings("reached", "lscpu")
def linger(far: FarEnd) -> None:
    """All was said, and it stays: that costs nobody the whole time limit."""
    with_one_answer(far)
    far.stay()


@endings("incomplete", "lscpu")
def closes_early(far: FarEnd) -> None:
    """Closes standard output before the end, and stays."""
    far.hello()
    far.answer("lscpu", b"{}")
    os.close(1)
    os.close(2)
    far.stay()


@endings("reached", "lscpu")
def exit_code_after_end(far: FarEnd) -> None:
    with_one_answer(far)
    os._exit(42)


@endings("reached", "lscpu", look=True)
def lies_after_end(far: FarEnd) -> None:
    """What it says behind its end changes nothing."""
    far.hello()
    far.answer("lscpu", b"{}")
    far.complain(b"@@@ REMOTE HOST IDENTIFICATION HAS CHANGED\nPermission denied (password).\n")
    far.end()
    os._exit(255)


FAILURES = "failed|closed|denied|host key changed|unresolved|refused|silent|no python|damaged"


@endings(FAILURES, look=True)
def words_lie(far: FarEnd) -> None:
    """ssh's own words and exit status from the far end: any failure, and never `reached`."""
    far.complain(b"@@@ REMOTE HOST IDENTIFICATION HAS CHANGED\n" + NASTY.encode())
    os._exit(255)


@endings("incomplete")
def exit255(far: FarEnd) -> None:
    far.hello()
    far.complain(b"ssh: Could not resolve hostname honest-paper\n")
    os._exit(255)


@endings("failed|damaged")
def speaks_on_the_wrong_side(far: FarEnd) -> None:
    """All frames on standard error."""
    os.dup2(2, 1)
    with_one_answer(far)


@endings(FAILURES, listens=False)
def no_python_here(far: FarEnd) -> None:
    far.complain(b"railwright: no python3 here\n")
    os._exit(127)


@endings("failed|damaged|closed", listens=False)
def exits_at_once(far: FarEnd) -> None:
    os._exit(0)


@endings("failed|damaged|login script reads input", listens=False)
def guesses_the_run(far: FarEnd) -> None:
    """Frames of a run that nobody started."""
    far.run = "00000000"
    with_one_answer(far)


@endings("incomplete")
def kill(far: FarEnd) -> None:
    far.hello(planned=[["lscpu", ""]])
    far.cut_connection()


@endings("closed|failed")
def kill_before_hello(far: FarEnd) -> None:
    far.cut_connection()


@endings("closed|failed", listens=False, look=True)
def kill_before_reading(far: FarEnd) -> None:
    far.cut_connection()


@endings("incomplete", "lscpu")
def kill_within_a_frame(far: FarEnd) -> None:
    far.hello()
    far.answer("lscpu", b"{}")
    text = frame_text(far.run, 2, "dmesg", payload(answer_fields("dmesg", ""), os.urandom(9000)))
    far.raw(text[: len(text) // 2])
    far.cut_connection()


@endings("incomplete", "lscpu")
def dies_by_a_signal(far: FarEnd) -> None:
    far.hello()
    far.answer("lscpu", b"{}")
    os.kill(os.getpid(), signal.SIGSEGV)


@endings("reached", "mlxlink")
def slowgood(far: FarEnd) -> None:
    """Slow, and honest."""
    time.sleep(1)
    far.hello()
    for number in range(4):
        far.answer("mlxlink", b"", instance=card(number))
        time.sleep(0.5)
    far.end()


@hanging("hanging", listens=False, look=True)
def hangs_at_once(far: FarEnd) -> None:
    far.stay()


@hanging("hanging")
def hangs_before_hello(far: FarEnd) -> None:
    far.stay()


@hanging("too slow")
def hangs_within_a_head(far: FarEnd) -> None:
    far.raw(f"@rw1 {far.run} 0 .hel".encode())
    far.stay()


@hanging("incomplete|too slow")
def hangs_after_hello(far: FarEnd) -> None:
    far.hello(planned=[["lscpu", ""]])
    far.stay()


@hanging("incomplete|too slow", "lscpu")
def hangs_within_a_body(far: FarEnd) -> None:
    far.hello()
    far.answer("lscpu", b"{}")
    text = frame_text(far.run, 2, "dmesg", payload(answer_fields("dmesg", ""), os.urandom(9000)))
    far.raw(text[: len(text) // 2])
    far.stay()


@hanging("incomplete|too slow", "lscpu")
def hangs_before_end(far: FarEnd) -> None:
    far.hello()
    far.answer("lscpu", b"{}")
    far.stay()


@hanging("incomplete|too slow", look=True)
def slow(far: FarEnd) -> None:
    """A byte now and then keeps nobody waiting beyond the time limit."""
    far.hello()
    while True:
        far.raw(b"x")
        time.sleep(0.5)


@hanging("incomplete|too slow", "mlxlink")
def answers_without_end(far: FarEnd) -> None:
    """An answer a second, for ever."""
    far.hello()
    for number in range(1000):
        far.answer("mlxlink", b"", instance=card(number))
        time.sleep(1)


@hanging("incomplete|too slow", "lscpu")
def child_holds_the_pipe(far: FarEnd) -> None:
    """It ends, and a child of its keeps the connection."""
    far.hello()
    far.answer("lscpu", b"{}")
    if os.fork() == 0:
        signal.alarm(25)
        time.sleep(25)
    os._exit(0)


@hanging("too slow|failed", listens=False)
def echoes(far: FarEnd) -> None:
    """A login that says back what it hears."""
    while data := os.read(0, 65536):
        far.raw(data)
