"""QoS of a host's network devices, reconciled once: tables written by hand."""

from pathlib import Path
from typing import Any

import pytest

from lab.harness.by_hand import answers, target, with_derived

H = {"target": "gpu1", "netdev": "ens1"}
Rows = dict[str, list[dict[str, Any]]]


def pfc(on: str, column: str = "pfc_enabled", told: str = "01234567") -> list[dict[str, Any]]:
    return [{**H, "priority": int(n), column: n in on} for n in told]


def mapped(entries: dict[int, int | None]) -> list[dict[str, Any]]:
    return [{**H, "dscp": dscp, "priority": priority} for dscp, priority in entries.items()]


def kernel(entries: list[tuple[int, int]]) -> list[dict[str, Any]]:
    return [{**H, "selector": "dscp", "protocol": d, "priority": p} for d, p in entries]


def map_of(**digits: str) -> str:
    """64 characters: `d26="3"` is DSCP 26 in priority 3."""
    text = ["."] * 64
    for name, digit in digits.items():
        text[int(name[1:])] = digit
    return "".join(text)


def ask(folder: Path, rows: Rows, query: str, ecn: str = "ok") -> list[tuple[Any, ...]]:
    told = answers("gpu1", "pci", ecn=ecn)
    rows = {"target": [target("gpu1")], "probe_result": told, **rows}
    with with_derived(folder, rows).database() as database:
        return database.execute(query).fetchall()


@pytest.mark.parametrize(
    ("rows", "mask"),
    [
        ({"qos_priority": pfc("3")}, 8),
        ({"qos_priority": pfc("")}, 0),
        ({"dcb_pfc_priority": pfc("34", "enabled")}, 24),
        ({"qos_priority": pfc("3"), "dcb_pfc_priority": pfc("3", "enabled")}, 8),
        # They contradict each other on priority 4.
        ({"qos_priority": pfc("3"), "dcb_pfc_priority": pfc("34", "enabled")}, None),
        # Neither tells of priority 7.
        ({"qos_priority": pfc("3", told="0123456")}, None),
        # Each tells what the other does not.
        (
            {
                "qos_priority": pfc("3", told="0123456"),
                "dcb_pfc_priority": pfc("", "enabled", told="7"),
            },
            8,
        ),
    ],
)
def test_pfc_is_known_if_every_priority_is(rows: Rows, mask: int | None, tmp_path: Path) -> None:
    assert ask(tmp_path, rows, "SELECT netdev, pfc_mask FROM netdev_qos") == [("ens1", mask)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"qos_dscp": mapped({0: 0, 26: 3, 48: 6, 63: 7})}, map_of(d0="0", d26="3", d48="6", d63="7")),
        ({"dcb_app": kernel([(26, 3), (15, 1), (16, 2)])}, map_of(d26="3", d15="1", d16="2")),
        # The kernel lists what somebody set, the tool the whole map.
        ({"qos_dscp": mapped({26: 3, 48: 6}), "dcb_app": kernel([(26, 3)])}, map_of(d26="3", d48="6")),
        ({"qos_dscp": mapped({25: 0, 26: 3, 27: 7}), "dcb_app": kernel([(26, 4)])}, map_of(d25="0", d26="?", d27="7")),
        ({"qos_dscp": mapped({26: 0, 48: 6}), "dcb_app": kernel([(26, 7)])}, map_of(d26="?", d48="6")),
        # Two entries of the kernel for one DSCP, and one that was not understood.
        ({"dcb_app": kernel([(26, 3), (26, 4), (48, 6)])}, map_of(d26="?", d48="6")),
        ({"qos_dscp": mapped({26: None, 48: 6})}, map_of(d26="?", d48="6")),
    ],
)  # fmt: skip
def test_maps_are_put_together(rows: Rows, expected: str, tmp_path: Path) -> None:
    assert ask(tmp_path, rows, "SELECT dscp_priorities FROM netdev_qos") == [(expected,)]


@pytest.mark.parametrize(
    ("rows", "trust"),
    [
        ({"qos_port": [{**H, "trust": "pcp"}]}, "pcp"),
        ({"dcb_app": kernel([(26, 3)])}, "dscp"),
        ({"qos_port": [{**H, "trust": None}], "dcb_app": kernel([(26, 3)])}, "dscp"),
        # With dscp the kernel's table may be empty, or have the entries.
        ({"qos_port": [{**H, "trust": "dscp"}]}, "dscp"),
        ({"qos_port": [{**H, "trust": "dscp"}], "dcb_app": kernel([(26, 3)])}, "dscp"),
        # With pcp the driver keeps no entry for a DSCP: one of the two is wrong.
        ({"qos_port": [{**H, "trust": "pcp"}], "dcb_app": kernel([(26, 3)])}, None),
        (
            {
                "qos_port": [{**H, "trust": "pcp"}],
                "dcb_app": [{**H, "selector": "ethertype", "protocol": 2054, "priority": 3}],
            },
            "pcp",
        ),
        ({"dcb_pfc_priority": pfc("3", "enabled")}, None),
        ({"dcb_app": [{**H, "selector": "pcp", "protocol": 3, "priority": 3}]}, None),
    ],
)
def test_what_is_trusted(rows: Rows, trust: str | None, tmp_path: Path) -> None:
    found = ask(tmp_path, rows, "SELECT trust FROM netdev_qos")
    assert found in ([(trust,)], [])
    assert trust is None or found


@pytest.mark.parametrize(
    ("trust", "selector", "expected"),
    [
        ("pcp", "dscp", [("ens1", "qos_port.trust", "pcp", "dcb_app.protocol", "dscp")]),
        ("dscp", "dscp", []),
        ("pcp", "ethertype", []),
        (None, "dscp", []),
    ],
)
def test_a_contradiction_about_trust_is_told(
    trust: str | None, selector: str, expected: list[tuple[str, ...]], tmp_path: Path
) -> None:
    entry = {**H, "selector": selector, "protocol": 26, "priority": 3}
    rows = {"qos_port": [{**H, "trust": trust}], "dcb_app": [entry]}
    query = "SELECT subject, source_a, value_a, source_b, value_b FROM disagreement"
    assert ask(tmp_path, rows, query) == expected


def cnp(dscp: int) -> list[dict[str, Any]]:
    return [{**H, "role": "np", "name": "cnp_dscp", "value": dscp}]


def firmware(*dscps: int) -> list[dict[str, Any]]:
    card = {"target": "gpu1", "pci": "0000:18:00.0", "name": "CNP_DSCP", "element": -1}
    return [{**card, "port": port + 1, "current_code": dscp} for port, dscp in enumerate(dscps)]


def device(port_name: str) -> list[dict[str, Any]]:
    place = {"pci": "0000:18:00.0", "kind": "physical", "port_name": port_name}
    return [{"target": "gpu1", "name": "ens1", **place}]


@pytest.mark.parametrize(
    ("rows", "ecn", "expected"),
    [
        ({"ecn_parameter": cnp(48), "nic_parameter": firmware(4), "netdev": device("p0")}, "ok", (48, "driver")),
        ({"nic_parameter": firmware(4), "netdev": device("p0")}, "absent", (4, "firmware")),
        # Of a card with two ports each has its own.
        ({"nic_parameter": firmware(4, 48), "netdev": device("p1")}, "absent", (48, "firmware")),
        ({"nic_parameter": firmware(4, 48), "netdev": device("")}, "absent", (None, "firmware")),
    ],
)  # fmt: skip
def test_who_tells_how_cnps_are_marked(
    rows: Rows, ecn: str, expected: tuple[int | None, str], tmp_path: Path
) -> None:
    assert ask(tmp_path, rows, "SELECT dscp, told_by FROM netdev_cnp", ecn) == [expected]


def test_a_driver_that_did_not_answer_leaves_it_open(tmp_path: Path) -> None:
    """It may run with another value than the firmware started with."""
    rows = {"nic_parameter": firmware(4), "netdev": device("p0")}
    assert ask(tmp_path, rows, "SELECT dscp, told_by FROM netdev_cnp", "timeout") == []
