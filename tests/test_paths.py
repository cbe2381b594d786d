"""`railwright path`, `links` and `rails`: what a packet meets, in words written by hand."""

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from lab.harness.by_hand import by_hand, with_derived
from lab.harness.small_fabric import (
    NETWORKS,
    PORTS,
    Rows,
    change,
    drop,
    fabric,
    heard_by_host,
    heard_by_switch,
)
from railwright.check.along import rules_on_path, told_along, traces
from railwright.check.engine import Ran
from railwright.check.links import make_links, rules_of_links
from railwright.check.run import checked
from railwright.check.waivers import read_waivers
from railwright.cli import program
from railwright.errors import NotReadError, UsageError
from railwright.fabric.classes import spans
from railwright.fabric.trace import Trace, ways
from railwright.intent.site import read_site
from railwright.report.paths import print_traces, traces_status
from railwright.report.screen import Screen
from railwright.store.snapshot import Snapshot

LOSSLESS = read_site('profile = "roce-lossless"', "s")
ENDS = ("gpu1:mlx5_0", "gpu2:mlx5_1")
# EOS prints neither.
ACCEPTED = """
[[accept_gap]]
system = "eos"
fact = "headroom"
reason = "sized by the switch"
owner = "kim"

[[accept_gap]]
system = "eos"
fact = "lossless_buffer"
reason = "sized by the switch"
owner = "kim"
"""


def traced(rows: Rows, site: Any = LOSSLESS, dscp: int | None = None) -> list[Trace]:
    with tempfile.TemporaryDirectory() as folder:
        snapshot = with_derived(Path(folder), rows)
        return traces(snapshot, site, read_waivers(ACCEPTED, "w"), ENDS, dscp)


def text_of(rows: Rows, site: Any = LOSSLESS, dscp: int | None = None) -> str:
    """As it stands in a pipe: nothing is cut or wrapped."""
    out = io.StringIO()
    found = traced(rows, site, dscp)
    print_traces(Screen(Console(file=out, width=10_000, highlight=False)), found)
    return out.getvalue()


SOUND = """\
Data gpu1:ens1 -> gpu2:ens2, DSCP 26 (the site file)
  next hops by the routes to 10.8.1.2
  0  gpu1:ens1
     trust dscp, DSCP 26 -> priority 3, PFC on, MTU 9000, 400G rs
  1  leaf1, tier 1
     in  Ethernet0: trust dscp, DSCP 26 -> class 3, PFC on, headroom 230,400, MTU 9216, 400G rs
       inconclusive, here and further on: switch-global-pause: sonic does not report link_pause
     out 2 ports: queue 3 dwrr 50, ECN on from 150,000 to 1,500,000 at 5 %, PFC on, MTU 9216, 400G rs
  2  2 switches, tier 2, no two alike
     spine1
     in  Ethernet1/1: trust dscp, DSCP 26 -> class 3, PFC on, headroom not read, MTU 9216, 400G rs
       inconclusive, here and further on: switch-global-pause: not collected: link_pause
     out Ethernet2/1: queue 3 dwrr, ECN on, PFC on, MTU 9216, 400G rs
     spine2 differs
     out Eth1/2: queue 3 wrr, ECN on, PFC on, MTU 9216, 400G rs
  3  leaf2, tier 1
     in  2 ports: trust both, DSCP 26 -> class 3, PFC on, headroom not read, MTU 9216, 400G rs
       inconclusive, here and further on: switch-global-pause: cumulus does not report link_pause
     out swp1s1: queue 3 dwrr 50, ECN on from 150,000 to 1,500,000, PFC on, MTU 9216, 400G rs
  4  gpu2:ens2
     trust dscp, DSCP 26 -> priority 3, PFC on, MTU 9000, 400G rs
  Inconclusive at hop 1, leaf1:Ethernet0: switch-global-pause: sonic does not report link_pause; 7 more

CNP gpu2:ens2 -> gpu1:ens1, DSCP 48 (the site file)
  next hops by the routes to 10.8.0.1
  0  gpu2:ens2
     trust dscp, DSCP 48 -> priority 6, MTU 9000, 400G rs
  1  leaf2, tier 1
     in  swp1s1: trust both, DSCP 48 -> class 6, PFC off, MTU 9216, 400G rs
     out 2 ports: queue 6 strict, PFC off, MTU 9216, 400G rs
  2  2 switches, tier 2, all alike: spine[1-2]
     in  2 ports: trust dscp, DSCP 48 -> class 6, PFC off, MTU 9216, 400G rs
     out 2 ports: queue 6 strict, PFC off, MTU 9216, 400G rs
  3  leaf1, tier 1
     in  2 ports: trust dscp, DSCP 48 -> class 6, PFC off, MTU 9216, 400G rs
     out Ethernet0: queue 6 strict, PFC off, MTU 9216, 400G rs
  4  gpu1:ens1
     trust dscp, DSCP 48 -> priority 6, MTU 9000, 400G rs
  No fault on this path.
"""


def test_a_sound_path_in_full() -> None:
    assert text_of(fabric()) == SOUND


def _leaf1(table: str, **values: Any) -> Callable[[Rows], Rows]:
    return lambda rows: change(rows, table, {"target": "leaf1"}, **values)


# Several faults at a time, and everything that then breaks: packet, hop, place and rule.
BREAKS: dict[str, tuple[list[Callable[[Rows], Any]], list[tuple[str, int, str, str]]]] = {
    "trust, pauses at the way out, a lossy buffer, no marks, CNPs among data": (
        [
            lambda rows: (change(rows, "qos_port", {"target": "gpu1"}, trust="pcp"), drop(rows, "qos_dscp", target="gpu1")),
            lambda rows: change(rows, "switch_pfc", {"target": "leaf1", "port": "Ethernet12"}, enabled=False),
            _leaf1("switch_priority_group", is_lossless=False),
            lambda rows: change(rows, "switch_queue", {"target": "spine1", "queue": 3}, ecn_enabled=False),
            lambda rows: change(rows, "switch_dscp", {"target": "leaf2", "dscp": 48}, priority=3),
        ],
        [
            ("data", 0, "gpu1:ens1", "intent-trust"),
            ("data", 1, "leaf1:Ethernet0", "switch-no-headroom"),
            ("data", 1, "leaf1:Ethernet12", "switch-pfc-mismatch"),
            ("data", 2, "spine1:Ethernet2/1", "switch-ecn-off"),
            ("CNP", 1, "leaf2:swp1s1", "switch-cnp-class"),
        ],
    ),
    "no pauses at the host, a hole in a map, a small MTU, CNPs with another DSCP": (
        [
            lambda rows: change(rows, "qos_priority", {"target": "gpu1"}, pfc_enabled=False),
            lambda rows: drop(rows, "switch_dscp", target="leaf1", dscp=26),
            lambda rows: change(rows, "switch_port", {"target": "spine1", "port": "Ethernet2/1"}, mtu=1500),
            lambda rows: change(rows, "ecn_parameter", {"target": "gpu2", "name": "cnp_dscp"}, value="46"),
        ],
        [
            ("data", 0, "gpu1:ens1", "intent-pfc"),
            ("data", 1, "leaf1:Ethernet0", "switch-data-class"),
            ("data", 2, "spine1:Ethernet2/1", "fabric-mtu-small"),
            ("CNP", 0, "gpu2:ens2", "intent-cnp-dscp"),
        ],
    ),
    "a leaf trusts another field, a spine has another class, CNPs can be paused": (
        [
            _leaf1("switch_port_qos", trust="pcp"),
            lambda rows: change(rows, "switch_dscp", {"target": "spine2", "dscp": 26}, priority=0),
            lambda rows: change(rows, "switch_pfc", {"target": "leaf2", "priority": 6}, enabled=True),
        ],
        [
            ("data", 1, "leaf1:Ethernet0", "switch-data-class"),
            ("data", 2, "spine2:Eth1/1", "switch-data-class"),
            ("CNP", 1, "leaf2:swp1s1", "switch-cnp-queue"),
            ("CNP", 1, "leaf2:swp2s0", "switch-cnp-queue"),  # by the spines
            ("CNP", 3, "leaf1:Ethernet12", "switch-cnp-class"),
        ],
    ),
    "no pauses at the way in, a profile that is not enabled, no route, no pauses at the receiver": (
        [
            lambda rows: change(rows, "switch_pfc", {"target": "leaf1", "port": "Ethernet0"}, enabled=False),
            _leaf1("switch_queue", red_enabled=False),
            lambda rows: drop(rows, "switch_route", target="spine2", prefix=f"{NETWORKS[1]}.0/26"),
            lambda rows: change(rows, "qos_priority", {"target": "gpu2"}, pfc_enabled=False),
        ],
        [
            ("data", 1, "leaf1:Ethernet0", "switch-pfc-mismatch"),
            ("data", 1, "leaf1:Ethernet12", "switch-ecn-profile-idle"),
            ("data", 2, "spine2", ""),
            ("data", 4, "gpu2:ens2", "intent-pfc"),
        ],
    ),
}  # fmt: skip


def remarks(found: list[Trace], *, broken: bool) -> list[tuple[str, int, str, str]]:
    """Packet, hop, place and rule of everything that breaks a way, or that nobody can tell."""
    said = [(t.packet.name, *one) for t in found for one in t.remarks()]
    return [(p, hop, place, one.rule) for p, hop, place, one in said if one.is_broken == broken]


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_a_path(what: str) -> None:
    faults, expected = BREAKS[what]
    rows = fabric()
    for strike in faults:
        strike(rows)
    found = traced(rows)
    assert remarks(found, broken=True) == expected
    assert traces_status(found, None) == 1


UNREAD: dict[str, tuple[list[Callable[[Rows], Any]], list[tuple[str, int, str, str]]]] = {
    "a map, headroom of a system that tells it, MTU": (
        [
            lambda rows: drop(rows, "switch_dscp", target="spine1"),
            lambda rows: drop(rows, "switch_priority_group", target="leaf1"),
            lambda rows: change(rows, "switch_port", {"target": "spine2"}, mtu=None),
        ],
        [
            ("data", 1, "leaf1:Ethernet0", "switch-no-headroom"),
            ("data", 2, "spine1:Ethernet1/1", "switch-data-class"),
            ("data", 2, "spine2:Eth1/1", "fabric-mtu-small"),
        ],
    ),
    "pauses, trust, marking": (
        [
            lambda rows: change(change(rows, "switch_pfc", {"target": "spine1"}, enabled=None, is_operational=None), "switch_port_qos", {"target": "spine1"}, pfc_mode=None, pfc_priorities=None),
            lambda rows: change(rows, "switch_port_qos", {"target": "spine2"}, trust=None),
            lambda rows: drop(rows, "switch_queue", target="spine1"),
        ],
        [
            ("data", 2, "spine1:Ethernet1/1", "switch-pfc-mismatch"),
            ("data", 2, "spine1:Ethernet2/1", "switch-ecn-off"),
            ("data", 2, "spine2:Eth1/1", "switch-data-class"),
        ],
    ),
    "the neighbor of the host": (
        [
            lambda rows: drop(rows, "lldp_neighbor", target="gpu1", netdev="ens1"),
            lambda rows: drop(rows, "switch_neighbor", target="leaf1", port="Ethernet0"),
        ],
        [("data", 0, "gpu1:ens1", "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", UNREAD)
def test_what_was_not_read_is_never_ok(what: str) -> None:
    taken, expected = UNREAD[what]
    rows = fabric()
    for take in taken:
        take(rows)
    found = traced(rows)
    assert remarks(found, broken=True) == []
    assert set(expected) <= set(remarks(found, broken=False))
    assert traces_status(found, None) == 3


def test_ports_that_were_not_read_are_not_a_mistake_of_the_user() -> None:
    rows = fabric()
    drop(rows, "rdma_port", target="gpu1")
    with pytest.raises(NotReadError, match="the RDMA ports of gpu1 were not read"):
        traced(rows)


def test_a_mild_finding_does_not_hide_a_bad_one() -> None:
    """One more priority with PFC is mere information; that data has no headroom there is not."""
    rows = _leaf1("switch_priority_group", headroom_bytes=0)(fabric())
    change(rows, "switch_pfc", {"target": "leaf1", "priority": 4}, enabled=True)
    change(rows, "switch_port_qos", {"target": "leaf1"}, pfc_priorities="3,4")
    assert remarks(traced(rows), broken=True) == [
        ("data", 1, "leaf1:Ethernet0", "switch-no-headroom")
    ]


def test_a_switch_that_is_out_of_service_is_still_on_the_way() -> None:
    rows = change(fabric(), "switch_queue", {"target": "spine1", "queue": 3}, ecn_enabled=False)
    change(rows, "target", {"target": "spine1"}, out_of_service="a fan")
    found = traced(rows)
    assert remarks(found, broken=True) == [("data", 2, "spine1:Ethernet2/1", "switch-ecn-off")]
    assert traces_status(found, None) == 1


def test_a_rule_that_could_not_be_run_leaves_everything_open(snapshot: Snapshot) -> None:
    with checked(snapshot, rules_of_links(), LOSSLESS, []) as findings:
        before = make_links(findings)
        findings.ran["neighbors-disagree"] = Ran("neighbors-disagree", 0.0, "stopped after 120 s")
        after = make_links(findings)
    assert before.with_unknown <= after.with_unknown == after.links == 8
    with checked(snapshot, rules_on_path(), LOSSLESS, [], each=True) as findings:
        findings.ran["fabric-mtu-small"] = Ran("fabric-mtu-small", 0.0, "stopped after 120 s")
        way = ways(findings.database, LOSSLESS, *ENDS, None)[0]
        told = told_along(findings, way)
    assert "fabric-mtu-small could not be run: stopped after 120 s" in [r.what for r in told["gpu1", "ens1", "out"]]  # fmt: skip


def test_a_switch_that_was_not_read() -> None:
    rows = {t: [r for r in v if r["target"] != "spine2" or t == "target"] for t, v in fabric().items()}  # fmt: skip
    found = traced(rows)
    assert ("data", 2, "spine2:Eth1/1", "") in remarks(found, broken=False)
    assert traces_status(found, None) == 3


def test_what_somebody_decided_does_not_break_a_path() -> None:
    rows = change(fabric(), "switch_port", {"target": "leaf1"}, mtu=1500)
    # Both uplinks, which are one group: the first of them is named.
    found = [one[2] for one in remarks(traced(rows), broken=True) if one[3] == "fabric-mtu-small"]
    assert found == ["leaf1:Ethernet12"]
    decided = """
        [[waive]]
        rule = "fabric-mtu-small"
        subjects = ["leaf1:Ethernet12"]
        reason = "replaced on Monday"
        owner = "kim"
        expires = 2099-01-01
    """
    with tempfile.TemporaryDirectory() as folder:
        waivers = read_waivers(decided, "w")
        after = traces(with_derived(Path(folder), rows), LOSSLESS, waivers, ENDS, None)
    found = [one[2] for one in remarks(after, broken=True) if one[3] == "fabric-mtu-small"]
    assert found == ["leaf1:Ethernet8"]


# ---- what it is judged by ---------------------------------------------------------------------

NOTHING = read_site("", "s")


def test_without_intent_the_senders_own_settings_count() -> None:
    rows = fabric()
    rows["roce_tos"] = [{"target": "gpu1", "device": "mlx5_0", "port": 1, "traffic_class": 106}]
    text = text_of(rows, NOTHING)
    assert "DSCP 26 (traffic_class of gpu1:mlx5_0)" in text  # 106 / 4
    assert "CNP gpu2:ens2 -> gpu1:ens1, DSCP 48 (cnp_dscp of gpu2:ens2)" in text
    # The card's own DSCP is the one whose class is asked for: here it is in that of data.
    rows_46 = change(fabric(), "ecn_parameter", {"name": "cnp_dscp"}, value="46")
    change(rows_46, "switch_dscp", {"target": "leaf2", "dscp": 46}, priority=3)
    assert ("CNP", 1, "leaf2:swp1s1", "switch-cnp-queue") in remarks(
        traced(rows_46, NOTHING), broken=True
    )
    # check has nothing to say of it without a site file: that is said, for the two to agree.
    said = "judged by the DSCP that this packet has; check does not know it without a site file"
    assert said in text_of(rows_46, NOTHING)
    assert "check does not know it" not in text_of(rows_46)
    # PFC is on at the sender and not at its switch: which is wrong cannot be told, so both are named.
    change(rows, "switch_pfc", {"target": "leaf1"}, enabled=False)
    found = remarks(traced(rows, NOTHING), broken=True)
    assert found[:2] == [("data", 0, "gpu1:ens1", "link-lossless-differs"), ("data", 1, "leaf1:Ethernet0", "link-lossless-differs")]  # fmt: skip


def test_classes_that_differ_along_the_way_without_intent() -> None:
    rows = fabric()
    rows["roce_tos"] = [{"target": "gpu1", "device": "mlx5_0", "port": 1, "traffic_class": 104}]
    change(rows, "switch_dscp", {"target": "leaf1", "dscp": 26}, traffic_class=4)
    found = remarks(traced(rows, NOTHING), broken=True)
    assert ("data", 1, "leaf1:Ethernet0", "link-lossless-differs") in found


def test_a_dscp_that_nobody_tells_is_said_to_be_unknown() -> None:
    text = text_of(fabric(), NOTHING)
    assert "Data gpu1:ens1 -> gpu2:ens2, DSCP unknown\n" in text
    assert "name it with --dscp" in text
    assert "  Inconclusive at hop 0, gpu1:ens1: " in text.split("CNP gpu2")[0]
    assert traces_status(traced(fabric(), NOTHING), None) == 3


def test_any_dscp_can_be_asked_for() -> None:
    text = text_of(fabric(), dscp=0)
    assert "DSCP 0 (--dscp)" in text
    assert "DSCP 0 -> class 0, PFC off" in text  # no lossless class is meant for it
    data = text.split("CNP gpu2")[0]
    assert "fault:" not in data
    assert "class, PFC and ECN were not judged: the site file sends data with another DSCP." in data
    with pytest.raises(UsageError, match="0 to 63"):
        text_of(fabric(), dscp=64)


def test_a_lossy_fabric_needs_no_pauses() -> None:
    lossy = read_site('profile = "roce-lossy"\n[fabric]\ndata_dscp = 26\ndata_priority = 3', "s")
    rows = fabric()
    for table, flag in (("switch_pfc", "enabled"), ("qos_priority", "pfc_enabled")):
        rows[table] = [{**row, flag: False, **({"is_operational": False} if "is_operational" in row else {})} for row in rows[table]]  # fmt: skip
    change(rows, "switch_port_qos", {"target": "leaf1"}, pfc_mode="off", pfc_priorities="")
    found = remarks(traced(rows, lossy), broken=True)
    assert [
        one
        for one in found
        if one[3]
        in ("switch-pfc-mismatch", "intent-pfc", "link-lossless-differs", "switch-no-headroom")
    ] == []


# ---- the commands -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    store = tmp_path_factory.mktemp("store")
    rows = change(fabric(), "switch_port", {"target": "leaf1", "port": "Ethernet8"}, mtu=1500)
    (store / "site.toml").write_text('profile = "roce-lossless"\n')
    (store / "waivers.toml").write_text(ACCEPTED)
    return with_derived(store, rows)


def run(snapshot: Snapshot, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(program(), [*words, "--store", str(snapshot.path.parent)])
    if result.exception is not None and isinstance(result.exception, UsageError):
        return 2, " ".join(result.exception.lines())
    return result.exit_code, result.stdout


def test_path_from_the_command_line(snapshot: Snapshot) -> None:
    status, text = run(snapshot, "path", *ENDS)
    assert status == 1
    said = "fabric-mtu-small: has MTU 1500; expected at least 9000"
    assert f"First fault at hop 1, leaf1:Ethernet8: {said}\n" in text
    status, text = run(snapshot, "path", *ENDS, "--json")
    found = json.loads(text)
    assert (status, found["format"], found["exit_status"]) == (1, "railwright-path-2", 1)
    data, cnp = found["packets"]
    assert [[s for g in level for s in g["switches"]] for level in data["hops"]] == [["leaf1"], ["spine1", "spine2"], ["leaf2"]]  # fmt: skip
    assert (data["verdict"], cnp["verdict"]) == ("broken", "ok")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gpu11:mlx5_0", "gpu2:mlx5_0"), "unknown host or switch 'gpu11' Did you mean gpu1"),
        (("gpu1:mlx5_9", "gpu2:mlx5_0"), "unknown port 'mlx5_9' of gpu1 Choose one of mlx5_0 (ens1), mlx5_1 (ens2)"),
        (("gpu1", "gpu2:mlx5_0"), "gpu1 has 2 RDMA ports Choose one of"),
        (("leaf1:Ethernet0", "gpu2:mlx5_0"), "no Ethernet or InfiniBand port of an RDMA device was collected from leaf1"),
        (("gpu1:mlx5_0",), "no destination port given"),
        (("gpu1:mlx5_0", "gpu1:ens1"), "gpu1:ens1 is both source and destination"),
    ],
)  # fmt: skip
def test_names_that_are_wrong(snapshot: Snapshot, words: tuple[str, ...], said: str) -> None:
    status, text = run(snapshot, "path", *words)
    assert status == 2
    assert said in text


def test_all_hops_in_classes(snapshot: Snapshot) -> None:
    status, text = run(snapshot, "path")
    assert status == 1
    assert "12 hops in 7 classes" in text
    assert (
        "Tier 1, away from hosts, sonic: 2 ports\n"
        "        1  trust dscp, DSCP 24-31 -> class 3, PFC 3, watchdog 3, MTU 9216, 400G rs\n"
        "             class 3: queue 3 dwrr 50, ECN from 150,000 to 1,500,000, headroom 230,400\n"
        "             class 6: queue 6 strict\n"
        "           e.g. leaf1:Ethernet12 of leaf1\n"
        "        1  MTU 1500\n"
        "             findings at 1: fabric-mtu-small\n"
        "           e.g. leaf1:Ethernet8 of leaf1\n"
    ) in text
    found = json.loads(run(snapshot, "path", "--json")[1])
    assert (found["format"], found["exit_status"]) == ("railwright-hops-2", 1)
    assert sum(one["ports"] for one in found["classes"]) == 12
    assert [one["rules"] for one in found["classes"] if one["with_findings"]] == [
        ["fabric-mtu-small"]
    ]


def test_links(snapshot: Snapshot) -> None:
    status, text = run(snapshot, "links")
    small = "fabric-mtu-small at leaf1:Ethernet8: has MTU 1500; expected at least 9000"
    assert status == 1
    assert text.splitlines()[:8] == [
        "Snapshot 2026-11-14T2215Z: 8 links",
        "  4 to hosts, 4 between switches, 0 to machines that were not read",
        "  8 confirmed by both link partners, 0 contradictory, 0 down",
        "  1 with findings",
        "  8 inconclusive: railwright check says why",
        "",
        "port              link partner        tier  speed",
        f"leaf1:Ethernet8   spine1:Ethernet1/1  1-2   400G   {small}",
    ]
    assert len(text.splitlines()) == 15
    assert len(run(snapshot, "links", "--odd")[1].splitlines()) == 8
    assert len(run(snapshot, "links", "--on", "spine[1-2]", "--role", "host")[1].splitlines()) == 5
    assert len(run(snapshot, "links", "--on", "gpu1", "--role", "host")[1].splitlines()) == 9


def test_links_of_a_machine_that_is_not_there(snapshot: Snapshot) -> None:
    status, text = run(snapshot, "links", "--on", "gpu[1-3]")
    assert (status, text) == (2, "unknown host or switch 'gpu3' Did you mean gpu2 or gpu1?")


def test_links_for_programs(snapshot: Snapshot) -> None:
    status, text = run(snapshot, "links", "--json", "--odd")
    said = json.loads(text)
    assert (status, said["format"], said["exit_status"]) == (1, "railwright-links-2", 1)
    assert (said["counts"]["links"], said["counts"]["with_findings"]) == (8, 1)
    (link,) = said["links"]
    assert [(one["rule"], one["at"]) for one in link["found"]] == [
        ("fabric-mtu-small", "leaf1:Ethernet8")
    ]
    # No switch was asked for its pauses of the whole link.
    assert "switch-global-pause" in link["unknown"]


def test_links_against_a_plan(snapshot: Snapshot, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(
        "a_device,a_port,b_device,b_port\ngpu1,mlx5_0,leaf1,etp1b\nleaf1,etp2a,spine1,Ethernet1/1\nspine9,1,leaf2,swp9\n"
    )
    (tmp_path / "site.toml").write_text('cabling = "c.csv"')
    text = run(snapshot, "links", "--site", str(tmp_path / "site.toml"))[1]
    assert "devices of the plan that were not read: spine9" in text
    rows = {line.split("  ")[0]: line for line in text.splitlines() if "00G" in line}
    # The host was to go to Ethernet4, where its neighbor sits.
    assert "cable-unlike-plan at gpu1:ens1:" in rows["gpu1:ens1"]
    assert "cable-unlike-plan at gpu2:ens1:" in rows["gpu2:ens1"]
    assert "cable-unlike-plan" not in rows["leaf1:Ethernet8"]


def test_rails(snapshot: Snapshot) -> None:
    status, text = run(snapshot, "rails")
    assert status == 0
    assert text == (
        "Snapshot 2026-11-14T2215Z: 2 rails, 2 leaves, 2 hosts\n\n"
        "rail          0    1  leaves\n"
        "              2    .  leaf1\n"
        "              .    2  leaf2\n"
    )
    found = json.loads(run(snapshot, "rails", "--json")[1])
    assert [row["leaves"] for row in found["rows"]] == [["leaf1"], ["leaf2"]]


def test_rails_that_changed_places(snapshot: Snapshot, tmp_path: Path) -> None:
    """By the plan the two cables of gpu1 are to be the other way round."""
    (tmp_path / "c.csv").write_text(
        "a_device,a_port,b_device,b_port,rail\n"
        "gpu1,mlx5_0,leaf2,swp1s0,1\ngpu1,mlx5_1,leaf1,etp1a,0\n"
        "gpu2,mlx5_0,leaf1,etp1b,0\ngpu2,mlx5_1,leaf2,swp1s1,1\n"
    )
    site = tmp_path / "site.toml"
    site.write_text('cabling = "c.csv"')
    status, text = run(snapshot, "rails", "--site", str(site))
    assert status == 1
    assert "             2*    .  leaf1\n              .   2*  leaf2\n" in text
    assert "2 ports on another leaf\n" in text
    assert "  cable-wrong-rail  gpu1:mlx5_0 at leaf1:Ethernet0: " in text
    status, text = run(snapshot, "rails", "--site", str(site), "--json")
    said = json.loads(text)
    assert (status, said["exit_status"]) == (1, 1)
    assert {one["port"] for one in said["misplaced"]} == {"gpu1:mlx5_0", "gpu1:mlx5_1"}


def swapped_fabric() -> dict[str, list[dict[str, Any]]]:
    """gpu1's two cables the other way round, as both ends say it."""
    rows = fabric()
    for netdev, leaf in (("ens1", "leaf2"), ("ens2", "leaf1")):
        port = PORTS[leaf]["gpu1"]
        heard = heard_by_host("gpu1", netdev, leaf, port)
        change(rows, "lldp_neighbor", {"target": "gpu1", "netdev": netdev}, **heard)
        mine = heard_by_switch({"leaf1": "leaf2", "leaf2": "leaf1"}[leaf], port, "gpu1")
        said = {key: mine[key] for key in ("port_id", "port_description")}
        change(rows, "switch_neighbor", {"target": leaf, "port": port}, **said)
    return rows


def test_swapped_rails_without_a_plan_are_not_in_order(tmp_path: Path) -> None:
    """Two hosts are no peers: nobody can tell which of them is cabled as it should be."""
    swapped = with_derived(tmp_path, swapped_fabric())
    status, text = run(swapped, "rails")
    assert status == 3
    assert "4 ports: which leaf they belong to is not known" in text
    assert json.loads(run(swapped, "rails", "--json")[1])["undecided"] == 4


def test_swapped_rails_by_a_plan_without_rails(tmp_path: Path) -> None:
    swapped = with_derived(tmp_path, swapped_fabric())
    (tmp_path / "c.csv").write_text(
        "a_device,a_port,b_device,b_port\ngpu1,mlx5_0,leaf1,etp1a\ngpu1,mlx5_1,leaf2,swp1s0\n"
    )
    (tmp_path / "site.toml").write_text('cabling = "c.csv"')
    status, text = run(swapped, "rails", "--site", str(tmp_path / "site.toml"))
    assert status == 1
    assert "cable-unlike-plan  gpu1:mlx5_0 at leaf2:swp1s0: " in text


def test_a_snapshot_without_links(tmp_path: Path) -> None:
    empty = by_hand(tmp_path, {})
    status, text = run(empty, "path")
    assert status == 3
    assert "No switch was read" in text
    status, text = run(empty, "links")
    assert status == 3
    assert "No end of a link has an LLDP neighbor." in text
    status, text = run(empty, "rails")
    assert status == 3
    assert "No compute port of a host has a neighbor that is known." in text


def test_spans() -> None:
    assert spans([24, 25, 26, 48]) == "24-26,48"
    assert spans([]) == ""
