"""Hosts of a fabric that did not answer: what is found because of them, which must be nothing.

    python -m bench.silent_hosts [SHAPE] [HOSTS]       rails_512 and 16 by default; as root

The snapshot is that of lab.harness.fabric, healthy. Of some hosts the facts are taken away, as if
nothing had been read of them: once while their switches still hear them (`mute`), and once as if
they were without power (`off`): their switches hear nobody, and those ports are down. Every rule
runs, those in preview and those that compare with an earlier snapshot too (with the whole one),
held to the cabling plan and by the site file that the fabric was built for. What is not found in
the whole snapshot is found because of the silent hosts.
"""

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.figures import write_section
from lab.fleet.fabric import SHAPES, build
from lab.harness.fabric import fabric_snapshot
from lab.harness.silent_hosts import WAYS, found_in, names, silenced

HOSTS = 16


def main() -> None:
    shape = sys.argv[1] if len(sys.argv) > 1 else "rails_512"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else HOSTS
    fabric = build(SHAPES[shape])
    silent = names(fabric, count)
    rows = []
    with tempfile.TemporaryDirectory(prefix="railwright-silent-", dir="/dev/shm") as name:
        folder = Path(name)
        whole = fabric_snapshot(folder / "whole", fabric)
        usual = found_in(folder, fabric, whole, whole)
        for way in WAYS:
            snapshot = silenced(whole, silent, way)
            found = found_in(folder, fabric, snapshot, whole) - usual
            count_of = Counter(rule for rule, _ in found)
            said = ", ".join(f"{rule} {times}" for rule, times in sorted(count_of.items()))
            rows.append((f"findings because of them: {way}", said or "none", "none"))
            shutil.rmtree(snapshot.path.parent)
    size = f"{fabric.hosts:,} hosts, {len(fabric.links):,} links, {count} hosts silent"
    write_section(
        f"Silent hosts: {fabric.hosts:,}",
        f"`python -m bench.silent_hosts {shape} {count}`: every default rule over a healthy fabric "
        "with a cabling plan, without the facts of some hosts.",
        [("fabric", size, "-"), *rows],
    )


if __name__ == "__main__":
    main()
