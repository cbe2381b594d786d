"""Where a card sits and what is in a slot, from tables written by hand."""

from pathlib import Path
from typing import Any

from lab.harness.by_hand import answers, target, with_derived

H = {"target": "gpu1"}
SLOT = "SELECT pci, slot, slot_by_bus, switch_slot, kind, part, state FROM slot ORDER BY pci"
LINK = {"link_speed_gts": 32.0, "link_width": 16, "link_speed_max_gts": 32.0, "link_width_max": 16}
ALL_ONES = dict.fromkeys(LINK)


def ask(folder: Path, rows: dict[str, list[dict[str, Any]]], query: str) -> list[tuple[Any, ...]]:
    probes = answers("gpu1", "pci", "infiniband", "netdev")
    rows = {"target": [target("gpu1")], "probe_result": probes, **rows}
    with with_derived(folder, rows).database() as database:
        return database.execute(query).fetchall()


def function(pci: str, parent: str, ids: str, class_: str, **more: Any) -> dict[str, Any]:
    vendor, device = ids.split(":")
    own = {"pci": pci, "parent": parent, "vendor": vendor, "device": device, "class": class_}
    usual = {"physical_function": "", "root_bus": "0000:15", "driver": "mlx5_core"}
    return {**H, **own, **usual, **LINK, **more}


def tree() -> list[dict[str, Any]]:
    """A root port, a switch of three ports; a NIC of two functions, a GPU, and an empty port."""
    bridge = ("1000:c030", "060400")
    return [
        function("0000:15:01.0", "", "8086:352a", "060400"),
        function("0000:16:00.0", "0000:15:01.0", *bridge),
        function("0000:17:01.0", "0000:16:00.0", *bridge),
        function("0000:17:02.0", "0000:16:00.0", *bridge),
        function("0000:17:03.0", "0000:16:00.0", *bridge),
        function("0000:18:00.0", "0000:17:01.0", "15b3:1021", "020700"),
        function("0000:18:00.1", "0000:17:01.0", "15b3:1021", "020000"),
        function("0000:19:00.0", "0000:17:02.0", "10de:2330", "030200"),
    ]


def changed(rows: list[dict[str, Any]], pci: str, **values: Any) -> list[dict[str, Any]]:
    return [{**row, **values} if row["pci"] == pci else row for row in rows]


ACPI = {"root_bus": "0000:15", "acpi_path": "\\_SB_.PC01", "acpi_uid": "1", "acpi_hid": "PNP0A08"}


def test_slots_are_named_by_the_firmware_and_by_the_way_down(tmp_path: Path) -> None:
    found = ask(tmp_path, {"pci_function": tree(), "pci_root": [{**H, **ACPI}]}, SLOT)
    switch = "0000:PC01/01.0/00.0"
    assert found == [
        ("0000:17:03.0", "0000:PC01/01.0/00.0/03.0", "0000:15/01.0/00.0/03.0", "", "port", "", "empty"),
        ("0000:18:00.0", f"{switch}/01.0/00", "0000:15/01.0/00.0/01.0/00", switch, "nic", "15b3:1021", "alive"),
        ("0000:18:00.1", f"{switch}/01.0/00", "0000:15/01.0/00.0/01.0/00", switch, "nic", "15b3:1021", "alive"),
        ("0000:19:00.0", f"{switch}/02.0/00", "0000:15/01.0/00.0/02.0/00", switch, "gpu", "10de:2330", "alive"),
    ]  # fmt: skip


def test_a_root_bridge_without_a_path_is_named_by_its_uid_else_by_its_bus(tmp_path: Path) -> None:
    query = "SELECT slot, root_named_by FROM slot WHERE kind = 'gpu'"
    by_uid = [{**H, **ACPI, "acpi_path": ""}]
    rows = {"pci_function": tree(), "pci_root": by_uid}
    assert ask(tmp_path / "uid", rows, query) == [("0000:UID1/01.0/00.0/02.0/00", "acpi")]
    rows = {"pci_function": tree()}
    assert ask(tmp_path / "bus", rows, query) == [("0000:15/01.0/00.0/02.0/00", "bus")]


def test_bus_numbers_may_move_below_the_root(tmp_path: Path) -> None:
    moved = [
        {**row, "pci": row["pci"].replace("0000:19:", "0000:21:")}
        for row in tree()
        if row["pci"] != "0000:18:00.1"
    ]
    query = "SELECT pci, slot FROM slot WHERE kind = 'gpu'"
    found = ask(tmp_path, {"pci_function": moved, "pci_root": [{**H, **ACPI}]}, query)
    assert found == [("0000:21:00.0", "0000:PC01/01.0/00.0/02.0/00")]


STATE = "SELECT state FROM slot WHERE pci = '0000:19:00.0'"


def test_listed_is_not_alive(tmp_path: Path) -> None:
    dead = changed(tree(), "0000:19:00.0", **ALL_ONES)
    assert ask(tmp_path / "links", {"pci_function": dead}, STATE) == [("dead",)]
    config = [{**H, "pci": "0000:19:00.0", "responds": False}]
    rows = {"pci_function": tree(), "pci_config": config}
    assert ask(tmp_path / "config", rows, STATE) == [("dead",)]
    # What root reads counts before what the link files seem to say.
    rows = {"pci_function": dead, "pci_config": [{**config[0], "responds": True}]}
    assert ask(tmp_path / "alive", rows, STATE) == [("alive",)]


def test_where_no_function_shows_a_link_nobody_is_dead(tmp_path: Path) -> None:
    # A kernel before 4.13 has no link files at all; nvidia-smi has talked to the GPU, however.
    old = [{**row, **ALL_ONES} for row in tree()]
    assert ask(tmp_path / "unknown", {"pci_function": old}, STATE) == [(None,)]
    rows = {"pci_function": old, "gpu_smi": [{**H, "pci": "0000:19:00.0"}]}
    assert ask(tmp_path / "told", rows, STATE) == [("alive",)]


def test_what_looks_like_a_nic_and_is_none(tmp_path: Path) -> None:
    below = "0000:17:03.0"
    bridges = [function(f"0000:20:00.{n}", below, "15b3:1021", "020700") for n in range(4)]
    others = [
        function("0000:30:00.0", "0000:15:02.0", "15b3:2100", "080100"),
        function("0000:31:00.0", "", "1000:00b2", "010700"),
        function("0000:32:00.0", "", "1000:02b2", "058000"),
        function("0000:33:00.0", "", "102b:0536", "030000"),  # the management controller's screen
        function("0000:18:00.2", "0000:17:01.0", "15b3:101e", "020000", physical_function="0000:18:00.0"),
    ]  # fmt: skip
    query = "SELECT DISTINCT kind, part, state FROM slot ORDER BY ALL"
    assert ask(tmp_path, {"pci_function": [*tree(), *bridges, *others]}, query) == [
        ("data direct", "15b3:2100", "alive"),
        ("gpu", "10de:2330", "alive"),
        ("nic", "15b3:1021", "alive"),
        ("nvlink bridge", "15b3:1021", "alive"),
        ("placeholder", "1000:02b2", "empty"),
        ("switch management", "1000:00b2", "alive"),
    ]


CARD = "SELECT functions, rdma_devices, netdevs, psid, state FROM card WHERE kind = 'nic'"


def test_a_card_with_all_its_functions(tmp_path: Path) -> None:
    rdma = [{**H, "device": f"mlx5_{n}", "pci": f"0000:18:00.{n}", "psid": "MT_1"} for n in (0, 1)]
    netdev = {**H, "name": "eth0", "kind": "physical", "pci": "0000:18:00.1", "port_name": "p1"}
    rows = {"pci_function": tree(), "rdma_device": rdma, "netdev": [netdev]}
    assert ask(tmp_path / "whole", rows, CARD) == [(2, 2, 1, "MT_1", "alive")]
    rows["rdma_device"] = []
    assert ask(tmp_path / "none", rows, CARD) == [(2, 0, 1, "", "alive")]
    # An RDMA device that does not say where it belongs may be one of this card.
    rows["rdma_device"] = [{**H, "device": "mlx5_9", "pci": None}]
    assert ask(tmp_path / "open", rows, CARD) == [(2, None, 1, None, "alive")]


def test_a_tree_that_was_not_read_gives_no_slot(tmp_path: Path) -> None:
    rows = changed(tree(), "0000:17:02.0", parent=None)
    query = "SELECT slot FROM slot WHERE kind = 'gpu'"
    assert ask(tmp_path, {"pci_function": rows}, query) == [(None,)]
