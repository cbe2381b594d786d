"""Who is at work on an unfinished snapshot: a lock that ends with its holder.

The file `lock` in the folder is locked by the process that writes there, and says which one it is.
The kernel lets go of it when that process ends, however it ends. Some file systems have no such
locks (Lustre without `flock`): there the process id has to tell.
"""

import contextlib
import errno
import fcntl
import json
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

from railwright.errors import SnapshotError
from railwright.text import plain

LOCK = "lock"
_HELD = (errno.EWOULDBLOCK, errno.EACCES)


@dataclass(frozen=True)
class Holder:
    """The process that holds a folder, as it said itself."""

    pid: int
    host: str
    since: float

    def words(self) -> str:
        """For the operator, who knows which session that is."""
        since = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.since))
        return f"running since {since}, process {self.pid} on {plain(self.host)}"


class Lock:
    """A folder of the store that this process works on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / LOCK
        try:
            self._handle = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _gone(folder, error) from error
        try:
            self._take()
        except BaseException:
            os.close(self._handle)
            raise

    def _take(self) -> None:
        other = _other_holder(self._file, self._handle)
        if other is not None:
            raise SnapshotError(
                f"{self._folder.name} is being written: {other.words()}",
                why="What it still reads would be lost.",
                do="Wait for it, or end it with Ctrl-C there: it keeps what had arrived.",
            )
        try:  # it may have been finished or pruned while we looked
            same = self._file.stat().st_ino == os.fstat(self._handle).st_ino
        except OSError as error:
            raise _gone(self._folder, error) from error
        if not same:
            raise _gone(self._folder)
        said = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, json.dumps(said).encode("ascii"), 0)

    def release(self) -> None:
        """Let go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _gone(folder: Path, error: OSError | None = None) -> SnapshotError:
    if error is not None and error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return SnapshotError(
            f"cannot work on {folder}: {error.strerror}",
            do="It may belong to another user: name your own store with --store.",
        )
    return SnapshotError(
        f"{folder.name} is not there any more",
        why="Another session has finished or pruned it in the meantime.",
        do="railwright store list shows what is there.",
    )


def holder(folder: Path) -> Holder | None:
    """Who writes there now; None where nobody does."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _other_holder(folder / LOCK, handle)
    finally:
        os.close(handle)


def _other_holder(file: Path, handle: int) -> Holder | None:
    """Takes the lock if it is free; else who has it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        said = _said(file)
        if error.errno in _HELD:
            return said or Holder(0, "?", 0.0)
        # No locks here. Another machine's process cannot be seen: it counts as running.
        return said if said is not None and _may_run(said) else None
    return None


def _said(file: Path) -> Holder | None:
    try:
        said = json.loads(file.read_bytes()[:1000])
        return Holder(int(said["pid"]), str(said["host"]), float(said["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _may_run(said: Holder) -> bool:
    if said.host != platform.node():
        return True
    if said.pid == os.getpid():
        return False
    with contextlib.suppress(ProcessLookupError, OverflowError):
        try:
            os.kill(said.pid, 0)
        except PermissionError:
            pass
        return True
    return False
