"""SONiC's configuration (config_db.json, `sonic-cfggen -d --print-data`): ports, QoS, buffers.

What the configuration asks for; what is in force says sonic_show. A field that is absent from an
entry is an answer: SONiC then takes its default. A table that is absent is one only where the whole
database was printed.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, Value
from railwright.parse.sonic_database import Database, Entry, read
from railwright.parse.switch_rows import (
    PRIORITIES,
    Rows,
    buffer_pool_values,
    buffer_profile_values,
    joined,
    lane_count,
    marks_green,
    priorities_of,
    small_number,
    whole_number,
    wred_values,
)

# The entry of PORT_QOS_MAP and PFC_WD that belongs to no port.
_ALL_PORTS = ("global", "GLOBAL")
_METRES = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)m", re.ASCII)
_ON = {"on": True, "off": False}
_UP = {"up": True, "down": False}
# Of the dynamic buffer model: the switch works the profile out while it runs.
_WORKED_OUT = "NULL"
_LOSSLESS_NAME = "pg_lossless_"

# table of SONiC -> our table, the column of its fields, the column of its values, the last field
_MAPS = {
    "DSCP_TO_TC_MAP": ("switch_dscp", "dscp", "traffic_class", 63),
    "DOT1P_TO_TC_MAP": ("switch_pcp", "pcp", "traffic_class", 7),
    "TC_TO_QUEUE_MAP": ("switch_class_queue", "traffic_class", "queue", 63),
    "TC_TO_PRIORITY_GROUP_MAP": ("switch_class_group", "traffic_class", "priority_group", 63),
    "MAP_PFC_PRIORITY_TO_QUEUE": ("switch_priority_queue", "priority", "queue", 7),
}
# column of switch_port_qos -> field of PORT_QOS_MAP
_BOUND_MAPS = {
    "dscp_map": "dscp_to_tc_map",
    "pcp_map": "dot1p_to_tc_map",
    "traffic_class_map": "tc_to_queue_map",
    "class_group_map": "tc_to_pg_map",
    "priority_queue_map": "pfc_to_queue_map",
}


def _switch(database: Database, rows: Rows) -> None:
    metadata = database.metadata
    if metadata:
        rows.add(
            "switch",
            system="sonic",
            hostname=metadata.get("hostname", ""),
            model=metadata.get("hwsku", ""),
            platform=metadata.get("platform", ""),
            mac=metadata.get("mac", "").lower(),
            role=metadata.get("type", ""),
            buffer_model=metadata.get("buffer_model", ""),
        )


def _vlan_modes(database: Database) -> dict[str, str]:
    """Of each port that belongs to something, what `show interface status` prints as its VLAN."""
    modes = {key.rpartition("|")[2]: "trunk" for key in database.table("VLAN_MEMBER")}
    modes |= {
        port: entry["mode"] for port, entry in database.table("PORT").items() if "mode" in entry
    }
    for key in database.table("PORTCHANNEL_MEMBER"):
        channel, _, port = key.partition("|")
        modes[port] = channel
    return modes


def _ports(database: Database, rows: Rows) -> None:
    modes = _vlan_modes(database)
    for port, entry in database.table("PORT").items():
        rows.add(
            "switch_port",
            port=port,
            alias=entry.get("alias", ""),
            # Without the field the port is down (swss, portmgr.h: DEFAULT_ADMIN_STATUS_STR).
            admin_up=_UP.get(entry.get("admin_status", "down")),
            speed_mbps=small_number(entry.get("speed")),
            lanes=lane_count(entry.get("lanes")),
            fec_configured=entry.get("fec", ""),
            mtu=small_number(entry.get("mtu")),
            autonegotiation=_ON.get(entry.get("autoneg", "")),
            asymmetric_pfc=_ON.get(entry.get("pfc_asym", "")),
            vlan_mode=modes.get(port, "routed" if database.is_whole else None),
        )
    for port, entry in database.table("PORTCHANNEL").items():
        rows.add(
            "switch_port",
            port=port,
            admin_up=_UP.get(entry.get("admin_status", "")),
            lanes=0,
            mtu=small_number(entry.get("mtu")),
            vlan_mode=modes.get(port, entry.get("mode")),
        )
    for lengths in database.table("CABLE_LENGTH").values():
        for port, text in lengths.items():
            match = _METRES.fullmatch(text)
            if match:
                rows.add(
                    "switch_port",
                    port=port,
                    cable_length_m=float(match[1]),
                    cable_length_kind="configured",
                )


def _trust(entry: Entry, default: Entry) -> str | None:
    """Which field picks the class: the port trusts what it has a map for.

    A port without a map of its own may still follow the map of the whole switch: chips differ.
    """
    has_dscp, has_pcp = "dscp_to_tc_map" in entry, "dot1p_to_tc_map" in entry
    if has_dscp or has_pcp:
        return "both" if has_dscp and has_pcp else "dscp" if has_dscp else "pcp"
    return None if _trusts(default) else "port"


def _trusts(entry: Entry) -> bool:
    return "dscp_to_tc_map" in entry or "dot1p_to_tc_map" in entry


def _port_entries(database: Database) -> Iterator[tuple[str, Entry]]:
    """PORT_QOS_MAP of each port; nothing of a port that it does not name."""
    named = {
        port: entry
        for key, entry in database.table("PORT_QOS_MAP").items()
        if key not in _ALL_PORTS
        for port in key.split(",")
        if port
    }
    yield from named.items()
    for port in database.table("PORT"):
        if port not in named:
            yield port, {}


def _port_qos(database: Database, rows: Rows) -> None:
    if not database.was_read("PORT_QOS_MAP"):
        return
    default = database.table("PORT_QOS_MAP").get("global", {})
    if _trusts(default):
        rows.add(
            "switch_port_qos",
            port="",
            trust=_trust(default, {}),
            dscp_map=database.bound(default, "dscp_to_tc_map"),
            pcp_map=database.bound(default, "dot1p_to_tc_map"),
        )
    for port, entry in _port_entries(database):
        lossless = priorities_of(entry.get("pfc_enable", ""))
        maps: dict[str, Value] = {
            column: database.bound(entry, field) for column, field in _BOUND_MAPS.items()
        }
        rows.add(
            "switch_port_qos",
            port=port,
            trust=_trust(entry, default),
            pfc_mode=None if lossless is None else "on" if lossless else "off",
            pfc_priorities=joined(lossless),
            watchdog_priorities=joined(priorities_of(entry.get("pfcwd_sw_enable", ""))),
            **maps,
        )
        if lossless is not None:
            for priority in PRIORITIES:
                rows.add("switch_pfc", port=port, priority=priority, enabled=priority in lossless)


def _watchdog(database: Database, rows: Rows) -> None:
    if not database.was_read("PFC_WD", "PFC_WD_TABLE"):
        return
    # Releases of 2018 and before call it PFC_WD_TABLE.
    watched = database.table("PFC_WD_TABLE") | database.table("PFC_WD")
    for port, entry in watched.items():
        if port in _ALL_PORTS:
            poll = small_number(entry.get("POLL_INTERVAL"))
            if poll is not None:
                rows.add("switch_port_qos", port="", watchdog_poll_ms=poll)
            continue
        history = entry.get("pfc_stat_history")
        rows.add(
            "switch_port_qos",
            port=port,
            watchdog=True,
            watchdog_detection_ms=small_number(entry.get("detection_time")),
            # Without these fields it never lets go, and drops (pfcwd shows `infinite`, `drop`).
            watchdog_restoration_ms=small_number(entry.get("restoration_time", "0")),
            watchdog_action=entry.get("action", "drop"),
            watchdog_history=None if history is None else history == "enable",
        )
    for port, _ in _port_entries(database):
        if port not in watched:
            rows.add("switch_port_qos", port=port, watchdog=False)


def _maps(database: Database, rows: Rows) -> None:
    for name, (table, field_column, value_column, last) in _MAPS.items():
        for key, fields in database.table(name).items():
            for field, value in fields.items():
                number, result = small_number(field), small_number(value)
                if number is not None and number <= last and result is not None:
                    columns: dict[str, Value] = {field_column: number, value_column: result}
                    rows.add(table, map=database.named(key), **columns)


def _scheduler(entry: Entry) -> dict[str, Value]:
    kind = entry.get("type", "").lower()
    return {"type": kind, "weight": 0 if kind == "strict" else small_number(entry.get("weight"))}


def _profiles(database: Database, rows: Rows) -> None:
    for key, entry in database.table("WRED_PROFILE").items():
        rows.add("switch_wred", profile=database.named(key), **wred_values(entry))
    for key, entry in database.table("SCHEDULER").items():
        in_bytes = entry.get("meter_type") == "bytes"
        rows.add(
            "switch_scheduler",
            name=database.named(key),
            maximum_rate_bytes=whole_number(entry.get("pir")) if in_bytes else None,
            **_scheduler(entry),
        )
    for key, entry in database.table("BUFFER_POOL").items():
        rows.add("switch_buffer_pool", pool=database.named(key), **buffer_pool_values(entry))
    for key, entry in database.table("BUFFER_PROFILE").items():
        rows.add(
            "switch_buffer_profile",
            profile=database.named(key),
            pool=database.bound(entry, "pool"),
            **buffer_profile_values(entry),
        )


def _serving(database: Database, entry: Entry) -> dict[str, Value]:
    """How a queue is served; a scheduler that is not in the answer is not known."""
    name = database.reference(entry, "scheduler")
    if not name:
        return {"scheduler": ""}
    found = database.table("SCHEDULER").get(name)
    if found is None:
        return {}
    scheduler = _scheduler(found)
    return {"scheduler": scheduler["type"], "weight": scheduler["weight"]}


def _marking(database: Database, entry: Entry) -> dict[str, Value]:
    """When a queue marks; a profile that is not in the answer is not known."""
    name = database.reference(entry, "wred_profile")
    if not name:
        return {"wred_profile": "", "ecn_enabled": False, "red_enabled": False}
    found = database.table("WRED_PROFILE").get(name)
    if found is None:
        return {"wred_profile": database.named(name)}
    profile = wred_values(found)
    return {
        "wred_profile": database.named(name),
        "ecn_enabled": marks_green(profile["ecn"]),
        "red_enabled": profile["green_enabled"],
        "ecn_minimum_bytes": profile["green_minimum_bytes"],
        "ecn_maximum_bytes": profile["green_maximum_bytes"],
        "ecn_probability_percent": profile["green_probability_percent"],
    }


def _queues(database: Database, rows: Rows) -> None:
    served = database.expanded("QUEUE", "scheduler", "wred_profile")
    buffered = database.expanded("BUFFER_QUEUE", "profile")
    for port, queue in {**served, **buffered}:
        values: dict[str, Value] = {}
        if database.was_read("QUEUE"):
            entry = served.get((port, queue), {})
            values |= _serving(database, entry) | _marking(database, entry)
        if database.was_read("BUFFER_QUEUE"):
            entry = buffered.get((port, queue), {})
            values["buffer_profile"] = database.bound(entry, "profile")
        rows.add("switch_queue", port=port, queue=queue, **values)


def _priority_group(database: Database, entry: Entry) -> dict[str, Value]:
    name = database.reference(entry, "profile")
    if name == _WORKED_OUT:
        return {"is_lossless": True}
    if not name:
        return {"profile": "", "is_lossless": False}
    found = database.table("BUFFER_PROFILE").get(name)
    if found is None:
        is_lossless = True if name.startswith(_LOSSLESS_NAME) else None
        return {"profile": database.named(name), "is_lossless": is_lossless}
    return {
        "profile": database.named(name),
        "is_lossless": "xoff" in found or found.get("headroom_type") == "dynamic",
        "size_bytes": whole_number(found.get("size")),
        "headroom_bytes": whole_number(found.get("xoff")),
    }


def _priority_groups(database: Database, rows: Rows) -> None:
    for (port, group), entry in database.expanded("BUFFER_PG", "profile").items():
        rows.add(
            "switch_priority_group",
            port=port,
            priority_group=group,
            **_priority_group(database, entry),
        )


def read_buffers(database: Database, rows: Rows) -> None:
    """Pools, profiles and what is bound to priority groups; also of the running database."""
    _profiles(database, rows)
    _priority_groups(database, rows)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 - one answer per switch
    """Rows of all switch tables that a configuration can fill."""
    rows = Rows()
    for database in read(data):
        for part in (
            _switch,
            _ports,
            _port_qos,
            _watchdog,
            _maps,
            _profiles,
            _queues,
            _priority_groups,
        ):
            part(database, rows)
    return iter(rows)
