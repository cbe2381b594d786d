"""`python -m lab` as a stranger uses it, without anything being up."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lab.guest.machine import FAULTS, GuestMachine
from lab.guest.model import Guest
from lab.live.cluster import cluster
from lab.live.fabric import FabricState
from lab.live.keeper import Keeper
from lab.live.needs import check_memory, check_programs
from lab.live.options import Options, check, machines
from lab.live.part import LabError, Part
from lab.live.place import Place
from lab.live.switches import Switches


def lab(*words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "lab", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **more}
    )


# ---- a lab's folder is removed with all that is in it


@pytest.mark.root
@pytest.mark.parametrize("command", ["up", "down"])
def test_a_folder_with_somebody_s_files_is_left_alone(command: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis").write_text("years")
    done = lab("--folder", str(tmp_path / "mine"), command)
    assert done.returncode == 1
    assert "is no lab's: name a folder that is not there yet" in done.stderr
    assert (tmp_path / "mine/thesis").read_text() == "years"


def test_clearing_refuses_what_is_not_a_lab_s(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path, tmp_path / "file"):
        with pytest.raises(LabError, match="is no lab's"):
            Place(folder).clear()
    assert (tmp_path / "file").exists()


def test_a_folder_that_mount_would_misread_is_refused(tmp_path: Path) -> None:
    for name in ("a b", "a,b", "a:b", "a$b"):
        with pytest.raises(LabError, match="without blanks, commas or colons"):
            Place(tmp_path / name).check()
    Place(tmp_path / "railwright-lab_2.x").check()


# ---- who holds a place


def test_places_beside_each_other_are_held_apart(tmp_path: Path) -> None:
    one, other = Place(tmp_path / "one"), Place(tmp_path / "other")
    held = one.hold()
    assert held is not None
    assert one.hold() is None
    beside = other.hold()
    assert beside is not None
    other.release(beside)
    one.release(held)
    again = one.hold()
    assert again is not None
    one.release(again)
    assert list(tmp_path.iterdir()) == []


# ---- what is said


@pytest.mark.root
def test_without_a_lab_each_command_says_so(tmp_path: Path) -> None:
    for words in (("status",), ("break", "x", "y"), ("heal",), ("reboot", "x"), ("run", "true")):
        done = lab("--folder", str(tmp_path / "live"), *words)
        assert (done.returncode, done.stdout) == (1, ""), words
        assert done.stderr == "lab: No lab is up. `python -m lab up` starts one.\n"
    done = lab("--folder", str(tmp_path / "live"), "down")
    assert (done.returncode, done.stdout) == (0, "No lab is up.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(hosts=-1), "--hosts: 0 to 512"),
        (Options(rails=9), "--rails: 0 to 8"),
        (Options(switches=4), "say how many rails"),
        (Options(hosts=65, rails=8), "--rails 8: at most 64 hosts"),
        (Options(planes=2), "say how many switches"),
        (Options(rails=2, switches=8, planes=3), "--planes: 1 to 2"),
        (Options(hosts=0, slurm=True), "--slurm runs on hosts"),
        (Options(guests=9), "--guests: 0 to 8"),
        (Options(seconds_to_boot=math.nan), "--seconds-to-boot: 0 to 3600"),
        (Options(rails=8, models=("hgx_h100",)), "leave --models out"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_started(options: Options, words: str) -> None:
    with pytest.raises(LabError, match=words):
        check(options)


def test_guests_may_have_rails_without_hosts() -> None:
    alone = Options(hosts=0, rails=2, guests=2)
    check(alone)
    assert machines(alone) == []


def test_missing_programs_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ip", "unshare", "setpriv", "ssh", "ssh-keygen", "debootstrap"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    check_programs(Options())
    with pytest.raises(LabError) as refused:
        check_programs(replace(Options(), slurm=True, guests=2))
    assert "lacks slurmctld, sinfo, munged, qemu-system-x86_64, busybox" in str(refused.value)
    assert "apt-get install slurm-wlm munge qemu-system-x86 busybox-static." in str(refused.value)


def test_more_than_the_memory_holds_is_refused(tmp_path: Path) -> None:
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:       16384000 kB\nMemAvailable:    4096000 kB\n")
    check_memory(Options(hosts=100, guests=2), told)  # 2400 + 640 of 4000 MB
    with pytest.raises(LabError, match=r"200 hosts and 0 guests take up to 5600 MB .* 4000 MB are"):
        check_memory(Options(hosts=200), told)


# ---- the keeper, without what it keeps


class _Stuck(Part):
    name = "stuck"
    ticks = 0

    def tick(self) -> None:
        self.ticks += 1
        raise OSError("the address is gone")


def test_a_part_that_cannot_go_on_ends_no_lab(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper, part = Keeper(Place(tmp_path / "live"), Options(hosts=0)), _Stuck()
    keeper._tick(part)
    keeper._tick(part)
    assert part.ticks == 2
    assert capsys.readouterr().err.count("OSError: the address is gone") == 1
    keeper.down()


def test_switches_whose_sshd_has_ended_are_not_up() -> None:
    switches = Switches(FabricState(cluster(2, 2, 4).fabric))
    switches._process = subprocess.Popen(["sleep", "60"])
    assert {one.state for one in switches.status()} == {"up"}
    switches.down()
    assert {one.state for one in switches.status()} == {"ended"}
    switches._process = subprocess.Popen(["true"])
    switches._process.wait()
    assert {one.state for one in switches.status()} == {"ended"}


# ---- state of a guest, without the guest


def test_what_takes_another_fault_s_place_is_the_only_one_there(tmp_path: Path) -> None:
    """A rail has one root qdisc: healing two of them would fail at the second."""
    guest = GuestMachine(Guest(1, 2), ("sh", "-c", "true"), tmp_path / "console")
    guest.strike("loss", 0)
    guest.strike("mtu", 0)
    guest.strike("delay", 0)
    guest.strike("loss", 1)
    assert list(guest.struck) == [("mtu", 0), ("delay", 0), ("loss", 1)]
    guest.heal()
    assert guest.struck == {}
    assert FAULTS["loss"].heal == FAULTS["cut"].heal


def test_the_console_tells_when_a_guest_is_back_and_what_it_has_lost(tmp_path: Path) -> None:
    guest = GuestMachine(Guest(1, 1), ("sh", "-c", "true"), tmp_path / "console")
    assert guest.is_booting  # QEMU has not even made the file
    once = "[    0.1] Linux\nlab: guest1 is up after 12.34 s\n"
    guest.console.write_text(once)
    assert not guest.is_booting
    guest.strike("mtu", 0)
    guest.restart()
    assert guest.is_booting
    assert guest.struck == {}
    guest.console.write_text(once * 2)
    assert not guest.is_booting
    guest.strike("mtu", 0)
    guest.console.write_text(once * 2 + "[    0.1] Linux\n")  # it restarts of its own accord
    assert list(guest.struck) == [("mtu", 0)]
    guest.console.write_text(once * 3)
    assert guest.struck == {}
