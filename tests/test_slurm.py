"""Real Slurm on the fleet: groups, states, srun's tree, and the same facts as over ssh."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import site, slurm
from lab.harness.facts import facts
from lab.sshd_fleet import Host, running
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot

pytestmark = pytest.mark.fleet

RAILWRIGHT = [sys.executable, "-m", "railwright"]
NAMES = [f"host{number}" for number in range(1, 8)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[slurm.Slurm]:
    site.make_root()
    folder = tmp_path_factory.mktemp("slurm")
    trees = site.make_trees(folder, 3)
    hosts: list[Host] = site.hosts(7, trees, {6: "no python", 7: "flooding"})
    with running("rwl", hosts, folder / "run") as fleet, slurm.running(fleet, hosts) as up:
        yield up


def collect(cluster: slurm.Slurm, store: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    command = [*RAILWRIGHT, "collect", "--store", str(store), "--timeout", "40", *more]
    return cluster.run(command, capture_output=True, text=True)


def status_of(snapshot: Snapshot) -> dict[str, tuple[str, str]]:
    with snapshot.database() as database:
        found = database.execute("SELECT target, status, out_of_service FROM target").fetchall()
    return {target: (status, out) for target, status, out in found}


def of_the_page() -> list[list[str]]:
    """What docs/operate/slurm.md types behind `railwright collect`: over ssh, and through srun."""
    page = (Path(__file__).parents[1] / "docs/operate/slurm.md").read_text("utf-8")
    lines = re.findall(r"^railwright collect (.*?) *#", page, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def test_srun_reads_the_same_facts_as_ssh(cluster: slurm.Slurm, tmp_path: Path) -> None:
    over_ssh, through_srun = of_the_page()
    assert ("--via" in over_ssh, "--via" in through_srun) == (False, True)
    by_slurm = collect(cluster, tmp_path / "slurm", *through_srun)
    assert by_slurm.returncode == 3, by_slurm.stderr
    by_ssh = collect(cluster, tmp_path / "ssh", *over_ssh, "-F", str(cluster.fleet.ssh_config))
    assert by_ssh.returncode == 3, by_ssh.stderr
    one, other = find(tmp_path / "slurm", None), find(tmp_path / "ssh", None)
    expected = dict.fromkeys(NAMES[:5], ("reached", "")) | {
        "host6": ("no python", ""),
        "host7": ("flooding", ""),
    }
    assert status_of(one) == status_of(other) == expected
    assert facts(one, NAMES) == facts(other, NAMES)
    assert len(facts(one, NAMES)["nic_parameter"]) > 1000
    assert cluster.fleet.processes_left() == {}


def test_drained_and_down_nodes_are_out_of_service(cluster: slurm.Slurm, tmp_path: Path) -> None:
    def update(*words: str) -> None:
        cluster.run(["scontrol", "update", "nodename=host2", *words], check=True)

    update("state=drain", "reason=rdma link degraded")
    try:
        done = collect(cluster, tmp_path, "-w", "host[1-3]", "-F", str(cluster.fleet.ssh_config))
        assert done.returncode == 0, done.stderr
        state = status_of(find(tmp_path, None))
        assert state["host2"] == ("reached", "Slurm: drained (rdma link degraded)")
        assert state["host1"] == ("reached", "")
        # Slurm itself will not start anything there: a row, and the others are read.
        done = collect(cluster, tmp_path, "-w", "host[1-3]", "--via", "slurm",
                       "--connect-timeout", "2")  # fmt: skip
        state = status_of(find(tmp_path, None))
        assert {name: status for name, (status, _) in state.items()} == {
            "host1": "reached",
            "host2": "no slot",
            "host3": "reached",
        }
        assert done.returncode == 0, "an out-of-service host is no gap"
    finally:
        update("state=resume")


def test_kill_9_of_the_collector_ends_the_runners_under_slurm(
    cluster: slurm.Slurm, tmp_path: Path
) -> None:
    fleet = cluster.fleet
    process = subprocess.Popen(
        ["ip", "netns", "exec", fleet.hub, "unshare", "--uts", "sh", "-c",
         'hostname labhub; exec "$@"', "sh", *RAILWRIGHT, "collect", "-w", "host[1-5]",
         "--via", "slurm", "--store", str(tmp_path)],
        env=cluster.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not fleet.processes_left():
        assert time.monotonic() < deadline, "never saw it running"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 60
    while fleet.processes_left():
        assert time.monotonic() < deadline, fleet.processes_left()
        time.sleep(0.5)


def test_an_unknown_partition_is_an_error_with_a_way_out(
    cluster: slurm.Slurm, tmp_path: Path
) -> None:
    done = collect(cluster, tmp_path, "-w", "@slurm:nosuch", "--via", "slurm")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
