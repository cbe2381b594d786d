"""Derived tables, from tables written by hand."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from by_hand import answers, target, with_derived

from railwright.check.account import subject_text
from railwright.facts.schema import tables
from railwright.facts.subjects import subjects

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


# ---- ports ----------------------------------------------------------------------------------


def port_rows(state: str = "ACTIVE", **more: Any) -> dict[str, list[dict[str, Any]]]:
    """One RDMA port below the switch of `switch()`, and one far away."""
    device = {**H, "psid": "MT_1", "sys_image_guid": "1"}
    port = {**H, "port": 1, "link_layer": "Ethernet", "rate_gbps": 400.0, "netdev": ""}
    return {
        "pci_function": [
            *switch(),
            function("0000:50:00.0", "", "nic", root_bus="0000:4f", numa_node=1),
        ],
        "rdma_device": [
            {**device, "device": "mlx5_0", "pci": "0000:18:00.0"},
            {**device, "device": "mlx5_1", "pci": "0000:50:00.0", "sys_image_guid": "2"},
        ],
        "rdma_port": [
            {**port, "device": "mlx5_0", "state": state, "netdev": "eth0"},
            {**port, "device": "mlx5_1", "state": "ACTIVE", "netdev": "eth1"},
        ],
        "probe_result": answers("gpu1", "pci", "infiniband", "ip_address", "ip_route"),
        **more,
    }


ROLE = "SELECT device, role, rail, plane FROM port ORDER BY 1"


def test_the_port_beside_a_gpu_is_compute_and_the_other_storage(tmp_path: Path) -> None:
    assert ask(tmp_path, port_rows(), ROLE) == [
        ("mlx5_0", "compute", 0, 0),
        ("mlx5_1", "storage", None, None),
    ]


def test_a_port_that_is_down_and_without_address_is_unused(tmp_path: Path) -> None:
    assert ask(tmp_path, port_rows("DOWN"), ROLE)[0] == ("mlx5_0", "unused", None, None)


def test_a_port_that_is_down_but_has_an_address_is_still_compute(tmp_path: Path) -> None:
    addresses = [
        {**H, "netdev": "eth0", "family": "inet", "address": "10.0.0.1", "scope": "global"}
    ]
    rows = port_rows("DOWN", address=addresses)
    assert ask(tmp_path, rows, ROLE)[0] == ("mlx5_0", "compute", 0, 0)


def far_ports(*psids: str) -> dict[str, list[dict[str, Any]]]:
    """Cards that are not below a switch with a GPU, all of them down and with an address."""
    names = [f"mlx5_{number}" for number in range(len(psids))]
    pci = [f"0000:{0x50 + number:02x}:00.0" for number in range(len(psids))]
    device = {**H, "sys_image_guid": "1"}
    port = {**H, "port": 1, "link_layer": "Ethernet", "rate_gbps": 40.0, "state": "DOWN"}
    address = {**H, "family": "inet", "scope": "global"}
    return {
        "pci_function": [
            function("0000:19:00.0", "", "gpu", numa_node=0, root_bus="0000:18"),
            *(function(p, "", "nic", numa_node=1, root_bus="0000:4f") for p in pci),
        ],
        "rdma_device": [
            {**device, "device": name, "pci": p, "psid": psid}
            for name, p, psid in zip(names, pci, psids, strict=True)
        ],
        "rdma_port": [{**port, "device": name, "netdev": f"eth{name}"} for name in names],
        "address": [{**address, "netdev": f"eth{name}", "address": "10.0.0.1"} for name in names],
        "probe_result": answers("gpu1", "pci", "infiniband", "ip_address", "ip_route"),
    }


def test_ports_of_one_kind_are_compute_although_all_of_them_are_down(tmp_path: Path) -> None:
    roles = [row[1] for row in ask(tmp_path, far_ports("MT_1", "MT_1"), ROLE)]
    assert roles == ["compute", "compute"]


def test_ports_of_two_kinds_have_no_role_while_all_are_down(tmp_path: Path) -> None:
    roles = [row[1] for row in ask(tmp_path, far_ports("MT_1", "MT_2"), ROLE)]
    assert roles == [None, None]


def test_a_slow_port_of_the_only_kind_is_still_compute(tmp_path: Path) -> None:
    """Nothing but the kind of card tells here: no port is near the GPU."""
    rows = port_rows()
    rows["pci_function"] = [one for one in rows["pci_function"] if one["pci"] != "0000:18:00.0"]
    rows["pci_function"].append(
        function("0000:60:00.0", "", "nic", root_bus="0000:5f", numa_node=1)
    )
    rows["rdma_device"][0]["pci"] = "0000:60:00.0"
    rows["rdma_port"][0]["rate_gbps"] = 200.0
    assert [row[1] for row in ask(tmp_path / "a", rows, ROLE)] == ["compute", "compute"]
    rows["rdma_device"][0]["psid"] = "MT_2"  # another card, and slower: no longer the only kind
    assert [row[1] for row in ask(tmp_path / "b", rows, ROLE)] == ["storage", "compute"]


def test_the_default_route_makes_management(tmp_path: Path) -> None:
    route = {**H, "family": "inet", "routing_table": "main", "destination": "default", "place": 0}
    rows = port_rows(route=[{**route, "netdev": "eth1"}])
    assert ask(tmp_path, rows, ROLE)[1] == ("mlx5_1", "management", None, None)


def test_no_role_is_made_up_where_something_was_not_read(tmp_path: Path) -> None:
    unread = port_rows(probe_result=answers("gpu1", "pci", "infiniband", ip_route="timeout"))
    assert [row[1] for row in ask(tmp_path / "a", unread, ROLE)] == [None, None]
    blind = port_rows(probe_result=answers("gpu1", "infiniband", "ip_route", pci="timeout"))
    blind["pci_function"] = []
    assert [row[1] for row in ask(tmp_path / "b", blind, ROLE)] == [None, None]


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
    monkeypatch.setattr("railwright.facts.derive.HOSTS_AT_A_TIME", 2)
    assert ask(tmp_path / "chunks", rows, query) == whole
    assert len(whole) == 7
