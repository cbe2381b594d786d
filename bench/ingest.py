"""What one 8-GPU host costs between the wire and Parquet.

    python -m bench.ingest [HOSTS]

Reads fake hosts with the lone runner, then imports copies of the answers: CPU time of this process.
Needs root (the runner enters the fake host's root for its tools).
"""

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import write_section
from lab.fleet import add_shell, build, hgx_h100, with_uncore
from railwright.collect.importing import import_files
from railwright.collect.probe import select
from railwright.collect.request import lone_runner

KINDS = 4  # different hosts; their copies differ in name only


def answers(folder: Path, count: int, kinds: int = KINDS) -> list[Path]:
    """`count` files as `python3 rw.py > HOST.rw` writes them, of `kinds` different hosts."""
    script = folder / "rw.py"
    script.write_text(lone_runner(select()))
    read = []
    for number in range(1, kinds + 1):
        root = folder / f"root{number}"
        build(root, with_uncore(hgx_h100(number)))
        add_shell(root)
        done = subprocess.run(
            ["/usr/bin/python3", script, "--root", root], stdout=subprocess.PIPE, check=True
        )
        shutil.rmtree(root)
        read.append(done.stdout)
    files = []
    for number in range(count):
        file = folder / f"gpu{number:05d}.rw"
        file.write_bytes(read[number % kinds])
        files.append(file)
    return files


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
        folder = Path(name)
        files = answers(folder, count)
        began = time.process_time()
        snapshot = import_files(files, folder / "store")
        spent = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        with snapshot.database() as database:
            found = database.execute(
                "SELECT (SELECT count(*) FROM target WHERE status = 'reached'), "
                "sum(octet_length(stdout)) / 1e6 FROM evidence"
            ).fetchone()
        size = sum(f.stat().st_size for f in snapshot.path.rglob("*") if f.is_file())
    assert found is not None
    assert found[0] == count
    rows = [
        ("CPU time per host, frames to sealed snapshot", f"{spent / count * 1000:.0f} ms", "-"),
        ("evidence per host", f"{found[1] / count:.2f} MB", "-"),
        ("on disk per host", f"{size / count / 1000:.1f} KB", "-"),
        ("peak memory of the process", f"{peak:.0f} MB", "< 300 MB"),
    ]
    write_section(
        f"Ingest: {count} hosts",
        f"`python -m bench.ingest {count}`: answers of {KINDS} fake 8-GPU hosts, imported under "
        "different names, one process.",
        rows,
    )
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
