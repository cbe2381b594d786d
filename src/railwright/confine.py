"""Work that cannot write: the kernel refuses it, whoever this process runs as.

Landlock (Linux 5.13 and later: landlock(7)) holds for a thread and those that it starts. Where the
kernel has none, what the caller does beside it still holds.
"""

import ctypes
import os
import struct
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

# The numbers are the same on every architecture that has them (asm-generic/unistd.h).
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION = 1  # flag of _CREATE: which version of the interface is there
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38  # prctl

# linux/landlock.h: bits of access to files, with the version of the interface that brought them.
_WRITE_FILE, _REMOVE_FOLDER = 1 << 1, 1 << 4
_WRITING = {
    1: _WRITE_FILE | sum(1 << bit for bit in (4, 5, 6, 7, 8, 9, 10, 11, 12)),  # remove and make
    2: 1 << 13,  # link or rename to another folder
    3: 1 << 14,  # truncate
}


def read_only(work: Callable[[], Result], folders: Iterable[Path]) -> Result:
    """Do it in a thread that can write, make or remove nothing but what lies in these folders."""
    done: list[Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            write_only_below(folders)
            done.append(work())
        except BaseException as error:  # is the caller's
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return done[0]


def write_only_below(folders: Iterable[Path]) -> bool:
    """From here on nothing but what lies in these folders can be written, made or removed.

    An empty folder beside them can still be removed: they themselves are, at the end. True if the
    kernel holds to it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, 0, _VERSION)
    if version < 1:
        return False
    handled = 0
    for since, bits in _WRITING.items():
        handled |= bits if since <= version else 0
    rules = libc.syscall(_CREATE, struct.pack("=Q", handled), 8, 0)
    if rules < 0:
        return False
    try:
        allowed = [(folder, handled) for folder in folders]
        allowed += [(folder.parent, _REMOVE_FOLDER) for folder, _ in allowed]
        allowed += [(Path(os.devnull), _WRITE_FILE), (Path("/dev/tty"), _WRITE_FILE)]
        for path, access in allowed:
            _allow(libc, rules, path, access)
        return bool(
            libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
            and libc.syscall(_RESTRICT, rules, 0) == 0
        )
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: Path, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # no terminal here
        return
    try:
        libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", access, handle), 0)
    finally:
        os.close(handle)
