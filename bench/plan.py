"""A plan for thousands of hosts with dozens of kinds of findings: its cost, its size, one screen.

    python -m bench.plan FOLDER [SHAPE ...]       systems_512 and rails_10000 by default

The fabrics are those of lab.harness.fabric, kept in FOLDER; bench/plan_faults.toml says what is
broken in their tables. The cost is that of `railwright plan` behind `check`: the same process has
the findings already. Needs root.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

from bench.figures import write_section
from lab.fleet.fabric import SHAPES, build
from lab.fleet.fabric.plan import CABLING, cabling, site
from lab.harness.fabric import fabric_snapshot
from railwright.check.run import Choice, checked, chosen
from railwright.intent.site import load_site
from railwright.model import derive
from railwright.plan.file import Head, written
from railwright.plan.guards import Kept, WayIn
from railwright.plan.make import make_plan
from railwright.plan.paths import ALLOWED, Limits
from railwright.store.duck import quote
from railwright.store.snapshot import Snapshot, load, seal
from railwright.toml import load_toml

FAULTS = Path(__file__).with_name("plan_faults.toml")
ONE_IN = 50
MANY = 10_000
SESSION = {
    "ssh_session": {"client": "198.51.100.7", "server": "192.0.2.11"},
    "ssh_route": {
        "client": "198.51.100.7",
        "source": "192.0.2.11",
        "type": "unicast",
        "netdev": "eno1",
        "routing_table": "main",
    },
}
WANTED = "[fabric]\nmax_read_request = 4096\ndata_dscp = 26\n"
NICS = """
[[nic]]
psid = "PSID"
firmware = "VERSION"
[nic.parameters]
ATS_ENABLED = false
LOG_MAX_QUEUE = 17
RDMA_SELECTIVE_REPEAT_EN = false
ROCE_ADAPTIVE_ROUTING_EN = true
ROCE_CC_LEGACY_DCQCN = false
USER_PROGRAMMABLE_CC = false
"""
HEAD = Head("bench", "", None, "site.toml", "", "roce-lossless", "2026-01-01T00:00:00Z", "x", 1)


def broken(facts: Path) -> None:
    """The base tables with all faults of the list."""
    faults: dict[str, list[tuple[int, str, str]]] = {}
    listed: Any = load_toml(FAULTS.read_text("utf-8"), FAULTS.name)["fault"]
    for number, one in enumerate(listed):
        for table, values, where in one:
            faults.setdefault(table, []).append((number, values, where))
    with duckdb.connect() as database:
        for table, edits in faults.items():
            file = facts / f"{table}.parquet"
            source = f"read_parquet({quote(str(file))})"
            database.execute(f"CREATE OR REPLACE TABLE broken AS FROM {source}")
            for number, values, where in edits:
                at = f"hash(target || '{number}') % {ONE_IN} = 0"
                database.execute(f"UPDATE broken SET {values} WHERE {at} AND ({where})")
            _write(database, "broken", file)


def reached(facts: Path) -> None:
    """As over ssh, by a management port that has no part in the fabric."""
    with duckdb.connect() as database:
        for table, row in SESSION.items():
            file = facts / f"{table}.parquet"
            target, source = (quote(str(one)) for one in (facts / "target.parquet", file))
            names = ", ".join(f"{quote(value)} AS {name}" for name, value in row.items())
            database.execute(
                f"""CREATE TABLE {table} AS FROM read_parquet({source}) UNION ALL BY NAME
                SELECT target, {names} FROM read_parquet({target}) WHERE kind = 'host'"""
            )
            _write(database, table, file)
        file = facts / "probe_result.parquet"
        database.execute(
            f"""CREATE TABLE probe_result AS SELECT * REPLACE (
                CASE WHEN probe IN ('ssh_session', 'ssh_route') THEN 'ok' ELSE status END AS status
            ) FROM read_parquet({quote(str(file))})"""
        )
        _write(database, "probe_result", file)


def _write(database: duckdb.DuckDBPyConnection, table: str, file: Path) -> None:
    new = file.with_suffix(".new")
    file.chmod(0o600)
    database.execute(f"COPY {table} TO {quote(str(new))} (FORMAT parquet, COMPRESSION zstd)")
    new.replace(file)


def _snapshot(folder: Path, shape: str) -> Snapshot:
    """Made once: it takes minutes."""
    kept = folder / f"plan-{shape}.txt"
    if not kept.is_file():
        fabric = build(SHAPES[shape])
        made = fabric_snapshot(folder / shape, fabric, templates=folder / "hosts")
        (folder / shape / "site.toml").write_text(site(fabric).replace("[fabric]\n", WANTED) + NICS)
        (folder / shape / CABLING).write_text(cabling(fabric))
        broken(made.path / "facts")
        reached(made.path / "facts")
        derive.all_tables(made.path / "facts")
        seal(made.path, made.run)
        kept.write_text(str(made.path))
    return load(Path(kept.read_text()))


def _measured(folder: Path, shape: str) -> list[tuple[str, str, str]]:
    snapshot = _snapshot(folder, shape)
    wanted = load_site(folder / shape / "site.toml")
    file = folder / f"{shape}-plan.json"
    limits = Limits("aggressive", frozenset(ALLOWED))
    with snapshot.database("target") as database:
        query = "SELECT target FROM target WHERE kind = 'host'"
        names = [name for (name,) in database.execute(query).fetchall()]
    with checked(snapshot, chosen(Choice(), wanted), wanted, []) as findings:
        query = "SELECT count(DISTINCT rule) FROM placed WHERE verdict = 'fail' AND state = 'open'"
        (rules,) = findings.database.execute(query).fetchall()[0]
        began = time.process_time()
        plan = make_plan(findings, Kept(limits, [WayIn(name, []) for name in names]))
        cost = time.process_time() - began
    file.write_text("".join(written(HEAD, plan)))
    words = [sys.executable, "-m", "railwright", "plan", "show", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    lines = done.stdout.splitlines()
    name = f"{len(names):,} hosts"
    wanted_cost = "< 30 s CPU" if len(names) == MANY else "-"
    return [
        (f"{name}: rules with open findings", f"{rules}", "40"),
        (f"{name}: changes", f"{sum(one.subjects for one in plan.groups):,}", "-"),
        (f"{name}: kinds of change, restarts", f"{len(plan.groups)}, {len(plan.restarts)}", "-"),
        (f"{name}: plan after check", f"{cost:.1f} s CPU", wanted_cost),
        (f"{name}: plan file", f"{file.stat().st_size:,} bytes", "< 20 MB"),
        (f"{name}: lines of `plan show`", f"{len(lines)}", "one screen"),
    ]


def main() -> None:
    folder, shapes = Path(sys.argv[1]), sys.argv[2:] or ["systems_512", "rails_10000"]
    rows = [row for shape in shapes for row in _measured(folder, shape)]
    said = (
        "`python -m bench.plan FOLDER`: everything allowed, a second way to every host; "
        "bench/plan_faults.toml says what is broken, each kind on one machine in fifty."
    )
    write_section("Plan: many hosts, many kinds", said, rows)
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
