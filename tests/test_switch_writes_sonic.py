"""Writes to a SONiC switch of the lab, through the product's parsers.

Expected values are those of facts about CONFIG_DB and sonic-utilities, written by hand; Ethernet0 is
the first port of the leaf, and goes to the first host.
"""

import json
from typing import Any, NamedTuple

import pytest

from lab.fleet.fabric import Fabric
from tests.switch_writing import FILE, Desk, small, value

FABRIC = small("sonic")
DYNAMIC = small("sonic", leaf_presets={"sonic": "azure-dynamic"})
QOS = "/PORT_QOS_MAP/Ethernet0"
WRED = "/WRED_PROFILE/AZURE_LOSSLESS"


class Case(NamedTuple):
    """A setting: what is written, where it shows, and what writes the old value back."""

    setting: str
    write: Any  # a command, or the changes of a patch
    table: str
    key: dict[str, Any]
    column: str
    before: Any
    after: Any
    back: Any
    flaps: int = 0  # how often the link went down and up, there and back
    fabric: Fabric = FABRIC
    bystander: str = ""  # a port of which the same holds: the map is everybody's


PORT = {"port": "Ethernet0"}
QUEUE = {"port": "Ethernet0", "queue": 3}
GROUP = {"port": "Ethernet0", "priority_group": 3}
CASES = (
    Case("trust", [("remove", f"{QOS}/dscp_to_tc_map")],
         "switch_port_qos", PORT, "trust", "dscp", "port",
         [("add", f"{QOS}/dscp_to_tc_map", "AZURE")]),
    Case("dscp_map", [("replace", "/DSCP_TO_TC_MAP/AZURE/26", "4")],
         "switch_dscp", {"map": "AZURE", "dscp": 26}, "traffic_class", 3, 4,
         [("replace", "/DSCP_TO_TC_MAP/AZURE/26", "3")]),
    Case("priority_map", [("replace", "/TC_TO_QUEUE_MAP/AZURE/3", "4")],
         "switch_class_queue", {"map": "AZURE", "traffic_class": 3}, "queue", 3, 4,
         [("replace", "/TC_TO_QUEUE_MAP/AZURE/3", "3")]),
    Case("priority_map", [("replace", "/TC_TO_PRIORITY_GROUP_MAP/AZURE/4", "3")],
         "switch_class_group", {"map": "AZURE", "traffic_class": 4}, "priority_group", 0, 3,
         [("replace", "/TC_TO_PRIORITY_GROUP_MAP/AZURE/4", "0")]),
    Case("priority_map", [("replace", "/MAP_PFC_PRIORITY_TO_QUEUE/AZURE/3", "4")],
         "switch_priority_queue", {"map": "AZURE", "priority": 3}, "queue", 3, 4,
         [("replace", "/MAP_PFC_PRIORITY_TO_QUEUE/AZURE/3", "3")]),
    Case("pfc", "sudo config interface pfc priority Ethernet0 4 on",
         "switch_port_qos", PORT, "pfc_priorities", "3", "3,4",
         "sudo config interface pfc priority Ethernet0 4 off"),
    Case("pfc", [("replace", f"{QOS}/pfc_enable", "3,4")],
         "switch_pfc", {"port": "Ethernet0", "priority": 4}, "enabled", False, True,
         [("replace", f"{QOS}/pfc_enable", "3")]),
    # A profile of one's own, bound; then back to the one that is worked out.
    Case("headroom", ("config buffer profile add own --xon 18432 --xoff 200000 --size 218432",
                      "config interface buffer priority-group lossless set Ethernet0 3 own"),
         "switch_priority_group", GROUP, "headroom_bytes", None, 200000,
         ("config interface buffer priority-group lossless set Ethernet0 3",
          "config buffer profile remove own"), fabric=DYNAMIC),
    Case("headroom", [("replace", "/BUFFER_PROFILE/pg_lossless_200000_5m_profile/xoff", "160000")],
         "switch_priority_group", GROUP, "headroom_bytes", 131072, 160000,
         [("replace", "/BUFFER_PROFILE/pg_lossless_200000_5m_profile/xoff", "131072")]),
    Case("cable_length", "config interface cable_length Ethernet0 40m",
         "switch_port", PORT, "cable_length_m", 5.0, 40.0,
         "config interface cable_length Ethernet0 5m", fabric=DYNAMIC),
    Case("cable_length", [("replace", "/CABLE_LENGTH/AZURE/Ethernet0", "40m")],
         "switch_port", PORT, "cable_length_m", 5.0, 40.0,
         [("replace", "/CABLE_LENGTH/AZURE/Ethernet0", "5m")]),
    Case("ecn", [("replace", f"{WRED}/green_min_threshold", "2000000")],
         "switch_queue", QUEUE, "ecn_minimum_bytes", 1_000_000, 2_000_000,
         [("replace", f"{WRED}/green_min_threshold", "1000000")]),
    Case("ecn", [("replace", f"{WRED}/wred_green_enable", "false")],
         "switch_wred", {"profile": "AZURE_LOSSLESS"}, "green_enabled", True, False,
         [("replace", f"{WRED}/wred_green_enable", "true")]),
    Case("ecn", [("remove", "/QUEUE/Ethernet0|3/wred_profile")],
         "switch_queue", QUEUE, "ecn_enabled", True, False,
         [("add", "/QUEUE/Ethernet0|3/wred_profile", "AZURE_LOSSLESS")]),
    # 48 to a class of its own, which is served strictly: DSCP of CNPs of profile roce-lossless.
    Case("cnp_queue", [("replace", "/DSCP_TO_TC_MAP/AZURE/48", "5"),
                       ("add", "/QUEUE/Ethernet0|5", {"scheduler": "scheduler.2"})],
         "switch_queue", {"port": "Ethernet0", "queue": 5}, "scheduler", None, "strict",
         [("replace", "/DSCP_TO_TC_MAP/AZURE/48", "6"), ("remove", "/QUEUE/Ethernet0|5")]),
    Case("scheduler", [("add", "/SCHEDULER/scheduler.9", {"type": "STRICT"}),
                       ("replace", "/QUEUE/Ethernet0|3/scheduler", "scheduler.9")],
         "switch_queue", QUEUE, "scheduler", "dwrr", "strict",
         [("replace", "/QUEUE/Ethernet0|3/scheduler", "scheduler.1"),
          ("remove", "/SCHEDULER/scheduler.9")]),
    Case("scheduler", [("replace", "/SCHEDULER/scheduler.1/weight", "60")],
         "switch_queue", QUEUE, "weight", 50, 60,
         [("replace", "/SCHEDULER/scheduler.1/weight", "50")]),
    Case("pfc_watchdog", "sudo pfcwd stop Ethernet0",
         "switch_port_qos", PORT, "watchdog", True, False,
         "sudo pfcwd start --action drop Ethernet0 200 --restoration-time 400"),
    Case("pfc_watchdog", "sudo pfcwd start --action forward Ethernet0 300 --restoration-time 900",
         "switch_port_qos", PORT, "watchdog_detection_ms", 200, 300,
         "sudo pfcwd start --action drop Ethernet0 200 --restoration-time 400"),
    Case("mtu", "sudo config interface mtu Ethernet0 1500",
         "switch_port", PORT, "mtu", 9216, 1500, "sudo config interface mtu Ethernet0 9216"),
    Case("fec", "sudo config interface fec Ethernet0 none",
         "switch_port", PORT, "fec_configured", "rs", "none",
         "sudo config interface fec Ethernet0 rs", flaps=2),
    Case("speed", "sudo config interface speed Ethernet0 100000",
         "switch_port", PORT, "speed_mbps", 200_000, 100_000,
         "sudo config interface speed Ethernet0 200000", flaps=2),
    Case("speed", "sudo config interface autoneg Ethernet0 disabled",
         "switch_port", PORT, "autonegotiation", True, False,
         "sudo config interface autoneg Ethernet0 enabled", flaps=2),
    Case("lldp", "sudo config feature state lldp disabled",
         "switch_neighbor", PORT, "system_name", "gpu001", None,
         "sudo config feature state lldp enabled"),
)  # fmt: skip


def do(desk: Desk, work: Any) -> None:
    if isinstance(work, list):
        done = desk.patch(*work)
        assert (done.code, done.stderr) == (0, ""), done
        assert done.stdout.endswith("\nPatch applied successfully.\n")
    else:
        desk.type(*([work] if isinstance(work, str) else work))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.setting}-{case.column}")
def test_a_setting_is_written_shown_and_written_back(case: Case) -> None:
    desk = Desk(case.fabric)
    found = value(desk.rows(), case.table, case.column, **case.key)
    assert found == case.before or case.before is None
    before = desk.texts()
    do(desk, case.write)
    assert value(desk.rows(), case.table, case.column, **case.key) == case.after
    [port] = [one for one in desk.switch().ports if one.name == "Ethernet0"]
    assert port.name == "Ethernet0"
    do(desk, case.back)
    assert desk.texts() == before
    changes = desk.state.running.settings[0].counters.get(("link_changes", -1), 5)
    assert changes - 5 == 2 * case.flaps  # 5: what the model counts of a port that was let alone


def test_all_settings_of_the_list_have_a_case() -> None:
    assert {case.setting for case in CASES} == {
        "trust",
        "dscp_map",
        "priority_map",
        "pfc",
        "headroom",
        "cable_length",
        "ecn",
        "cnp_queue",
        "scheduler",
        "pfc_watchdog",
        "mtu",
        "fec",
        "speed",
        "lldp",
    }  # 802.3x pause: PORT has no field for it in common use


def test_a_map_is_everybodys() -> None:
    desk = Desk(FABRIC)
    do(desk, [("replace", "/DSCP_TO_TC_MAP/AZURE/26", "4")])
    assert {one.dscp_class[26] for one in desk.state.running.settings} == {4}
    [change] = [one for one in desk.state.log[-1]["changes"] if "ports" in one]
    assert len(change["ports"]) == len(desk.state.ports())


# ---- saved, running, timers


def mtu(desk: Desk) -> Any:
    return value(desk.rows(), "switch_port", "mtu", port="Ethernet0")


@pytest.mark.parametrize(
    ("steps", "running", "after_reboot"),
    [
        ((), 9216, 9216),
        (("config interface mtu Ethernet0 1500",), 1500, 9216),
        (("config interface mtu Ethernet0 1500", "config save -y"), 1500, 1500),
        (("config save -y", "config interface mtu Ethernet0 1500"), 1500, 9216),
        (("config interface mtu Ethernet0 1500", "config reload -y"), 9216, 9216),
        (("config checkpoint a", "config interface mtu Ethernet0 1500", "config rollback a"),
         9216, 9216),
        (("config interface mtu Ethernet0 1500", "config save -y", "config checkpoint a",
          "config interface mtu Ethernet0 9000", "config rollback a"), 1500, 1500),
        # The whole configuration goes back: also what was written to another port meanwhile.
        (("config checkpoint a", "config interface mtu Ethernet4 1500", "config rollback a"),
         9216, 9216),
    ],
)  # fmt: skip
def test_what_runs_and_what_is_saved(
    steps: tuple[str, ...], running: int, after_reboot: int
) -> None:
    desk = Desk(FABRIC)
    desk.type(*steps)
    assert mtu(desk) == running
    desk.state.reboot()
    assert mtu(desk) == after_reboot
    assert value(desk.rows(), "switch_port", "mtu", port="Ethernet4") == 9216


def test_a_rollback_can_be_put_off_and_called_off() -> None:
    desk = Desk(FABRIC)
    desk.type("sudo config checkpoint rw",
              "sudo systemd-run --on-active=600 --unit=rw config rollback rw",
              "sudo config interface mtu Ethernet0 1500")  # fmt: skip
    desk.clock.now += 599
    assert desk.state.tick() is False
    assert mtu(desk) == 1500
    desk.clock.now += 2
    assert desk.state.tick() is True
    assert (mtu(desk), desk.state.log[-1]["by"]) == (9216, "timer")
    desk.type("sudo systemd-run --on-active=10m --unit=rw config rollback rw",
              "sudo config interface mtu Ethernet0 1500", "sudo systemctl stop rw.timer")  # fmt: skip
    desk.clock.now += 3600
    assert desk.state.tick() is False
    assert mtu(desk) == 1500


# ---- a patch


def test_a_dry_run_changes_nothing_and_says_what_would_fail() -> None:
    desk = Desk(FABRIC)
    before = desk.texts()
    done = desk.patch(("replace", f"{QOS}/pfc_enable", "3,4"), dry=True)
    assert done.code == 0
    assert done.stdout.startswith("** DRY RUN EXECUTION **\n")
    assert desk.patch(("replace", f"{QOS}/pfc_enable", "3,9"), dry=True).code == 2
    assert desk.texts() == before
    assert desk.state.log[-1]["changes"] == []


ILLEGAL = "Modification of {} table is illegal- validating function "
REFUSED = (
    # Pools are refused on every platform.
    ([("replace", "/BUFFER_POOL/ingress_lossless_pool/size", "1")], ILLEGAL.format("BUFFER_POOL")),
    # Of a profile: dynamic_th and xoff, and only their values.
    ([("replace", "/BUFFER_PROFILE/pg_lossless_200000_5m_profile/size", "1")],
     ILLEGAL.format("BUFFER_PROFILE")),
    ([("remove", "/BUFFER_PROFILE/pg_lossless_200000_5m_profile/xoff")],
     ILLEGAL.format("BUFFER_PROFILE")),
    ([("replace", "/PORT/Ethernet0/fec", "firecode")], ILLEGAL.format("PORT")),
    ([("replace", "/PORT/Ethernet0/speed", "800000")], ILLEGAL.format("PORT")),
    ([("remove", f"/CABLE_LENGTH/AZURE/Ethernet{at}") for at in range(4)], "non-existent object"),
    ([("replace", "/PORT/Ethernet0/mtu", "99999")], "Data Loading Failed"),
    ([("replace", f"{QOS}/dscp_to_tc_map", "NOWHERE")], "DSCP_TO_TC_MAP"),
    ([("remove", "/DSCP_TO_TC_MAP")], "Leafref"),  # maps that are in use stay
    ([("replace", "/SCHEDULER", {})], "empty tables"),
    ([("add", "/PORT_QOS_MAP/Ethernet1", {"pfc_enable": "3"})], "Ethernet1"),
    ([("add", "/NO_SUCH_TABLE", {"a": {"b": "c"}})], "without YANG models"),
    ([("replace", "/asic0/PORT/Ethernet0/mtu", "1500")], "incorrect ASIC number"),
    ([("replace", "", {})], "empty path"),
    ([("test", "/PORT/Ethernet0/mtu", "1500")], "is not equal to tested value"),
)  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), REFUSED, ids=range(len(REFUSED)))
def test_a_patch_that_is_refused(changes: list[Any], words: str) -> None:
    desk = Desk(FABRIC)
    before = desk.texts()
    done = desk.patch(("replace", "/PORT/Ethernet4/mtu", "1500"), *changes)
    assert done.code == 2
    assert done.stderr.startswith("Failed to apply patch due to: ")
    assert words in done.stderr
    assert desk.texts() == before, "not even what stands before it"


def test_a_unit_that_the_updater_does_not_know() -> None:
    """Unknown hardware names: PFC_WD cannot be patched; pfcwd still starts it."""
    desk = Desk(small("sonic", models={"sonic": "SN3700"}))
    done = desk.patch(("remove", "/PFC_WD/Ethernet0"))
    assert (done.code, "Modification of PFC_WD table is illegal" in done.stderr) == (2, True)
    assert desk.state.run("pfcwd stop Ethernet0").code == 0


def test_localhost_is_the_whole_switch() -> None:
    desk = Desk(FABRIC)
    assert desk.patch(("replace", "/localhost/PORT/Ethernet0/mtu", "1500")).code == 0
    assert mtu(desk) == 1500


# ---- commands that do less than they say, and more


def test_start_default_ends_well_and_does_nothing() -> None:
    desk = Desk(FABRIC)
    desk.type("pfcwd stop")
    done = desk.type("sudo pfcwd start_default")
    assert (done.stdout, done.stderr) == ("", "")
    assert value(desk.rows(), "switch_port_qos", "watchdog", port="Ethernet0") is False


@pytest.mark.parametrize(
    "line", ["config reload -y", "config qos reload", "config load_minigraph -y"]
)
def test_dangerous_verbs_reset_every_port_and_are_marked(line: str) -> None:
    desk = Desk(FABRIC)
    desk.type(line)
    flaps = {one.counters.get(("link_changes", -1), 5) for one in desk.state.running.settings
             if one.admin_up}  # fmt: skip
    assert flaps == {7}
    assert [entry["dangerous"] for entry in desk.state.log] == [True]


def test_reload_and_save_ask_first() -> None:
    desk = Desk(FABRIC)
    for line in ("config reload", "config save"):
        done = desk.state.run(line)
        assert (done.code, done.stderr) == (1, "Aborted!\n")


def test_qos_reload_takes_away_what_was_written() -> None:
    desk = Desk(FABRIC)
    do(desk, [("replace", "/DSCP_TO_TC_MAP/AZURE/26", "4")])
    desk.type("sudo config qos reload")
    assert value(desk.rows(), "switch_dscp", "traffic_class", map="AZURE", dscp=26) == 3


def test_the_model_of_buffers_decides_which_commands_there_are() -> None:
    desk = Desk(FABRIC)
    for line in ("config interface cable_length Ethernet0 40m",
                 "config buffer profile add own --xon 1 --xoff 1"):  # fmt: skip
        done = desk.state.run(line)
        assert done.code == 2
        assert "on a system with dynamic buffer enabled" in done.stderr


# ---- what somebody may type


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("config interface mtu Ethernet1 1500", 1, "Invalid port Ethernet1"),
        ("config interface mtu ../../etc 1500", 1, "Invalid port ../../etc"),
        ("config interface mtu Ethernet0", 2, "Missing argument"),
        ("config interface mtu Ethernet0 many", 2, "not a valid integer"),
        ("config interface mtu Ethernet0 99999", 2, "valid range of 68 to 9216"),
        ("config interface mtu Ethernet0 -1", 2, ""),
        ("config interface mtu Ethernet0 ٣٤٥", 2, "not a valid integer"),
        ("config interface fec Ethernet0 best", 1, "fec best is not in"),
        ("config interface speed Ethernet0 1", 1, "Valid speeds:10000,25000"),
        ("config interface autoneg Ethernet0 on", 2, "choose from enabled, disabled"),
        ("config interface pfc priority Ethernet0 9 on", 2, "invalid choice: 9"),
        ("config interface pfc priority Ethernet7 3 on", 0, "Cannot find interface Ethernet7"),
        ("config interface pfc priority Ethernet0 3 on", 0, "has already been enabled"),
        ("pfcwd start Ethernet9 400", 1, "Failed to run command, invalid options:\nEthernet9"),
        ("pfcwd start --action drop Ethernet0 50", 2, "valid range of 100 to 5000"),
        ("pfcwd start", 2, "Missing argument"),
        ("pfcwd interval 300", 1, "unable to use polling interval = 300ms"),
        ("config feature state nothing enabled", 1, "Unable to retrieve nothing"),
        ("config rollback nowhere", 2, "Checkpoint 'nowhere' does not exist"),
        ("config apply-patch", 2, "Missing argument 'PATCH_FILE_PATH'"),
        ("config apply-patch /etc/shadow", 2, "No such file or directory: '/etc/shadow'"),
        ("config what", 2, 'No such command "what"'),
        ("config", 2, "No such command"),
        ("", 1, ""),
        ("sudo", 1, "usage: sudo"),
        ("config interface mtu 'Ethernet0 1500", 1, "Invalid port"),
        ("config buffer profile set", 2, "dynamic buffer"),
        ("config save --what", 2, "no such option"),
        ("systemd-run config save -y", 1, "--on-active="),
        ("systemctl stop sshd", 5, "not loaded"),
    ],
)
def test_odd_lines_get_an_error_text_and_change_nothing(line: str, code: int, words: str) -> None:
    desk = Desk(FABRIC)
    done = desk.state.run(line)
    assert done.code == code
    assert words in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert all(not entry["changes"] for entry in desk.state.log)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b"\xff\xfe\x00", ""),
        (b"null", "'list' expected"),
        (b'{"op": "add"}', "'list' expected"),
        (b"[1]", "does not contain 'path'"),
        (b'[{"op": "burn", "path": "/PORT"}]', "Unknown operation"),
        (b'[{"op": "add", "path": "/PORT/Ethernet0/mtu"}]', "'value'"),
        (b'[{"op": "add", "path": "PORT", "value": {}}]', "must start with /"),
        (b'[{"op": "add", "path": "/a/b/c/d/e", "value": 1}]', "not found"),
        (b'[{"op": "add", "path": "/PORT/Ethernet0/mtu/x", "value": "1"}]', "not found"),
        (b'[{"op": "replace", "path": "/PORT/Ethernet0", "value": "x"}]', "Data Loading Failed"),
        (b'[{"op": "replace", "path": "/PORT", "value": "x"}]', "Data Loading Failed"),
        (b'[{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": 1500}]', "are texts"),
        (b'[{"op": "replace", "path": "/PORT_QOS_MAP/Ethernet0/pfc_enable", "value": "3-"}]',
         "Data Loading Failed"),
        (b'[{"op": "replace", "path": "/CABLE_LENGTH/AZURE/Ethernet0", "value": "far"}]',
         "Data Loading Failed"),
        (b'[{"op": "replace", "path": "/QUEUE/Ethernet0|3/wred_profile", "value": ["a"]}]',
         "Data Loading Failed"),
        (b'[{"op": "add", "path": "/QUEUE/Ethernet0|x", "value": {}}]', "Data Loading Failed"),
        (b'[{"op": "move", "path": "/PORT/Ethernet0", "from": "/NO/where"}]', "not found"),
        (b'[{"op": "copy", "path": "/PORT/Ethernet0", "from": 7}]', "start with"),
        (b"[" * 200_000, "recursion"),
        (b'[{"op":"test","path":"/PORT/Ethernet0/mtu","value":"' + b"9" * 10_000_000 + b'"}]',
         "is not equal"),
    ],
    ids=range(22),
)  # fmt: skip
def test_odd_patches_get_an_error_text_and_change_nothing(data: bytes, words: str) -> None:
    desk = Desk(FABRIC)
    done = desk.state.run(f"config apply-patch {FILE}", files={FILE: data})
    assert done.code == 2, done
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(desk.state.log[-1].get("given", "")) <= 4_000
    assert desk.state.running.settings == FABRIC.named("leaf001").settings


# ---- misbehaviour


def test_a_write_that_is_ignored() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_ignored", at="mtu")
    desk.type("config interface mtu Ethernet0 1500", "config interface fec Ethernet0 none")
    assert (mtu(desk), desk.state.running.settings[0].fec_asked) == (9216, "none")
    done = desk.patch(("replace", "/PORT/Ethernet0/mtu", "1500"))
    assert (done.code, mtu(desk)) == (0, 9216)


def test_a_read_back_that_lies() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_read_back_lies")
    desk.type("config interface mtu Ethernet0 1500")
    assert mtu(desk) == 1500
    assert desk.state.running.settings[0].mtu == 9216
    assert desk.state.log[-1]["changes"] == []
    desk.state.reboot()
    assert mtu(desk) == 9216


def test_config_db_keeps_what_the_asic_refused() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_asic_refuses", at="pg_lossless")
    profile = "pg_lossless_200000_5m_profile"
    done = desk.patch(("replace", f"/BUFFER_PROFILE/{profile}/xoff", "160000"))
    assert done.code == 0
    assert value(desk.rows(), "switch_buffer_profile", "xoff_bytes", profile=profile) == 160_000
    force = desk.switch().in_force
    assert force is not None
    assert force["BUFFER_PROFILE"][profile]["xoff"] == "131072"
    assert desk.state.running.settings[0].headroom_bytes == 131_072


def test_the_asic_refuses_a_speed_that_config_db_shows() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_asic_refuses")
    desk.type("config interface fec Ethernet0 none")
    rows = [row for row in desk.rows()["switch_port"] if row["port"] == "Ethernet0"]
    assert {row["fec_configured"] for row in rows if row["probe"] == "sonic_config_db"} == {"none"}
    assert {row["fec_active"] for row in rows if row.get("fec_active")} == {"rs"}


@pytest.mark.parametrize(
    ("at", "mtus"),
    [("", [1500, 9216]), ("0", [9216, 9216]), ("1", [1500, 9216]), ("2", [1500, 1500])],
)
def test_a_patch_that_fails_half_way(at: str, mtus: list[int]) -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_half_way", at)
    done = desk.patch(("replace", "/PORT/Ethernet0/mtu", "1500"),
                      ("replace", "/PORT/Ethernet4/mtu", "1500"))  # fmt: skip
    assert done.code == (0 if at == "2" else 2)
    assert [one.mtu for one in desk.state.running.settings[:2]] == mtus


def test_a_disk_that_is_full() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_disk_full")
    desk.type("config interface mtu Ethernet0 1500")
    done = desk.state.run("config save -y")
    assert (done.code, "No space left on device" in done.stderr) == (1, True)
    desk.state.reboot()
    assert mtu(desk) == 9216


def test_a_session_that_drops_in_the_middle() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_session_drops")
    done = desk.patch(("replace", "/PORT/Ethernet0/mtu", "1500"),
                      ("replace", "/PORT/Ethernet4/mtu", "1500"))  # fmt: skip
    assert (done.hung_up, done.stdout, done.code) == (True, "", 255)
    assert [one.mtu for one in desk.state.running.settings[:2]] == [1500, 9216]


def test_a_second_writer_is_not_locked_out() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_second_writer", "config interface mtu Ethernet8 2000")
    done = desk.patch(("replace", "/PORT/Ethernet0/mtu", "1500"))
    assert (done.code, "still some parts not updated" in done.stderr) == (2, True)
    assert [one.mtu for one in desk.state.running.settings[:3]] == [1500, 9216, 2000]
    assert [entry["by"] for entry in desk.state.log] == ["second", ""]
    assert desk.state.troubles == [], "once"


def test_a_link_that_does_not_come_back() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_link_stays_down", at="Ethernet0")
    desk.type("config interface mtu Ethernet0 1500", "config interface mtu Ethernet4 1500")
    up = {
        row["port"]: row["is_up"] for row in desk.rows()["switch_port"] if row["is_up"] is not None
    }
    assert (up["Ethernet0"], up["Ethernet4"]) == (False, True)
    desk.state.heal()
    assert value(desk.rows(), "switch_port", "is_up", port="Ethernet0") is True


def test_a_link_that_flaps() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_link_flaps", at="Ethernet0")
    desk.type("config interface mtu Ethernet0 1500")
    for _ in range(3):
        assert desk.state.tick() is True
    assert desk.state.running.settings[0].counters["link_changes", -1] == 5 + 3 * 2


def test_a_link_whose_ends_differ_is_down_until_they_agree() -> None:
    """Ethernet8 goes to the spine, whose end still wants RS."""
    desk = Desk(FABRIC)
    desk.type("config interface fec Ethernet8 none")
    assert value(desk.rows(), "switch_port", "is_up", port="Ethernet8") is False
    desk.type("config interface fec Ethernet8 rs")
    assert value(desk.rows(), "switch_port", "is_up", port="Ethernet8") is True


# ---- the log


def test_the_log_holds_time_machine_text_and_values() -> None:
    desk = Desk(FABRIC)
    desk.clock.now = 1234.5
    desk.type("sudo config interface mtu Ethernet0 1500")
    [entry] = [json.loads(json.dumps(one)) for one in desk.state.log]
    assert entry == {
        "time": 1234.5, "machine": "leaf001", "by": "me", "code": 0, "dangerous": False,
        "text": "sudo config interface mtu Ethernet0 1500", "troubles": [],
        "changes": [
            {"ports": ["Ethernet0"], "field": "mtu", "before": 9216, "after": 1500},
            {"key": "PORT|Ethernet0", "field": "mtu", "before": "9216", "after": "1500"},
        ],
    }  # fmt: skip
