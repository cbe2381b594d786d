"""The test site: a fleet with fake RDMA hardware on every host, and some hosts that are broken."""

import subprocess
from pathlib import Path

from lab.fleet import hgx_h100, write_sys, write_tools
from lab.sshd_fleet import Host
from lab.sshd_kinds import KINDS

ROOT_SCRIPT = Path(__file__).with_name("rootfs.sh")
TREES = 8  # different hosts' hardware; more hosts share it read-only


def make_root() -> None:
    """The root file system that all hosts share; made once, then cached."""
    subprocess.run(["bash", str(ROOT_SCRIPT)], check=True)


def make_trees(folder: Path, count: int = TREES) -> list[Path]:
    """The files of `count` different fake hosts."""
    trees = []
    for number in range(1, count + 1):
        tree = folder / f"tree{number}"
        model = hgx_h100(number)
        write_sys(tree / "sys", model)
        write_tools(tree / "files", model)
        trees.append(tree)
    return trees


def hosts(count: int, trees: list[Path], broken: dict[int, str] | None = None) -> list[Host]:
    """`count` hosts, host1 to hostN; `broken` names the numbers that are not healthy."""
    chosen = broken or {}
    assert set(chosen.values()) <= set(KINDS)
    return [
        Host(number, chosen.get(number, "healthy"), trees[number % len(trees)])
        for number in range(1, count + 1)
    ]
