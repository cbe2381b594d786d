"""Who is at work on an unfinished snapshot: a lock that ends with its holder.

The file `lock` in the folder is locked by the process that writes there, and says which one it is.
The kernel lets go of it when that process ends, however it ends, and tells whether it is held
without taking it (fcntl(2), open file description locks). Some file systems have no locks (Lustre
without `flock`): there the process id has to tell.
"""

import contextlib
import errno
import fcntl
import json
import os
import platform
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from railwright.errors import SnapshotError
from railwright.text import plain

LOCK = "lock"
_HELD = (errno.EAGAIN, errno.EACCES)
_FLOCK = "hhqqi4x"  # struct flock of 64-bit Linux: type, whence, start, length, process


class BusyError(SnapshotError):
    """Somebody is at work on the folder."""


class NoRoomError(SnapshotError):
    """The disk is so full that the lock cannot be written."""


class GoneError(SnapshotError):
    """Another session has finished or pruned the folder in the meantime."""


@dataclass(frozen=True)
class Holder:
    """The process that holds a folder, as it said itself."""

    pid: int
    host: str
    since: float

    def words(self) -> str:
        """For the operator, who knows which session that is."""
        if not self.pid:
            return "another session is at work on it"
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
        other = _taken_by_another(self._file, self._handle)
        if other is not None:
            raise BusyError(
                f"{self._folder.name} is being written: {other.words()}",
                why="What it is still reading would be lost.",
                do="Wait for it, or press Ctrl-C there: it keeps what has arrived.",
            )
        try:  # it may have been finished or pruned while we looked
            same = self._file.stat().st_ino == os.fstat(self._handle).st_ino
        except OSError as error:
            raise _gone(self._folder, error) from error
        if not same:
            raise _gone(self._folder)
        said = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
        try:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, json.dumps(said).encode("ascii"), 0)
        except OSError as error:
            raise _gone(self._folder, error) from error

    def moved(self, folder: Path) -> None:
        """The folder has got another name."""
        self._folder, self._file = folder, folder / LOCK

    def release(self) -> None:
        """Let go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _gone(folder: Path, error: OSError | None = None) -> SnapshotError:
    if error is not None and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoRoomError(
            f"cannot work on {folder}: {error.strerror}",
            do="Free disk space; railwright store prune deletes snapshots.",
        )
    if error is not None and error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return SnapshotError(
            f"cannot work on {folder}: {error.strerror}",
            do="It may belong to another user: use your own store (--store).",
        )
    return GoneError(
        f"{folder.name} no longer exists",
        why="Another session finished or pruned it in the meantime.",
        do="railwright store list shows what is there.",
    )


def holder(folder: Path) -> Holder | None:
    """Who writes there now; None where nobody does. To look takes nothing from anybody."""
    file = folder / LOCK
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = struct.unpack(_FLOCK, fcntl.fcntl(handle, fcntl.F_OFD_GETLK, _whole_file()))
    except OSError:
        return _without_locks(file)
    finally:
        os.close(handle)
    return None if found[0] == fcntl.F_UNLCK else _who(file)


def _who(file: Path) -> Holder:
    """Who holds it; a moment after it was taken that is written there."""
    for _ in range(20):
        said = _said(file)
        if said is not None:
            return said
        time.sleep(0.005)
    return Holder(0, "?", 0.0)


def _whole_file() -> bytes:
    return struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


def _taken_by_another(file: Path, handle: int) -> Holder | None:
    """Takes the lock if it is free; else who has it."""
    try:
        fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _whole_file())
    except OSError as error:
        if error.errno in _HELD:
            return _who(file)
        return _without_locks(file)
    return None


def _without_locks(file: Path) -> Holder | None:
    """Another machine's process cannot be seen: it counts as running."""
    said = _said(file)
    return said if said is not None and _may_run(said) else None


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
