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


def own(tree: Path) -> dict[str, bool]:
    """What a host's tree has in proc/ beside processes: name -> whether it is a folder."""
    paths = (tree / "proc").iterdir()
    return {path.name: path.is_dir() for path in paths if not path.name.isdigit()}


def lacking(tree: Path) -> list[str]:
    """What of it the kernel has not."""
    return [name for name in own(tree) if not Path("/proc", name).exists()]


def of_first_process(tree: Path) -> list[str]:
    """What the tree has of the host's first process: the rest is the kernel's."""
    folder = tree / "proc/1"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def make_links(folder: Path, tree: Path) -> None:
    """The folder of links; the same for all hosts that have files of the same names."""
    if folder.exists():
        return
    folder.mkdir()
    told = own(tree)
    for name, is_folder in told.items():
        (folder / name).mkdir() if is_folder else (folder / name).touch()
    kernel = {path.name for path in Path("/proc").iterdir() if not path.name.isdigit()}
    numbers = {str(number) for number in range(1, _PROCESSES + 1)}
    for name in (kernel | numbers) - told.keys():
        (folder / name).symlink_to(f"/{REAL}/{name}")
