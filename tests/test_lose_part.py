"""A part that a lab host loses is gone as on a real machine, and nothing else is: by hand."""

import json
import subprocess
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from shutil import which

import duckdb
import pytest

from lab.fleet import HostModel, fill_sys, socket_direct
from lab.fleet.healthy import HEALTHY
from lab.fleet.lose_part import WAYS, Part, lost, parts
from lab.fleet.pci_change import paths
from lab.fleet.render import all_commands
from lab.fleet.render.lspci import paragraphs
from lab.fleet.tree import Folder, Memory
from lab.harness.fleets import evidence_of, snapshot_of

XE9680_NIC = Part("nic", "0000:3c:00")  # mlx5_3, enp60s0np0, below 39:02.0
XE9680_GPU = Part("gpu", "0000:3b:00.0")


@lru_cache(maxsize=64)
def _said(model: str, part: Part, way: str) -> dict[str, tuple[str, str, int]]:
    host = lost(HEALTHY[model](1), part, way)
    return {said.command: (said.stdout, said.stderr, said.code) for said in all_commands(host)}


@lru_cache(maxsize=64)
def _sys(model: str, part: Part, way: str) -> Memory:
    memory = Memory()
    fill_sys(memory, lost(HEALTHY[model](1), part, way))
    return memory


def _listed(memory: Memory, folder: str) -> set[str]:
    """Names of the links in a folder of /sys."""
    found = (name.rpartition("/") for name, entry in memory.entries.items() if entry.link)
    return {last for above, _, last in found if above == folder}


def _functions(memory: Memory) -> set[str]:
    return _listed(memory, "bus/pci/devices")


def _file(memory: Memory, path: str) -> str:
    """A file of /sys, its links followed."""
    folder, _, name = path.rpartition("/")
    return memory.entries[f"{memory.make(folder)}/{name}"].content.decode()


def _whole(model: str) -> Memory:
    memory = Memory()
    fill_sys(memory, HEALTHY[model](1))
    return memory


# ---- cards


@pytest.mark.parametrize(
    ("way", "gone"),
    [
        ("removed", {"0000:3c:00.0"}),
        ("missing_at_boot", {"0000:3c:00.0"}),
        ("missing_with_its_port", {"0000:3c:00.0", "0000:39:02.0"}),
        ("dead", set()),
    ],
)
def test_a_nic_is_lost(way: str, gone: set[str]) -> None:
    """Its function, and its port where firmware hides that; its netdev in any case."""
    whole, now = _whole("dell_xe9680"), _sys("dell_xe9680", XE9680_NIC, way)
    assert _functions(whole) - _functions(now) == gone
    assert _listed(whole, "class/net") - _listed(now, "class/net") == {"enp60s0np0"}
    assert len(_listed(now, "class/infiniband")) == 11
    routes = json.loads(_said("dell_xe9680", XE9680_NIC, way)["ip -j route show table all"][0])
    assert "enp60s0np0" not in {route["dev"] for route in routes}


def test_a_port_that_lost_its_card_has_nothing_behind_it() -> None:
    now = _sys("dell_xe9680", XE9680_NIC, "removed")
    assert _file(now, "bus/pci/devices/0000:39:02.0/current_link_width") == "0\n"
    text = _said("dell_xe9680", XE9680_NIC, "removed")["lspci -D -vvv"][0]
    (block,) = [part for part in text.split("\n\n") if part.startswith("0000:39:02.0 ")]
    assert "Bus: primary=39, secondary=00, subordinate=00" in block


def test_names_stay_while_the_system_runs() -> None:
    devices = _listed(_sys("dell_xe9680", XE9680_NIC, "removed"), "class/infiniband")
    assert devices == {f"mlx5_{n}" for n in range(12)} - {"mlx5_3"}
    assert "DPC: containment event" in _said("dell_xe9680", XE9680_NIC, "removed")["dmesg"][0]


def test_a_machine_that_starts_without_a_nic_numbers_the_others_anew() -> None:
    now = _sys("dell_xe9680", XE9680_NIC, "missing_at_boot")
    assert _listed(now, "class/infiniband") == {f"mlx5_{n}" for n in range(11)}
    assert now.entries["class/infiniband/mlx5_3"].link.endswith("0000:4d:00.0/infiniband/mlx5_3")
    before, after = HEALTHY["dell_xe9680"](1), lost(HEALTHY["dell_xe9680"](1), XE9680_NIC, "dead")
    assert before.boot_id == after.boot_id
    started = lost(before, XE9680_NIC, "missing_at_boot")
    assert started.boot_id != before.boot_id
    assert started.uptime_s < 7200


def test_a_dead_nic_is_listed_and_reads_ones() -> None:
    now = _sys("dell_xe9680", XE9680_NIC, "dead")
    base = "bus/pci/devices/0000:3c:00.0"
    assert _file(now, f"{base}/vendor") == "0x15b3\n"
    assert _file(now, f"{base}/device") == "0x1021\n"
    assert _file(now, f"{base}/current_link_speed") == "Unknown\n"
    assert _file(now, f"{base}/current_link_width") == "63\n"
    assert now.entries[f"{now.make(base)}/config"].content == b"\xff" * 4096
    assert now.entries[f"{now.make(base)}/driver"].link.endswith("mlx5_core")
    said = _said("dell_xe9680", XE9680_NIC, "dead")
    (block,) = [
        part for part in said["lspci -D -vvv"][0].split("\n\n") if part.startswith("0000:3c:00.0 ")
    ]
    name = "Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]"
    assert block.splitlines() == [
        f"0000:3c:00.0 {name} (rev ff) (prog-if ff)",
        "\t!!! Unknown header type 7f",
        "\tKernel driver in use: mlx5_core",
        "\tKernel modules: mlx5_core",
    ]
    assert said["mlxconfig -d 0000:3c:00.0 -e query"][2] != 0
    assert "pci/0000:3c:00.0" not in json.loads(said["devlink -j dev info"][0])["info"]


@pytest.mark.skipif(which("lspci") is None, reason="needs pciutils")
def test_lspci_finds_a_dead_nic(tmp_path: Path) -> None:
    """The real one over the written tree, as a witness; it knows the board by another name."""
    host = lost(HEALTHY["dell_xe9680"](1), XE9680_NIC, "dead")
    fill_sys(Folder(tmp_path), host)
    options = ["-A", "linux-sysfs", "-O", f"sysfs.path={tmp_path}/bus/pci", "-D", "-vv"]
    command = ["lspci", *options, "-s", "0000:3c:00.0"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    release = subprocess.run(["lspci", "--version"], capture_output=True, text=True, check=True)
    kernel = replace(host.kernel, pciutils=release.stdout.split()[-1])
    ours = paragraphs(replace(host, kernel=kernel))["0000:3c:00.0"]
    unlike = ("\tSubsystem:", "\tKernel modules:")
    assert [line for line in ours.splitlines() if not line.startswith(unlike)] == [
        line for line in text.splitlines() if not line.startswith(unlike)
    ]


def test_a_card_takes_its_own_bridges_along() -> None:
    """A NIC of a GB200 is behind two bridges of its own, alone in its PCI domain."""
    nic = Part("nic", "0002:03:00")
    left = _functions(_sys("gb200_tray", nic, "missing_at_boot"))
    assert {name for name in left if name.startswith("0002:")} == {"0002:00:00.0"}
    now = _sys("gb200_tray", nic, "missing_with_its_port")
    assert not [name for name in now.folders if "pci0002:00" in name]


def test_a_connectx_8_takes_what_is_behind_its_switch() -> None:
    """Root port 0e:01.0 - 0f - 10: NIC 11; 12 - 13: GPU 14 and Data Direct 15."""
    whole = _functions(_whole("hgx_b300"))
    nic = _functions(_sys("hgx_b300", Part("nic", "0000:11:00"), "missing_at_boot"))
    assert {name[5:7] for name in whole - nic} == {"0f", "10", "11", "12", "13", "14", "15"}
    gpu = _functions(_sys("hgx_b300", Part("gpu", "0000:14:00.0"), "missing_at_boot"))
    assert whole - gpu == {"0000:14:00.0"}


def test_an_mi300x_takes_its_two_bridges_along() -> None:
    gpu = Part("gpu", "0000:0f:00.0")
    gone = _functions(_whole("mi300x")) - _functions(_sys("mi300x", gpu, "missing_at_boot"))
    assert gone == {"0000:0d:00.0", "0000:0e:00.0", "0000:0f:00.0"}


def test_both_legs_of_a_socket_direct_card_go() -> None:
    host = lost(socket_direct(1), Part("nic", "0000:17:00"), "missing_at_boot")
    assert host.nics == ()
    left = {path[-1].address for path in paths(host.buses)}
    assert not left & {"0000:17:00.0", "0000:ca:00.0"}


# ---- GPUs, switches


def test_a_gpu_is_off_the_bus() -> None:
    now = _sys("dell_xe9680", XE9680_GPU, "removed")
    assert _functions(_whole("dell_xe9680")) - _functions(now) == {"0000:3b:00.0"}
    said = _said("dell_xe9680", XE9680_GPU, "removed")
    assert "<attached_gpus>7</attached_gpus>" in said["nvidia-smi -q -x"][0]
    assert "Xid (PCI:0000:3b:00): 79" in said["dmesg"][0]
    assert len(_listed(now, "class/infiniband")) == 12


def test_a_gpu_that_is_listed_and_lost_ends_nvidia_smi() -> None:
    text, errors, code = _said("dell_xe9680", XE9680_GPU, "dead")["nvidia-smi -q -x"]
    assert text.startswith("Unable to determine the device handle for GPU0000:3b:00.0: ")
    assert (errors, code) == ("", 15)


def test_a_switch_takes_all_below_it() -> None:
    """Drive 3a, GPU 3b, NIC 3c, management 3d; the root port is left, or not."""
    switch = Part("switch", "0000:38:00.0")
    whole = _functions(_whole("dell_xe9680"))
    left = whole - _functions(_sys("dell_xe9680", switch, "missing_at_boot"))
    buses = {name[5:7] for name in left}
    assert buses == {"38", "39", "3a", "3b", "3c", "3d"}
    more = whole - _functions(_sys("dell_xe9680", switch, "missing_with_its_port"))
    assert more - left == {"0000:37:01.0"}


# ---- ports


def _state(memory: Memory, device: str) -> str:
    return _file(memory, f"class/infiniband/{device}/ports/1/state")


def test_an_rdma_device_is_missing_beside_its_netdev() -> None:
    now = _sys("dell_xe9680", Part("rdma", "mlx5_3"), "rdma_missing")
    assert "mlx5_3" not in _listed(now, "class/infiniband")
    assert _file(now, "class/net/enp60s0np0/operstate") == "up\n"
    links = json.loads(
        _said("dell_xe9680", Part("rdma", "mlx5_3"), "rdma_missing")["rdma -j link show"][0]
    )
    assert len(links) == 11


def test_a_netdev_is_missing_beside_its_rdma_device() -> None:
    part = Part("netdev", "enp60s0np0")
    now = _sys("dell_xe9680", part, "netdev_missing")
    assert "enp60s0np0" not in _listed(now, "class/net")
    assert _state(now, "mlx5_3") == "1: DOWN\n"
    links = json.loads(_said("dell_xe9680", part, "netdev_missing")["rdma -j link show"][0])
    assert [link["ifname"] for link in links if "netdev" not in link] == ["mlx5_3"]


@pytest.mark.parametrize(("way", "addresses"), [("down", 2), ("down_without_address", 0)])
def test_a_port_goes_down(way: str, addresses: int) -> None:
    part = Part("port", "enp60s0np0")
    now = _sys("dell_xe9680", part, way)
    assert _file(now, "class/net/enp60s0np0/carrier") == "0\n"
    assert _state(now, "mlx5_3") == "1: DOWN\n"
    shown = json.loads(_said("dell_xe9680", part, way)["ip -j address show"][0])
    (row,) = [row for row in shown if row["ifname"] == "enp60s0np0"]
    assert len(row["addr_info"]) == addresses
    gids = "class/infiniband/mlx5_3/ports/1/gids"
    assert (_file(now, f"{gids}/3").startswith("0000:0000:0000:0000:0000:ffff")) == bool(addresses)
    assert _file(now, f"{gids}/1").startswith("fe80:")


def test_the_device_of_a_bond_outlives_one_port() -> None:
    now = _sys("hgx_h100_bonded", Part("port", "enp24s0f0np0"), "down")
    assert _file(now, "class/net/enp24s0f0np0/carrier") == "0\n"
    assert _file(now, "class/net/enp24s0f1np1/carrier") == "1\n"
    assert _state(now, "mlx5_bond_0") == "4: ACTIVE\n"


def test_a_module_is_unplugged() -> None:
    said = _said("dell_xe9680", Part("module", "enp60s0np0"), "module_unplugged")
    assert said["ethtool -m enp60s0np0"] == ("", "netlink error: Input/output error\n", 1)
    assert "Cable is unplugged" in said["mlxlink -d 0000:3c:00.0 -m -c"][0]
    assert "Link detected: no" in said["ethtool enp60s0np0"][0]


def test_a_cable_is_pulled_at_its_far_end() -> None:
    said = _said("dell_xe9680", Part("cable", "enp60s0np0"), "cable_pulled")
    text = said["ethtool -m enp60s0np0"][0]
    assert "MMA4Z00-NS400" in text
    assert "Rx loss of signal                         : [ Yes Yes Yes Yes No No No No ]" in text
    assert "Link detected: no" in said["ethtool enp60s0np0"][0]
    assert '"enp60s0np0"' not in said["lldpctl -f json0"][0]


# ---- all of them


@pytest.mark.parametrize("model", HEALTHY)
def test_every_part_can_be_lost_in_every_way(model: str) -> None:
    """Each loss changes the host, and a part of one kind costs no other one."""
    host = HEALTHY[model](1)
    for part in parts(host):
        for way in WAYS[part.kind]:
            now = lost(host, part, way)
            assert now != host, (part, way)
            if part.kind in ("rdma", "netdev", "port", "module", "cable"):
                assert now.buses == host.buses, (part, way)
                assert len(now.nics) == len(host.nics), (part, way)


def test_a_part_that_is_not_there_is_refused() -> None:
    host: HostModel = HEALTHY["dell_xe9680"](1)
    for part in (Part("nic", "0000:77:00"), Part("rdma", "mlx5_99"), Part("port", "eth9")):
        with pytest.raises(KeyError, match="dell-xe9680-h1001 has no"):
            lost(host, part, WAYS[part.kind][0])


# ---- read by the runner

READ = {
    1: (XE9680_NIC, "dead"),
    2: (XE9680_GPU, "dead"),
    3: (XE9680_NIC, "missing_at_boot"),
    4: (Part("module", "enp60s0np0"), "module_unplugged"),
    5: (Part("netdev", "enp60s0np0"), "netdev_missing"),
    6: (Part("rdma", "mlx5_3"), "rdma_missing"),
}


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """One host for each loss."""
    folder = tmp_path_factory.mktemp("lost")
    build = HEALTHY["dell_xe9680"]
    hosts = [lost(build(number), part, way) for number, (part, way) in READ.items()]
    snapshot = snapshot_of(folder / "store", evidence_of(folder, hosts))
    found: duckdb.DuckDBPyConnection = snapshot.database()
    return found


def _row(facts: duckdb.DuckDBPyConnection, number: int, query: str) -> tuple[object, ...] | None:
    row: tuple[object, ...] | None = facts.execute(
        query, [HEALTHY["dell_xe9680"](number).name]
    ).fetchone()
    return row


@pytest.mark.root
def test_what_is_read_of_hosts_that_lost_something(facts: duckdb.DuckDBPyConnection) -> None:
    nic = "WHERE target = ? AND pci = '0000:3c:00.0'"
    assert _row(facts, 1, f"SELECT vendor, device, class FROM pci_function {nic}") == (
        *("15b3", "1021", "020000"),
    )
    assert _row(facts, 1, f"SELECT responds FROM pci_config {nic}") == (False,)
    assert _row(facts, 1, f"SELECT responds FROM lspci_function {nic}") == (False,)
    status = "SELECT status FROM probe_result WHERE target = ? AND probe = "
    assert _row(facts, 2, f"{status}'nvidia_smi'") == ("failed",)
    assert _row(facts, 3, f"SELECT count(*) FROM pci_function {nic}") == (0,)
    assert _row(facts, 4, f"{status}'ethtool_module' AND instance = 'enp60s0np0'") == ("absent",)
    devices = "SELECT count(*) FROM rdma_device WHERE target = ?"
    assert [_row(facts, number, devices) for number in (1, 3, 5, 6)] == [
        *((11,), (11,), (12,), (11,)),
    ]
    netdevs = "SELECT count(*) FROM netdev WHERE target = ?"
    assert [_row(facts, number, netdevs) for number in (1, 3, 5, 6)] == [
        *((15,), (15,), (15,), (16,)),
    ]


@pytest.mark.root
def test_every_answer_of_such_a_host_is_understood(facts: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT target, probe, instance, reason FROM probe_result WHERE status = ?"
    assert facts.execute(query, ["not understood"]).fetchall() == []
