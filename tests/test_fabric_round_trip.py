"""What the lab's switches answer, through the real parsers, against the model: column by column.

Expected values come from the model's own fields. A column that a system does not tell stands in
NOT_TOLD; nothing else may be missing.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bench.fabric import fabric_snapshot
from bench.fleets import evidence_of, snapshot_of
from lab.fleet.fabric import SHAPES, End, Fabric, Routing, Switch, answers, build
from lab.fleet.fabric.hosts import host_model
from lab.fleet.fabric.setting import Setting
from lab.fleet.fabric.truth import neighbours, routes
from railwright.facts.ingest import parse_answer
from railwright.facts.schema import tables
from railwright.facts.snapshot import Snapshot, load

FABRICS = ("mixed", "onyx", "planes", "wide")
MAIN = {"sonic": "sonic_show", "cumulus": "nvue_show", "eos": "eos_show", "onyx": "onyx_show"}
# What no command of a system tells about a port.
NOT_TOLD = {
    "sonic": {"mac"},
    "cumulus": {"fec_configured", "transceiver", "vlan_mode", "alias"},
    "eos": {"fec_configured", "alias"},
    "onyx": {"fec_active", "lanes", "transceiver", "alias"},
}


Rows = dict[str, list[dict[str, Any]]]


@cache
def fabric_of(name: str) -> Fabric:
    return build(SHAPES[name])


def parsed(fabric: Fabric, switch: Switch) -> Rows:
    """Every row, with its probe."""
    found: Rows = {}
    for probe, command, text in answers(fabric, switch, Routing(fabric)):
        rows, why = parse_answer(probe, command, text.encode())
        assert why == "", f"{switch.name} {command}: {why}"
        for row in rows:
            found.setdefault(row.table, []).append({**row.values, "probe": probe})
    return found


def merged(rows: list[dict[str, Any]], *key: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Known values first; what is in force before what is configured."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["probe"] == "sonic_config_db"):
        known = found.setdefault(tuple(row[name] for name in key), {})
        for name, value in row.items():
            if known.get(name) is None:
                known[name] = value
    return found


def kinds() -> Iterator[Any]:
    """One switch of each system and tier of each fabric."""
    for name in FABRICS:
        met = set()
        for switch in fabric_of(name).switches:
            if (switch.system, switch.tier) not in met:
                met.add((switch.system, switch.tier))
                yield pytest.param(
                    fabric_of(name), switch, id=f"{name}-{switch.name}-{switch.system}"
                )


def port_truth(fabric: Fabric, switch: Switch, at: int) -> dict[str, Any]:
    setting, up = switch.settings[at], fabric.is_up(switch, at)
    truth: dict[str, Any] = {"admin_up": setting.admin_up, "is_up": up, "mtu": setting.mtu,
                             "autonegotiation": setting.autonegotiation, "lanes": setting.lanes,
                             "mac": switch.port_mac(at)}  # fmt: skip
    if up:
        truth |= {"speed_mbps": setting.speed_mbps, "fec_active": setting.fec}
    if switch.system == "sonic":
        truth |= {"alias": switch.ports[at].alias, "fec_configured": setting.fec_asked,
                  "cable_length_m": setting.cable_m, "cable_length_kind": "configured"}  # fmt: skip
    return {name: value for name, value in truth.items() if name not in NOT_TOLD[switch.system]}


@pytest.mark.parametrize(("fabric", "switch"), list(kinds()))
def test_ports(fabric: Fabric, switch: Switch) -> None:
    found = merged(parsed(fabric, switch)["switch_port"], "port")
    assert len(found) == len(switch.ports)
    for at, port in enumerate(switch.ports):
        row = found[port.name,]
        truth = port_truth(fabric, switch, at)
        assert {name: row[name] for name in truth} == truth, port.name


def pfc_of(rows: Rows, port: str) -> set[int]:
    known = merged(rows["switch_pfc"], "port", "priority")
    return {p for p in range(8) if known.get((port, p), known.get(("", p), {})).get("enabled")}


def dscp_of(rows: Rows, port: str, dscp: int) -> int | None:
    """By the port's own map where it has one, else by the switch's."""
    binding = merged(rows["switch_port_qos"], "port").get((port,), {})
    name = binding.get("dscp_map") or ""
    known = merged(rows["switch_dscp"], "map", "dscp")
    row = known.get((name, dscp), {})
    value = row.get("traffic_class")
    result: int | None = row.get("priority") if value is None else value
    return result


@pytest.mark.parametrize(("fabric", "switch"), list(kinds()))
def test_classes(fabric: Fabric, switch: Switch) -> None:
    rows = parsed(fabric, switch)
    for at, port in enumerate(switch.ports):
        setting = switch.settings[at]
        assert pfc_of(rows, port.name) == set(setting.pfc), port.name
        for dscp in (0, 26, 34, 48, 63):
            assert dscp_of(rows, port.name, dscp) == setting.dscp_class[dscp], port.name
    qos = merged(rows["switch_port_qos"], "port")
    first = qos.get((switch.ports[0].name,), {})
    trust = first.get("trust") or qos.get(("",), {}).get("trust")
    assert trust == (None if switch.system == "eos" else "dscp")
    watchdog = first.get("watchdog")
    watchdog = qos.get(("",), {}).get("watchdog") if watchdog is None else watchdog
    assert watchdog is (None if switch.system == "onyx" else True)


def queue_of(rows: Rows, port: str, queue: int) -> dict[str, Any]:
    known = merged(rows.get("switch_queue", []), "port", "queue")
    own, whole = known.get((port, queue), {}), known.get(("", queue), {})
    return {name: own.get(name) if own.get(name) is not None else whole.get(name)
            for name in {*own, *whole}}  # fmt: skip


def nearly(found: int, wanted: int) -> bool:
    """Cumulus prints two digits behind the point."""
    return abs(found - wanted) <= wanted * 0.005


@pytest.mark.parametrize(("fabric", "switch"), list(kinds()))
def test_queues(fabric: Fabric, switch: Switch) -> None:
    rows = parsed(fabric, switch)
    if switch.system == "eos":
        assert "switch_queue" not in rows  # nothing that is asked tells how a queue is served
        return
    setting: Setting = switch.settings[0]
    data, cnp = queue_of(rows, switch.ports[0].name, 3), queue_of(rows, switch.ports[0].name, 6)
    assert data["ecn_enabled"] is True
    assert nearly(data["ecn_minimum_bytes"], setting.marking[3].minimum_bytes)
    assert nearly(data["ecn_maximum_bytes"], setting.marking[3].maximum_bytes)
    assert (cnp["scheduler"], cnp["weight"]) == ("strict", 0)
    assert data["weight"] == 50
    assert not cnp["ecn_enabled"]


@pytest.mark.parametrize(("fabric", "switch"), list(kinds()))
def test_headroom(fabric: Fabric, switch: Switch) -> None:
    rows = parsed(fabric, switch)
    if switch.system != "sonic":
        assert "switch_priority_group" not in rows
        return
    known = merged(rows["switch_priority_group"], "port", "priority_group")
    for port, setting in zip(switch.ports, switch.settings, strict=True):
        group = known[port.name, 3]
        assert (group["is_lossless"], group["headroom_bytes"]) == (True, setting.headroom_bytes)
        assert not known[port.name, 0]["is_lossless"]


@pytest.mark.parametrize(("fabric", "switch"), list(kinds()))
def test_neighbours_and_routes(fabric: Fabric, switch: Switch) -> None:
    rows = parsed(fabric, switch)
    known = merged(rows["switch_neighbor"], "port", "place")
    truth = list(neighbours(fabric, switch))
    assert len(known) == len(truth) > 0
    for row in truth:
        found = known[row["port"], row["place"]]
        assert {name: found[name] for name in row if name != "target"} == {
            name: value for name, value in row.items() if name != "target"
        }
    if "switch_route" in rows:
        found_routes = merged(rows["switch_route"], "vrf", "prefix")
        for row in routes(switch, Routing(fabric).of(switch)):
            found = found_routes[row["vrf"], row["prefix"]]
            assert {n: found[n] for n in row if n != "target"} == {
                name: value for name, value in row.items() if name != "target"
            }


# ---- snapshots


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fabrics")


@cache
def database_of(path: Path) -> Any:
    """A view per table is dear to make: once per snapshot."""
    return load(path).database()


def rows_of(snapshot: Snapshot, query: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = database_of(snapshot.path).execute(query).fetchall()
    return found


@pytest.mark.root
@pytest.mark.timeout(900)
def test_both_ends_of_every_link_name_each_other(folder: Path) -> None:
    fabric = fabric_of("mixed")
    snapshot = fabric_snapshot(folder / "whole", fabric, templates=folder / "templates")
    assert rows_of(snapshot, "SELECT kind, count(*) FROM target GROUP BY kind ORDER BY kind") == [
        ("host", 8), ("switch", 20)
    ]  # fmt: skip
    heard = {
        (target, netdev): (system, port)
        for target, netdev, system, port in rows_of(
            snapshot, "SELECT target, netdev, system_name, port_id FROM lldp_neighbor"
        )
    }
    macs = {
        (target, mac): name
        for target, name, mac in rows_of(snapshot, "SELECT target, name, mac FROM netdev")
    }
    sides = {
        (target, port): (system, port_id)
        for target, port, system, port_id in rows_of(
            snapshot, "SELECT target, port, system_name, port_id FROM switch_neighbor"
        )
    }
    links = fabric.links
    for at in range(len(links)):
        upper = fabric.switch(links.upper[at])
        port = upper.ports[links.upper_port[at]]
        lower = End(links.lower[at], links.lower_port[at])
        told = sides[upper.name, port.name]
        if fabric.is_host(lower.machine):
            netdev = macs[told]
            assert heard[told[0], netdev] == (upper.name, port.announced)
        else:
            below = fabric.switch(lower.machine)
            named = below.ports[lower.port]
            assert told == (below.name, named.announced)
            assert sides[below.name, named.name] == (upper.name, port.announced)


@pytest.mark.root
@pytest.mark.timeout(900)
def test_written_facts_are_those_that_would_have_been_read(folder: Path) -> None:
    """A host and switches whose rows were written, against the same read and parsed one by one."""
    fabric = fabric_of("mixed")
    written = fabric_snapshot(
        folder / "few", fabric, templates=folder / "templates", parse_all=False
    )
    host = fabric.host_name(5)
    read = snapshot_of(folder / "read", evidence_of(folder / "a", [host_model(fabric, 5)]))
    whole = fabric_snapshot(folder / "parsed", fabric, templates=folder / "templates")
    differ = []
    for name, table in tables().items():
        if table.fed_by == "derived" or name in ("target", "probe_result"):
            continue
        volatile = {column.name for column in table.columns if column.volatile}
        columns = ", ".join(
            f'"{column}"' for column in table.column_types()
            if column not in {"read_at", *volatile}
        )  # fmt: skip
        query = f"SELECT {columns} FROM {name} WHERE target = '{host}' ORDER BY ALL"
        if rows_of(written, query) != rows_of(read, query):
            differ.append(f"{name} of {host}")
        if name.startswith("switch"):
            query = f"SELECT {columns} FROM {name} ORDER BY ALL"
            if rows_of(written, query) != rows_of(whole, query):
                differ.append(name)
    assert differ == []
