"""A folder that holds just the files that it should: only what differs is replaced, each at once.

Programs read these files while they change: each sees the old text or the new one, never a part.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_BESIDE = ".new"


class File(NamedTuple):
    """What a file holds."""

    text: str
    mode: int = 0o644


def settle(folder: Path, wanted: Mapping[str, File]) -> list[str]:
    """Write what differs, remove what is not wanted; gives the names of both."""
    folder.mkdir(parents=True, exist_ok=True)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    changed = sorted(there - wanted.keys())
    for name in changed:
        (folder / name).unlink()
    for name, file in wanted.items():
        path = folder / name
        if name in there and _is(path, file):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(path.name + _BESIDE)
        beside.write_bytes(file.text.encode())
        beside.chmod(file.mode)
        os.replace(beside, path)  # noqa: PTH105 (says what it is)
        changed.append(name)
    return changed


def _is(path: Path, file: File) -> bool:
    return path.read_bytes() == file.text.encode() and path.stat().st_mode & 0o777 == file.mode
