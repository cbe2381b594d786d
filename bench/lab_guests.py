"""Guests with real Soft-RoCE: how long until they answer, and what they take.

usage: python -m bench.lab_guests [COUNT …]   (as root; 2 4 8)
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figures import write_section
from lab.guest import Guests, make_image, running

RAILS = 2
HOW = (
    f"`python -m bench.lab_guests`: guests with {RAILS} rails each, on {os.cpu_count()} cores, by "
    "plain emulation; until the last one answers ssh with all its RDMA devices up, one login after "
    "another. Memory is what the QEMU processes have resident."
)


def _resident_mb(guests: Guests) -> list[int]:
    sizes = []
    for process in guests.processes.values():
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        sizes += [int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS:")]
    return sizes


def measure(count: int) -> list[tuple[str, str, str]]:
    """Start that many, ask once, stop."""
    with TemporaryDirectory(prefix="railwright-guests-", dir="/dev/shm") as folder:
        began = time.monotonic()
        with running("rwb", count, RAILS, Path(folder) / "run") as guests:
            up = time.monotonic() - began
            sizes = _resident_mb(guests)
            ended = time.monotonic()
        down = time.monotonic() - ended
    size = f"{min(sizes)} to {max(sizes)} MB" if min(sizes) < max(sizes) else f"{sizes[0]} MB"
    return [
        (f"{count} guests: until all answer", f"{up:.0f} s", "-"),
        (f"{count} guests: memory of each", size, "-"),
        (f"{count} guests: until nothing is left", f"{down:.1f} s", "-"),
    ]


def main() -> None:
    """Measure and write the section."""
    counts = [int(word) for word in sys.argv[1:]] or [2, 4, 8]
    make_image()
    rows = [row for count in counts for row in measure(count)]
    for row in rows:
        print("  ".join(row))
    if not sys.argv[1:]:
        write_section("Lab guests", HOW, rows)


if __name__ == "__main__":
    main()
