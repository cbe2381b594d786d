"""Ceilings of a million NICs: time and memory.

    python -m bench.ceilings FOLDER [HOSTS]        100,000 hosts with 10 NICs each

The fleets are those of `lab.harness.large_fleet`, kept in FOLDER. Measured are the tables alone, as
other verbs will use them, and the whole command with its folding. Needs root and about 6 GB of
disk.
"""

import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.figures import write_section
from bench.million import timed
from lab.harness.large_fleet import fleet
from railwright.predict.fleet import make_ceilings
from railwright.store.snapshot import Snapshot


def tables(snapshot: Snapshot) -> tuple[float, float, float, int, int]:
    """Wall and CPU seconds, MB at most, ports, and how many of them have no ceiling."""
    began, spent = time.monotonic(), time.process_time()
    with snapshot.database() as database:
        make_ceilings(database)
        wall, cpu = time.monotonic() - began, time.process_time() - spent
        found = database.execute("SELECT count(*), count(write_gbps) FROM port_ceiling").fetchall()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ports, known = found[0]
    return wall, cpu, peak, ports, ports - known


def main() -> None:
    folder = Path(sys.argv[1])
    hosts = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    snapshot = fleet(folder, hosts)
    # In a fresh process: the one that made the fleet has had more memory.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        wall, cpu, peak, ports, unknown = pool.submit(tables, snapshot).result()
    whole = timed("predict", "ceiling", "--store", str(folder / str(hosts)))
    rows = [
        ("ports", f"{ports:,}, {unknown:,} without a ceiling", "1,000,000, none"),
        ("ceilings of all", f"{wall:.1f} s wall, {cpu:.1f} s CPU, {peak:,.0f} MB", "< 10 s"),
        (
            "`predict ceiling`, folded and printed",
            f"{whole[0]:.1f} s wall, {whole[1]:.1f} s CPU, exit {whole[2]}",
            "-",
        ),
    ]
    write_section(
        f"Ceilings: {hosts:,} hosts",
        f"`python -m bench.ceilings FOLDER {hosts}`: every port of synthetic HGX H100 hosts.",
        rows,
    )
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
