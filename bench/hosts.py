"""Answers of synthetic hosts of real size, as the real runner brings them home. Needs root."""

import subprocess
import tempfile
from pathlib import Path

from lab.fleet import add_shell, build, hgx_h100, with_uncore
from railwright.collect.probe import select
from railwright.collect.request import lone_runner


def answers(folder: Path, count: int) -> list[Path]:
    """One file per host as `python3 rw.py > HOST.rw` writes it: 8 GPUs, 500 PCI functions, 4 MB."""
    script = folder / "rw.py"
    script.write_text(lone_runner(select()))
    files = []
    for number in range(1, count + 1):
        file = folder / f"gpu{number:05d}.rw"
        # 17,000 files: made in memory for a thirtieth of what they cost on disk.
        with tempfile.TemporaryDirectory(dir="/dev/shm") as name, file.open("wb") as out:
            root = Path(name)
            build(root, with_uncore(hgx_h100(number)))
            add_shell(root)
            subprocess.run(["/usr/bin/python3", script, "--root", root], stdout=out, check=True)
        files.append(file)
    return files
