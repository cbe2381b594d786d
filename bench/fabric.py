"""What a snapshot of a fabric costs.

python -m bench.fabric [SHAPE [FOLDER]]      rails_512 in a new folder by default; as root
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from lab.fleet.fabric import SHAPES, build
from lab.harness.fabric import fabric_snapshot


def main() -> None:
    shape = sys.argv[1] if len(sys.argv) > 1 else "rails_512"
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(dir="/dev/shm"))
    began = time.process_time()
    fabric = build(SHAPES[shape])
    built = time.process_time()
    snapshot = fabric_snapshot(folder, fabric)
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime - built
    size = f"{fabric.hosts:,} hosts, {len(fabric.switches):,} switches, {len(fabric.links):,} links"
    print(f"{shape}: {size}: built in {built - began:.1f} s")
    print(f"snapshot in {spent:.1f} s of CPU, {used.ru_maxrss // 1024} MB")
    print(snapshot.path)


if __name__ == "__main__":
    main()
