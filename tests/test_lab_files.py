"""Live hosts without their namespaces: state, files, and how one state becomes the next."""

import os
from pathlib import Path

import pytest

from lab.fleet import MODELS, write_sys
from lab.fleet.faults import all_faults
from lab.live.files import HIDDEN, Places, in_lab, rendered, rewrite, write_all
from lab.live.machine import HostMachine
from lab.live.part import LabError
from lab.live.proc import cpuinfo


def tree_of(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Name -> what it is, of everything below a folder but folders that hold something."""
    found: dict[str, tuple[str, bytes]] = {}
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(above) / name
            key = str(path.relative_to(folder))
            if path.is_symlink():
                found[key] = ("link", os.fsencode(os.readlink(path)))
            elif path.is_file():
                found[key] = (f"file {path.stat().st_mode & 0o777:o}", path.read_bytes())
            elif path.is_char_device():
                found[key] = ("hidden", b"")
            elif not any(path.iterdir()):
                found[key] = ("folder", b"")
    return found


def on_disk(places: Places) -> dict[str, tuple[str, bytes]]:
    lab = {f: v for f, v in tree_of(places.tree).items() if in_lab(f"{f}/")}
    return lab | {f: v for f, v in tree_of(places.layer).items() if not in_lab(f"{f}/")}


@pytest.mark.parametrize("model", MODELS)
def test_memory_holds_what_a_folder_gets(model: str, tmp_path: Path) -> None:
    host = MODELS[model](1)
    write_sys(tmp_path / "sys", host)
    files = rendered(host)
    disk = tree_of(tmp_path)
    kept = {
        name: ("link", os.fsencode(entry.link))
        if entry.link
        else (f"file {entry.mode:o}", entry.content)
        for name, entry in files.entries.items()
        if name.startswith("sys/")
    }
    assert {name for name in disk if disk[name][0] == "folder"} <= files.folders
    assert {name: value for name, value in disk.items() if value[0] != "folder"} == kept


@pytest.mark.root
@pytest.mark.parametrize("model", ["socket_direct", "passthrough_vm"])
def test_a_changed_host_has_the_files_of_one_made_so(model: str, tmp_path: Path) -> None:
    """Every fault there and back, over one tree; host 2, as some faults copy from host 1."""
    machine = HostMachine(model, MODELS[model](2))
    places = Places(tmp_path / "t", tmp_path / "u", None)
    healthy = rendered(machine.model())
    write_all(places, healthy)
    first = on_disk(places)
    assert first["etc/security/limits.conf"] == ("hidden", b"")
    assert first["proc/sys/kernel/hostname"] == ("file 644", machine.name.encode() + b"\n")
    for number, fault in enumerate(machine.possible()):
        machine.strike(fault.name)
        struck = rendered(machine.model())
        assert rewrite(places, healthy, struck), fault.name
        if number % 8 == 0:  # a tree of its own is dear
            other = Places(tmp_path / f"t{number}", tmp_path / f"u{number}", None)
            write_all(other, struck)
            assert on_disk(places) == on_disk(other), fault.name
        machine.heal()
        rewrite(places, struck, healthy)
    assert on_disk(places) == first


@pytest.mark.root
def test_files_that_are_mounted_one_by_one_are_written_in_place(tmp_path: Path) -> None:
    machine = HostMachine("socket_direct", MODELS["socket_direct"](1))
    places = Places(tmp_path / "t", tmp_path / "u", None)
    healthy = rendered(machine.model())
    write_all(places, healthy)
    modules = tmp_path / "t/proc/modules"
    number, before = modules.stat().st_ino, modules.read_text()
    assert "nvidia_peermem " in before
    machine.strike("no_peer_memory")
    rewrite(places, healthy, rendered(machine.model()))
    assert modules.stat().st_ino == number
    assert "nvidia_peermem " not in modules.read_text()
    assert modules.read_text().endswith("\n")
    assert len(modules.read_text()) < len(before)


def test_nothing_of_the_shared_root_is_read_as_the_hosts_own() -> None:
    """A file that the model gives is there, one that it does not give is hidden."""
    files = rendered(MODELS["hgx_h100"](1)).entries
    assert files["etc/modules"] is HIDDEN
    assert files["etc/systemd/system/multi-user.target.wants/slurmd.service"] is HIDDEN
    assert b"unlimited" in files["etc/security/limits.d/90-rdma.conf"].content
    assert "proc/uptime" not in files


def test_processors_are_the_models() -> None:
    host = MODELS["hgx_h100"](1)  # two sockets of 56 cores, two threads each; 0-55,112-167 | …
    blocks = cpuinfo(host.cpu, host.cpus).strip().split("\n\n")
    assert len(blocks) == 224
    told = [
        dict(line.split("\t: ") for line in b.replace("\t\t:", "\t:").split("\n")) for b in blocks
    ]
    assert [one["processor"] for one in told] == [str(number) for number in range(224)]
    assert told[0]["physical id"] == told[112]["physical id"] == "0"
    assert told[56]["physical id"] == told[223]["physical id"] == "1"
    assert told[0]["core id"] == told[112]["core id"] == "0"
    assert told[0]["cpu cores"] == "56"
    assert told[0]["siblings"] == "112"
    assert told[0]["model name"] == "Intel(R) Xeon(R) Platinum 8480C"


# ---- state


def machine_of(model: str = "hgx_h100") -> HostMachine:
    return HostMachine(model, MODELS[model](1))


def test_a_reboot_gives_a_new_boot_and_keeps_the_faults() -> None:
    machine = machine_of()
    machine.strike("small_mtu", "mlx5_3")
    before = machine.model()
    machine.reboot()
    after = machine.model()
    assert after.boot_id != before.boot_id
    assert after.uptime_s == 0
    assert after.nics == before.nics
    assert [one.words for one in machine.faults] == ["small_mtu at mlx5_3"]
    machine.reboot()
    assert machine.model().boot_id not in (before.boot_id, after.boot_id)


def test_the_same_fault_is_there_once() -> None:
    machine = machine_of()
    machine.strike("sent_anew", "mlx5_3", earlier=True)
    machine.strike("small_mtu", "mlx5_3")
    machine.strike("sent_anew", "mlx5_3")
    assert [one.words for one in machine.faults] == ["sent_anew at mlx5_3", "small_mtu at mlx5_3"]
    assert machine.heal() == ["sent_anew at mlx5_3", "small_mtu at mlx5_3"]
    assert machine.model() == machine.healthy


@pytest.mark.parametrize(
    ("model", "fault", "at", "words"),
    [
        ("hgx_h100", "smal_mtu", "", "No fault is called smal_mtu. Did you mean small_mtu"),
        ("hgx_h100", "legs_down", "", "legs_down cannot be on ember-h001, a hgx_h100; it can be on: socket"),
        ("hgx_h100", "small_mtu", "mlx5_8", "small_mtu strikes a compute card. ember-h001 has mlx5_0, "),
        ("hgx_h100", "other_setting", "mlx5_0", "strikes a host as a whole: leave --at out"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(model: str, fault: str, at: str, words: str) -> None:
    machine = machine_of(model)
    with pytest.raises(LabError) as refused:
        machine.strike(fault, at)
    assert words in str(refused.value)
    assert machine.faults == []


def test_every_fault_can_be_put_into_a_live_host() -> None:
    """At its first place, on the first host of a model that has one."""
    for fault in all_faults().values():
        machine = HostMachine(fault.models[0], MODELS[fault.models[0]](2))
        assert machine.strike(fault.name).injection.fault is fault
