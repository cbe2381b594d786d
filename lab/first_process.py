"""The first process of a host, a child of the `unshare` that we run: found, waited for, ended."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

Unshare = subprocess.Popen[bytes]


def first_process(unshare: Unshare) -> int:
    """Its number; an IndexError or OSError where there is none."""
    if unshare.poll() is not None:  # its own number may be another's now
        raise ProcessLookupError
    children = Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read_text().split()
    return int(children[0])


def root_of(unshare: Unshare) -> Path:
    """Its root folder; an error while that is still the one of this machine."""
    path = Path(f"/proc/{first_process(unshare)}/root")
    if _is_ours(path.stat()):
        raise RuntimeError("it has no root of its own yet")
    return path


def open_root(unshare: Unshare, seconds: float = 60) -> int | None:
    """A handle of its root folder; None where it has ended.

    A host that has just been started still has the root of this machine: whoever wrote there would
    change this machine, so the host is waited for. And the number of a process may be another's a
    moment later; a handle stays what it is.
    """
    deadline = time.monotonic() + seconds
    while unshare.poll() is None:
        try:
            handle = os.open(f"/proc/{first_process(unshare)}/root", os.O_PATH)
        except (OSError, IndexError):  # it is not there yet, or not any more
            pass
        else:
            if not _is_ours(os.fstat(handle)):
                return handle
            os.close(handle)
        if time.monotonic() > deadline:
            raise RuntimeError(f"it has no root of its own after {seconds:g} s")
        time.sleep(0.01)
    return None


def _is_ours(root: os.stat_result) -> bool:
    return os.path.samestat(root, os.stat("/"))  # noqa: PTH116 (speed)


def end(all_of_them: Sequence[Unshare]) -> None:
    """Kill them with all that they started; when this returns, their mounts are gone.

    Not `unshare` itself: it ends when it has seen the end of its child. Killed first, it would
    leave a child that only this machine's own first process collects, sooner or later or never.
    """
    for unshare in all_of_them:
        try:
            os.kill(first_process(unshare), signal.SIGKILL)
        except (OSError, IndexError):  # it has no child, or none any more
            unshare.kill()
    for unshare in all_of_them:
        unshare.wait()
