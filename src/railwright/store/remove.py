"""Delete snapshots, and what sessions that were cut off have left."""

import contextlib
import os
import shutil
import time
from pathlib import Path

from railwright.store.locks import BusyError, GoneError, Lock, NoRoomError, holder
from railwright.store.snapshot import (
    FILLING,
    NOT_LOCKED_YET,
    REMOVING,
    STARTING,
    UNFINISHED,
    cannot_write,
)

_LONG_AGO_S = 3600  # nobody takes that long from making a folder to locking it


def remove(path: Path) -> bool:
    """Delete one snapshot or an unfinished one; first out of sight, so that none is ever half.

    False if another session was faster. A link goes, and not what it points to.
    """
    try:
        if path.is_symlink():
            path.unlink()
            return True
        lock = _to_remove(path) if path.name.endswith(UNFINISHED) else None
        gone = path.with_name(f"{REMOVING}{path.name}-{os.getpid()}")
        path.rename(gone)
    except (FileNotFoundError, GoneError):
        return False
    except OSError as error:
        raise cannot_write(path.parent, error) from error
    if lock is not None:
        lock.release()
    shutil.rmtree(gone, ignore_errors=True)
    return True


def _to_remove(path: Path) -> Lock | None:
    """Its lock; another session that removes it has it for a moment, one that writes for long.

    None where a disk is so full that it cannot be taken, and nobody has it: that is when somebody
    wants to delete something.
    """
    for _ in range(40):
        try:
            return Lock(path)
        except BusyError:  # noqa: PERF203 (looked at again a moment later)
            time.sleep(0.025)
        except NoRoomError:
            if holder(path) is None:
                return None
            raise
    return Lock(path)


def remove_remains(store: Path) -> None:
    """What was out of sight when its session ended: of a prune, a start or a fill."""
    for path in store.glob(f"{REMOVING}*"):
        _delete(path)
    for path in (*store.glob(f"{STARTING}*"), *store.glob(f"{FILLING}*")):
        if holder(path) is None:
            _delete(path)
    for path in store.glob(f"{NOT_LOCKED_YET}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _LONG_AGO_S:
                _delete(path)


def _delete(path: Path) -> None:
    """A folder, a file or a link; never what a link points to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
