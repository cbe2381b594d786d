"""Switches: what a system does not tell is open; what its vendor ships is no fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.harness.by_hand import with_derived
from lab.harness.fleets import Reading
from lab.harness.small_fabric import fabric
from situations.by_text import Report, each
from situations.fabric_text import (
    LEAF,
    Fabric,
    eos_leaf,
    fabric_of,
    hears_eos,
    sends_dscp_3,
    sonic_leaf,
)

pytestmark = [pytest.mark.root, pytest.mark.shared]
Healthy = Callable[..., dict[str, Reading]]
LOSSLESS = 'profile = "roce-lossless"\n[fabric]\nmtu = 9000\npfc_watchdog = true\n'


# ---- what EOS does not tell in these answers


@pytest.fixture(scope="module")
def eos(tmp_path_factory: pytest.TempPathFactory, healthy: Healthy) -> Report:
    """Nothing says whether the leaf marks, has headroom, or how it serves CNPs."""
    hosts = {name: hears_eos(host, int(name[-1])) for name, host in healthy("hgx_h100", 2).items()}
    return fabric_of(tmp_path_factory.mktemp("eos"), hosts, "eos", eos_leaf()).check(LOSSLESS)


UNREAD = ("does not report", "values not read", "not reported", "not collected", "not asked")


# switch-pause-storm compares two snapshots: with one it is not run, and `check` says so.
@pytest.mark.parametrize(
    "rule",
    [
        "switch-ecn-off",
        "switch-no-headroom",
        "switch-headroom-small",
        "switch-cnp-queue",
        "switch-early-drop",
    ],
)
def test_what_eos_did_not_tell_is_open(eos: Report, rule: str) -> None:
    for port in ("Ethernet1/1", "Ethernet2/1"):
        reason = eos.reason(rule, f"{LEAF}:{port}")
        assert reason is not None
        assert any(words in reason for words in UNREAD), reason
        assert eos.severity(rule, f"{LEAF}:{port}") is None
    assert eos.exit_status == 3


# ---- the same of the other systems, in a sound fabric of all four


@pytest.fixture(scope="module")
def four_systems(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("four") / "store"
    folder.mkdir()
    rows = fabric()
    for row in rows["switch_port_qos"]:
        if row["target"] == "spine2":
            row.pop("watchdog", None)  # Onyx prints none
    with_derived(folder, rows)
    return Fabric(folder).check('profile = "roce-lossless"\n[fabric]\npfc_watchdog = true\n')


@pytest.mark.parametrize(
    ("rule", "port"),
    [
        ("switch-watchdog-missing", "spine2:Eth1/1"),
        ("switch-watchdog-without-pfc", "spine2:Eth1/1"),
        ("switch-headroom-small", "spine2:Eth1/1"),
        ("switch-global-pause", "leaf2:swp1s0"),
        ("switch-global-pause", "leaf1:Ethernet0"),
    ],
    ids=lambda text: text,
)
def test_what_a_system_does_not_report_is_open(four_systems: Report, rule: str, port: str) -> None:
    # A finding where the site wants what the system lacks.
    assert four_systems.severity(rule, port) or four_systems.reason(rule, port)


# ---- SONiC as it comes: PFC on 3 and 4


@pytest.fixture(scope="module")
def sonic_as_it_comes(tmp_path_factory: pytest.TempPathFactory, healthy: Healthy) -> Fabric:
    """Hosts with PFC on 3 send data with DSCP 3, as the switch's map wants it."""
    hosts = each(healthy("hgx_h100", 2), lambda host: sends_dscp_3(host, lossless=(3,)))
    return fabric_of(tmp_path_factory.mktemp("sonic"), hosts, "sonic", sonic_leaf("rs"))


def assert_only_unread(report: Report) -> None:
    """The capture does not hold the headroom that the switch made of it, nor what SONiC never tells."""
    assert [
        (rule, why)
        for rule, _, why in report.open_questions()
        if rule not in ("switch-no-headroom", "switch-headroom-small")
        and not any(words in why for words in UNREAD)
    ] == []


def test_one_more_lossless_priority_is_no_fault_for_a_site(sonic_as_it_comes: Fabric) -> None:
    site = 'profile = "roce-lossless"\n[fabric]\ndata_dscp = 3\ncnp_dscp = 44\nmtu = 9000\n'
    report = sonic_as_it_comes.check(site)
    # At most a remark: the priority of data is lossless at both ends, and so is another one.
    assert [one for one in report.found() if one[2] != "info"] == []
    assert_only_unread(report)
    assert report.exit_status == 3


def test_nor_between_the_two_ends_of_a_link(tmp_path: Path, healthy: Healthy) -> None:
    # Nobody says what is wanted; the switch does not say its FEC either.
    both = fabric_of(tmp_path, healthy("hgx_h100", 2), "sonic", sonic_leaf("N/A"))
    report = both.check()
    assert [one for one in report.found() if one[2] != "info"] == []
    assert report.reason("link-settings-differ", f"{LEAF}:Ethernet0")
    assert report.exit_status == 3


# ---- Microsoft's own configuration of that switch, with the site file that goes with it

AZURE = """profile = "roce-lossless"
[fabric]
lossless_priorities = [3, 4]
data_priority = 3
data_dscp = 3
cnp_dscp = 44
cnp_priority = 6
mtu = 9000
"""


def test_notifications_in_a_weighted_queue(tmp_path: Path, healthy: Healthy) -> None:
    hosts = each(healthy("hgx_h100", 2), lambda host: sends_dscp_3(host, lossless=(3, 4)))
    report = fabric_of(tmp_path, hosts, "sonic", sonic_leaf("rs")).check(AZURE)
    assert [one for one in report.found() if one[2] != "info"] == []
    assert_only_unread(report)
    assert report.exit_status == 3
