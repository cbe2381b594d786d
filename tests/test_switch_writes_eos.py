"""Writes to an EOS switch of the lab: sessions, commits and their timer, read by the parsers.

Lines are those of the EOS User Manual and of avd's golden configurations, written by hand;
Ethernet1/1 is the first port of the leaf, and goes to the first host.
"""

import json
from typing import Any, NamedTuple

import pytest

from tests.switch_writing import Desk, small, value

FABRIC = small("eos")
FIRST = "interface Ethernet1/1"


class Case(NamedTuple):
    """A setting: its lines, where it shows, and the lines that write the old value back."""

    setting: str
    write: tuple[str, ...]
    table: str
    key: dict[str, Any]
    column: str
    before: Any
    after: Any
    back: tuple[str, ...]
    flaps: int = 0


PORT = {"port": "Ethernet1/1"}
WHOLE = {"port": ""}
QUEUE = {"port": "Ethernet1/1", "queue": 3}
WATCHDOG = "priority-flow-control pause watchdog"
MARKS = ("random-detect ecn minimum-threshold 150000 bytes maximum-threshold 1500000 bytes "
         "max-mark-probability 100")  # fmt: skip
CASES = (
    Case("trust", (FIRST, "qos trust cos"), "switch_port_qos", PORT, "trust", "dscp", "pcp",
         (FIRST, "qos trust dscp")),
    Case("trust", (FIRST, "no qos trust"), "switch_port_qos", PORT, "trust", "dscp", "port",
         (FIRST, "qos trust dscp")),
    Case("dscp_map", ("qos map dscp 26 to traffic-class 4",),
         "switch_dscp", {"dscp": 26}, "traffic_class", 3, 4, ("qos map dscp 26 to traffic-class 3",)),
    Case("dscp_map", ("qos map dscp 24-31 to traffic-class 5",),
         "switch_dscp", {"dscp": 31}, "traffic_class", 3, 5, ("no qos map dscp 24-31",)),
    Case("priority_map", ("qos map traffic-class 3 to tx-queue 4",),
         "switch_class_queue", {"traffic_class": 3}, "queue", 3, 4,
         ("qos map traffic-class 3 to tx-queue 3",)),
    Case("pfc", (FIRST, "priority-flow-control priority 4 no-drop"),
         "switch_port_qos", PORT, "pfc_priorities", "3", "3,4",
         (FIRST, "no priority-flow-control priority 4")),
    Case("pfc", (FIRST, "no priority-flow-control"),
         "switch_pfc", {"port": "Ethernet1/1", "priority": 3}, "enabled", True, False,
         (FIRST, "priority-flow-control on")),
    Case("ecn", ("qos profile QOS", "tx-queue 3", "no random-detect ecn"),
         "switch_queue", QUEUE, "ecn_enabled", True, False, ("qos profile QOS", "tx-queue 3", MARKS)),
    Case("ecn", (FIRST, "tx-queue 3", "no random-detect ecn"),
         "switch_queue", QUEUE, "ecn_enabled", True, False, (FIRST, "tx-queue 3", MARKS)),
    # A class of CNPs: 48 to 5, which is served strictly.
    Case("cnp_queue", ("qos map dscp 48 to traffic-class 5", "qos profile QOS", "tx-queue 5",
                       "priority strict"),
         "switch_dscp", {"dscp": 48}, "traffic_class", 6, 5,
         ("qos map dscp 48 to traffic-class 6", "no qos profile OTHER")),
    Case("scheduler", ("qos profile QOS", "tx-queue 3", "priority strict", "no bandwidth"),
         "switch_queue", QUEUE, "scheduler", "round-robin", "strict",
         ("qos profile QOS", "tx-queue 3", "no priority", "bandwidth percent 50")),
    Case("scheduler", ("qos profile QOS", "tx-queue 3", "bandwidth percent 60"),
         "switch_queue", QUEUE, "weight", 50, 60,
         ("qos profile QOS", "tx-queue 3", "bandwidth percent 50")),
    Case("pause", (FIRST, "flowcontrol receive on"), "switch_port", PORT, "pause_rx", False, True,
         (FIRST, "flowcontrol receive off")),
    Case("pause", (FIRST, "flowcontrol send on"), "switch_port", PORT, "pause_tx", False, True,
         (FIRST, "no flowcontrol send")),
    Case("pfc_watchdog", (f"{WATCHDOG} default timeout 0.5",),
         "switch_port_qos", WHOLE, "watchdog_detection_ms", 200, 500,
         (f"{WATCHDOG} default timeout 0.2",)),
    Case("pfc_watchdog", (f"{WATCHDOG} default recovery-time 1",),
         "switch_port_qos", WHOLE, "watchdog_restoration_ms", 400, 1000,
         (f"{WATCHDOG} default recovery-time 0.4",)),
    Case("pfc_watchdog", (f"no {WATCHDOG} default timeout",),
         "switch_port_qos", WHOLE, "watchdog", True, False, (f"{WATCHDOG} default timeout 0.2",)),
    Case("mtu", (FIRST, "mtu 9000"), "switch_port", PORT, "mtu", 9216, 9000, (FIRST, "mtu 9216")),
    Case("fec", (FIRST, "error-correction encoding fire-code"),
         "switch_port", PORT, "is_up", True, False,
         (FIRST, "error-correction encoding reed-solomon"), 2),
    Case("speed", (FIRST, "speed forced 100gfull"), "switch_port", PORT, "is_up", True, False,
         (FIRST, "speed auto"), 2),
    Case("lldp", (FIRST, "no lldp transmit"), "switch_neighbor", PORT, "system_name", "gpu001", None,
         (FIRST, "lldp transmit")),
    Case("lldp", ("no lldp run",), "switch_neighbor", {"port": "Ethernet1/5"}, "system_name",
         "gpu002", None, ("lldp run",)),
)  # fmt: skip


def session(desk: Desk, *lines: str, name: str = "rw", end: str = "commit") -> None:
    desk.type("enable", f"configure session {name}", *lines, *([end] if end else []))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.setting}-{case.column}")
def test_a_setting_is_written_shown_and_written_back(case: Case) -> None:
    desk = Desk(FABRIC)
    found = value(desk.rows(), case.table, case.column, **case.key)
    assert found == case.before or case.column == "scheduler"
    before, config = desk.texts(), desk.type("enable", "show running-config").stdout
    session(desk, *case.write, end="")
    assert desk.texts() == before, "a session that is not committed is nothing"
    desk.type("commit")
    assert value(desk.rows(), case.table, case.column, **case.key) == case.after
    assert desk.type("show running-config").stdout != config
    session(desk, *case.back)
    changes = desk.state.running.settings[0].counters.get(("link_changes", -1), 5)
    assert changes - 5 == 2 * case.flaps
    if not case.flaps and case.setting != "cnp_queue":
        assert desk.texts() == before
        assert desk.type("show running-config").stdout == config


def test_all_settings_of_the_list_have_a_case() -> None:
    assert {case.setting for case in CASES} == {
        "trust",
        "dscp_map",
        "priority_map",
        "pfc",
        "ecn",
        "cnp_queue",
        "scheduler",
        "pause",
        "pfc_watchdog",
        "mtu",
        "fec",
        "speed",
        "lldp",
    }  # headroom and cable length are automatic


def test_thresholds_that_no_answer_prints_are_in_the_configuration() -> None:
    desk = Desk(FABRIC)
    session(desk, "qos profile QOS", "tx-queue 3",
            "random-detect ecn minimum-threshold 320 kbytes maximum-threshold 1280 kbytes "
            "max-mark-probability 90")  # fmt: skip
    marking = desk.state.running.settings[0].marking[3]
    assert (marking.minimum_bytes, marking.maximum_bytes, marking.probability_percent) == (
        320_000, 1_280_000, 90
    )  # fmt: skip


# ---- saved, running, pending, timer


def mtu(desk: Desk) -> Any:
    return value(desk.rows(), "switch_port", "mtu", port="Ethernet1/1")


SET = (FIRST, "mtu 1500")
OPEN = ("enable", "configure session rw")


@pytest.mark.parametrize(
    ("steps", "seconds", "running", "after_reboot"),
    [
        (("enable",), 0, 9216, 9216),
        ((*OPEN, *SET), 0, 9216, 9216),
        ((*OPEN, *SET, "commit"), 0, 1500, 9216),
        ((*OPEN, *SET, "commit", "write memory"), 0, 1500, 1500),
        ((*OPEN, *SET, "commit", "copy running-config startup-config"), 0, 1500, 1500),
        ((*OPEN, *SET, "abort"), 0, 9216, 9216),
        ((*OPEN, *SET, "commit timer 00:10:00"), 599, 1500, 9216),
        ((*OPEN, *SET, "commit timer 00:10:00"), 601, 9216, 9216),
        ((*OPEN, *SET, "commit timer 00:10:00", "configure session rw commit"), 601, 1500, 9216),
        ((*OPEN, *SET, "commit timer 00:10:00", "configure session rw abort"), 0, 9216, 9216),
        ((*OPEN, *SET, "commit timer 00:10:00", "configure session rw commit", "write"),
         601, 1500, 1500),
        # Saved while the timer runs: the running configuration goes back, the saved one does not.
        ((*OPEN, *SET, "commit timer 00:10:00", "write"), 601, 9216, 1500),
        (("enable", "configure terminal", *SET, "end"), 0, 1500, 9216),
        (("enable", "configure terminal", *SET, "end", "write", "configure", FIRST, "mtu 2000"),
         0, 2000, 1500),
    ],
)  # fmt: skip
def test_what_runs_what_is_saved_and_what_waits(
    steps: tuple[str, ...], seconds: float, running: int, after_reboot: int
) -> None:
    desk = Desk(FABRIC)
    desk.type(*steps)
    desk.clock.now += seconds
    desk.state.tick()
    assert mtu(desk) == running
    desk.state.reboot()
    assert mtu(desk) == after_reboot


def test_a_commit_takes_back_what_others_wrote_since_the_session_began() -> None:
    desk = Desk(FABRIC)
    session(desk, *SET, end="")
    desk.type("enable", "configure terminal", "interface Ethernet1/5", "mtu 2000", session="other")
    assert [one.mtu for one in desk.state.running.settings[:2]] == [9216, 2000]
    desk.type("commit")
    assert [one.mtu for one in desk.state.running.settings[:2]] == [1500, 9216]


def test_one_timer_at_a_time() -> None:
    desk = Desk(FABRIC)
    session(desk, *SET, end="commit timer 00:10:00")
    session(desk, FIRST, "mtu 2000", name="other", end="")
    done = desk.state.run("commit timer 00:01:00", session="me")
    assert (done.code, "pending commit timer" in done.stdout) == (1, True)
    assert mtu(desk) == 1500
    done = desk.state.run("configure session rw", session="third")
    assert done.code == 1


def test_differences_and_sessions_are_shown() -> None:
    desk = Desk(FABRIC)
    session(desk, *SET, end="")
    lines = desk.type("show session-config diffs").stdout.splitlines()
    assert lines[:2] == ["--- system:/running-config", "+++ session:/rw-session-config"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ["-   mtu 9216", "+   mtu 1500"]
    desk.type("commit timer 00:10:00")
    found = json.loads(desk.type("show configuration sessions | json").stdout)
    assert found["sessions"]["rw"]["state"] == "pendingCommitTimer"
    assert "-   mtu 9216" in desk.type("show running-config diffs").stdout


def test_a_session_is_gone_after_a_day_and_five_are_the_most() -> None:
    desk = Desk(FABRIC)
    for number in range(5):
        session(desk, *SET, name=f"s{number}", end="end")
    done = desk.state.run("configure session s5", session="me")
    assert (done.code, "Maximum number of pending sessions" in done.stdout) == (1, True)
    desk.clock.now += 86_401
    desk.type("configure session s5")
    assert mtu(desk) == 9216


def test_prompts_say_where_one_is() -> None:
    desk = Desk(FABRIC)
    prompts = [desk.state.run(line).prompt for line in (
        "enable", "configure session rw-change-1", FIRST, "tx-queue 3", "exit", "exit", "end",
        "configure terminal", "exit", "disable",
    )]  # fmt: skip
    assert prompts == [
        "leaf001#", "leaf001(config-s-rw-cha)#", "leaf001(config-s-rw-cha-if-Et1/1)#",
        "leaf001(config-s-rw-cha-if-Et1/1-txq-3)#", "leaf001(config-s-rw-cha-if-Et1/1)#",
        "leaf001(config-s-rw-cha)#", "leaf001#", "leaf001(config)#", "leaf001#", "leaf001>",
    ]  # fmt: skip


# ---- what somebody may type


@pytest.mark.parametrize(
    "line",
    [
        "interface Ethernet99/1", "interface Ethernet1/1-99/9", "interface ../../etc", "interface",
        "interface Ethernet1/1,", "interface Ethernet-", "qos map dscp 64 to traffic-class 3",
        "qos map dscp 1-999999 to traffic-class 3", "qos map dscp to traffic-class 3", "mtu 1500",
        "qos map traffic-class 8 to tx-queue 3", f"{WATCHDOG} default timeout soon", "no",
        "commit timer 00:10:00", "x" * 100_000, "; rm -rf /", "\x00\x1b[2J", "tx-queue 3",
        "configure replace flash:x", "qos profile " + "p" * 65,
    ],
)  # fmt: skip
def test_odd_lines_get_an_error_text_and_change_nothing(line: str) -> None:
    desk = Desk(FABRIC)
    desk.type("enable", "configure terminal")
    done = desk.state.run(line, session="me")
    assert done.code == 1, done
    assert done.stdout.startswith("% ")
    assert len(done.stdout) < 200
    assert desk.state.running == desk.state.kept["saved"]


@pytest.mark.parametrize(
    "line",
    ["mtu", "mtu 67", "mtu 99999", "mtu many", "speed forced 1gfull", "speed forced 800gfull",
     "error-correction encoding best", "flowcontrol receive maybe", "qos trust nobody",
     "priority-flow-control priority 8 no-drop", "service-profile NOWHERE", "random-detect ecn",
     "bandwidth percent 101", "tx-queue 9"],
)  # fmt: skip
def test_odd_lines_at_a_port(line: str) -> None:
    desk = Desk(FABRIC)
    desk.type("enable", "configure terminal", FIRST)
    done = desk.state.run(line, session="me")
    assert (done.code, done.stdout[:2], done.prompt) == (1, "% ", "leaf001(config-if-Et1/1)#")
    assert desk.state.running == desk.state.kept["saved"]


def test_nobody_writes_who_is_not_enabled() -> None:
    desk = Desk(FABRIC)
    for line in ("configure terminal", "write", "show running-config", "reload"):
        assert desk.state.run(line).stdout == "% Invalid input\n"
    assert desk.state.log[-1]["dangerous"] is True


# ---- misbehaviour


def test_a_line_and_a_commit_that_are_ignored() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_ignored", at="mtu")
    session(desk, *SET, "no lldp transmit")
    assert (mtu(desk), desk.state.running.settings[0].lldp) == (9216, False)
    desk.state.heal()
    desk.state.order("write_ignored", at="commit")
    session(desk, *SET)
    assert mtu(desk) == 9216


def test_a_read_back_that_lies() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_read_back_lies")
    session(desk, *SET)
    assert (mtu(desk), desk.state.running.settings[0].mtu) == (1500, 9216)
    assert "mtu 1500" in desk.type("show running-config").stdout


def test_a_disk_that_is_full() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_disk_full")
    session(desk, *SET)
    done = desk.state.run("write memory", session="me")
    assert (done.code, "No space left on device" in done.stdout) == (1, True)
    desk.state.reboot()
    assert mtu(desk) == 9216


def test_a_session_that_drops_while_it_commits_goes_back_at_its_time() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_session_drops")
    session(desk, *SET, end="")
    done = desk.state.run("commit timer 00:10:00", session="me")
    assert (done.hung_up, done.stdout) == (True, "")
    assert mtu(desk) == 1500
    assert desk.state.run("", session="me").prompt == "leaf001>", "another login"
    desk.clock.now += 601
    assert desk.state.tick() is True
    assert mtu(desk) == 9216


def test_a_second_writer_between_session_and_commit_is_lost() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_second_writer", "interface Ethernet1/5; mtu 2000")
    session(desk, *SET)
    assert [one.mtu for one in desk.state.running.settings[:2]] == [1500, 9216]
    texts = [(one["by"], one["text"]) for one in desk.state.log]
    assert texts[-3:] == [
        ("second", "interface Ethernet1/5"),
        ("second", "mtu 2000"),
        ("me", "commit"),
    ]


def test_links_that_stay_down_or_flap() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_link_stays_down", at="commit")
    session(desk, *SET)
    assert value(desk.rows(), "switch_port", "is_up", port="Ethernet1/1") is False
    desk.state.heal()
    desk.state.order("write_link_flaps", at="commit")
    session(desk, FIRST, "mtu 2000")
    desk.state.tick()
    assert desk.state.running.settings[0].counters["link_changes", -1] == 5 + 2
