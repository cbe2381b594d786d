"""256 real sshd hosts: statuses, memory, time against clush, Slurm and shards give equal facts.

    python -m bench.collect_fleet [HOSTS]

Needs root. Traffic stays inside namespaces made here; everything is taken down again.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.figures import write_section
from lab import site, slurm
from lab.harness.facts import facts, statuses
from lab.sshd_fleet import Fleet, Host, running
from railwright.collect.probe import select
from railwright.collect.request import Request
from railwright.nodes import fold
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot

BROKEN = {3: "refusing", 4: "silent", 5: "hanging", 6: "flooding", 7: "no python", 8: "no root"}
EXPECTED = {3: "refused", 4: "silent", 5: "hanging", 6: "flooding", 7: "no python"}
FAN_OUT = 64
CONNECT_S, TOTAL_S = 3, 25


@dataclass
class Memory:
    """The most memory that a process and those it started held together."""

    pid: int
    python_kb: int = 0
    ssh_kb: int = 0
    done: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        while not self.done.wait(0.25):
            python, ssh = 0, 0
            for pid in self._tree(self.pid):
                try:
                    name = Path(f"/proc/{pid}/comm").read_text().strip()
                    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                except OSError:
                    continue
                kb = int(rollup.split("Pss:", 1)[1].split()[0]) if "Pss:" in rollup else 0
                if name == "ssh":
                    ssh += kb
                else:
                    python += kb
            self.python_kb = max(self.python_kb, python)
            self.ssh_kb = max(self.ssh_kb, ssh)

    def _tree(self, pid: int) -> list[int]:
        try:
            below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return []
        return [pid, *(deeper for child in below for deeper in self._tree(int(child)))]


@dataclass
class Collected:
    """One run of `railwright collect`."""

    wall_s: float
    memory: Memory
    snapshot: Snapshot


def collect(fleet: Fleet, store: Path, names: list[str], *, watch: bool = True) -> Collected:
    """Run it as an operator would, at the hub. Watching its memory costs time: not when timed."""
    began = time.monotonic()
    process = subprocess.Popen(
        ["ip", "netns", "exec", fleet.hub, sys.executable, "-m", "railwright", "collect",
         "-w", fold(names), "-F", str(fleet.ssh_config), "--store", str(store),
         "--state-from", "none", "--fan-out", str(FAN_OUT),
         "--connect-timeout", str(CONNECT_S), "--timeout", str(TOTAL_S)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    memory = Memory(process.pid)
    thread = threading.Thread(target=memory.watch)
    if watch:
        thread.start()
    output, _ = process.communicate()
    wall = time.monotonic() - began
    memory.done.set()
    if watch:
        thread.join()
    assert process.returncode in (0, 3), output.decode()
    return Collected(wall, memory, find(store, None))


def clush(fleet: Fleet, names: list[str], folder: Path) -> float:
    """The same runner, fed by clush on standard input, output to /dev/null."""
    asked = Request("0badcafe", tuple(select()), TOTAL_S, hold=False)
    feed = folder / "feed"
    feed.write_bytes(asked.job().stdin)
    began = time.monotonic()
    with feed.open("rb") as stdin:
        fleet.run(
            ["/usr/bin/clush", "-f", str(FAN_OUT), "-t", str(CONNECT_S), "-u", str(TOTAL_S),
             "-o", f"-F {fleet.ssh_config}", "-w", fold(names), asked.job().command],
            stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    return time.monotonic() - began


def left_running(fleet: Fleet) -> int:
    time.sleep(1)
    return sum(len(commands) for commands in fleet.processes_left().values())


def killed_collector_leaves(fleet: Fleet, store: Path, names: list[str]) -> tuple[int, int]:
    """kill -9 in full flight: (machines it was running on, processes left there 15 s later)."""
    process = subprocess.Popen(
        ["ip", "netns", "exec", fleet.hub, sys.executable, "-m", "railwright", "collect",
         "-w", fold(names), "-F", str(fleet.ssh_config), "--store", str(store),
         "--state-from", "none"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    busy, deadline = 0, time.monotonic() + 30
    while busy < min(16, len(names) // 2) and time.monotonic() < deadline:
        time.sleep(0.1)
        busy = len(fleet.processes_left())
    os.kill(process.pid, 9)
    process.wait()
    left, deadline = 1, time.monotonic() + 15
    while left and time.monotonic() < deadline:
        left = left_running(fleet)
    return busy, left


@dataclass
class Result:
    """What one whole run showed."""

    reached: int
    wrong: dict[str, str]
    denied: list[str]
    whole_s: float
    peak_mb: float
    ssh_mb: float
    ours_s: list[float]
    clush_s: list[float]
    left: int
    killed: tuple[int, int]
    slurm_equal: bool
    slurm_s: float
    shards_equal: bool

    @property
    def ratio(self) -> float:
        return sum(self.ours_s) / sum(self.clush_s)


def run(count: int, folder: Path, rounds: int = 2) -> Result:
    site.make_root()
    trees = site.make_trees(folder)
    hosts: list[Host] = site.hosts(count, trees, BROKEN)
    names = [host.name for host in hosts]
    healthy = [host for host in hosts if host.kind == "healthy"]
    healthy_names = [host.name for host in healthy]
    answering = [host.name for host in hosts if host.number not in EXPECTED]
    with running("rwb", hosts, folder / "run") as fleet:
        ours, theirs = [], []
        # Time against clush on the hosts that answer: what a broken one costs is its own limit.
        for _ in range(rounds):
            ours.append(collect(fleet, folder / "timed", answering, watch=False).wall_s)
            theirs.append(clush(fleet, answering, folder))
        one = collect(fleet, folder / "ssh", names)
        left = left_running(fleet)
        killed = killed_collector_leaves(fleet, folder / "killed", names)
        shards = []
        for part in range(4):
            shard = collect(fleet, folder / f"shard{part}", names[part::4])
            shards.append(str(shard.snapshot.path))
        fleet.run(
            [sys.executable, "-m", "railwright", "merge", *shards,
             "--store", str(folder / "merged")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        merged = find(folder / "merged", None)
        with slurm.running(fleet, healthy) as cluster:
            began = time.monotonic()
            done = cluster.run(
                [sys.executable, "-m", "railwright", "collect", "-w", "@slurm:gpu", "--via",
                 "slurm", "--store", str(folder / "slurm-store"), "--timeout", "170"],
                capture_output=True,
            )  # fmt: skip
            slurm_s = time.monotonic() - began
            assert done.returncode in (0, 3), done.stderr.decode()
        over_slurm = find(folder / "slurm-store", None)
    status = statuses(one.snapshot)
    wrong = {
        name: status[name]
        for host, name in zip(hosts, names, strict=True)
        if status[name] != EXPECTED.get(host.number, "reached")
    }
    with one.snapshot.database() as database:
        denied = database.execute(
            "SELECT DISTINCT target || ': ' || probe FROM probe_result WHERE status = 'denied'"
        ).fetchall()
    first = facts(one.snapshot, healthy_names)
    assert len(first["nic_parameter"]) > 1000 * len(healthy) // 10
    return Result(
        reached=sum(s == "reached" for s in status.values()),
        wrong=wrong,
        denied=sorted(text for (text,) in denied),
        whole_s=one.wall_s,
        peak_mb=one.memory.python_kb / 1024,
        ssh_mb=one.memory.ssh_kb / 1024,
        ours_s=ours,
        clush_s=theirs,
        left=left,
        killed=killed,
        slurm_equal=facts(over_slurm, healthy_names) == first,
        slurm_s=slurm_s,
        shards_equal=facts(merged, names) == facts(one.snapshot, names)
        and statuses(merged) == status,
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as folder:
        result = run(count, Path(folder))
    bad = len(EXPECTED)
    rows = [
        ("hosts reached", f"{result.reached} of {count}", f"{count - bad}"),
        ("rows with another status than expected", str(result.wrong or 0), "0"),
        ("denied on the host without root", ", ".join(result.denied), "listed"),
        ("peak memory, collector and ingest (PSS)", f"{result.peak_mb:.0f} MB", "< 300 MB"),
        ("the ssh processes beside it (PSS)", f"{result.ssh_mb:.0f} MB", "-"),
        ("wall time, all hosts, the hanging one ends at 25 s", f"{result.whole_s:.1f} s", "-"),
        ("wall time, the hosts that answer", _times(result.ours_s), "-"),
        ("clush there, same runner and fan-out, to /dev/null", _times(result.clush_s), "-"),
        ("ratio", f"{result.ratio:.2f}", "<= 1.3"),
        ("processes left on hosts", str(result.left), "0"),
        (
            "after kill -9 of the collector",
            f"{result.killed[1]} left, was on {result.killed[0]}",
            "0",
        ),
        ("through Slurm: facts equal", f"{result.slurm_equal}, {result.slurm_s:.0f} s", "True"),
        ("4 shards merged: facts equal", str(result.shards_equal), "True"),
    ]
    write_section(
        f"Collect: {count} sshd hosts",
        f"`python -m bench.collect_fleet {count}`: fan-out {FAN_OUT}, runs of Railwright and clush "
        "in turn on the same hosts.",
        rows,
    )
    for row in rows:
        print("  ".join(row))
    ok = (
        not result.wrong
        and result.peak_mb < 300
        and result.ratio <= 1.3
        and result.left == result.killed[1] == 0
        and result.slurm_equal
        and result.shards_equal
    )
    sys.exit(0 if ok else 1)


def _times(seconds: list[float]) -> str:
    return ", ".join(f"{value:.1f} s" for value in seconds)


if __name__ == "__main__":
    main()
