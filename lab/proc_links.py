"""A /proc with files that the kernel of this machine does not have.

Usually a host's own files are mounted over those of the kernel. A kernel that was built without
modules, as in small virtual machines, has no /proc/modules to mount over, and nothing can be made
in /proc or laid under it. There the host's /proc is a folder of links into the real one, which is
mounted elsewhere, with places for the files of the host.
"""

from pathlib import Path

REAL = "opt/railwright-lab/proc"
# Processes beyond this number are seen through /proc/self alone: whoever looks for a process by
# opening every number there pays for each.
_PROCESSES = 1024


def lacking(tree: Path) -> list[str]:
    """What a host's tree has in proc/ and the kernel has not."""
    return [
        path.name for path in (tree / "proc").iterdir() if not Path("/proc", path.name).exists()
    ]


def make_links(folder: Path, tree: Path) -> None:
    """The folder of links; the same for all hosts that have files of the same names."""
    if folder.exists():
        return
    folder.mkdir()
    own = {path.name: path.is_dir() for path in (tree / "proc").iterdir()}
    for name, is_folder in own.items():
        (folder / name).mkdir() if is_folder else (folder / name).touch()
    kernel = {path.name for path in Path("/proc").iterdir() if not path.name.isdigit()}
    numbers = {str(number) for number in range(1, _PROCESSES + 1)}
    for name in (kernel | numbers) - own.keys():
        (folder / name).symlink_to(f"/{REAL}/{name}")
