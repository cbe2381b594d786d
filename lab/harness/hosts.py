"""Answers of synthetic hosts, as the real runner brings them home. Needs root."""

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lab.fleet import HostModel, add_shell, build, hgx_h100, with_uncore
from railwright.collect.probe import select
from railwright.collect.request import lone_runner


def answers(folder: Path, hosts: Iterable[HostModel]) -> list[Path]:
    """One file per host, as `python3 rw.py > HOST.rw` writes it there."""
    script = folder / "rw.py"
    script.write_text(lone_runner(select()))
    files = []
    for host in hosts:
        file = folder / f"{host.name}.rw"
        # Thousands of files: made in memory for a thirtieth of what they cost on disk.
        with tempfile.TemporaryDirectory(dir="/dev/shm") as name, file.open("wb") as out:
            root = Path(name)
            build(root, host)
            add_shell(root)
            subprocess.run(["/usr/bin/python3", script, "--root", root], stdout=out, check=True)
        files.append(file)
    return files


def large_hosts(count: int) -> Iterator[HostModel]:
    """Hosts of real size: 8 GPUs, 500 PCI functions, 4 MB of answers."""
    return (with_uncore(hgx_h100(number)) for number in range(1, count + 1))
