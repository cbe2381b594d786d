"""Links: who is at the other end, where a switch stands, what a port does; from tables written by hand."""

from pathlib import Path
from typing import Any

import pytest

from lab.harness.by_hand import target, with_derived
from lab.harness.small_fabric import (
    Rows,
    change,
    database_of,
    drop,
    fabric,
    heard_by_host,
    host_rows,
)


def ask(rows: Rows, query: str) -> list[tuple[Any, ...]]:
    with database_of(rows) as database:
        return database.execute(query).fetchall()


def end(rows: Rows, target: str, port: str, *columns: str) -> tuple[Any, ...]:
    found = ask(
        rows,
        f"SELECT {', '.join(columns)} FROM link_end WHERE target = '{target}' AND port = '{port}'",
    )
    assert len(found) == 1
    return found[0]


TELLING = ("peer", "peer_port", "peer_kind", "told_by", "trouble")

# ---- whom an end hears ------------------------------------------------------------------------


def test_every_link_of_a_sound_fabric_is_told_by_both_ends() -> None:
    query = "SELECT target, port, peer, peer_port, facing, tier, role FROM link_end ORDER BY ALL"
    assert ask(fabric(), query) == [
        ("gpu1", "ens1", "leaf1", "Ethernet0", "up", 0, "compute"),
        ("gpu1", "ens2", "leaf2", "swp1s0", "up", 0, "compute"),
        ("gpu2", "ens1", "leaf1", "Ethernet4", "up", 0, "compute"),
        ("gpu2", "ens2", "leaf2", "swp1s1", "up", 0, "compute"),
        ("leaf1", "Ethernet0", "gpu1", "ens1", "down", 1, "host"),
        ("leaf1", "Ethernet12", "spine2", "Eth1/1", "up", 1, "fabric"),
        ("leaf1", "Ethernet4", "gpu2", "ens1", "down", 1, "host"),
        ("leaf1", "Ethernet8", "spine1", "Ethernet1/1", "up", 1, "fabric"),
        ("leaf2", "swp1s0", "gpu1", "ens2", "down", 1, "host"),
        ("leaf2", "swp1s1", "gpu2", "ens2", "down", 1, "host"),
        ("leaf2", "swp2s0", "spine1", "Ethernet2/1", "up", 1, "fabric"),
        ("leaf2", "swp2s1", "spine2", "Eth1/2", "up", 1, "fabric"),
        ("spine1", "Ethernet1/1", "leaf1", "Ethernet8", "down", 2, "fabric"),
        ("spine1", "Ethernet2/1", "leaf2", "swp2s0", "down", 2, "fabric"),
        ("spine2", "Eth1/1", "leaf1", "Ethernet12", "down", 2, "fabric"),
        ("spine2", "Eth1/2", "leaf2", "swp2s1", "down", 2, "fabric"),
    ]
    query = "SELECT DISTINCT told_by, trouble FROM link_end"
    assert ask(fabric(), query) == [("both", "")]


def test_a_name_in_full_where_the_operator_uses_short_ones() -> None:
    rows = fabric()
    change(rows, "switch_neighbor", {"target": "leaf1", "port": "Ethernet8"}, system_name="SPINE1.dc.example.net")  # fmt: skip
    assert end(rows, "leaf1", "Ethernet8", *TELLING) == ("spine1", "Ethernet1/1", "switch", "both", "")  # fmt: skip


def test_a_neighbor_without_a_name_is_known_by_its_address() -> None:
    rows = fabric()
    change(rows, "switch_neighbor", {"target": "leaf1", "port": "Ethernet0"}, system_name="", chassis_id="5c:25:73:a0:01:00", port_description="")  # fmt: skip
    assert end(rows, "leaf1", "Ethernet0", *TELLING) == ("gpu1", "ens1", "host", "both", "")  # fmt: skip


def test_a_port_id_of_its_own_is_known_by_what_the_other_end_says() -> None:
    # Onyx may send a number as its port id.
    rows = fabric()
    change(rows, "switch_neighbor", {"target": "leaf1", "port": "Ethernet12"}, port_id="27", port_description="")  # fmt: skip
    assert end(rows, "leaf1", "Ethernet12", *TELLING) == ("spine2", "Eth1/1", "switch", "both", "")  # fmt: skip


def test_an_end_that_hears_nobody_though_it_was_asked() -> None:
    rows = drop(fabric(), "lldp_neighbor", target="gpu1", netdev="ens1")
    assert end(rows, "gpu1", "ens1", *TELLING) == ("leaf1", "Ethernet0", "switch", "other end", "")  # fmt: skip
    assert end(rows, "leaf1", "Ethernet0", *TELLING) == ("gpu1", "ens1", "host", "this end", "one-sided")  # fmt: skip


def test_an_end_that_was_not_asked_makes_no_trouble() -> None:
    rows = drop(fabric(), "lldp_neighbor", target="gpu1")
    drop(rows, "probe_result", target="gpu1", probe="lldpctl")
    assert end(rows, "leaf1", "Ethernet0", *TELLING) == ("gpu1", "ens1", "host", "this end", "")  # fmt: skip


def test_nobody_is_heard_and_nothing_was_read_are_two_things() -> None:
    rows = drop(fabric(), "lldp_neighbor", target="gpu1", netdev="ens1")
    drop(rows, "switch_neighbor", target="leaf1", port="Ethernet0")
    assert end(rows, "gpu1", "ens1", *TELLING, "facing") == ("", "", "", "", "", "")
    drop(rows, "lldp_neighbor", target="gpu1")
    drop(rows, "probe_result", target="gpu1", probe="lldpctl")
    assert end(rows, "gpu1", "ens1", *TELLING, "facing") == (None,) * 6


def test_two_ends_that_name_others() -> None:
    # gpu1:ens1 hears leaf1:Ethernet4, where gpu2 is: leaf1 and gpu2 agree, so gpu1 is the odd one.
    rows = drop(fabric(), "lldp_neighbor", target="gpu1", netdev="ens1")
    rows["lldp_neighbor"].append(heard_by_host("gpu1", "ens1", "leaf1", "Ethernet4"))
    assert end(rows, "gpu1", "ens1", *TELLING) == ("leaf1", "Ethernet4", "switch", "this end", "contradiction")  # fmt: skip
    assert end(rows, "leaf1", "Ethernet4", *TELLING) == ("gpu2", "ens1", "host", "both", "")  # fmt: skip
    assert end(rows, "leaf1", "Ethernet0", *TELLING) == ("gpu1", "ens1", "host", "this end", "contradiction")  # fmt: skip


def test_two_cables_that_changed_places_contradict_nobody() -> None:
    rows = fabric()
    for host, port in (("gpu1", "Ethernet4"), ("gpu2", "Ethernet0")):
        drop(rows, "lldp_neighbor", target=host, netdev="ens1")
        rows["lldp_neighbor"].append(heard_by_host(host, "ens1", "leaf1", port))
        mac = f"5c:25:73:a0:0{host[-1]}:00"
        change(rows, "switch_neighbor", {"target": "leaf1", "port": port}, system_name=host, port_id=mac)  # fmt: skip
    assert end(rows, "gpu1", "ens1", *TELLING) == ("leaf1", "Ethernet4", "switch", "both", "")  # fmt: skip


def test_several_neighbors_on_one_port() -> None:
    rows = fabric()
    rows["lldp_neighbor"].append(heard_by_host("gpu1", "ens1", "leaf2", "swp1s1"))
    # The one that agrees is taken, and that there are two is said.
    assert end(rows, "gpu1", "ens1", *TELLING) == ("leaf1", "Ethernet0", "switch", "both", "several")  # fmt: skip


def test_a_card_whose_firmware_speaks_is_the_same_neighbor() -> None:
    rows = fabric()
    row = {"target": "leaf1", "port": "Ethernet0", "place": 1, "probe": "sonic_show", "system_name": "", "chassis_id": "5c:25:73:a0:01:00", "port_id": "5c:25:73:a0:01:00", "port_description": ""}  # fmt: skip
    rows["switch_neighbor"].append(row)
    assert end(rows, "leaf1", "Ethernet0", *TELLING) == ("gpu1", "ens1", "host", "both", "")  # fmt: skip


def test_a_machine_that_hears_itself_hears_nobody() -> None:
    rows = drop(fabric(), "lldp_neighbor", target="gpu1", netdev="ens1")
    drop(rows, "switch_neighbor", target="leaf1", port="Ethernet0")
    own = heard_by_host("gpu1", "ens1", "leaf1", "Ethernet0")
    rows["lldp_neighbor"].append({**own, "system_name": "gpu1", "port_id": "ens1"})
    assert end(rows, "gpu1", "ens1", *TELLING) == ("", "", "", "", "")


def test_a_machine_of_another_snapshot_is_a_stranger() -> None:
    rows = fabric()
    change(rows, "switch_neighbor", {"target": "spine1", "port": "Ethernet2/1"}, system_name="leaf9", port_id="swp1")  # fmt: skip
    assert end(rows, "spine1", "Ethernet2/1", *TELLING, "role", "facing") == ("leaf9", "swp1", "stranger", "this end", "contradiction", "other", None)  # fmt: skip


def test_two_machines_of_one_short_name_are_not_guessed() -> None:
    rows = fabric()
    rows["target"].append(target("spine1.other.example.net", kind="switch"))
    change(rows, "switch_neighbor", {"target": "leaf1", "port": "Ethernet8"}, system_name="spine1.dc")  # fmt: skip
    assert end(rows, "leaf1", "Ethernet8", "peer", "peer_kind") == ("spine1.dc", "stranger")  # fmt: skip


def test_members_of_a_bond_are_the_ends() -> None:
    rows = drop(fabric(), "rdma_port", target="gpu1", device="mlx5_1")
    change(rows, "rdma_port", {"target": "gpu1"}, netdev="bond0")
    change(rows, "netdev", {"target": "gpu1"}, master="bond0")
    query = "SELECT port, device, peer FROM link_end WHERE target = 'gpu1' ORDER BY 1"
    assert ask(rows, query) == [("ens1", "mlx5_0", "leaf1"), ("ens2", "mlx5_0", "leaf2")]


def test_management_ports_and_bundles_are_no_ends() -> None:
    rows = fabric()
    for port in ("eth0", "PortChannel101"):
        rows["switch_port"].append({"target": "leaf1", "probe": "sonic_show", "port": port, "is_up": True})  # fmt: skip
    query = "SELECT count(*) FROM link_end WHERE target = 'leaf1'"
    assert ask(rows, query) == [(4,)]


# ---- where a switch stands --------------------------------------------------------------------

PLACE = "SELECT target, tier, rail, plane, pod, hosts, down_links, up_links, down_mbps, up_mbps FROM switch_place ORDER BY 1"  # fmt: skip


def test_places_of_a_sound_fabric() -> None:
    assert ask(fabric(), PLACE) == [
        ("leaf1", 1, 0, 0, "leaf1", 2, 2, 2, 800_000, 800_000),
        ("leaf2", 1, 1, 0, "leaf1", 2, 2, 2, 800_000, 800_000),
        ("spine1", 2, -1, 0, "leaf1", 0, 2, 0, 800_000, 0),
        ("spine2", 2, -1, 0, "leaf1", 0, 2, 0, 800_000, 0),
    ]


def test_a_link_that_is_down_is_not_counted() -> None:
    rows = change(fabric(), "switch_port", {"target": "leaf1", "port": "Ethernet8", "probe": "sonic_show"}, is_up=False)  # fmt: skip
    assert ask(rows, PLACE)[0][6:] == (2, 1, 800_000, 400_000)


def test_a_speed_that_was_not_read_leaves_no_sum() -> None:
    rows = change(fabric(), "switch_port", {"target": "leaf2", "port": "swp2s0"}, speed_mbps=None)
    assert ask(rows, PLACE)[1][6:] == (2, 2, 800_000, None)


def test_a_switch_without_a_path_to_a_host_has_no_tier() -> None:
    rows = fabric()
    rows["target"].append(target("spine3", kind="switch"))
    assert ask(rows, PLACE)[-1] == ("spine3", *[None] * 9)


def test_a_switch_that_was_not_read_has_the_tier_that_its_neighbors_give_it() -> None:
    rows = {t: [r for r in v if r["target"] != "spine2" or t == "target"] for t, v in fabric().items()}  # fmt: skip
    assert ask(rows, PLACE)[-1] == ("spine2", 2, -1, 0, "leaf1", *[None] * 5)


def test_one_swapped_cable_does_not_change_whose_leaf_it_is() -> None:
    """Ten hosts below one leaf with their rail 0, of one the rail 1."""
    rows: Rows = {"target": [target("leaf1", kind="switch")], "switch_neighbor": []}
    for number in range(10):
        host, rail = f"h{number}", int(number == 9)
        rows["target"].append(target(host, kind="host"))
        part = one_host(host)
        for table, more in part.items():
            rows.setdefault(table, []).extend(more)
        rows["switch_neighbor"].append({"target": "leaf1", "probe": "eos_show", "port": f"Ethernet{number}", "place": 0, "system_name": host, "port_id": f"ens{rail}"})  # fmt: skip
    query = "SELECT rail FROM switch_place"
    assert ask(rows, query) == [(0,)]
    # With two of ten it is 80 % and no more: several.
    change(rows, "switch_neighbor", {"port": "Ethernet0"}, port_id="ens1")
    assert ask(rows, query) == [(-1,)]


def one_host(name: str) -> Rows:
    rows = host_rows("gpu1")
    del rows["lldp_neighbor"], rows["target"], rows["host"]
    for more in rows.values():
        for row in more:
            row["target"] = name
            for key in ("netdev", "name"):
                if row.get(key) in ("ens1", "ens2"):
                    row[key] = f"ens{int(row[key][-1]) - 1}"
            if "mac" in row:
                row["mac"] = f"{row['mac']}{name}"
    return rows


# ---- what a port is and does ------------------------------------------------------------------


def test_what_is_in_force_counts_before_what_is_configured() -> None:
    # Shown: 9216; configured: 9100. What was not shown is taken from the configuration.
    assert end(fabric(), "leaf1", "Ethernet0", "mtu", "autonegotiation", "lanes") == (9216, False, 4)  # fmt: skip
    rows = change(fabric(), "switch_port", {"target": "leaf1", "probe": "sonic_show"}, mtu=None)
    assert end(rows, "leaf1", "Ethernet0", "mtu") == (9100,)


def test_pauses_of_the_whole_link() -> None:
    rows = change(fabric(), "switch_port", {"target": "spine1"}, pause_rx=True, pause_tx=False)
    assert end(rows, "spine1", "Ethernet1/1", "pause_rx", "pause_tx") == (True, False)
    assert end(rows, "leaf1", "Ethernet0", "pause_rx", "pause_tx") == (None, None)


def test_an_end_of_a_host() -> None:
    assert end(fabric(), "gpu1", "ens1", "device", "device_port", "is_up", "admin_up",
        "speed_mbps", "fec", "fec_asked", "mtu", "trust", "pfc_mask", "pause_rx", "cable_length_m",
        "cable_length_kind", "cohort",
    ) == (
        "mlx5_0", 1, True, True, 400_000, "rs", "rs", 9000, "dscp", 8, False, 3.0, "assembly",
        "host compute, tier 0 up, 400G",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("switch", "port", "trust"),
    [
        ("leaf1", "Ethernet0", "dscp"),
        ("leaf2", "swp1s0", "both"),
        ("spine1", "Ethernet1/1", "dscp"),
        ("spine2", "Eth1/1", "dscp"),
    ],
)
def test_every_system_sorts_the_same_packets(switch: str, port: str, trust: str) -> None:
    sorted_ = "".join(str(dscp // 8) for dscp in range(64))
    found = end(fabric(), switch, port, "trust", "dscp_classes", "pfc_mask", "watchdog_mask")  # fmt: skip
    assert found == (trust, sorted_, 8, 8)


def test_a_map_with_holes_and_one_that_was_not_understood() -> None:
    rows = drop(fabric(), "switch_dscp", target="leaf1", dscp=26)
    change(rows, "switch_dscp", {"target": "leaf1", "dscp": 27}, traffic_class=None)
    change(rows, "switch_dscp", {"target": "leaf1", "dscp": 63}, traffic_class=9)
    (found,) = end(rows, "leaf1", "Ethernet0", "dscp_classes")
    assert found == "0000000011111111222222223" + "3.?3333" + "4" * 8 + "5" * 8 + "6" * 8 + "7777777?"  # fmt: skip


def test_a_port_that_trusts_another_field_has_no_map() -> None:
    rows = change(fabric(), "switch_port_qos", {"target": "leaf2", "port": ""}, trust="port")
    assert end(rows, "leaf2", "swp1s0", "trust", "dscp_classes") == ("port", "")


def test_a_sonic_port_without_a_map_is_not_known() -> None:
    """The whole switch has one; whether the port follows it depends on the chip."""
    rows = change(fabric(), "switch_port_qos", {"target": "leaf1", "port": "Ethernet0"}, trust=None, dscp_map="")  # fmt: skip
    rows["switch_port_qos"].append({"target": "leaf1", "probe": "sonic_config_db", "port": "", "trust": "dscp", "dscp_map": "AZURE"})  # fmt: skip
    assert end(rows, "leaf1", "Ethernet0", "trust", "dscp_classes", "behavior") == (None,) * 3  # fmt: skip


def test_pauses_that_are_set_but_not_in_force() -> None:
    where = {"target": "spine1", "port": "Ethernet1/1"}
    rows = change(fabric(), "switch_pfc", where, is_operational=False)
    assert end(rows, *where.values(), "pfc_mask") == (0,)
    # Without a link nothing can be in force.
    change(rows, "switch_port", where, is_up=False)
    assert end(rows, *where.values(), "pfc_mask") == (8,)


def test_a_priority_that_was_not_read_leaves_the_mask_open() -> None:
    rows = drop(fabric(), "switch_pfc", target="spine2", priority=5)
    change(rows, "switch_port_qos", {"target": "spine2", "port": ""}, pfc_priorities=None)
    assert end(rows, "spine2", "Eth1/1", "pfc_mask") == (None,)


def class_of(rows: Rows, switch: str, number: int, *columns: str) -> tuple[Any, ...]:
    found = ask(rows, f"SELECT DISTINCT {', '.join(columns)} FROM port_class WHERE target = '{switch}' AND class = {number}")  # fmt: skip
    assert len(found) == 1
    return found[0]


INGRESS = ("pfc", "priority_group", "is_lossless", "headroom_bytes", "has_shared_headroom", "pause_threshold_bytes")  # fmt: skip
EGRESS = ("queue", "scheduler", "weight", "ecn_enabled", "red_enabled", "ecn_minimum_bytes", "ecn_maximum_bytes", "ecn_probability_percent")  # fmt: skip


@pytest.mark.parametrize(
    ("switch", "ingress", "egress"),
    [
        ("leaf1", (True, 3, True, 230_400, False, 500_000), (3, "dwrr", 50, True, True, 150_000, 1_500_000, 5)),
        ("leaf2", (True, 3, True, None, None, None), (3, "dwrr", 50, True, None, 150_000, 1_500_000, None)),
        ("spine1", (True, 3, None, None, None, None), (3, "dwrr", None, True, None, None, None, None)),
        ("spine2", (True, 3, True, None, None, None), (3, "wrr", None, True, False, None, None, None)),
    ],
)  # fmt: skip
def test_what_a_lossless_class_gets(
    switch: str, ingress: tuple[Any, ...], egress: tuple[Any, ...]
) -> None:
    assert class_of(fabric(), switch, 3, *INGRESS, *EGRESS) == ingress + egress


def test_what_a_lossy_class_gets() -> None:
    # Queue 5 is not in the configuration: nothing is bound to it.
    assert class_of(fabric(), "leaf1", 5, *INGRESS, *EGRESS) == (False, 0, False, None, False, None, 5, "", None, False, False, None, None, None)  # fmt: skip
    assert class_of(fabric(), "leaf2", 5, "queue", "is_lossless", "scheduler") == (0, False, "dwrr")  # fmt: skip


def test_queues_that_were_not_read_are_not_unbound() -> None:
    rows = drop(fabric(), "switch_queue", target="leaf1")
    assert class_of(rows, "leaf1", 3, *EGRESS) == (3, *[None] * 7)


def test_headroom_of_a_profile_that_only_the_show_command_has() -> None:
    rows = change(fabric(), "switch_priority_group", {"target": "leaf1", "priority_group": 3}, is_lossless=None, headroom_bytes=None, profile="worked-out")  # fmt: skip
    assert class_of(rows, "leaf1", 3, "is_lossless", "headroom_bytes") == (None, None)
    rows["switch_buffer_profile"].append({"target": "leaf1", "probe": "sonic_show", "profile": "worked-out", "xoff_bytes": 283_648})  # fmt: skip
    assert class_of(rows, "leaf1", 3, "is_lossless", "headroom_bytes") == (True, 283_648)  # fmt: skip


def test_ends_that_do_the_same_have_one_behavior() -> None:
    query = "SELECT count(DISTINCT behavior), count(behavior), count(*) FROM link_end WHERE target = 'leaf1'"  # fmt: skip
    assert ask(fabric(), query) == [(1, 4, 4)]
    rows = change(fabric(), "switch_queue", {"target": "leaf1", "port": "Ethernet8", "queue": 3}, ecn_minimum_bytes=160_000)  # fmt: skip
    assert ask(rows, query) == [(2, 4, 4)]


def test_links_over_chunks_of_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two ends of a link may be in two chunks."""
    monkeypatch.setattr("railwright.model.derive.HOSTS_AT_A_TIME", 1)
    query = "SELECT told_by, count(*), count(behavior) FROM link_end GROUP BY ALL"
    with with_derived(tmp_path, fabric()).database() as database:
        assert database.execute(query).fetchall() == [("both", 16, 16)]
