"""A snapshot of a million NICs: how long `facts`, `show` and `diff` take.

    python -m bench.million [HOSTS]        100,000 hosts with 10 NICs each

One synthetic host is read by the real runner and parsed by the real parsers; DuckDB then writes its
rows once per host, with identities of their own and a fault on every thousandth. Nothing of the
product is bypassed behind the fact files. Needs root (the runner enters the host's root) and about
6 GB of disk.
"""

import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from bench.figures import write_section
from bench.hosts import answers, large_hosts
from railwright.collect.importing import import_files
from railwright.facts import derive
from railwright.facts.build import status_counts
from railwright.facts.duck import identifier, quote
from railwright.facts.schema import Table, tables
from railwright.facts.snapshot import Snapshot, load

FAULT_EVERY = 1_000
COUNT = "SELECT count(*) FROM nic_parameter WHERE next_text <> current_text"
NAMES = ("2026-11-14T2215Z", "2026-11-15T0800Z")
# What no two machines share: its last digits become the host's number.
OWN = re.compile(r"mac|guid|uuid|serial|boot_id|^gid$|hostname|^address$")


def _column(table: Table, name: str, side: int) -> str:
    column = identifier(name)
    if name == "target":
        return "printf('gpu%06d', i)"
    if OWN.search(name) and table.column_types()[name] == "VARCHAR" and name not in table.key[1:]:
        return f"regexp_replace({column}, '[0-9a-f]{{1,6}}$', printf('%06x', i))"
    described = next(one for one in table.columns if one.name == name)
    if described.volatile and described.type == "BIGINT":
        return f"{column} + (hash(i, {column}) % 1000000)::BIGINT"  # no two hosts count the same
    faulty = f"i % {FAULT_EVERY} = {7 + side}"
    if table.name == "netdev" and name == "mtu":
        return f"CASE WHEN {faulty} AND {column} = 9000 THEN 1500 ELSE {column} END"
    if table.name == "nic_parameter" and name in ("current_text", "next_text"):
        which = f"{faulty} AND name = 'PCI_WR_ORDERING'"
        return f"CASE WHEN {which} THEN 'force_relax(1)' ELSE {column} END"
    return column


def multiply(template: Snapshot, path: Path, hosts: int, side: int) -> Snapshot:
    """The template's rows once per host."""
    facts = path / "facts"
    facts.mkdir(parents=True)
    (path / "evidence").mkdir()
    with duckdb.connect(":memory:") as database:
        database.execute("SET threads = 2; SET memory_limit = '4GB'")
        database.execute(f"SET temp_directory = {quote(str(path / 'tmp'))}")
        for name, table in tables().items():
            if table.fed_by == "derived":
                continue
            columns = ", ".join(
                f"{_column(table, column, side)} AS {identifier(column)}"
                for column in table.column_types()
            )
            source = quote(str(template.path / "facts" / f"{name}.parquet"))
            # Host by host, as hosts answer: rows of one host lie together.
            database.execute(
                f"COPY (SELECT {columns} FROM range(1, {hosts + 1}) AS hosts(i), "
                f"read_parquet({source}) AS t) TO {quote(str(facts / f'{name}.parquet'))} "
                "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)"
            )
        shutil.rmtree(path / "tmp", ignore_errors=True)
        target = quote(str(facts / "target.parquet"))
        database.execute(f"CREATE VIEW target AS FROM read_parquet({target})")
        run = {key: value for key, value in template.run.items() if key != "targets"}
        run["targets"] = status_counts(database)
    (path / "run.json").write_text(json.dumps(run))
    return load(path)


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
    hosts = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
        folder = Path(name)
        (folder / "answers").mkdir()
        template = import_files(answers(folder / "answers", large_hosts(1)), folder / "template")
        store = folder / "store"
        began = time.monotonic()
        made = [multiply(template, store / NAMES[side], hosts, side) for side in (0, 1)]
        print(f"written in {time.monotonic() - began:.0f} s", flush=True)
        derived = []
        for snapshot in made:
            began = time.monotonic()
            derive.all_tables(snapshot.path / "facts")
            derived.append(time.monotonic() - began)
        print(f"derived in {derived[0]:.0f} and {derived[1]:.0f} s", flush=True)
        with made[0].database() as database:
            counts = database.execute(
                "SELECT (SELECT count(*) FROM rdma_port), (SELECT count(*) FROM nic_parameter), "
                "(SELECT count(*) FROM pci_function)"
            ).fetchone()
        assert counts is not None
        size = sum(file.stat().st_size for file in made[0].path.rglob("*.parquet"))
        at = ("--store", str(store))
        runs = {
            "`facts`": (timed("facts", *at), "< 10 s"),
            "`show` of one host": (timed("show", f"gpu{hosts // 2:06d}", *at), "< 2 s"),
            "`diff` of two": (timed("diff", NAMES[0], NAMES[1], *at), "< 20 s"),
            "`sql`, one count over all parameters": (
                timed(
                    "sql", "SELECT count(*) FROM nic_parameter WHERE next_text <> current_text", *at
                ),
                "-",
            ),
        }
    rows = [
        ("NICs", f"{counts[0]:,}", "1,000,000"),
        ("firmware parameters, PCI functions", f"{counts[1]:,}, {counts[2]:,}", "-"),
        ("fact files on disk", f"{size / 1e6:,.0f} MB", "-"),
        ("derived tables and digests", f"{min(derived):.0f} s", "-"),
    ]
    for what, ((wall, cpu, code), wanted) in runs.items():
        rows.append((what, f"{wall:.1f} s wall, {cpu:.1f} s CPU, exit {code}", wanted))
    write_section(
        f"A million NICs: {hosts:,} hosts",
        f"`python -m bench.million {hosts}`: rows of a synthetic HGX H100 host that the runner "
        "read, once per host, every thousandth with a fault.",
        rows,
    )
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
