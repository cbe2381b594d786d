"""Writes to an Onyx switch of the lab: each command at once, read by the product's parsers.

Commands are those of the Onyx User Manual, written by hand; Eth1/1 is the first port of the leaf, and
goes to the first host.
"""

from typing import Any, NamedTuple

import pytest

from tests.switch_writing import Desk, small, value

FABRIC = small("onyx")
FIRST = "interface ethernet 1/1"
IN = ("enable", "configure terminal")


class Case(NamedTuple):
    """A setting: its commands, where it shows, and the commands that write the old value back."""

    setting: str
    write: tuple[str, ...]
    table: str
    key: dict[str, Any]
    column: str
    before: Any
    after: Any
    back: tuple[str, ...]
    flaps: int = 0


PORT = {"port": "Eth1/1"}
QUEUE = {"port": "Eth1/1", "queue": 3}
MARKS = "traffic-class 3 congestion-control ecn minimum-absolute {} maximum-absolute {}"
CASES = (
    Case("trust", (f"{FIRST} qos trust L2",), "switch_port_qos", PORT, "trust", "dscp", "pcp",
         (f"{FIRST} qos trust L3",)),
    Case("dscp_map", (f"{FIRST} qos map dscp 26 to switch-priority 4",),
         "switch_dscp", {"map": "Eth1/1", "dscp": 26}, "priority", 3, 4,
         (f"{FIRST} qos map dscp 26 to switch-priority 3",)),
    Case("pfc", ("dcb priority-flow-control priority 4 enable",),
         "switch_pfc", {"port": "", "priority": 4}, "enabled", False, True,
         ("no dcb priority-flow-control priority 4 enable",), 2),
    Case("pfc", (f"no {FIRST} dcb priority-flow-control mode on force",),
         "switch_port_qos", PORT, "pfc_mode", "on", "off",
         (f"{FIRST} dcb priority-flow-control mode on force",), 2),
    Case("ecn", (f"{FIRST} {MARKS.format(320, 1280)}",),
         "switch_queue", QUEUE, "ecn_minimum_bytes", 150_000, 320_000,
         (f"{FIRST} {MARKS.format(150, 1500)}",)),
    Case("ecn", (f"no {FIRST} traffic-class 3 congestion-control",),
         "switch_queue", QUEUE, "ecn_enabled", True, False,
         (f"{FIRST} {MARKS.format(150, 1500)}",)),
    Case("cnp_queue", (f"{FIRST} qos map dscp 40 to switch-priority 6",),
         "switch_dscp", {"map": "Eth1/1", "dscp": 40}, "priority", 5, 6,
         (f"{FIRST} qos map dscp 40 to switch-priority 5",)),
    Case("scheduler", (f"{FIRST} traffic-class 6 dcb ets wrr 20",),
         "switch_queue", {"port": "Eth1/1", "queue": 6}, "weight", 0, 20,
         (f"{FIRST} traffic-class 6 dcb ets strict",)),
    Case("pause", (f"{FIRST} flowcontrol receive on force",),
         "switch_port", PORT, "pause_rx", False, True, (f"{FIRST} flowcontrol receive off force",)),
    Case("pause", (f"{FIRST} flowcontrol send on force",),
         "switch_port", PORT, "pause_tx", False, True, (f"{FIRST} no flowcontrol send force",)),
    Case("mtu", (f"{FIRST} mtu 9000 force",), "switch_port", PORT, "mtu", 9216, 9000,
         (f"{FIRST} mtu 9216 force",), 2),
    Case("mtu", (FIRST, "mtu 9000 force", "exit"), "switch_port", PORT, "mtu", 9216, 9000,
         (FIRST, "mtu 9216 force", "exit"), 2),
    # FEC that is configured shows where the link is down: the host has RS.
    Case("fec", (f"{FIRST} fec-override no-fec force",),
         "switch_port", PORT, "fec_configured", "rs", "none", (f"no {FIRST} fec-override force",), 2),
    Case("speed", (f"{FIRST} speed 100G force",), "switch_port", PORT, "is_up", True, False,
         (f"{FIRST} speed auto force",), 2),
    Case("lldp", (f"{FIRST} no lldp transmit",), "switch_neighbor", PORT, "system_name", "gpu001",
         None, (f"{FIRST} lldp transmit",)),
    Case("lldp", ("no lldp",), "switch", {"hostname": "leaf001"}, "lldp_enabled", True, False,
         ("lldp",)),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.setting}-{case.column}")
def test_a_setting_is_written_shown_and_written_back(case: Case) -> None:
    desk = Desk(FABRIC)
    assert value(desk.rows(), case.table, case.column, **case.key) == case.before
    before = desk.texts()
    desk.type(*IN, *case.write)
    assert value(desk.rows(), case.table, case.column, **case.key) == case.after
    desk.type(*case.back)
    assert desk.texts() == before
    changes = desk.state.running.settings[0].counters.get(("link_changes", -1), 5)
    assert changes - 5 == 2 * case.flaps


def test_all_settings_of_the_list_have_a_case() -> None:
    assert {case.setting for case in CASES} == {
        "trust",
        "dscp_map",
        "pfc",
        "ecn",
        "cnp_queue",
        "scheduler",
        "pause",
        "mtu",
        "fec",
        "speed",
        "lldp",
    }  # the others have no documented command here


# ---- saved and running


def mtu(desk: Desk) -> Any:
    return value(desk.rows(), "switch_port", "mtu", port="Eth1/1")


SET = f"{FIRST} mtu 2000 force"
AGAIN = f"{FIRST} mtu 3000 force"


@pytest.mark.parametrize(
    ("steps", "running", "after_reboot"),
    [
        ((), 9216, 9216),
        ((SET,), 2000, 9216),
        ((SET, "configuration write"), 2000, 2000),
        ((SET, "configuration write", AGAIN), 3000, 2000),
        # Written beside: another file, which is not the one that is loaded.
        ((SET, "configuration write to before no-switch"), 2000, 9216),
        (("configuration write to before no-switch", SET, "configuration write",
          "configuration switch-to before"), 9216, 9216),
        (("no configure", "write memory"), 9216, 9216),
    ],
)  # fmt: skip
def test_what_runs_and_what_is_saved(
    steps: tuple[str, ...], running: int, after_reboot: int
) -> None:
    desk = Desk(FABRIC)
    desk.type(*IN, *steps)
    assert mtu(desk) == running
    desk.state.reboot()
    assert mtu(desk) == after_reboot


def test_what_takes_a_link_down_wants_force() -> None:
    desk = Desk(FABRIC)
    desk.type(*IN)
    done = desk.state.run(f"{FIRST} mtu 2000", session="me")
    assert (done.code, "use the force option" in done.stdout) == (1, True)
    desk.type(f"{FIRST} shutdown", f"{FIRST} mtu 2000", f"{FIRST} no shutdown")
    assert mtu(desk) == 2000


def test_prompts_say_where_one_is() -> None:
    desk = Desk(FABRIC)
    prompts = [desk.state.run(line).prompt for line in (*IN, FIRST, "exit", "exit", "disable")]
    who = "leaf001 [standalone: master]"
    assert prompts == [
        f"{who} # ", f"{who} (config) # ", f"{who} (config interface ethernet 1/1) # ",
        f"{who} (config) # ", f"{who} # ", f"{who} > ",
    ]  # fmt: skip


# ---- what somebody may type


@pytest.mark.parametrize(
    "line",
    [
        "interface ethernet 9/9 mtu 1500 force", "interface ethernet ../../etc", "interface ethernet",
        "interface ethernet 1/1-99/9 mtu 1500 force", "interface vlan 1", "what", "no",
        f"{FIRST} mtu 1499 force", f"{FIRST} mtu many force", f"{FIRST} mtu 99999 force",
        f"{FIRST} speed 400G force", f"{FIRST} fec-override best", f"{FIRST} qos trust nobody",
        f"{FIRST} qos map dscp 64 to switch-priority 3", f"{FIRST} traffic-class 8 dcb ets strict",
        "dcb priority-flow-control priority 8 enable", "configuration switch-to ../../etc/passwd",
        "configuration switch-to nowhere", "x" * 100_000, "\x00\x1b[2J", "roce lossless",
    ],
)  # fmt: skip
def test_odd_lines_get_an_error_text_and_change_nothing(line: str) -> None:
    desk = Desk(FABRIC)
    desk.type(*IN)
    done = desk.state.run(line, session="me")
    assert done.code == 1, done
    assert done.stdout.startswith("% ")
    assert len(done.stdout) < 200
    assert desk.state.running == desk.state.kept["saved"]


def test_nobody_writes_who_is_not_enabled() -> None:
    desk = Desk(FABRIC)
    for line in ("configure terminal", "configuration write", "reload"):
        assert desk.state.run(line).stdout.startswith("% Unrecognized command")


# ---- misbehaviour


def test_what_misbehaves() -> None:
    desk = Desk(FABRIC)
    desk.type(*IN)
    desk.state.order("write_ignored", at="mtu")
    desk.type(SET)
    assert mtu(desk) == 9216
    desk.state.heal()
    desk.state.order("write_read_back_lies")
    desk.type(SET)
    assert (mtu(desk), desk.state.running.settings[0].mtu) == (2000, 9216)
    desk.state.heal()
    desk.state.order("write_disk_full")
    desk.type(SET)
    done = desk.state.run("configuration write", session="me")
    assert (done.code, "no space left" in done.stdout) == (1, True)
    desk.state.reboot()
    assert mtu(desk) == 9216


def test_a_session_that_drops_has_written() -> None:
    desk = Desk(FABRIC)
    desk.type(*IN)
    desk.state.order("write_session_drops", at="mtu")
    done = desk.state.run(SET, session="me")
    assert (done.hung_up, mtu(desk)) == (True, 2000)
    assert desk.state.run("", session="me").prompt == "leaf001 [standalone: master] > "


def test_a_second_writer_comes_first() -> None:
    desk = Desk(FABRIC)
    desk.type(*IN)
    desk.state.order("write_second_writer", "interface ethernet 1/2 mtu 4000 force")
    desk.type(SET, "interface ethernet 1/3 mtu 5000 force")
    assert [one.mtu for one in desk.state.running.settings[:3]] == [2000, 4000, 5000]


def test_links_that_stay_down_or_flap() -> None:
    desk = Desk(FABRIC)
    desk.type(*IN)
    desk.state.order("write_link_stays_down", at="1/1")
    desk.type(SET)
    assert value(desk.rows(), "switch_port", "is_up", port="Eth1/1") is False
    desk.state.heal()
    desk.state.order("write_link_flaps", at="1/1")
    desk.type(AGAIN)
    desk.state.tick()
    assert desk.state.running.settings[0].counters["link_changes", -1] == 5 + 3 * 2
