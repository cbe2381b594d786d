"""SONiC: the configuration as `sonic-cfggen -d --print-data` prints it, and all answers.

The tables are those of the project's samples. On demand other tables stand beside them, with
secrets in them that a reader must not keep (`OTHER_TABLES`).
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lab.fleet.fabric.frr import route_json
from lab.fleet.fabric.model import Fabric, Route, Switch
from lab.fleet.fabric.setting import AT_RUN_TIME, Marking, Setting
from lab.fleet.fabric.sonic_more import APPLICATION, APPLICATION_DUMP, dump, in_force
from lab.fleet.fabric.sonic_show import is_watched, shown, wred_fields

Table = dict[str, dict[str, str]]
_MAP = "AZURE"
_TYPES = {1: "ToRRouter", 2: "LeafRouter", 3: "SpineRouter"}
_POLL_MS = "200"
# What a whole configuration also has. None of it may leave the switch.
OTHER_TABLES: dict[str, Table] = {
    "TACPLUS_SERVER": {"198.51.100.7": {"passkey": "planted-tacacs", "priority": "1"}},
    "SNMP_COMMUNITY": {"planted-community": {"TYPE": "RO"}},
    "BGP_NEIGHBOR": {"100.64.0.1": {"asn": "65001", "password": "planted-bgp"}},
    "LDAP": {"global": {"bind_dn": "cn=admin", "bind_password": "planted-ldap"}},
    "RADIUS": {"global": {"passkey": "planted-radius"}},
}


class _Names:
    """Names for records that ports share: the first has the usual name, others a number."""

    def __init__(self, usual: str) -> None:
        self._usual = usual
        self._known: dict[Any, str] = {}

    def of(self, record: Any) -> str:
        number = len(self._known)
        name = f"{self._usual}_{number + 1}" if number else self._usual
        return self._known.setdefault(record, name)

    def items(self) -> Iterator[tuple[Any, str]]:
        return iter(self._known.items())


def _text(values: dict[Any, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in values.items()}


def _ports(switch: Switch) -> Table:
    found = {}
    for port, setting in zip(switch.ports, switch.settings, strict=True):
        entry = {
            "admin_status": "up" if setting.admin_up else "down",
            "alias": port.alias,
            "fec": setting.fec_asked,
            "index": str(port.cage),
            "lanes": ",".join(map(str, port.lanes)),
            "mtu": str(setting.mtu),
            "speed": str(setting.asked_mbps),
        }
        if setting.autonegotiation:
            entry["autoneg"] = "on"
        found[port.name] = entry
    return found


def _metres(setting: Setting) -> str:
    return f"{setting.cable_m:g}m"


def profile_name(setting: Setting) -> str:
    """pg_lossless_400000_5m_profile: one whose figures are not the usual ones has another name."""
    more = "" if setting.pause_threshold_bytes is None else "_static"
    return f"pg_lossless_{setting.speed_mbps}_{_metres(setting)}{more}_profile"


class _Buffers:
    """Profiles of lossless groups: same name, same figures, else another name."""

    def __init__(self, headroom: str) -> None:
        self.profiles: Table = {}
        self._headroom = headroom

    def of(self, setting: Setting) -> str:
        name = profile_name(setting)
        if self._headroom == AT_RUN_TIME:
            return "NULL"
        if self._headroom == "not public":
            return name
        static = setting.pause_threshold_bytes
        fields = {
            **({"dynamic_th": "0"} if static is None else {"static_th": str(static)}),
            "pool": "ingress_lossless_pool",
            "size": str(setting.size_bytes),
            "xoff": str(setting.headroom_bytes or 0),
            "xon": str(setting.xon_bytes),
        }
        number = 2
        while self.profiles.get(name, fields) != fields:
            name = f"{profile_name(setting)}_{number}"
            number += 1
        self.profiles[name] = fields
        return name


def _buffers(switch: Switch) -> dict[str, Table]:
    pools = {
        "egress_lossless_pool": ("egress", switch.egress_pool_bytes),
        "egress_lossy_pool": ("egress", switch.pool_bytes),
        "ingress_lossless_pool": ("ingress", switch.pool_bytes),
    }
    made: Table = {
        name: {"mode": "dynamic", "size": str(size), "type": kind}
        for name, (kind, size) in pools.items()
    }
    made["ingress_lossless_pool"]["xoff"] = str(switch.shared_headroom_bytes)
    buffers, groups, queues = _Buffers(switch.software.headroom), Table(), Table()
    for port, setting in zip(switch.ports, switch.settings, strict=True):
        for group in sorted({*setting.class_group, *setting.lossless_groups}):
            is_lossless = group in setting.lossless_groups
            profile = buffers.of(setting) if is_lossless else "ingress_lossy_profile"
            groups[f"{port.name}|{group}"] = {"profile": profile}
        for queue in setting.lossless_groups:
            queues[f"{port.name}|{queue}"] = {"profile": "egress_lossless_profile"}
        queues[f"{port.name}|0-2"] = {"profile": "egress_lossy_profile"}
    profiles: Table = {
        "ingress_lossy_profile": {"dynamic_th": "3", "pool": "ingress_lossless_pool", "size": "0"},
        **buffers.profiles,
        "egress_lossless_profile": {
            "dynamic_th": "7", "pool": "egress_lossless_pool", "size": "0",
        },
        "egress_lossy_profile": {"dynamic_th": "7", "pool": "egress_lossy_pool", "size": "9216"},
    }  # fmt: skip
    return {
        "BUFFER_PG": groups, "BUFFER_POOL": made, "BUFFER_PROFILE": profiles,
        "BUFFER_QUEUE": queues,
    }  # fmt: skip


def wred_profiles(switch: Switch) -> dict[Marking, str]:
    """The profiles that ports of a switch are bound to, with their names."""
    names = _Names("AZURE_LOSSLESS")
    for setting in switch.settings:
        for queue in sorted(setting.marking):
            names.of(setting.marking[queue])
    return dict(names.items())


def wred_tables(switch: Switch) -> Table:
    """The same with their fields: what CONFIG_DB has."""
    if switch.tables is not None:
        return dict(switch.tables.get("WRED_PROFILE", {}))
    return {name: wred_fields(one) for one, name in wred_profiles(switch).items()}


def _queues(switch: Switch) -> dict[str, Table]:
    schedulers: dict[tuple[int, int], str] = {}
    wred, queues = wred_profiles(switch), Table()
    for port, setting in zip(switch.ports, switch.settings, strict=True):
        for queue in sorted({*setting.schedulers, *setting.marking}):
            entry: dict[str, str] = {}
            if queue in setting.schedulers:
                key = (queue, setting.schedulers[queue])
                entry["scheduler"] = schedulers.setdefault(key, f"scheduler.{len(schedulers)}")
            if queue in setting.marking:
                entry["wred_profile"] = wred[setting.marking[queue]]
            queues[f"{port.name}|{queue}"] = entry
    return {
        "QUEUE": queues,
        "SCHEDULER": {
            name: {"type": "DWRR", "weight": str(weight)} if weight else {"type": "STRICT"}
            for (_, weight), name in schedulers.items()
        },
        "WRED_PROFILE": {name: wred_fields(one) for one, name in wred.items()},
    }


def _maps(switch: Switch) -> dict[str, Table]:
    dscp, queue, group = _Names(_MAP), _Names(_MAP), _Names(_MAP)
    pcp, qos = _Names(_MAP), Table()
    if switch.software.trust_of_switch:
        qos["global"] = {"dscp_to_tc_map": _MAP}
    for port, setting in zip(switch.ports, switch.settings, strict=True):
        entry: dict[str, str] = {}
        # A map that was taken from a port is still there; a switch that goes by PCP has none.
        bound = dscp.of(setting.dscp_class) if setting.trust != "pcp" else ""
        if setting.trust in ("dscp", "both"):
            entry["dscp_to_tc_map"] = bound
        if setting.trust in ("pcp", "both"):
            entry["dot1p_to_tc_map"] = pcp.of(setting.pcp_class)
        if setting.pfc:
            entry["pfc_enable"] = ",".join(map(str, setting.pfc))
        if setting.watchdog:
            entry["pfcwd_sw_enable"] = ",".join(map(str, setting.watchdog))
        entry["pfc_to_queue_map"] = _MAP
        entry["tc_to_pg_map"] = group.of(setting.class_group)
        entry["tc_to_queue_map"] = queue.of(setting.class_queue)
        qos[port.name] = entry
    alike = _text(dict(enumerate(range(8))))
    found: dict[str, Table] = {
        "MAP_PFC_PRIORITY_TO_QUEUE": {_MAP: alike},
        "PORT_QOS_MAP": qos,
        "TC_TO_PRIORITY_GROUP_MAP": {n: _text(dict(enumerate(one))) for one, n in group.items()},
        "TC_TO_QUEUE_MAP": {name: _text(dict(enumerate(one))) for one, name in queue.items()},
    }
    for table, names in (("DSCP_TO_TC_MAP", dscp), ("DOT1P_TO_TC_MAP", pcp)):
        listed = {name: _text(dict(enumerate(one))) for one, name in names.items()}
        found |= {table: listed} if listed else {}
    return found


def _watchdog(switch: Switch) -> dict[str, Table]:
    ports = zip(switch.ports, switch.settings, strict=True)
    watched = {
        port.name: {
            "action": setting.watchdog_action,
            "detection_time": str(setting.watchdog_ms[0]),
            "restoration_time": str(setting.watchdog_ms[1]),
        }
        for port, setting in ports
        if is_watched(setting)
    }
    return {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": _POLL_MS}, **watched}} if watched else {}


def config_db(switch: Switch, *, others: bool = False) -> dict[str, Any]:
    """The tables of the configuration, as written where somebody has."""
    if switch.tables is not None:
        return {
            name: switch.tables[name]
            for name in sorted(switch.tables)
            if others or name not in (*OTHER_TABLES, "FEATURE")
        }
    metadata = {
        "hostname": switch.name,
        "hwsku": switch.model.sku,
        "mac": switch.chassis,
        "platform": switch.model.platform,
        "type": _TYPES[switch.tier],
        **({"buffer_model": "dynamic"} if switch.software.headroom == AT_RUN_TIME else {}),
    }
    ports = zip(switch.ports, switch.settings, strict=True)
    tables: dict[str, Any] = {
        "DEVICE_METADATA": {"localhost": metadata},
        "PORT": _ports(switch),
        **(OTHER_TABLES if others else {}),
    }
    if switch.software.qos == "loaded":
        lengths = {port.name: _metres(setting) for port, setting in ports}
        tables |= {"CABLE_LENGTH": {_MAP: lengths}, **_buffers(switch), **_maps(switch),
                   **_watchdog(switch), **_queues(switch)}  # fmt: skip
    return {name: tables[name] for name in sorted(tables)}


def running(switch: Switch) -> dict[str, Any]:
    """The tables as they are in force: profiles that are worked out at run time have figures."""
    worked_out = replace(switch.software, headroom="by formula")
    told = switch.software.headroom == AT_RUN_TIME
    made = replace(switch, software=worked_out, tables=None) if told else switch
    if switch.in_force is None:
        return config_db(made)
    return _with_figures(config_db(replace(switch, tables=switch.in_force)), config_db(made))


def _with_figures(tables: dict[str, Any], worked_out: dict[str, Any]) -> dict[str, Any]:
    """Groups that have no profile of their own get the one that is worked out."""
    groups, profiles = dict(tables.get("BUFFER_PG", {})), dict(tables.get("BUFFER_PROFILE", {}))
    for key, fields in groups.items():
        if fields.get("profile") == "NULL" and key in worked_out["BUFFER_PG"]:
            groups[key] = worked_out["BUFFER_PG"][key]
            name = groups[key]["profile"]
            profiles[name] = worked_out["BUFFER_PROFILE"][name]
    return {**tables, "BUFFER_PG": groups, "BUFFER_PROFILE": profiles}


def answers(fabric: Fabric, switch: Switch, routes: list[Route]) -> Iterator[tuple[str, str, str]]:
    """Configuration, `show` commands, routes."""
    yield "sonic_config_db", "", json.dumps(config_db(switch), indent=4) + "\n"
    for command, text in shown(fabric, switch, wred_tables(switch)):
        yield "sonic_show", command, text
    if switch.software.headroom == AT_RUN_TIME:
        yield "sonic_show", APPLICATION_DUMP, dump(in_force(running(switch)), APPLICATION)
    yield "sonic_route", "show ip route vrf all", route_json(switch, routes)
