"""The default catalogue over a million NICs: time, memory, and what the bare SELECTs take.

    python -m bench.check [HOSTS ...]    100 1000 10000 100000 hosts with 10 NICs each by default

The facts are those of `bench.million`. Beside the engine the same SELECTs run bare in DuckDB, as
`SELECT count(*) FROM (rule)`, in the same run and over the same files. Needs root for the template.
"""

import resource
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import duckdb

from bench.figures import FILE, write_section
from bench.hosts import answers, large_hosts
from bench.million import NAMES, multiply
from bench.plot import write_line
from railwright.check.engine import Request, run
from railwright.check.findings import Findings
from railwright.check.lint import with_parameters
from railwright.check.rule import Rule
from railwright.check.run import Choice, chosen
from railwright.check.tables import Folders, make_macros, make_scopes, show_files
from railwright.collect.importing import import_files
from railwright.facts import derive
from railwright.facts.snapshot import Snapshot
from railwright.intent.site import read_site
from railwright.intent.write import write_intent

SITE = 'profile = "roce-lossless"\n[[class]]\nname = "h100"\ncompute_nics = 8\n'


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare(rules: dict[str, Rule], facts: Path, intent: Path) -> tuple[float, float]:
    """(wall, CPU) of counting the rows of every SELECT."""
    began, cpu = time.monotonic(), time.process_time()
    with duckdb.connect(":memory:", config={"threads": 2}) as database:
        database.execute("SET memory_limit = '2GB'")
        show_files(database, Folders(facts, intent))
        make_macros(database)
        make_scopes(database)
        for rule in rules.values():
            query = with_parameters(rule.sql, rule.parameters)
            database.execute(f"SELECT count(*) FROM ({query})").fetchall()
    return time.monotonic() - began, time.process_time() - cpu


def judge(snapshot: Snapshot, folder: Path) -> tuple[list[tuple[str, str, str]], float]:
    """Figures of one fleet, and its CPU seconds."""
    site = read_site(SITE, "bench")
    rules = {i: r for i, r in chosen(Choice(), site).items() if not r.baseline}
    facts, intent = snapshot.path / "facts", folder / "intent"
    write_intent(site, facts, intent)
    began, cpu, own = time.monotonic(), children_cpu(), time.process_time()
    ran = run(Request(tuple(rules.values()), facts, intent, folder / "out"))
    findings = Findings(snapshot, rules, ran, folder / "out")
    findings.settle([], date(2026, 11, 15))
    accounts = findings.accounts()
    wall = time.monotonic() - began
    spent = children_cpu() - cpu + time.process_time() - own
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    stopped = [one.rule for one in accounts if one.trouble]
    bare_wall, bare_cpu = bare(rules, facts, intent)
    slowest = sorted(ran, key=lambda one: -one.cpu_s)[:5]
    rows = [
        (
            "rules, verdicts",
            f"{len(rules)}, {sum(a.ok + a.fail + a.unknown for a in accounts):,}",
            "-",
        ),
        ("rules that could not be run", ", ".join(stopped) or "none", "none"),
        ("wall, CPU", f"{wall:.1f} s, {spent:.1f} s", "< 60 s"),
        ("most memory of the process that runs rules", f"{peak:,.0f} MB", "< 3,000 MB"),
        ("the bare SELECTs, counted", f"{bare_wall:.1f} s, {bare_cpu:.1f} s CPU", "-"),
        ("ratio of CPU", f"{spent / bare_cpu:.2f}", "<= 1.5"),
        ("the slowest", ", ".join(f"{one.rule} {one.cpu_s:.2f} s" for one in slowest), "-"),
    ]
    return rows, spent


def main() -> None:
    sizes = [int(text) for text in sys.argv[1:]] or [100, 1_000, 10_000, 100_000]
    costs = []
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
        folder = Path(name)
        (folder / "answers").mkdir()
        template = import_files(answers(folder / "answers", large_hosts(1)), folder / "template")
        for hosts in sizes:
            snapshot = multiply(template, folder / f"{hosts}" / NAMES[0], hosts, 0)
            derive.all_tables(snapshot.path / "facts")
            rows, cpu = judge(snapshot, folder / f"{hosts}")
            costs.append(cpu / hosts * 1000)
            write_section(
                f"Check: {hosts * 10:,} NICs",
                f"`python -m bench.check {hosts}`: the default catalogue over the facts of "
                "`bench.million`.",
                rows,
            )
            for row in rows:
                print("  ".join(row), flush=True)
    plot = FILE.parent / "figures" / "check.svg"
    plot.parent.mkdir(exist_ok=True)
    sizes_said = ", ".join(f"{size * 10:,}" for size in sizes)
    write_line(plot, f"CPU per host of `check`, at {sizes_said} NICs", costs, "ms")


if __name__ == "__main__":
    main()
