"""The facts of a switch against its model: column by column, wherever the facts were read.

Expected values come from the model's own fields. A column that a system does not tell stands in
NOT_TOLD; nothing else may be missing.
"""

from collections.abc import Callable
from typing import Any

from lab.fleet.fabric import Fabric, Routing, Switch
from lab.fleet.fabric.setting import Setting, count
from lab.fleet.fabric.truth import neighbors, routes

# What no command of a system tells about a port.
NOT_TOLD = {
    "sonic": {"mac"},
    "cumulus": {"fec_configured", "transceiver", "vlan_mode", "alias"},
    "eos": {"fec_configured", "alias"},
    "onyx": {"fec_active", "lanes", "transceiver", "alias"},
}

# What every system counts of a port that is up: (counter, priority or queue).
COUNTED = {("rx_ok", -1), ("tx_ok", -1), ("pfc_rx", 3), ("pfc_tx", 3)}
BY_PRIORITY = {("pfc_rx", 3), ("pfc_tx", 3)}
NOT_COUNTED = {"eos": BY_PRIORITY, "onyx": BY_PRIORITY}

Rows = dict[str, list[dict[str, Any]]]
Check = Callable[[Rows, Fabric, Switch], None]


def merged(rows: list[dict[str, Any]], *key: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Known values first; what is in force before what is configured."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["probe"] == "sonic_config_db"):
        known = found.setdefault(tuple(row[name] for name in key), {})
        for name, value in row.items():
            if known.get(name) is None:
                known[name] = value
    return found


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


def check_itself(rows: Rows, fabric: Fabric, switch: Switch) -> None:
    row = merged(rows["switch"], "system")[switch.system,]
    truth = {"hostname": switch.name, "serial": switch.serial}
    assert {name: row[name] for name in truth} == truth
    assert len(merged(rows["switch"], "system")) == 1


def check_ports(rows: Rows, fabric: Fabric, switch: Switch) -> None:
    found = merged(rows["switch_port"], "port")
    assert len(found) == len(switch.ports)
    for at, port in enumerate(switch.ports):
        row = found[port.name,]
        truth = port_truth(fabric, switch, at)
        assert {name: row[name] for name in truth} == truth, port.name


Merged = dict[tuple[Any, ...], dict[str, Any]]


def pfc_of(known: Merged, port: str) -> set[int]:
    return {p for p in range(8) if known.get((port, p), known.get(("", p), {})).get("enabled")}


def dscp_of(known: Merged, name: str, dscp: int) -> int | None:
    row = known.get((name, dscp), {})
    value = row.get("traffic_class")
    result: int | None = row.get("priority") if value is None else value
    return result


def check_classes(rows: Rows, fabric: Fabric, switch: Switch) -> None:
    """DSCP by the port's own map where it has one, else by the switch's."""
    qos = merged(rows["switch_port_qos"], "port")
    pfc = merged(rows["switch_pfc"], "port", "priority")
    dscps = merged(rows["switch_dscp"], "map", "dscp")
    for at, port in enumerate(switch.ports):
        setting = switch.settings[at]
        assert pfc_of(pfc, port.name) == set(setting.pfc), port.name
        name = qos.get((port.name,), {}).get("dscp_map") or ""
        for dscp in (0, 26, 34, 48, 63):
            assert dscp_of(dscps, name, dscp) == setting.dscp_class[dscp], port.name
    first = qos.get((switch.ports[0].name,), {})
    trust = first.get("trust") or qos.get(("",), {}).get("trust")
    assert trust == switch.settings[0].trust
    watchdog = first.get("watchdog")
    watchdog = qos.get(("",), {}).get("watchdog") if watchdog is None else watchdog
    is_watched = bool(switch.settings[0].watchdog) and switch.settings[0].watchdog_running
    assert watchdog is (None if switch.system == "onyx" else is_watched)


def queue_of(rows: Rows, port: str, queue: int) -> dict[str, Any]:
    known = merged(rows.get("switch_queue", []), "port", "queue")
    own, whole = known.get((port, queue), {}), known.get(("", queue), {})
    return {name: own.get(name) if own.get(name) is not None else whole.get(name)
            for name in {*own, *whole}}  # fmt: skip


def nearly(found: int, wanted: int) -> bool:
    """Cumulus prints two digits behind the point."""
    return abs(found - wanted) <= wanted * 0.005


def check_queues(rows: Rows, fabric: Fabric, switch: Switch) -> None:
    setting: Setting = switch.settings[0]
    for queue in sorted({*setting.class_queue}):
        row = queue_of(rows, switch.ports[0].name, queue)
        marking = setting.marking.get(queue)
        assert bool(row.get("ecn_enabled")) is (marking is not None), queue
        if marking is not None and switch.system == "eos":
            assert row["ecn_minimum_bytes"] is None  # no command that is asked prints thresholds
        elif marking is not None:
            assert nearly(row["ecn_minimum_bytes"], marking.minimum_bytes), queue
            assert nearly(row["ecn_maximum_bytes"], marking.maximum_bytes), queue
        if queue in setting.schedulers:
            weight = setting.schedulers[queue]
            assert (row["scheduler"] == "strict", row["weight"]) == (weight == 0, weight), queue


def check_headroom(rows: Rows, fabric: Fabric, switch: Switch) -> None:
    if switch.system != "sonic":
        assert "switch_priority_group" not in rows
        return
    known = merged(rows["switch_priority_group"], "port", "priority_group")
    for port, setting in zip(switch.ports, switch.settings, strict=True):
        group = known[port.name, 3]
        assert (group["is_lossless"], group["headroom_bytes"]) == (True, setting.headroom_bytes)
        assert not known[port.name, 0]["is_lossless"]


def check_neighbors_and_routes(rows: Rows, fabric: Fabric, switch: Switch) -> None:
    known = merged(rows["switch_neighbor"], "port", "place")
    truth = list(neighbors(fabric, switch))
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


def counted(setting: Setting, name: str, number: int) -> int:
    """EOS counts pause frames of all priorities together, too."""
    if number < 0 and name in ("pfc_rx", "pfc_tx"):
        return sum(count(setting, name, priority) for priority in range(8))
    return count(setting, name, number)


def check_counters(rows: Rows, fabric: Fabric, switch: Switch) -> None:
    """What is counted is what the model says, whatever a system counts beside it."""
    numbers = {port.name: at for at, port in enumerate(switch.ports)}
    told: dict[str, set[tuple[str, int]]] = {name: set() for name in numbers}
    for row in rows["switch_counter"]:
        setting = switch.settings[numbers[row["port"]]]
        which = row["counter"], row["number"]
        told[row["port"]].add(which)
        if row["value"] is not None:
            assert row["value"] == counted(setting, *which), (row["port"], which)
    wanted = COUNTED - NOT_COUNTED.get(switch.system, set())
    for name, at in numbers.items():
        if fabric.is_up(switch, at):
            assert wanted <= told[name], name


CHECKS: tuple[Check, ...] = (
    *(check_itself, check_ports, check_classes, check_queues, check_headroom),
    *(check_neighbors_and_routes, check_counters),
)
