"""The live lab, as a person uses it: up, collect, break, check, reboot, heal, down, no trace left.

`python -m bench.lab_faults` breaks hosts with every fault of the matrix, `python -m bench.lab_cycles`
goes up and down twenty times.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.fleet import MODELS
from lab.fleet.faults import Injection, all_faults, places
from lab.fleet.faults.sites import site_text
from lab.harness.comparing import (
    OF_A_LIVE_KERNEL,
    Facts,
    answer_differences,
    check,
    derived_differences,
    disagreements,
    fact_differences,
)
from lab.harness.facts import facts as facts_of
from lab.harness.fault_fleet import verdicts_of
from lab.live import client
from lab.live.options import Options
from lab.live.part import LabError
from lab.live.place import Place
from lab.live.traces import Traces, traces
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(900)]
LAB = [sys.executable, "-m", "lab"]
HOSTS = {model(1).name: model(1) for model in MODELS.values()}
SLATE = "slate-n001"  # the socket_direct host, which is read fastest


def lab(place: Place, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [*LAB, "--folder", str(place.folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def said(place: Place, *words: str) -> str:
    done = lab(place, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Place]:
    """A lab of two hosts; it goes down also where a test fails."""
    place = Place(tmp_path / "live")
    client.start(place, Options(hosts=2, models=("passthrough_vm",)), lambda _: None)
    yield place
    client.end(place)


def traces_of(place: Place) -> Traces:
    hub = client.ask(place, {"do": "status"})["hub"]
    return traces(place, hub.removesuffix("hub"))


def collect(place: Place, store: Path, *words: str) -> Snapshot:
    """As the last line of `lab up` proposes."""
    done = lab(place, "run", "--", sys.executable, "-m", "railwright", "collect", "--store", str(store),
               "--timeout", "300", "--state-from", "none", *words)  # fmt: skip
    # 3: a virtual machine's firmware tools cannot open its cards.
    assert done.returncode in (0, 3), done.stderr
    return find(store, None)


def told(place: Place, host: str, command: str) -> str:
    return said(place, "run", "--", "ssh", host, command)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A host of every model."""
    here = Place(tmp_path_factory.mktemp("lab") / "live")
    done = lab(here, "up", "--hosts", "6", "--seconds-to-boot", "0.5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("hosts: 6 of 6 up\nNext: python -m lab")
    seen = traces_of(here)
    yield here
    said(here, "down")
    assert seen.left() == []


def test_facts_collected_over_ssh_equal_the_models_truth(place: Place, tmp_path: Path) -> None:
    """Column by column; the kernel's release and the clock are this machine's own."""
    began = time.monotonic()
    snapshot = collect(place, tmp_path, "-f", str(place.fleet / "hosts"))
    found: list[str] = []
    with snapshot.database() as database:
        facts = Facts(database)
        for name, host in HOSTS.items():
            found += [f"{name}: {words}" for words in (
                *fact_differences(facts, name, host, OF_A_LIVE_KERNEL),
                *derived_differences(facts, name, host),
                *disagreements(facts, name),
                *answer_differences(facts, name, host),
            )]  # fmt: skip
            row = facts.host(name)
            assert row["hostname"] == name
            assert row["operating_system"] == host.operating_system
            assert row["boot_id"] == host.boot_id
            # Up for as long as the model says when the lab came up, and going on since.
            assert isinstance(row["uptime_s"], float)
            assert 0 <= row["uptime_s"] - host.uptime_s < 900 + time.monotonic() - began
    check(found)


# What strikes the socket_direct host at once: over /sys, /proc, a tool's answer, counters between
# two snapshots, and a file that goes away.
STRUCK = (
    ("narrow_leg", "mlx5_1"),
    ("no_peer_memory", ""),
    ("other_mtu", "mlx5_0"),
    ("connections_died", "mlx5_0"),
    ("little_locked_memory", ""),
)


def test_what_is_broken_is_found_and_what_is_healed_is_not(place: Place, tmp_path: Path) -> None:
    host = HOSTS[SLATE]
    faults = [(all_faults()[name], at) for name, at in STRUCK]
    injections = [
        Injection(fault, next(p for p in places(host, fault.at) if at in ("", p.name)))
        for fault, at in faults
    ]
    expected = frozenset[tuple[str, str]]().union(*(one.expected for one in injections))
    rules = sorted({rule for rule, _ in expected})
    site = site_text("socket_direct")

    for name, at in STRUCK:
        said(place, "break", SLATE, name, "--earlier", *(["--at", at] if at else []))
    first = collect(place, tmp_path / "first", "-w", SLATE)
    for name, at in STRUCK:
        words = said(place, "break", SLATE, name, *(["--at", at] if at else []))
        assert words.startswith(f"{SLATE}: {name}")
    assert f"socket_direct        up       {STRUCK[0][0]} at mlx5_1, " in said(place, "status")
    broken = collect(place, tmp_path / "broken", "-w", SLATE)
    fails, _, trouble = verdicts_of(broken, site, rules, before=first)
    assert trouble == {}
    assert expected <= fails.keys()

    said(place, "heal")
    healed = collect(place, tmp_path / "healed", "-w", SLATE)
    fails, _, trouble = verdicts_of(healed, site, rules, before=first)
    assert (fails, trouble) == ({}, {})


@pytest.mark.parametrize("command", ["reboot", "shutdown -r now", "systemctl reboot"])
@pytest.mark.one_in(3)
def test_a_host_that_reboots_itself_comes_back_as_another_boot(place: Place, command: str) -> None:
    before = told(place, SLATE, "cat /proc/sys/kernel/random/boot_id")
    told(place, SLATE, "touch /tmp/gone /root/kept")
    setting = "sysctl -n vm.overcommit_memory"
    usual = told(place, SLATE, setting)
    assert told(place, SLATE, f"sysctl -q vm.overcommit_memory=2; {setting}") == "2\n" != usual
    dropped = lab(place, "run", "--", "ssh", SLATE, f"{command}; sleep 60")
    assert dropped.returncode == 255, dropped.stdout
    deadline = time.monotonic() + 120
    while (
        done := lab(place, "run", "--", "ssh", SLATE, "cat /proc/uptime; ls /tmp /root")
    ).returncode:
        assert time.monotonic() < deadline, done.stderr
    uptime, *files = done.stdout.split()
    assert float(uptime) < 120
    assert "kept" in files
    assert "gone" not in files
    assert told(place, SLATE, "cat /proc/sys/kernel/random/boot_id") != before
    assert told(place, SLATE, setting) == usual
    assert "up" in said(place, "status")


def test_settings_of_a_host_stay_on_it(place: Place) -> None:
    """Whoever writes to /proc/sys on a host does not write to the machine that plays it."""
    mine = Path("/proc/sys/vm/overcommit_memory").read_text()
    assert told(place, SLATE, "sysctl -n vm.overcommit_memory; sysctl -q vm.overcommit_memory=2; "
                "cat /proc/sys/vm/overcommit_memory").split()[1] == "2"  # fmt: skip
    assert Path("/proc/sys/vm/overcommit_memory").read_text() == mine
    told(place, SLATE, "sysctl -q vm.overcommit_memory=0")


def test_root_on_a_host_has_no_power_over_this_machine(place: Place) -> None:
    """Looked at, not tried: where it fails, this machine would be the one that suffers."""
    kept = int(told(place, SLATE, "grep CapBnd /proc/self/status").split()[1], 16)
    sys_module, sys_rawio, sys_boot, sys_time = 16, 17, 22, 25  # linux/capability.h
    assert [
        number for number in (sys_module, sys_rawio, sys_boot, sys_time) if kept >> number & 1
    ] == []
    trigger = "[ ! -e /proc/sysrq-trigger ] || stat -c %t:%T /proc/sysrq-trigger"
    assert told(place, SLATE, trigger) in ("", "1:3\n"), "none in this kernel, or /dev/null"


def test_a_second_lab_is_refused(place: Place) -> None:
    done = lab(place, "up", "--hosts", "1")
    assert done.returncode == 1
    assert done.stderr.startswith("lab: A lab is up already.")


def test_mistakes_are_answered_with_what_was_meant(place: Place) -> None:
    for words, answer in (
        (("break", "slate-n01", "narrow_leg"), "Nothing here is called slate-n01. Did you mean slate-n001"),
        (("break", SLATE, "narow_leg"), "No fault is called narow_leg. Did you mean narrow_leg"),
        (("heal", "nobody"), "Nothing here is called nobody."),
        (("up", "--models", "hgx_h10"), "No model is called hgx_h10. Did you mean hgx_h100"),
        (("run",), "Say what to run"),
    ):  # fmt: skip
        done = lab(place, *words)
        assert done.returncode == 1, words
        assert answer in done.stderr


# ---- down, in every way


@pytest.mark.parametrize("cycle", [1, 2])
@pytest.mark.one_in(2)
def test_up_and_down_leaves_nothing(small: Place, cycle: int) -> None:
    here = small
    seen = traces_of(here)
    assert len(seen.namespaces) == 3
    assert len(seen._processes()) >= 3  # the keeper and what it started: the test can see them
    assert client.end(here) == "The lab is down."
    assert seen.left() == []
    with pytest.raises(LabError, match="No lab is up"):
        client.ask(here, {"do": "status"})


def keeper_of(place: Place) -> int:
    """The process with the folder in its command."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"lab.live.keeper" in words and os.fsencode(place.folder) in words:
                return int(entry.name)
    raise AssertionError("no keeper")


def test_a_killed_keeper_takes_all_with_it_and_down_clears_the_rest(small: Place) -> None:
    here = small
    seen = traces_of(here)
    os.kill(keeper_of(here), signal.SIGKILL)
    deadline = time.monotonic() + 60
    while seen._processes():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    with pytest.raises(LabError, match="keeper was killed"):
        client.ask(here, {"do": "status"})
    assert client.end(here) == "The keeper had been killed; what it left is cleared."
    assert seen.left() == []
    assert client.end(here) == "No lab is up."


def test_an_up_that_is_killed_half_way_is_taken_back(tmp_path: Path) -> None:
    here = Place(tmp_path / "live")
    command = [
        *LAB,
        "--folder",
        str(here.folder),
        "up",
        "--hosts",
        "4",
        "--models",
        "passthrough_vm",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "1 of 4 hosts started\n"
    prefix = f"rwv-{keeper_of(here)}-"
    seen = traces(here, prefix)
    process.kill()
    process.wait()
    process.stderr.close()
    assert len(seen.namespaces) == 5
    deadline = time.monotonic() + 120
    while (held := here.hold()) is None:  # the keeper ends by itself
        assert time.monotonic() < deadline
        time.sleep(0.1)
    here.release(held)
    assert seen.left() == []


# ---- with Slurm


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Place]:
    here = Place(tmp_path / ("long" * 20) / "live")  # sockets have paths of 107 bytes at most
    done = lab(here, "up", "--hosts", "2", "--models", "passthrough_vm", "--slurm",
               "--seconds-to-boot", "0.5")  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = traces_of(here)
    yield here
    said(here, "down")
    assert seen.left() == []


def test_slurm_runs_jobs_and_reads_the_same_facts(cluster: Place, tmp_path: Path) -> None:
    names = ["mist-vm001", "mist-vm002"]
    hosts = said(cluster, "run", "--", "srun", "-N", "2", "hostname").split()
    assert sorted(hosts) == names
    by_ssh = collect(cluster, tmp_path / "ssh", "-w", "mist-vm[001-002]")
    by_slurm = collect(cluster, tmp_path / "slurm", "-w", "@slurm:gpu", "--via", "slurm")
    assert facts_of(by_slurm, names) == facts_of(by_ssh, names)
    assert len(facts_of(by_slurm, names)["rdma_device"]) == 16

    said(cluster, "reboot", names[0])
    deadline = time.monotonic() + 200
    while said(cluster, "run", "--", "sinfo", "-h", "-o", "%T %D").split() != ["idle", "2"] or (
        lab(cluster, "run", "--", "srun", "-w", names[0], "-I20", "true").returncode
    ):
        assert time.monotonic() < deadline
        time.sleep(1)
