"""Real sshd hosts with fake RDMA hardware: every status, root in every way, and no trace left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import site
from lab.sshd_fleet import LAB, Fleet, Host, running
from railwright.collect.probe import select
from railwright.collect.request import Request
from railwright.collect.sudoers import fragment
from railwright.reach.bootstrap import REMOTE_COMMAND
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot
from tests.reading import frames_of, writes

pytestmark = pytest.mark.fleet

RAILWRIGHT = [sys.executable, "-m", "railwright"]
EXACT = "\n".join(fragment(select(), "reader")) + "\nDefaults use_pty\n"
ALL = "reader ALL=(ALL) NOPASSWD: ALL\nDefaults use_pty\n"
BASHRC = "echo Welcome to this host; echo and this on stderr >&2; printf 'no newline'\n"
HEALTHY = (1, 2, 3, 4)


def passwd(shell: str) -> str:
    """The host's /etc/passwd with another login shell for root."""
    text = (LAB / "rootfs/etc/passwd").read_text()
    return text.replace("root:x:0:0:root:/root:/bin/bash", f"root:x:0:0:root:/root:{shell}")


def site_hosts(folder: Path) -> list[Host]:
    trees = site.make_trees(folder, 4)
    other = folder / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    kinds = {5: "refusing", 6: "silent", 7: "hanging", 8: "flooding", 9: "no python", 10: "no root"}
    tree = trees[0]
    sudo = "etc/sudoers.d/railwright"
    key = ("etc/ssh/ssh_host_ed25519_key", other.read_text(), 0o600)
    return [
        *site.hosts(10, trees, kinds),
        Host(11, tree=tree, user="reader", extra=((sudo, ALL, 0o440),)),
        Host(12, tree=tree, user="reader", extra=((sudo, EXACT, 0o440),)),
        Host(13, tree=tree, extra=(("etc/passwd", passwd("/usr/bin/tcsh"), 0o644),)),
        Host(14, tree=tree, extra=(("etc/passwd", passwd("/usr/bin/fish"), 0o644),)),
        Host(15, tree=tree, extra=(("root/.bashrc", BASHRC, 0o644),)),
        Host(16, tree=tree, extra=(("root/.bashrc", "read answer\n", 0o644),)),
        Host(17, tree=tree, user="nobody"),
        Host(18, tree=tree, extra=(key,)),
    ]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    site.make_root()
    folder = tmp_path_factory.mktemp("fleet")
    with running("rwt", site_hosts(folder), folder / "run") as up:
        yield up


def collect(
    fleet: Fleet, store: Path, nodes: str, *more: str
) -> "subprocess.CompletedProcess[str]":
    return fleet.run(
        [*RAILWRIGHT, "collect", "-w", nodes, "-F", str(fleet.ssh_config), "--store", str(store),
         "--state-from", "none", "--connect-timeout", "3", "--timeout", "25", *more],
        capture_output=True, text=True,
    )  # fmt: skip


def rows(snapshot: Snapshot, query: str) -> list[tuple[object, ...]]:
    with snapshot.database() as database:
        return database.execute(query).fetchall()


@pytest.fixture(scope="module")
def whole(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """One collection of the whole site, without --become."""
    store = tmp_path_factory.mktemp("store")
    done = collect(fleet, store, "host[1-18]")
    assert done.returncode == 3, done.stderr
    return find(store, None)


def test_every_machine_is_a_row_with_its_own_status(whole: Snapshot) -> None:
    status = dict(rows(whole, "SELECT target, status FROM target"))
    assert status == {
        **{f"host{n}": "reached" for n in (*HEALTHY, 10, 11, 12, 13, 14, 15)},
        "host5": "refused",
        "host6": "silent",
        "host7": "hanging",
        "host8": "flooding",
        "host9": "no python",
        "host16": "login script reads input",
        "host17": "wants a password",
        "host18": "host key changed",
    }
    words = dict(rows(whole, "SELECT target, words FROM target"))
    assert "Connection refused" in str(words["host5"])
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in str(words["host18"])


def test_a_failure_before_the_first_byte_was_tried_twice(whole: Snapshot) -> None:
    attempts = dict(rows(whole, "SELECT target, attempts FROM target"))
    assert attempts["host5"] == 2
    assert attempts["host6"] == 2
    assert attempts["host1"] == attempts["host8"] == attempts["host18"] == 1


def test_the_host_without_root_lists_what_was_denied(whole: Snapshot) -> None:
    denied = rows(
        whole,
        "SELECT DISTINCT probe FROM probe_result WHERE target = 'host10' AND status = 'denied'",
    )
    assert {probe for (probe,) in denied} == {
        *("ethtool_module", "flint", "mlxconfig", "mlxfwmanager", "mlxfwreset", "mlxlink"),
        "pci_config",
    }
    known = rows(whole, "SELECT count(*) FROM pci_function WHERE target = 'host10'")
    assert known == rows(whole, "SELECT count(*) FROM pci_function WHERE target = 'host2'")
    assert rows(whole, "SELECT count(*) FROM pci_config WHERE target = 'host10'") == [(0,)]


def test_healthy_hosts_give_all_facts(whole: Snapshot) -> None:
    counts = rows(
        whole,
        "SELECT t.target, (SELECT count(*) FROM rdma_device d WHERE d.target = t.target), "
        "(SELECT count(*) FROM gpu g WHERE g.target = t.target AND g.name IS NOT NULL), "
        "(SELECT count(DISTINCT pci) FROM nic_parameter p WHERE p.target = t.target), "
        "(SELECT count(*) FROM lldp_neighbor l WHERE l.target = t.target) "
        "FROM target t WHERE t.target IN ('host1', 'host13', 'host14', 'host15') ORDER BY ALL",
    )
    # An ember host: 8 rails and a storage card of two functions, 8 GPUs.
    assert [row[1:4] for row in counts] == [(10, 8, 10)] * 4
    assert all(row[4] >= 8 for row in counts)


def test_noise_of_a_chatty_login_is_kept_apart(whole: Snapshot) -> None:
    [(noise, size)] = rows(whole, "SELECT noise, noise_bytes FROM target WHERE target = 'host15'")
    assert noise.startswith("Welcome to this host\n")
    assert size > 20


def test_nothing_is_left_running_anywhere(fleet: Fleet, whole: Snapshot) -> None:
    assert fleet.processes_left() == {}


@pytest.mark.parametrize(("host", "how"), [("host11", "runner"), ("host12", "commands")])
def test_with_become_root_probes_run_as_the_policy_allows(
    fleet: Fleet, tmp_path: Path, whole: Snapshot, host: str, how: str
) -> None:
    """Everything, or exactly the printed fragment, both under use_pty: the same facts as root."""
    done = collect(fleet, tmp_path, host, "--become")
    snapshot = find(tmp_path, None)
    assert rows(snapshot, "SELECT status, root FROM target") == [("reached", how)], done.stderr
    missing = rows(
        snapshot,
        "SELECT probe, status, reason FROM probe_result WHERE status NOT IN "
        "('ok', 'absent', 'not readable without a write')",
    )
    assert missing == []
    for table in ("pci_config", "nic_parameter", "lldp_neighbor"):
        select_all = f"SELECT * EXCLUDE (target, read_at) FROM {table} "
        ours = rows(snapshot, select_all + "ORDER BY ALL")
        as_root = rows(whole, select_all + "WHERE target = 'host13' ORDER BY ALL")
        assert ours == as_root, table
        assert len(ours) > 5
    assert fleet.processes_on(next(h for h in fleet.hosts if h.name == host)) == []


def test_a_refusing_sudo_is_final(fleet: Fleet, tmp_path: Path) -> None:
    done = collect(fleet, tmp_path, "host10", "--become")
    assert done.returncode == 3
    [(root, reason)] = rows(find(tmp_path, None), "SELECT root, root_reason FROM target")
    assert root == "denied"
    assert "password is required" in str(reason)


@pytest.mark.parametrize("number", [1, 11, 12])
def test_no_process_of_ours_writes_on_the_host(fleet: Fleet, number: int) -> None:
    """strace on the host itself: as root, under a root runner, and under the exact fragment.

    sudo's own work (its pty, its time stamps) is sudo's; every other process is ours.
    """
    host = next(h for h in fleet.hosts if h.number == number)
    asked = Request("0badcafe", tuple(select()), 60, become=True)
    user = ["-u", host.user] if host.user != "root" else []
    command = ["nsenter", "-t", str(fleet.init_pid(host)), "-m", "-u", "-p", "-n", "-r", "-w",
               "strace", "-f", "-qq", "-Y", *user, "-o", "/var/tmp/trace",
               "/bin/sh", "-c", REMOTE_COMMAND]  # fmt: skip
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    ) as process:
        process.stdin.write(asked.job().stdin)
        process.stdin.flush()
        found, reader = frames_of(process.stdout.read())
    assert reader.complete
    assert sum(len(frame.stdout) for frame in found) > 300_000, "full evidence"
    trace = (fleet.root(host) / "var/tmp/trace").read_text(errors="replace")
    ours = [
        line
        for line in writes(trace)
        if "<sudo>" not in line.split(" ")[0] and '"/dev/null"' not in line
    ]
    assert ours == []
    assert trace.count("openat(") > 1000


def test_kill_9_of_the_collector_leaves_nothing_running(fleet: Fleet, tmp_path: Path) -> None:
    before = set(os.listdir("/proc"))
    process = subprocess.Popen(
        ["ip", "netns", "exec", fleet.hub, *RAILWRIGHT, "collect", "-w", "host[1-4,7,11-15]",
         "--become", "-F", str(fleet.ssh_config), "--store", str(tmp_path), "--state-from", "none"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 20
    while len(fleet.processes_left()) < 4:
        assert time.monotonic() < deadline, "never saw it running on four hosts"
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 15
    left: dict[str, list[str]] = {"?": []}
    while left and time.monotonic() < deadline:
        time.sleep(0.2)
        left = fleet.processes_left()
    assert left == {}
    ours = [p for p in set(os.listdir("/proc")) - before if p.isdigit() and _is_our_ssh(p)]
    assert ours == [], "an ssh of the collector survived it"


def _is_our_ssh(pid: str) -> bool:
    try:
        return b"BatchMode" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_try_says_what_works_and_what_will_be_unknown(fleet: Fleet) -> None:
    def attempt(host: str, *more: str) -> "subprocess.CompletedProcess[str]":
        return fleet.run(
            [*RAILWRIGHT, "collect", "--try", host, "-F", str(fleet.ssh_config),
             "--connect-timeout", "3", *more],
            capture_output=True, text=True,
        )  # fmt: skip

    good = attempt("host1")
    assert "host1 via ssh: reached" in good.stdout
    assert "interpreter  Python 3.11" in good.stdout
    assert "logged in as root" in good.stdout
    rootless = attempt("host10")
    assert rootless.returncode == 3
    assert "mlxconfig: denied" in rootless.stdout
    refused = attempt("host5")
    assert refused.returncode == 3
    assert "refused (nothing listens on the ssh port)" in refused.stdout
    assert "Connection refused" in refused.stdout
