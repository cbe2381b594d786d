"""A snapshot of a million NICs: how long `facts`, `show` and `diff` take.

    python -m bench.million FOLDER [HOSTS]        100,000 hosts with 10 NICs each

The fleets are those of `lab.harness.large_fleet`, kept in FOLDER. Nothing of the product is
bypassed behind the fact files. Needs root and about 6 GB of disk.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

from bench.figures import write_section
from lab.harness.large_fleet import NAMES, fleet

COUNT = "SELECT count(*) FROM nic_parameter WHERE next_text <> current_text"
TABLES = ("rdma_port", "nic_parameter", "netdev_counter", "gid", "qos_priority", "pci_function")


def timed(*arguments: str) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds and exit status of one command, its output thrown away."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "railwright", *arguments], stdout=subprocess.DEVNULL, check=False
    )
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, done.returncode


def main() -> None:
    folder = Path(sys.argv[1])
    hosts = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    made = [fleet(folder, hosts, side) for side in (0, 1)]
    with made[0].database() as database:
        counts = {
            name: database.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]
            for name in TABLES
        }
    size = sum(file.stat().st_size for file in made[0].path.rglob("*.parquet"))
    at = ("--store", str(folder / str(hosts)))
    runs = {
        "`facts`": (timed("facts", *at), "< 10 s"),
        "`show` of one host": (timed("show", f"gpu{hosts // 2:06d}", *at), "< 2 s"),
        "`diff` of two": (timed("diff", NAMES[0], NAMES[1], *at), "< 20 s"),
        "`sql`, one count over all parameters": (timed("sql", COUNT, *at), "-"),
    }
    rows = [
        ("NICs", f"{counts.pop('rdma_port'):,}", "1,000,000"),
        ("rows", ", ".join(f"{name} {count:,}" for name, count in counts.items()), "-"),
        ("fact files on disk", f"{size / 1e6:,.0f} MB", "-"),
    ]
    for what, ((wall, cpu, code), wanted) in runs.items():
        rows.append((what, f"{wall:.1f} s wall, {cpu:.1f} s CPU, exit {code}", wanted))
    write_section(
        f"A million NICs: {hosts:,} hosts",
        f"`python -m bench.million FOLDER {hosts}`: rows of a synthetic HGX H100 host that the "
        "runner read, once per host, every thousandth with a fault.",
        rows,
    )
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
