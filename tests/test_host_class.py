"""Which hosts are of one class and what is expected in them, from tables written by hand."""

from pathlib import Path
from typing import Any

import pytest

from lab.harness.by_hand import answers, target, with_derived
from railwright.model.nearest_layout import Layout, Votes, nearest, split_by_name

Rows = dict[str, list[dict[str, Any]]]


def card(host: str, bus: int, ids: str, class_: str, **more: Any) -> dict[str, Any]:
    """A card that sits directly on a root bus of its own."""
    vendor, device = ids.split(":")
    own = {"pci": f"0000:{bus:02x}:00.0", "root_bus": f"0000:{bus:02x}", "parent": ""}
    link = {"link_speed_gts": 32.0, "link_width": 16, "link_speed_max_gts": 32.0}
    usual = {"physical_function": "", "driver": "x", "link_width_max": 16, **link}
    return {"target": host, "vendor": vendor, "device": device, "class": class_, **own, **usual, **more}  # fmt: skip


def nic(host: str, bus: int, ids: str = "15b3:1021") -> dict[str, Any]:
    return card(host, bus, ids, "020700")


def gpu(host: str, bus: int, ids: str = "10de:2330") -> dict[str, Any]:
    return card(host, bus, ids, "030200")


def whole(host: str) -> list[dict[str, Any]]:
    """Two NICs and two GPUs."""
    return [nic(host, 0x18), nic(host, 0x28), gpu(host, 0x19), gpu(host, 0x29)]


def fleet(**cards: list[dict[str, Any]]) -> Rows:
    return {
        "target": [target(name) for name in cards],
        "probe_result": [row for name in cards for row in answers(name, "pci", "dmi")],
        "pci_function": [row for rows in cards.values() for row in rows],
    }


def dmi(hosts: list[str], vendor: str, product: str, board: str = "") -> list[dict[str, Any]]:
    names = {"sys_vendor": vendor, "product_name": product, "board_name": board, "board_vendor": ""}
    return [{"target": host, **names} for host in hosts]


def ask(folder: Path, rows: Rows, query: str) -> list[tuple[Any, ...]]:
    with with_derived(folder, rows).database() as database:
        return database.execute(query).fetchall()


NAMES = "SELECT class FROM host_class ORDER BY target"


def test_the_key_differs_by_maker(tmp_path: Path) -> None:
    # Strings as real machines print them (linuxhw/DMI and others: hardware/machine_names.toml).
    said = {
        "a": ("Dell Inc.", "PowerEdge R750", "04V528"),
        "b": ("Supermicro", "Super Server", "X11DPL-i"),
        "c": ("Supermicro", "SYS-821GE-TNHR-LC0-HP001", "X13DEG-OAD"),
        "d": ("Supermicro", "SYS-821GE-TNHR", "X13DEG-OAD"),
        "e": ("NVIDIA", "DGXA100 920-23687-2531-001", "DGXA100"),
        "f": ("Lenovo", "ThinkSystem SR590 -[7X99CTO1WW]-", "7X99CTO1WW"),
        "g": ("Lenovo", "ThinkSystem SR590", "7X99CTO9WW"),
        "h": ("To be filled by O.E.M.", "Default string", "Default string"),
        "i": ("Dell Inc.", "System Product Name", "04V528"),
        "j": ("Microsoft Corporation", "Virtual Machine", "Virtual Machine"),
        "k": ("ASUSTeK COMPUTER INC.", "Not Specified", "KRPG-U8-M Series"),
        "l": ("NVIDIA", "NVIDIA_DGX_Spark", ""),
    }
    rows = fleet(**{name: [nic(name, 0x10 + n)] for n, name in enumerate(said)})
    rows["dmi"] = [row for name, words in said.items() for row in dmi([name], *words)]
    found = [name.removesuffix(", no GPU") for (name,) in ask(tmp_path, rows, NAMES)]
    assert found == [
        "Dell Inc. PowerEdge R750",
        "Supermicro X11DPL-i",
        "Supermicro SYS-821GE-TNHR",
        "Supermicro SYS-821GE-TNHR",
        "NVIDIA DGXA100",
        "Lenovo ThinkSystem SR590",
        "Lenovo ThinkSystem SR590",
        "layout of h",
        "layout of i",
        "layout of j",
        "ASUSTeK COMPUTER INC. KRPG-U8-M Series",
        "NVIDIA_DGX_Spark",
    ]


@pytest.mark.parametrize("with_dmi", [True, False])
def test_nobody_leaves_a_class_by_what_it_lost(tmp_path: Path, with_dmi: bool) -> None:
    lost_nic = [one for one in whole("n4") if one["pci"] != "0000:28:00.0"]
    lost_gpus = [one for one in whole("n5") if one["vendor"] != "10de"]
    hosts = {f"n{n}": whole(f"n{n}") for n in range(4)}
    rows = fleet(**hosts, n4=lost_nic, n5=lost_gpus)
    model = "layout of n0"
    if with_dmi:
        rows["dmi"] = dmi([*hosts, "n4", "n5"], "ACME", "Box")
        model = "ACME Box"
    found = ask(tmp_path, rows, NAMES)
    assert found == [(f"{model}, 10de:2330",)] * 6


EXPECTED = "SELECT slot, part, votes, members, is_expected FROM expected_part ORDER BY slot"


def test_most_of_a_class(tmp_path: Path) -> None:
    hosts = {f"n{n}": whole(f"n{n}") for n in range(4)}
    hosts["n3"] = [one for one in hosts["n3"] if one["pci"] != "0000:28:00.0"]
    rows = fleet(**hosts)
    rows["dmi"] = dmi(list(hosts), "ACME", "Box")
    # Two more of which nobody knows what is in them: 3 of 6 is not most.
    silent = {**rows, "target": [*rows["target"], target("n4"), target("n5")]}
    silent["dmi"] = dmi([*hosts, "n4", "n5"], "ACME", "Box")
    assert ask(tmp_path / "four", rows, EXPECTED) == [
        ("0000:18/00", "15b3:1021", 4, 4, True),
        ("0000:19/00", "10de:2330", 4, 4, True),
        ("0000:28/00", "15b3:1021", 3, 4, True),
        ("0000:29/00", "10de:2330", 4, 4, True),
    ]
    assert ask(tmp_path / "six", silent, EXPECTED)[2] == ("0000:28/00", "15b3:1021", 3, 6, False)


def test_three_are_no_class_to_go_by(tmp_path: Path) -> None:
    hosts = {f"n{n}": whole(f"n{n}") for n in range(3)}
    rows = fleet(**hosts)
    rows["dmi"] = dmi(list(hosts), "ACME", "Box")
    assert {row[2:] for row in ask(tmp_path, rows, EXPECTED)} == {(3, 3, False)}


def test_a_host_that_does_not_tell_its_root_bridges_votes_with_its_peers(tmp_path: Path) -> None:
    hosts = {f"n{n}": whole(f"n{n}") for n in range(4)}
    rows = fleet(**hosts)
    rows["dmi"] = dmi(list(hosts), "ACME", "Box")
    rows["pci_root"] = [
        {"target": f"n{n}", "root_bus": "0000:18", "acpi_path": r"\_SB_.PC01", "acpi_uid": "1"}
        for n in range(3)
    ]
    assert ("0000:PC01/00", "15b3:1021", 4, 4, True) in ask(tmp_path, rows, EXPECTED)


def test_the_gpu_is_part_of_the_class(tmp_path: Path) -> None:
    rows = fleet(
        a=[nic("a", 0x18), gpu("a", 0x19)], b=[nic("b", 0x18), gpu("b", 0x19, "10de:2335")]
    )
    rows["dmi"] = dmi(["a", "b"], "ACME", "Box")
    found = ask(tmp_path, rows, NAMES)
    assert found == [("ACME Box, 10de:2330",), ("ACME Box, 10de:2335",)]


# ---- the nearest layout, and names that tell builds apart


def layout(*slots: str, gpu: str = "g", members: int = 5) -> Layout:
    return Layout("", gpu, frozenset(slots), members)


def test_the_nearest_layout_is_the_one_that_has_what_is_seen() -> None:
    full, other = layout(*"abcdefgh"), layout(*"uvwxyz")
    assert nearest(frozenset("abcdefg"), "g", [other, full]) == full
    assert nearest(frozenset("abcd"), "", [full]) == full  # its GPUs are gone
    assert nearest(frozenset("abcd"), "h", [full]) is None  # another GPU
    assert nearest(frozenset("abc"), "g", [full]) is None  # less than half of it
    assert nearest(frozenset("abcxyz"), "g", [full, other]) is None
    assert nearest(frozenset(), "g", [full]) is None


def test_names_split_only_where_each_build_has_something_of_its_own() -> None:
    compute, storage = ("box", "gpu#", 4), ("box", "stor#", 6)
    apart = [Votes(*compute, "p", 4), Votes(*compute, "q", 0), Votes(*storage, "p", 0), Votes(*storage, "q", 6)]  # fmt: skip
    assert split_by_name(apart) == {"box": ["gpu#", "stor#"]}
    less = [Votes(*compute, "p", 4), Votes(*storage, "p", 0)]
    assert split_by_name(less) == {}
    few = [one._replace(hosts=3, votes=min(one.votes, 3)) for one in apart]
    assert split_by_name(few) == {}


def test_the_operators_names_split_a_class(tmp_path: Path) -> None:
    compute = {f"web{n}": [nic(f"web{n}", 0x18)] for n in range(4)}
    storage = {f"stor{n}": [nic(f"stor{n}", 0x28)] for n in range(4)}
    rows = fleet(**compute, **storage)
    rows["dmi"] = dmi([*compute, *storage], "ACME", "Box")
    query = "SELECT DISTINCT class, members FROM host_class ORDER BY ALL"
    assert ask(tmp_path, rows, query) == [
        ("ACME Box, no GPU, named stor#", 4),
        ("ACME Box, no GPU, named web#", 4),
    ]


def test_a_model_that_is_known_tells_its_gpus(tmp_path: Path) -> None:
    rows = fleet(n1=whole("n1"), n2=whole("n2"))
    rows["dmi"] = [
        *dmi(["n1"], "Dell Inc.", "PowerEdge XE9680"),
        *dmi(["n2"], "Dell Inc.", "PowerEdge R750"),
    ]
    with with_derived(tmp_path, rows).database() as database:
        found = database.execute("SELECT target, board_gpus FROM host_class ORDER BY 1").fetchall()
    assert found == [("n1", 8), ("n2", None)]
