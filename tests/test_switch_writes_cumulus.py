"""Writes to a Cumulus Linux switch of the lab through NVUE, read by the product's parsers.

Paths and values are those of the Cumulus Linux guide and the NVUE reference, written by hand; swp1s0
is the first port of the leaf, and goes to the first host.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from lab.fleet.fabric import Fabric
from tests.switch_writing import Desk, small, value

FABRIC = small("cumulus")
PRESET = small("cumulus", leaf_presets={"cumulus": "lossless"})
APPLY = "nv config apply -y"


class Case(NamedTuple):
    """A setting: what is set, where it shows, and what sets the old value again."""

    setting: str
    write: tuple[str, ...]
    table: str
    key: dict[str, Any]
    column: str
    before: Any
    after: Any
    back: tuple[str, ...]
    flaps: int = 0
    fabric: Fabric = FABRIC


PORT = {"port": "swp1s0"}
WHOLE = {"port": ""}
CLASS = {"port": "", "queue": 3}
ECN = "nv set qos congestion-control default-global traffic-class"
CASES = (
    Case("trust", ("nv set qos mapping default-global trust l2",),
         "switch_port_qos", WHOLE, "trust", "dscp", "pcp",
         ("nv set qos mapping default-global trust l3",)),
    Case("dscp_map", ("nv set qos mapping default-global dscp 26 switch-priority 4",),
         "switch_dscp", {"map": "", "dscp": 26}, "priority", 3, 4,
         ("nv set qos mapping default-global dscp 26 switch-priority 3",)),
    Case("priority_map",
         ("nv set qos egress-queue-mapping default-global switch-priority 5 traffic-class 3",),
         "switch_priority_queue", {"map": "", "priority": 5}, "queue", 0, 3,
         ("nv set qos egress-queue-mapping default-global switch-priority 5 traffic-class 0",)),
    Case("pfc", ("nv set qos pfc default-global switch-priority 3,4",),
         "switch_pfc", {"port": "swp1s0", "priority": 4}, "enabled", False, True,
         ("nv unset qos pfc default-global switch-priority 4",)),
    Case("pfc", ("nv set qos pfc own switch-priority 4", "nv set interface swp1s0 qos pfc profile own"),
         "switch_port_qos", PORT, "pfc_priorities", "3", "4",
         ("nv unset interface swp1s0 qos pfc profile", "nv unset qos pfc own")),
    Case("cable_length", ("nv set qos pfc default-global cable-length 40",),
         "switch_port_qos", WHOLE, "pfc_cable_length_m", 100.0, 40.0,
         ("nv set qos pfc default-global cable-length 100",), fabric=PRESET),
    Case("ecn", (f"{ECN} 0,3 min-threshold 307200", f"{ECN} 0,3 max-threshold 614400"),
         "switch_queue", CLASS, "ecn_minimum_bytes", 149_996, 307_200,
         (f"{ECN} 0,3 min-threshold 150000", f"{ECN} 0,3 max-threshold 1500000")),
    Case("ecn", (f"{ECN} 3 ecn disable",),
         "switch_queue", CLASS, "ecn_enabled", True, False, (f"{ECN} 3 ecn enable",)),
    # The CNPs' DSCP 48 goes to priority 6 already; here the class that 5 is served in is strict.
    Case("cnp_queue", ("nv set qos mapping default-global dscp 40 switch-priority 6",),
         "switch_dscp", {"map": "", "dscp": 40}, "priority", 5, 6,
         ("nv set qos mapping default-global dscp 40 switch-priority 5",)),
    Case("scheduler", ("nv set qos egress-scheduler default-global traffic-class 6 mode dwrr",
                       "nv set qos egress-scheduler default-global traffic-class 6 bw-percent 20"),
         "switch_queue", {"port": "", "queue": 6}, "weight", 0, 20,
         ("nv set qos egress-scheduler default-global traffic-class 6 mode strict",)),
    Case("pfc_watchdog", ("nv unset interface swp1s0 qos pfc-watchdog",),
         "switch_port_qos", PORT, "watchdog", True, False,
         ("nv set interface swp1s0 qos pfc-watchdog state enabled",)),
    Case("mtu", ("nv set interface swp1s0 link mtu 1500",),
         "switch_port", PORT, "mtu", 9216, 1500, ("nv set interface swp1s0 link mtu 9216",)),
    Case("mtu", ("nv set interface swp1s0 link mtu 1500",),
         "switch_port", PORT, "mtu", 9216, 1500, ("nv unset interface swp1s0 link mtu",)),
    # With the other FEC the link does not come up: its far end has RS.
    Case("fec", ("nv set interface swp1s0 link fec baser",),
         "switch_port", PORT, "is_up", True, False, ("nv set interface swp1s0 link fec rs",), 2),
    Case("speed", ("nv set interface swp1s0 link speed 100G",),
         "switch_port", PORT, "is_up", True, False, ("nv set interface swp1s0 link speed 200G",), 2),
    Case("speed", ("nv set interface swp1s0 link auto-negotiate off",),
         "switch_port", PORT, "autonegotiation", True, False,
         ("nv set interface swp1s0 link auto-negotiate on",), 2),
    Case("lldp", ("nv set interface swp1s0 lldp state disabled",),
         "switch_neighbor", PORT, "system_name", "gpu001", None,
         ("nv set interface swp1s0 lldp state enabled",)),
    Case("lldp", ("nv set system lldp state disabled",),
         "switch_neighbor", {"port": "swp1s1"}, "system_name", "gpu002", None,
         ("nv unset system lldp state",)),
)  # fmt: skip


def without_flaps(texts: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    return {key: text for key, text in texts.items() if key[1] != "nv show interface counters"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.setting}-{case.column}")
def test_a_setting_is_written_shown_and_written_back(case: Case) -> None:
    desk = Desk(case.fabric)
    assert value(desk.rows(), case.table, case.column, **case.key) == case.before
    before = desk.texts()
    desk.type(*case.write)
    assert desk.texts() == before, "a revision that is not applied is nothing"
    assert desk.type(APPLY).stdout == "applied [rev_id: 2]\n"
    assert value(desk.rows(), case.table, case.column, **case.key) == case.after
    desk.type(*case.back, APPLY)
    assert without_flaps(desk.texts()) == without_flaps(before)
    assert (desk.texts() == before) is (case.flaps == 0)
    changes = desk.state.running.settings[0].counters.get(("link_changes", -1), 5)
    assert changes - 5 == 2 * case.flaps


def test_fixed_headroom_of_a_profile() -> None:
    """No command that is read prints it: it is in the state, and in the log."""
    desk = Desk(FABRIC)
    desk.type("nv set qos pfc own port-buffer 300000", "nv set qos pfc own xoff-threshold 200000",
              "nv set qos pfc own xon-threshold 18432",
              "nv set interface swp1s0 qos pfc profile own", APPLY)  # fmt: skip
    first, second = desk.state.running.settings[:2]
    assert (first.size_bytes, first.headroom_bytes, first.xon_bytes) == (300_000, 200_000, 18_432)
    assert second == FABRIC.named("leaf001").settings[1]


def test_pause_is_a_profile_too() -> None:
    desk = Desk(FABRIC)
    desk.type("nv set qos link-pause lp rx enable", "nv set interface swp1s0 qos link-pause profile lp",
              APPLY)  # fmt: skip
    assert desk.state.running.settings[0].pause_rx is True
    assert (
        '"rx": "enable",\n                "tx": "disable"'
        in desk.texts()["nvue_show", "nv show interface"]
    )
    desk.type("nv unset interface swp1s0 qos link-pause", APPLY)
    assert desk.state.running.settings[0].pause_rx is False


def test_ports_may_be_lists_and_ranges() -> None:
    desk = Desk(FABRIC)
    desk.type("nv set interface swp1s0-1,swp2s0 link mtu 1500", APPLY)
    small_ones = [name for name, one in zip(desk.state.ports(), desk.state.running.settings, strict=True)
                  if one.mtu == 1500]  # fmt: skip
    assert small_ones == ["swp1s0", "swp1s1", "swp2s0"]


# ---- saved, running, pending, timer


def mtu(desk: Desk) -> Any:
    return value(desk.rows(), "switch_port", "mtu", port="swp1s0")


SET = "nv set interface swp1s0 link mtu 1500"
AGAIN = "nv set interface swp1s0 link mtu 2000"
OLD = "5.8.0"  # the last that does not save by itself
NEW = "5.11.1"


@pytest.mark.parametrize(
    ("release", "steps", "minutes", "running", "after_reboot"),
    [
        (NEW, (), 0, 9216, 9216),
        (NEW, (SET,), 0, 9216, 9216),
        (NEW, (SET, APPLY), 0, 1500, 1500),
        (OLD, (SET, APPLY), 0, 1500, 9216),
        (OLD, (SET, APPLY, "nv config save"), 0, 1500, 1500),
        (OLD, (SET, APPLY, "nv config save", AGAIN, APPLY), 0, 2000, 1500),
        (NEW, ("nv set system config auto-save state disabled", SET, APPLY), 0, 1500, 9216),
        # Ten minutes, if nothing else is said; a number alone is minutes.
        (NEW, (SET, "nv config apply --confirm -y"), 9.9, 1500, 9216),
        (NEW, (SET, "nv config apply --confirm -y"), 10.1, 9216, 9216),
        (NEW, (SET, "nv config apply --confirm 30s -y"), 1, 9216, 9216),
        (NEW, (SET, "nv config apply -y --confirm 60"), 59, 1500, 9216),
        (NEW, (SET, "nv config apply -y --confirm 60"), 61, 9216, 9216),
        (NEW, (SET, "nv config apply --confirm 10m", "nv config apply --confirm-yes"), 30, 1500, 1500),
        (OLD, (SET, "nv config apply --confirm 10m", "nv config apply --confirm-yes"), 30, 1500, 9216),
        (NEW, (SET, "nv config apply --confirm 10m", "nv config apply --confirm-no"), 0, 9216, 9216),
        # Back to an old revision by its number, and to what is saved.
        (NEW, (SET, APPLY, AGAIN, APPLY, "nv config apply 2 -y"), 0, 1500, 1500),
        (OLD, (SET, APPLY, "nv config apply startup -y"), 0, 9216, 9216),
        (NEW, (SET, "nv config detach"), 0, 9216, 9216),
    ],
)  # fmt: skip
def test_what_runs_what_is_saved_and_what_waits(
    release: str, steps: tuple[str, ...], minutes: float, running: int, after_reboot: int
) -> None:
    fabric = FABRIC.copy()
    leaf = fabric.switches[0]
    leaf.software = replace(leaf.software, release=release)
    desk = Desk(fabric)
    desk.type(*steps)
    desk.clock.now += minutes * 60
    desk.state.tick()
    assert mtu(desk) == running
    desk.state.reboot()
    assert mtu(desk) == after_reboot


def test_nobody_applies_over_what_waits_for_confirmation() -> None:
    desk = Desk(FABRIC)
    desk.type(SET, "nv config apply --confirm 10m")
    assert desk.type("nv config apply --confirm-status").stdout == (
        "Time left for confirmation: 10:00\n"
    )
    desk.type(AGAIN)
    done = desk.state.run(APPLY, session="me")
    assert (done.code, "has not been confirmed" in done.stderr) == (1, True)
    assert desk.state.run("nv config save").code == 1


def test_differences_are_shown_as_yaml_and_as_commands() -> None:
    desk = Desk(FABRIC)
    desk.type(SET, "nv unset interface swp1s1 qos pfc-watchdog")
    assert desk.type("nv config diff").stdout == (
        "- unset:\n    interface:\n      swp1s1:\n        qos:\n          pfc-watchdog:\n"
        "            state: {}\n"
        "- set:\n    interface:\n      swp1s0:\n        link:\n          mtu: 1500\n"
    )
    assert desk.type("nv config diff -o commands").stdout == (
        "nv unset interface swp1s1 qos pfc-watchdog state\nnv set interface swp1s0 link mtu 1500\n"
    )
    desk.type(APPLY)
    assert desk.type("nv config diff").stdout == ""
    assert desk.type("nv config diff startup applied").stdout == ""
    history = desk.type("nv config history").stdout.splitlines()
    assert [line.split()[:2] for line in history[2:]] == [
        ["1", "applied_and_saved"], ["2", "applied_and_saved"]
    ]  # fmt: skip


def test_everybody_has_a_revision_of_his_own() -> None:
    desk = Desk(FABRIC)
    desk.type(SET, session="one")
    desk.type("nv set interface swp1s1 link mtu 2000", APPLY, session="other")
    assert [one.mtu for one in desk.state.running.settings[:2]] == [9216, 2000]
    desk.type(APPLY, session="one")
    assert [one.mtu for one in desk.state.running.settings[:2]] == [1500, 2000]


def test_two_who_set_the_same_are_told() -> None:
    desk = Desk(FABRIC)
    desk.type(SET, session="one")
    desk.type(AGAIN, APPLY, session="other")
    done = desk.state.run(APPLY, session="one")
    assert (done.code, "Conflict at interface.swp1s0.link.mtu" in done.stderr) == (1, True)


def test_a_value_that_is_set_again_mends_what_is_not_so() -> None:
    """A fault made the port otherwise; NVUE's tree knows nothing of it."""
    fabric = FABRIC.copy()
    broken = fabric.copy()
    broken.set_port(broken.switches[0], 0, mtu=1500)
    desk = Desk(fabric)
    desk.state.follow(fabric.switches[0], broken.switches[0])
    assert mtu(desk) == 1500
    desk.type("nv set interface swp1s0 link mtu 9216", APPLY)
    assert mtu(desk) == 9216


def test_fec_auto_flaps_at_every_apply() -> None:
    desk = Desk(FABRIC)
    desk.type("nv set interface swp1s0 link fec auto", APPLY)
    for number in range(3):
        desk.type(f"nv set interface swp1s1 link mtu {2000 + number}", APPLY)
    assert desk.state.running.settings[0].counters["link_changes", -1] == 5 + 2 * 4


# ---- what somebody may type


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nv", "Invalid Command"),
        ("nv set", "Incomplete Command"),
        ("nv set interface swp1s0 link mtu", "Incomplete Command: set interface swp1s0 link mtu"),
        ("nv set interface swp1s0 link mtu many", "'many' is not a valid MTU"),
        ("nv set interface swp1s0 link mtu 99999", "'99999' is not a valid MTU"),
        ("nv set interface swp1s0 link mtu \u0661\u0665\u0660\u0660", "is not a valid MTU"),
        (
            "nv set interface swp1s0 link fec best",
            "'best' is not one of ['rs', 'baser', 'off', 'auto']",
        ),
        ("nv set interface swp1s0 link color red", "Invalid Command"),
        ("nv set interface swp1s0 link mtu 1500 2000", "Invalid Command"),
        ("nv set qos mapping default-global dscp 64 switch-priority 3", "Invalid Command"),
        (
            "nv set qos mapping default-global dscp 0-99999999999 switch-priority 3",
            "Invalid Command",
        ),
        (
            "nv set qos congestion-control default-global traffic-class 8 ecn enable",
            "Invalid Command",
        ),
        ("nv set qos pfc default-global cable-length far", "is not of type 'integer'"),
        ("nv unset", "Invalid Command"),
        ("nv unset nothing at all", "Invalid Command"),
        ("nv config", "Invalid Command"),
        ("nv config what", "Invalid Command"),
        ("nv config replace /etc/passwd", "Refused Command"),
        ("nv config apply", "no pending configuration"),
        ("nv config apply 77", "Revision '77' was not found"),
        ("nv config apply ../../x", "was not found"),
        ("nv config apply --confirm-yes", "no configuration to confirm"),
        ("nv config diff 1 99", "was not found"),
        ("nv burn everything", "Invalid Command"),
        ("nv set interface " + "s" * 100_000, "Incomplete Command"),
    ],
)
def test_odd_lines_get_an_error_text_and_change_nothing(line: str, words: str) -> None:
    desk = Desk(FABRIC)
    done = desk.state.run(line)
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert words in done.stderr
    assert desk.state.running.settings == FABRIC.named("leaf001").settings
    assert desk.state.driver.pending == {}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nv set interface swp99 link mtu 1500", "Interface 'swp99' does not exist"),
        ("nv set interface ../../etc link mtu 1500", "Interface '../../etc' does not exist"),
        ("nv set interface swp1s0 qos pfc profile nowhere", "Profile 'nowhere' of qos pfc"),
        ("nv set interface swp1s0 link speed 800G", "Speed '800G' is not supported on swp1s0"),
    ],
)
def test_what_is_set_is_looked_at_when_it_is_applied(line: str, words: str) -> None:
    desk = Desk(FABRIC)
    desk.type(SET, line)
    done = desk.state.run(APPLY, session="me")
    assert done.code == 1
    assert done.stderr.startswith("Invalid config [rev_id: 2]\n")
    assert words in done.stderr
    assert mtu(desk) == 9216


# ---- misbehaviour


def test_a_set_and_an_apply_that_are_ignored() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_ignored", at="link mtu")
    desk.type(SET, "nv set interface swp1s0 lldp state disabled", APPLY)
    assert (mtu(desk), desk.state.running.settings[0].lldp) == (9216, False)
    desk.state.heal()
    desk.state.order("write_ignored", at="config apply")
    assert desk.type(SET, APPLY).stdout == "applied [rev_id: 3]\n"
    assert mtu(desk) == 9216


def test_a_read_back_that_lies() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_read_back_lies")
    desk.type(SET, APPLY)
    assert (mtu(desk), desk.state.running.settings[0].mtu) == (1500, 9216)


def test_a_disk_that_is_full() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_disk_full")
    desk.type(SET)
    done = desk.state.run(APPLY, session="me")
    assert (done.code, "No space left on device" in done.stderr) == (1, True)
    assert mtu(desk) == 1500, "applied, and not saved"
    desk.state.reboot()
    assert mtu(desk) == 9216


def test_a_session_that_drops_leaves_the_confirmation_to_its_time() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_session_drops")
    desk.type(SET)
    done = desk.state.run("nv config apply --confirm 10m", session="me")
    assert (done.hung_up, done.stdout) == (True, "")
    assert mtu(desk) == 1500
    desk.clock.now += 601
    desk.state.heal()
    assert desk.state.tick() is True
    assert mtu(desk) == 9216


def test_a_second_writer_between_set_and_apply() -> None:
    desk = Desk(FABRIC)
    desk.state.order(
        "write_second_writer", "nv set interface swp1s1 link mtu 2000; nv config apply -y"
    )
    desk.type(SET, APPLY)
    assert [one.mtu for one in desk.state.running.settings[:2]] == [1500, 2000]
    assert [one["by"] for one in desk.state.log] == ["me", "second", "second", "me"]
    desk.state.order("write_second_writer", f"{AGAIN}; nv config apply -y")
    desk.type("nv set interface swp1s0 link mtu 3000")
    done = desk.state.run(APPLY, session="me")
    assert (done.code, mtu(desk)) == (1, 2000)


def test_links_that_stay_down_or_flap() -> None:
    desk = Desk(FABRIC)
    desk.state.order("write_link_stays_down")
    desk.type(SET, APPLY)
    assert value(desk.rows(), "switch_port", "is_up", port="swp1s0") is False
    desk.state.heal()
    desk.state.order("write_link_flaps")
    desk.type(AGAIN, APPLY)
    desk.state.tick()
    assert desk.state.running.settings[0].counters["link_changes", -1] == 5 + 2


def test_what_this_system_cannot_do_cannot_be_ordered() -> None:
    with pytest.raises(ValueError, match="cumulus cannot have write_half_way"):
        Desk(FABRIC).state.order("write_half_way")
