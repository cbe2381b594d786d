"""A fabric of 10,000 hosts: links, classes of hops and all rules, in one minute on two cores?

    python -m bench.fabric_scale FOLDER [SHAPE]       rails_10000 by default, kept in FOLDER

The snapshot is that of lab.harness.fabric (one switch of every kind is parsed, the others have its
rows with neighbors and routes of their own). Timed are the derived tables of links and paths, all
hops in classes as `railwright path` shows them, and `check` with every default rule. Needs root.
"""

import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from bench.check import children_cpu
from bench.figures import write_section
from lab.fleet.fabric import SHAPES, build
from lab.fleet.fabric.hearing import netdev
from lab.fleet.fabric.plan import CABLING, cabling, site
from lab.harness.fabric import fabric_snapshot
from railwright.check.along import traces
from railwright.check.engine import Request, run
from railwright.check.findings import Findings
from railwright.check.links import make_links
from railwright.check.run import Choice, chosen
from railwright.fabric.classes import sections
from railwright.fabric.trace import Trace
from railwright.intent.site import load_site
from railwright.intent.write import write_intent
from railwright.model import derive
from railwright.store.snapshot import Snapshot, load, seal

OF_LINKS = ("own_end", "adjacency", "switch_place", "port_class", "link_end", "route_turn")
KEPT = "snapshot.json"
Rows = list[tuple[str, str, str]]


class Stopwatch:
    """Wall and CPU seconds by name."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        wall, cpu, children = time.monotonic(), time.process_time(), children_cpu()
        yield
        self.wall[name] += time.monotonic() - wall
        self.cpu[name] += time.process_time() - cpu + children_cpu() - children

    def said(self, *names: str) -> str:
        """In words."""
        wall, cpu = (sum(d[n] for n in names) for d in (self.wall, self.cpu))
        return f"{wall:.1f} s, {cpu:.1f} s CPU"


def _snapshot(folder: Path, shape: str) -> Snapshot:
    """Made once: it takes minutes."""
    kept = folder / shape / KEPT
    if not kept.is_file():
        made = fabric_snapshot(folder / shape, build(SHAPES[shape]), templates=folder / "hosts")
        kept.write_text(json.dumps(str(made.path)))
    return load(Path(json.loads(kept.read_text())))


def measured(snapshot: Snapshot, shape: str, watch: Stopwatch) -> Rows:
    """Everything that the minute is for."""
    fabric = build(SHAPES[shape])
    facts = snapshot.path / "facts"
    derive.all_tables(facts, watch)
    seal(snapshot.path, snapshot.run)  # of the tables that were made just now
    snapshot = load(snapshot.path)
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
        folder = Path(name)
        (folder / "site.toml").write_text(site(fabric))
        (folder / CABLING).write_text(cabling(fabric))
        wanted = load_site(folder / "site.toml")
        rules = {i: r for i, r in chosen(Choice(), wanted).items() if not r.baseline}
        with watch("check"):
            write_intent(wanted, facts, folder / "intent")
            ran = run(Request(tuple(rules.values()), facts, folder / "intent", folder / "out"))
            findings = Findings(snapshot, rules, ran, folder / "out", folder / "intent")
            findings.settle([], date(2026, 11, 15))
            accounts = findings.accounts()
        with watch("links"):
            links = make_links(findings)
        with watch("classes"):
            classes = [one for part in sections(findings.database) for one in part.classes]
        first, last = (
            f"{fabric.host_name(host)}:{netdev(0, 0, 1)}" for host in (0, fabric.hosts - 1)
        )
        with watch("path"):
            ways = traces(snapshot, wanted, [], (first, last), None)
    slowest = sorted(ran, key=lambda one: -one.cpu_s)[:5]
    stopped = ", ".join(one.rule for one in accounts if one.trouble)
    verdicts = sum(one.ok + one.fail + one.unknown for one in accounts)
    failed = ", ".join(f"{one.rule} {one.fail}" for one in accounts if one.fail)
    return [
        ("classes of hops", f"{len(classes)} of {sum(one.ports for one in classes):,} ports", "-"),
        ("links, of them with findings", f"{links.links:,}, {links.with_findings:,}", "all, 0"),
        ("a path between the first and the last host", traces_words(ways), "ok"),
        ("rules, verdicts", f"{len(rules)}, {verdicts:,}", "all"),
        (
            "findings; rules that could not be run",
            f"{failed or 'none'}; {stopped or 'none'}",
            "none; none",
        ),
        ("the slowest", ", ".join(f"{one.rule} {one.cpu_s:.2f} s" for one in slowest), "-"),
    ]


def traces_words(ways: list[Trace]) -> str:
    """The verdict on data and on its CNPs, and how far they go."""
    return ", ".join(
        f"{way.packet.name} {way.verdict} over {len(way.levels)} levels" for way in ways
    )


def main() -> None:
    folder, shape = Path(sys.argv[1]), (sys.argv[2:] or ["rails_10000"])[0]
    snapshot, watch = _snapshot(folder, shape), Stopwatch()
    found = measured(snapshot, shape, watch)
    fabric = build(SHAPES[shape])
    leaves = sum(switch.tier == 1 for switch in fabric.switches)
    size = f"{fabric.hosts:,} hosts, {leaves:,} leaves of {len(fabric.switches):,} switches"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        ("fabric", f"{size}, {len(fabric.links):,} links", "10,000 hosts x 8, 3 tiers"),
        ("tables of links and paths", watch.said(*OF_LINKS), "-"),
        *((f"of them {name}", watch.said(name), "-") for name in OF_LINKS),
        ("all links and what is found there", watch.said("links"), "-"),
        ("all hops in classes", watch.said("classes"), "-"),
        ("one path, with its rules", watch.said("path"), "-"),
        ("all rules, findings and counts", watch.said("check"), "-"),
        ("together", watch.said(*OF_LINKS, "links", "classes", "check"), "< 60 s"),
        ("peak memory of this process", f"{peak:,.0f} MB", "-"),
        *found,
    ]
    write_section(
        f"Fabric: {fabric.hosts:,} hosts",
        f"`python -m bench.fabric_scale FOLDER {shape}`: wall and CPU seconds of links, classes of "
        "hops and all rules, over a healthy fabric.",
        rows,
    )
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
