"""A fabric to look at without one: a snapshot that comes with the package."""

import tarfile
from pathlib import Path

from railwright.errors import UsageError

ARCHIVE = Path(__file__).parent / "fabric.tar.xz"  # made by `python -m tools.make_demo`


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
