"""What only one side can tell, what two sources contradict each other on, and who is blamed for it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import Rows, change, drop, fabric
from railwright.cli import program


def check(folder: Path, rows: Rows, *more: str) -> dict[str, Any]:
    (folder / "site.toml").write_text('profile = "roce-lossless"\n')
    with_derived(folder, rows)
    done = CliRunner().invoke(program(), ["check", "--json", *more, "--store", str(folder)])
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def found(said: dict[str, Any], rule: str) -> set[str]:
    return {one["subject"] for one in said["findings"] if one["rule"] == rule}


@pytest.mark.parametrize("column", ["pfc_rx", "pfc_tx"])
@pytest.mark.parametrize("port", ["", "swp1s0"])
def test_pfc_in_one_direction_is_no_pfc(column: str, port: str, tmp_path: Path) -> None:
    """Cumulus: nv set qos pfc tx disable, for all ports or for one."""
    rows = fabric()
    own = {"target": "leaf2", "probe": "nvue_show", "port": port}
    rows["switch_port_qos"].append({**own, column: False})
    ports = {"leaf2:swp1s0"} if port else {f"leaf2:swp{n}s{m}" for n in (1, 2) for m in (0, 1)}
    assert found(check(tmp_path, rows), "switch-pfc-mismatch") == ports


def test_the_mode_semi_lossless_sends_no_pauses(tmp_path: Path) -> None:
    rows = change(fabric(), "switch", {"target": "spine2"}, roce_mode="semi-lossless")
    subjects = found(check(tmp_path, rows), "switch-pfc-mismatch")
    assert subjects == {"spine2:Eth1/1", "spine2:Eth1/2"}


def silent(rows: Rows, name: str, **more: Any) -> Rows:
    """The same without what a machine has said itself."""
    for table in rows:
        rows[table] = [row for row in rows[table] if table == "target" or row["target"] != name]
    return change(rows, "target", {"target": name}, status="silent", **more)


def test_a_partner_that_was_not_read_is_the_reason(tmp_path: Path) -> None:
    """What a leaf's port is for, the host behind it tells."""
    said = check(tmp_path, silent(fabric(), "gpu2"))
    told = {
        one["why"]
        for one in said["inconclusive"]
        if one["subject"] == "leaf2:swp1s1" and one["reason"] != "not_reported"
    }
    assert told == {"the other end was not read: gpu2 silent"}
    assert {one["state"] for one in said["inconclusive"] if one["target"] == "gpu2"} == {"open"}


def test_what_a_partner_out_of_service_would_tell_is_excluded(tmp_path: Path) -> None:
    said = check(tmp_path, silent(fabric(), "gpu2", out_of_service="site: RMA 4711"))
    why = "the other end was not read: gpu2 silent"
    states = {one["state"] for one in said["inconclusive"] if one["why"] == why}
    assert states == {"out of service"}


def test_two_tools_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    rows = fabric()
    rows["dcb_pfc_priority"] = [
        {"target": "gpu1", "netdev": "ens1", "priority": n, "enabled": False} for n in range(8)
    ]
    said = check(tmp_path, rows, "--select", "intent-pfc")
    told = {one["subject"]: (one["reason"], one["why"]) for one in said["inconclusive"]}
    assert told == {
        "gpu1:mlx5_0/1": (
            "contradictory",
            "contradictory: PFC of a priority (qos_priority.pfc_enabled, dcb_pfc_priority.enabled)",
        )
    }


def test_a_system_that_does_not_report_fec_is_the_reason_at_both_ends(tmp_path: Path) -> None:
    rows = change(fabric(), "switch_port", {"target": "spine2"}, fec_active=None)
    said = check(tmp_path, rows, "--select", "link-settings-differ")
    told = {one["subject"]: one["why"] for one in said["inconclusive"]}
    ends = ("leaf1:Ethernet12", "leaf2:swp2s1", "spine2:Eth1/1", "spine2:Eth1/2")
    assert told == dict.fromkeys(ends, "onyx does not report fec")


def test_links_of_switches_are_compared_where_no_host_was_read(tmp_path: Path) -> None:
    rows = silent(silent(fabric(), "gpu1"), "gpu2")
    change(rows, "switch_port", {"target": "spine1", "port": "Ethernet1/1"}, fec_active="none")
    subjects = found(check(tmp_path, rows), "link-settings-differ")
    assert subjects == {"spine1:Ethernet1/1", "leaf1:Ethernet8"}


def test_one_of_two_leaves_with_fewer_uplinks_is_not_in_order(tmp_path: Path) -> None:
    rows = fabric()
    for name in ("leaf1", "leaf2", "spine1", "spine2"):
        change(rows, "switch", {"target": name}, model="SN5600")
    change(rows, "switch_port", {"target": "leaf1", "port": "Ethernet8"}, is_up=False)
    drop(rows, "switch_neighbor", target="leaf1", port="Ethernet8")
    said = check(tmp_path, rows, "--select", "uplinks-missing")
    told = {one["subject"]: one["reason"] for one in said["inconclusive"]}
    assert told["leaf1"] == "few_peers"
    assert "leaf2" not in told
