"""A fabric to look at without one: two snapshots, a day apart, that come with the package."""

import hashlib
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from railwright.config import DEMO_MARK, demo_store
from railwright.errors import UsageError
from railwright.store.integrity import forget
from railwright.store.snapshot import load, snapshots

ARCHIVE = Path(__file__).parent / "fabric.tar.xz"  # made by `python -m tools.make_demo`
LATEST = "2026-11-14T2215Z"  # of its two snapshots


def unpack(folder: Path, archive: Path = ARCHIVE) -> Path:
    """The store of the demonstration, in a folder that does not exist yet or is empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} is there and not empty",
            why="The demonstration would be mixed with what is in it.",
            do="Name a folder that does not exist.",
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tarfile.open(archive) as members:
        for member in members:
            content = members.extractfile(member)
            if content is not None:  # a file
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
                path.chmod(member.mode)
    return folder


def install() -> Path:
    """The store that verbs use while the user has no snapshot, made if it is not there yet."""
    folder, wanted = demo_store(), _version()
    if _mark(folder) == wanted:
        return folder
    remove()
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder.parent}: {error.strerror}",
            do="Name a folder for it: railwright demo --keep FOLDER",
        ) from error
    try:
        unpack(made)
        (made / DEMO_MARK).write_text(wanted)  # the last word: without it nobody takes it
        made.rename(folder)
    except BaseException as error:
        shutil.rmtree(made, ignore_errors=True)
        if not (isinstance(error, OSError) and _mark(folder) == wanted):  # another session did it
            raise
    return folder


def remove() -> bool:
    """Whether there was one; nothing is deleted that `install` did not make."""
    folder = demo_store()
    if not os.path.lexists(folder):
        return False
    if _mark(folder) is None:
        raise UsageError(
            f"{folder} is there, and railwright demo did not make it",
            do="Move it away, or name a folder: railwright demo --keep FOLDER",
        )
    for path in snapshots(folder):
        forget(load(path).run)
    shutil.rmtree(folder)
    return True


def _mark(folder: Path) -> str | None:
    try:
        return (folder / DEMO_MARK).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _version() -> str:
    """Another archive is another demonstration."""
    return hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()
