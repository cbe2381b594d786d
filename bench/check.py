"""The default catalogue over a million NICs: time, memory, and what the bare SELECTs take.

    python -m bench.check FOLDER [HOSTS ...]     64 to 100,000 hosts of 10 NICs by default
    python -m bench.check FOLDER mixed           100,000 hosts of 40 classes, 2 % of them damaged

The fleets are those of `lab.harness.large_fleet`, kept in FOLDER. The figures of the smallest are
those of the whole command, start-up included; of the others, those of everything behind the loaded
rules: queries, causes, waivers and counts. Beside the engine the same SELECTs run bare in DuckDB,
over all machines, as `SELECT count(*) FROM (rule)`, in the same run and over the same files. Needs
root.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

from bench.figures import FILE, write_section
from bench.million import timed
from bench.plot import write_line
from lab.harness.large_fleet import CLASSES, DAMAGED_EVERY, FAULT_EVERY, fleet
from railwright.check.alike import folding
from railwright.check.child import MEMORY
from railwright.check.engine import Request, run
from railwright.check.findings import Findings
from railwright.check.lint import with_parameters
from railwright.check.rule import Rule
from railwright.check.run import Choice, chosen
from railwright.check.tables import (
    Folders,
    all_tables,
    make_lookups,
    make_macros,
    make_scopes,
    show_files,
)
from railwright.intent.site import read_site
from railwright.intent.write import write_intent
from railwright.store.duck import connect
from railwright.store.snapshot import Snapshot

MIXED_SITE = 'profile = "roce-lossless"\n'  # classes are told by the machines alone
SITE = f'{MIXED_SITE}[[class]]\nname = "h100"\ncompute_nics = 8\n'
NICS = 10
SMALLEST = 64
SIZES = [SMALLEST, 100, 1_000, 10_000, 100_000]
Rows = list[tuple[str, str, str]]


def own_children(snapshot: Snapshot, folder: Path, site: str = SITE) -> tuple[Rows, float]:
    """Judged from a fresh process: those that made the fleet would count as its children too."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(judge, snapshot, folder, site).result()


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


ENOUGH = 2  # times what the engine took: more would only make the ratio smaller


def bare(
    rules: dict[str, Rule], facts: Path, folder: Path, spent: float
) -> tuple[float, float, int]:
    """(wall, CPU, how many) of counting the rows of every SELECT, until it is enough."""
    began, cpu = time.monotonic(), time.process_time()
    counted = 0
    with connect(folder, threads=2, memory=MEMORY) as database:  # as the engine has it
        show_files(database, Folders(facts, folder / "intent"), all_tables())
        make_macros(database)
        make_scopes(database)
        make_lookups(database, with_before=False)
        for rule in rules.values():
            query = with_parameters(rule.sql, rule.parameters)
            database.execute(f"SELECT count(*) FROM ({query})").fetchall()
            counted += 1
            if time.process_time() - cpu > ENOUGH * spent:
                break
    return time.monotonic() - began, time.process_time() - cpu, counted


def judge(snapshot: Snapshot, folder: Path, text: str) -> tuple[Rows, float]:
    """Figures of one fleet, and its CPU seconds."""
    site = read_site(text, "bench")
    rules = {i: r for i, r in chosen(Choice(), site).items() if not r.baseline}
    facts, intent = snapshot.path / "facts", folder / "intent"
    write_intent(site, facts, intent)
    began, cpu, own = time.monotonic(), children_cpu(), time.process_time()
    ran = run(Request(tuple(rules.values()), facts, intent, folder / "out"))
    findings = Findings(snapshot, rules, ran, folder / "out", folder / "intent")
    findings.settle([], date(2026, 11, 15))
    accounts = findings.accounts()
    wall = time.monotonic() - began
    spent = children_cpu() - cpu + time.process_time() - own
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    stopped = [one.rule for one in accounts if one.trouble]
    verdicts = sum(one.ok + one.fail + one.unknown for one in accounts)
    failed = [f"{one.rule} {one.fail:,}" for one in accounts if one.fail]
    print(f"{wall:.1f} s wall, {spent:.1f} s CPU, {peak:,.0f} MB; now bare", flush=True)
    bare_wall, bare_cpu, counted = bare(rules, facts, folder, spent)
    whole = counted == len(rules)
    of_them = "all" if whole else f"the first {counted}, which was {ENOUGH} times as long"
    slowest = sorted(ran, key=lambda one: -one.cpu_s)[:5]
    rows = [
        ("rules, verdicts", f"{len(rules)}, {verdicts:,}", "-"),
        (
            "rules judged once per kind of machine",
            f"{len(folding(tuple(rules.values())).place)}",
            "-",
        ),
        ("findings", ", ".join(failed), "of every thousandth host"),
        ("rules that could not be run", ", ".join(stopped) or "none", "none"),
        ("wall, CPU", f"{wall:.1f} s, {spent:.1f} s", "< 60 s"),
        ("most memory of the process that runs rules", f"{peak:,.0f} MB", "< 3,000 MB"),
        ("the bare SELECTs, counted", f"{bare_wall:.1f} s, {bare_cpu:.1f} s CPU: {of_them}", "-"),
        ("ratio of CPU", f"{'' if whole else 'below '}{spent / bare_cpu:.2f}", "<= 1.5"),
        ("the slowest", ", ".join(f"{one.rule} {one.cpu_s:.2f} s" for one in slowest), "-"),
    ]
    return rows, spent


def whole_command(snapshot: Snapshot, folder: Path) -> Rows:
    """What a user waits for."""
    site = folder / "site.toml"
    site.write_text(SITE)
    at = ("check", str(snapshot.path), "--site", str(site))
    runs = sorted(timed(*at) for _ in range(5))
    wall, cpu, code = runs[0]
    listed = ", ".join(f"{one[0]:.2f}" for one in runs)
    return [
        ("`railwright check`, the fastest of five", f"{wall:.2f} s, exit {code}", "< 2 s"),
        ("all five", f"{listed} s", "-"),
        ("CPU of the fastest, all processes", f"{cpu:.2f} s", "-"),
        ("`railwright demo`, CPU of the best of five", f"{_demo():.2f} s", "< 5 s"),
    ]


def _demo() -> float:
    """Unpacking is part of it."""
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
        return min(timed("demo", "--keep", f"{name}/{number}")[1] for number in range(5))


def mixed(kept: Path, hosts: int) -> None:
    """A fleet of many classes, some of whose hosts have lost a NIC."""
    snapshot = fleet(kept, hosts, mixed=True)
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
        rows, _ = own_children(snapshot, Path(name), MIXED_SITE)
    write_section(
        f"Check: {hosts * NICS:,} NICs, {CLASSES} classes, damaged hosts",
        f"`python -m bench.check FOLDER mixed`: {hosts:,} hosts of {CLASSES} models; one in "
        f"{DAMAGED_EVERY} has lost a NIC, one in {FAULT_EVERY:,} has a wrong setting; no classes "
        "in the site file.",
        rows,
    )
    for row in rows:
        print("  ".join(row), flush=True)


def main() -> None:
    kept = Path(sys.argv[1])
    if sys.argv[2:3] == ["mixed"]:
        mixed(kept, int(sys.argv[3]) if len(sys.argv) > 3 else SIZES[-1])
        return
    sizes = [int(text) for text in sys.argv[2:]] or SIZES
    costs: dict[int, float] = {}
    for hosts in sizes:
        snapshot = fleet(kept, hosts)
        with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
            if hosts == SMALLEST:
                rows = whole_command(snapshot, Path(name))
            else:
                rows, costs[hosts] = own_children(snapshot, Path(name))
        write_section(
            f"Check: {hosts * NICS:,} NICs on {hosts:,} hosts",
            f"`python -m bench.check FOLDER {hosts}`: the default catalogue over a fleet of "
            "`lab.harness.large_fleet`, where every thousandth host has a fault.",
            rows,
        )
        for row in rows:
            print("  ".join(row), flush=True)
    plot = FILE.parent / "figures" / "check.svg"
    each = {f"{hosts * NICS:,} NICs": cpu / hosts * 1000 for hosts, cpu in costs.items()}
    if sizes == SIZES:
        write_line(plot, "CPU per host of `check`", each, "ms")
        write_section(
            "Check: cost against size",
            "`python -m bench.check FOLDER`: CPU per host, of the runs above.",
            [(size, f"{cost:.1f} ms", "-") for size, cost in each.items()]
            + [("plotted", f"[plot](figures/{plot.name})", "-")],
        )


if __name__ == "__main__":
    main()
