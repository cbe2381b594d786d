"""Derived tables, from tables written by hand."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from lab.harness.by_hand import answers, target, with_derived
from railwright.check.account import subject_text
from railwright.schema.subjects import subjects
from railwright.schema.table import tables

H = {"target": "gpu1"}


def ask(folder: Path, rows: dict[str, list[dict[str, Any]]], query: str) -> list[tuple[Any, ...]]:
    rows = {"target": [target("gpu1")], "probe_result": answers("gpu1", "pci"), **rows}
    with with_derived(folder, rows).database() as database:
        return database.execute(query).fetchall()


def function(pci: str, parent: str, kind: str = "", **more: Any) -> dict[str, Any]:
    ids = {
        "gpu": {"vendor": "10de", "class": "030200"},
        "nic": {"vendor": "15b3", "class": "020000"},
    }.get(kind, {"vendor": "1000", "class": "060400"})
    link = {"link_speed_gts": 32.0, "link_width": 16, "link_speed_max_gts": 32.0}
    usual = {"link_width_max": 16, "physical_function": "", "numa_node": 0, "root_bus": "0000:15"}
    return {**H, "pci": pci, "parent": parent, **ids, **link, **usual, **more}


def switch(**more: Any) -> list[dict[str, Any]]:
    """Root port, switch, and below it a NIC and a GPU."""
    return [
        function("0000:15:01.0", "", **more),
        function("0000:16:00.0", "0000:15:01.0", **more),
        function("0000:17:00.0", "0000:16:00.0", **more),
        function("0000:17:01.0", "0000:16:00.0", **more),
        function("0000:18:00.0", "0000:17:00.0", "nic", **more),
        function("0000:19:00.0", "0000:17:01.0", "gpu", **more),
    ]


def changed(rows: list[dict[str, Any]], pci: str, **values: Any) -> list[dict[str, Any]]:
    return [{**row, **values} if row["pci"] == pci else row for row in rows]


PATH = "SELECT hops, root_port, round(own_gbps), round(narrowest_gbps), narrowest_hop, is_narrowed FROM pcie_endpoint WHERE pci = '0000:18:00.0'"  # fmt: skip


def test_a_whole_path(tmp_path: Path) -> None:
    # 32 GT/s x 16 lanes x 128/130 = 504.1 Gb/s
    assert ask(tmp_path, {"pci_function": switch()}, PATH) == [
        (4, "0000:15:01.0", 504.0, 504.0, "0000:15:01.0", False)
    ]


def test_the_narrowest_hop_is_above_the_card(tmp_path: Path) -> None:
    # The switch's uplink runs at 16 GT/s x 8: 126 Gb/s, though the card itself is at full speed.
    rows = switch()
    for pci in ("0000:15:01.0", "0000:16:00.0"):
        rows = changed(rows, pci, link_speed_gts=16.0, link_width=8)
    assert ask(tmp_path, {"pci_function": rows}, PATH) == [
        (4, "0000:15:01.0", 504.0, 126.0, "0000:15:01.0", True)
    ]


def test_a_hop_that_was_not_read_makes_the_path_unknown(tmp_path: Path) -> None:
    rows = changed(switch(), "0000:16:00.0", link_width=None)
    assert ask(tmp_path, {"pci_function": rows}, PATH) == [
        (4, "0000:15:01.0", 504.0, None, None, None)
    ]


def test_old_generations_lose_a_fifth_to_their_encoding(tmp_path: Path) -> None:
    rows = [function("0000:18:00.0", "", "nic", link_speed_gts=5.0, link_width=8)]
    query = "SELECT gbps FROM pcie_path"
    assert ask(tmp_path, {"pci_function": rows}, query) == [(32.0,)]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    rows = [
        function("0000:18:00.0", "0000:17:00.0", "nic"),
        function("0000:17:00.0", "0000:18:00.0"),
    ]
    assert ask(tmp_path, {"pci_function": rows}, "SELECT count(*) < 40 FROM pcie_path") == [(True,)]


RELATION = "SELECT gpu, nic, relation, is_nearest FROM gpu_nic ORDER BY 1, 2"
GPU = "0000:19:00.0"


def test_relations_of_one_gpu(tmp_path: Path) -> None:
    rows = [
        *switch(),
        # behind a second switch that hangs on the first
        function("0000:20:00.0", "0000:17:00.0"),
        function("0000:21:00.0", "0000:20:00.0"),
        function("0000:22:00.0", "0000:21:00.0", "nic"),
        # another root port of the same root bus, another root bus, another NUMA node
        function("0000:30:00.0", "0000:15:02.0", "nic"),
        function("0000:40:00.0", "0000:3f:01.0", "nic", root_bus="0000:3f"),
        function("0000:50:00.0", "0000:4f:01.0", "nic", root_bus="0000:4f", numa_node=1),
    ]
    assert ask(tmp_path, {"pci_function": rows}, RELATION) == [
        (GPU, "0000:18:00.0", "PIX", True),
        (GPU, "0000:22:00.0", "PXB", False),
        (GPU, "0000:30:00.0", "PHB", False),
        (GPU, "0000:40:00.0", "NODE", False),
        (GPU, "0000:50:00.0", "SYS", False),
    ]


def test_a_numa_node_that_nobody_tells_is_not_far_away(tmp_path: Path) -> None:
    far = function("0000:50:00.0", "", "nic", root_bus="0000:4f", numa_node=-1)
    assert ask(tmp_path, {"pci_function": [*switch(), far]}, RELATION) == [
        (GPU, "0000:18:00.0", "PIX", None),
        (GPU, "0000:50:00.0", None, None),
    ]


def test_virtual_functions_have_no_path_of_their_own(tmp_path: Path) -> None:
    rows = [
        *switch(),
        function("0000:18:00.1", "0000:17:00.0", "nic", physical_function="0000:18:00.0"),
    ]
    query = "SELECT pci FROM pcie_endpoint WHERE kind = 'nic'"
    assert ask(tmp_path, {"pci_function": rows}, query) == [("0000:18:00.0",)]


# ---- subjects -------------------------------------------------------------------------------


def test_every_subject_is_enumerated_by_its_table() -> None:
    for subject in subjects().values():
        table = tables()[subject.table]
        assert set(subject.key) <= set(table.column_types())
        # Which parameters matter is the site's word on cards that are there.
        if subject.probe and table.fed_by != "derived" and subject.kind != "parameter":
            assert subject.probe in table.probes, subject.kind
        assert subject.key[0] == "target"


def test_how_a_subject_is_written() -> None:
    values = {"target": "gpu017", "netdev": "mlx5_3", "priority": 3}
    assert subjects()["priority"].write(values) == "gpu017:mlx5_3#3"


@pytest.mark.parametrize(
    ("port", "element", "text"),
    [
        (0, -1, "gpu017:0000:18:00.0:MAX_ACC_OUT_READ"),
        (1, -1, "gpu017:0000:18:00.0:MAX_ACC_OUT_READ_P1"),
        (0, 3, "gpu017:0000:18:00.0:MAX_ACC_OUT_READ[3]"),
    ],
)
def test_a_parameter_is_written_as_mlxconfig_does(port: int, element: int, text: str) -> None:
    kind = subjects()["parameter"]
    key = {"target": "gpu017", "pci": "0000:18:00.0", "name": "MAX_ACC_OUT_READ", "port": port}
    assert kind.write({**key, "element": element}) == text
    columns = (
        f"'gpu017' AS target, '0000:18:00.0' AS pci, 'MAX_ACC_OUT_READ' AS name, {port} AS port"
    )
    query = f"SELECT {subject_text(kind)} FROM (SELECT {columns}, {element} AS element)"
    assert duckdb.execute(query).fetchone() == (text,)


# ---- the rest -------------------------------------------------------------------------------


def test_two_sources_that_differ_are_both_kept(tmp_path: Path) -> None:
    rows = {
        "netdev": [{**H, "name": "eth0", "mtu": 9000}, {**H, "name": "eth1", "mtu": 9000}],
        "ip_link": [{**H, "netdev": "eth0", "mtu": 1500}, {**H, "netdev": "eth1"}],
    }
    query = "SELECT subject, source_a, value_a, source_b, value_b FROM disagreement"
    assert ask(tmp_path, rows, query) == [
        ("eth0", "netdev.mtu", "9000", "ip_link.mtu", "1500")  # eth1 was not read: no difference
    ]


def test_hosts_in_chunks_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"gpu{number}" for number in range(7)]
    rows = {
        "target": [target(name) for name in names],
        "probe_result": [row for name in names for row in answers(name, "pci")],
        "pci_function": [{**row, "target": name} for name in names for row in switch()],
    }
    query = "SELECT * FROM gpu_nic ORDER BY ALL"
    whole = ask(tmp_path / "whole", rows, query)
    monkeypatch.setattr("railwright.model.derive.HOSTS_AT_A_TIME", 2)
    assert ask(tmp_path / "chunks", rows, query) == whole
    assert len(whole) == 7


# ---- kinds of functions ---------------------------------------------------------------------


def ids(pci: str, vendor: str, device: str, kind: str, **more: Any) -> dict[str, Any]:
    return function(pci, "", vendor=vendor, device=device, **{"class": kind}, **more)


KIND = "SELECT pci, kind, is_rdma FROM card_function ORDER BY 1"


@pytest.mark.parametrize(
    ("vendor", "device", "code", "kind", "rdma"),
    [
        ("10de", "2330", "030200", "gpu", False),  # H100
        ("1002", "74a1", "120000", "gpu", False),  # MI300X
        ("1002", "740c", "038000", "gpu", False),  # MI250X
        ("8086", "0bd5", "038000", "gpu", False),  # Data Center GPU Max
        ("1002", "164e", "030000", "other", False),  # a desktop's graphics
        ("1a03", "2000", "030000", "other", False),  # VGA of the management controller
        ("15b3", "1021", "020000", "nic", True),
        ("14e4", "1760", "020000", "nic", True),  # Thor2
        ("14e4", "165f", "020000", "nic", False),  # BCM5720
        ("1dd8", "1002", "020000", "nic", True),  # Pollara
        ("8086", "159b", "020000", "nic", False),  # E810 without irdma
        ("15b3", "2100", "080100", "data direct", False),
        ("1000", "00b2", "010700", "switch management", False),
        ("1000", "02b2", "010700", "placeholder", False),
        ("11f8", "4128", "058000", "switch management", False),
        ("10de", "22a3", "068000", "nvswitch", False),
    ],
)
def test_what_a_function_is(
    tmp_path: Path, vendor: str, device: str, code: str, kind: str, rdma: bool
) -> None:
    rows = [ids("0000:18:00.0", vendor, device, code)]
    assert ask(tmp_path, {"pci_function": rows}, KIND) == [("0000:18:00.0", kind, rdma)]


def test_four_infiniband_functions_of_one_connectx7_are_a_bridge_to_nvlink(tmp_path: Path) -> None:
    bridge = [ids(f"0000:05:00.{number}", "15b3", "1021", "020700") for number in range(4)]
    # A real card beside it, with two ports.
    card = [ids(f"0000:29:00.{number}", "15b3", "1021", "020700") for number in range(2)]
    found = ask(tmp_path, {"pci_function": bridge + card}, KIND)
    assert [kind for _, kind, _ in found] == ["nvlink bridge"] * 4 + ["nic"] * 2


def test_an_ethernet_card_with_an_rdma_device_is_an_rdma_card(tmp_path: Path) -> None:
    rows = {
        "pci_function": [
            ids("0000:82:00.0", "8086", "159b", "020000"),
            ids("0000:82:01.0", "15b3", "101e", "020000", physical_function="0000:81:00.0"),
        ],
        "rdma_device": [{**H, "device": "irdma0", "pci": "0000:82:00.0"}],
    }
    assert ask(tmp_path, rows, KIND) == [
        ("0000:82:00.0", "nic", True),
        ("0000:82:01.0", "virtual function", False),
    ]


# ---- what lies on what ----------------------------------------------------------------------


def test_a_vlan_on_a_bond_is_followed_to_its_members(tmp_path: Path) -> None:
    physical = {**H, "kind": "physical", "master": ""}
    virtual = {**H, "kind": "virtual", "master": ""}
    link = {**H, "link": "", "link_netnsid": -1}
    rows = {
        "netdev": [
            {**physical, "name": "eth0", "master": "bond0"},
            {**physical, "name": "eth1", "master": "bond0"},
            {**physical, "name": "eth2"},
            {**virtual, "name": "bond0"},
            {**virtual, "name": "bond0.100", "master": "br0"},
            {**virtual, "name": "br0"},
            {**virtual, "name": "veth1", "master": "br0"},
        ],
        "bond": [{**H, "netdev": "bond0"}],
        "ip_link": [
            {**link, "netdev": "bond0.100", "link": "bond0"},
            # The other end is in a pod: that one is not below it here.
            {**link, "netdev": "veth1", "link": "eth2", "link_netnsid": 3},
        ],
        "route": [{**H, "netdev": "eth2.7", "destination": "default"}],
    }
    query = "SELECT netdev, below, depth FROM netdev_stack ORDER BY ALL"
    assert ask(tmp_path, rows, query) == [
        ("bond0", "eth0", 1),
        ("bond0", "eth1", 1),
        ("bond0.100", "bond0", 1),
        ("bond0.100", "eth0", 2),
        ("bond0.100", "eth1", 2),
        ("br0", "bond0", 2),
        ("br0", "eth0", 3),
        ("br0", "eth1", 3),
        ("eth2.7", "eth2", 1),
    ]


def test_devices_that_lie_on_one_another_in_a_circle_end(tmp_path: Path) -> None:
    row = {**H, "kind": "physical"}
    rows = {"netdev": [{**row, "name": "a", "master": "b"}, {**row, "name": "b", "master": "a"}]}
    assert ask(tmp_path, rows, "SELECT count(*) <= 4 FROM netdev_stack") == [(True,)]
