"""SONiC: what the tables of CONFIG_DB say of a port, as fields of its Setting.

Fields that two CONFIG_DBs say otherwise are what a write changes: `changed` knows nothing of names
that the model gives to maps and profiles, and of nothing that no table says.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from lab.fleet.fabric.hardware import SwitchModel
from lab.fleet.fabric.headroom import Wire, headroom
from lab.fleet.fabric.setting import Marking, Setting

Tables = Mapping[str, Any]
Row = Mapping[str, str]
_COLOURS = ("green", "yellow", "red")
SPEEDS = (10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000)
_OWN = "pg_lossless_"  # how profiles are called that the buffer manager makes


def numbers(text: str) -> tuple[int, ...]:
    """3,4 or 3-4."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def rows(tables: Tables, table: str, port: str) -> Iterator[tuple[int, Row]]:
    """Rows of a port by queue or group: `Ethernet0|3-4` is two."""
    for key, row in tables.get(table, {}).items():
        name, _, which = key.partition("|")
        if name == port:
            for number in numbers(which):
                yield number, row


def _map(tables: Tables, table: str, name: str, size: int, usual: int | None) -> tuple[int, ...]:
    row = tables.get(table, {}).get(name, {})
    return tuple(int(row.get(str(at), at if usual is None else usual)) for at in range(size))


def _marking(profile: Row) -> Marking:
    colours = tuple(c for c in _COLOURS if f"{c}_min_threshold" in profile) or ("green",)
    first = colours[0]
    return Marking(
        int(profile.get(f"{first}_min_threshold", 0)),
        int(profile.get(f"{first}_max_threshold", 0)),
        int(profile.get(f"{first}_drop_probability", 100)),
        ecn=profile.get("ecn", "ecn_none") != "ecn_none",
        enabled=profile.get(f"wred_{first}_enable") == "true",
        colours=colours,
    )


def _port(tables: Tables, port: str) -> dict[str, Any]:
    row = tables.get("PORT", {}).get(port, {})
    return {
        "mtu": int(row.get("mtu", 9100)),
        "fec_asked": row.get("fec", "none"),
        "speed_mbps": int(row.get("speed", 0)),
        "autonegotiation": row.get("autoneg") in ("on", "enabled"),
        "admin_up": row.get("admin_status") == "up",
    }


def _classes(tables: Tables, port: str) -> dict[str, Any]:
    qos = tables.get("PORT_QOS_MAP", {})
    row = {**qos.get("global", {}), **qos.get(port, {})}
    dscp, pcp = row.get("dscp_to_tc_map"), row.get("dot1p_to_tc_map")
    found: dict[str, Any] = {
        "trust": "both" if dscp and pcp else "dscp" if dscp else "pcp" if pcp else "port",
        "pfc": numbers(row.get("pfc_enable", "")),
        "watchdog": numbers(row.get("pfcwd_sw_enable", "")),
    }
    for field, key, table, size, usual in (
        ("dscp_class", "dscp_to_tc_map", "DSCP_TO_TC_MAP", 64, 0),
        ("pcp_class", "dot1p_to_tc_map", "DOT1P_TO_TC_MAP", 8, None),
        ("class_queue", "tc_to_queue_map", "TC_TO_QUEUE_MAP", 8, None),
        ("class_group", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", 8, 0),
    ):
        if row.get(key):
            found[field] = _map(tables, table, row[key], size, usual)
    return found


def _queues(tables: Tables, port: str) -> dict[str, Any]:
    marking, schedulers = {}, {}
    for queue, row in rows(tables, "QUEUE", port):
        profile = tables.get("WRED_PROFILE", {}).get(row.get("wred_profile", ""))
        if profile is not None:
            marking[queue] = _marking(profile)
        served = tables.get("SCHEDULER", {}).get(row.get("scheduler", ""))
        if served is not None:
            is_strict = served.get("type") == "STRICT"
            schedulers[queue] = 0 if is_strict else int(served.get("weight", 1))
    return {"marking": marking, "schedulers": schedulers}


def _buffers(tables: Tables, port: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    lossless = []
    for group, row in rows(tables, "BUFFER_PG", port):
        name = row.get("profile", "")
        profile = tables.get("BUFFER_PROFILE", {}).get(name, {})
        if name != "NULL" and "xoff" not in profile:
            continue
        lossless.append(group)
        if profile:
            static = profile.get("static_th")
            found |= {
                "headroom_bytes": int(profile["xoff"]),
                "xon_bytes": int(profile.get("xon", 0)),
                "size_bytes": int(profile.get("size", 0)),
                "pause_threshold_bytes": None if static is None else int(static),
            }
    return {**found, "lossless_groups": tuple(sorted(lossless))}


def _others(tables: Tables, port: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for lengths in tables.get("CABLE_LENGTH", {}).values():
        if port in lengths:
            found["cable_m"] = float(lengths[port].removesuffix("m"))
    watched = tables.get("PFC_WD", {}).get(port)
    found["watchdog_running"] = watched is not None
    if watched is not None:
        detection = int(watched.get("detection_time", 200))
        found["watchdog_ms"] = (detection, int(watched.get("restoration_time", 2 * detection)))
        found["watchdog_action"] = watched.get("action", "drop")
    feature = tables.get("FEATURE", {}).get("lldp", {}).get("state", "enabled")
    found["lldp"] = feature in ("enabled", "always_enabled")
    return found


_PARTS: tuple[Callable[[Tables, str], dict[str, Any]], ...] = (
    *(_port, _classes, _queues, _buffers, _others),
)


def of_port(tables: Tables, port: str) -> dict[str, Any]:
    """All that the tables say of it."""
    return {key: value for part in _PARTS for key, value in part(tables, port).items()}


def changed(setting: Setting, port: str, before: Tables, after: Tables) -> Setting:
    """A port's setting after its tables have changed."""
    was, now = of_port(before, port), of_port(after, port)
    values = {key: value for key, value in now.items() if was.get(key) != value}
    if "speed_mbps" in values:
        values["speed_asked_mbps"] = 0
    return replace(setting, **values) if values else setting


def is_dynamic(tables: Tables) -> bool:
    """Whether headroom is worked out while the switch runs."""
    metadata = tables.get("DEVICE_METADATA", {}).get("localhost", {})
    return bool(metadata.get("buffer_model") == "dynamic")


def _sized_by(setting: Setting, tables: Tables, port: str) -> object:
    """What headroom follows: with the dynamic model also MTU and a profile that is bound."""
    wire = setting.cable_m, setting.speed_mbps
    if not is_dynamic(tables):
        return wire
    return (*wire, setting.mtu, "headroom_bytes" in _buffers(tables, port))


def resized(
    new: Setting, port: str, was: tuple[Setting, Tables], now: Tables, model: SwitchModel
) -> Setting:
    """The headroom that the buffer manager works out where cable or speed are others."""
    same = _sized_by(was[0], was[1], port) == _sized_by(new, now, port)
    of_ones_own = is_dynamic(now) and "headroom_bytes" in _buffers(now, port)
    if same or of_ones_own or not model.spectrum or new.speed_mbps not in SPEEDS:
        return new
    wire = Wire(new.speed_mbps, new.lanes, new.cable_m)
    room = headroom(model.spectrum, wire, new.mtu, shared=False)
    return replace(new, headroom_bytes=room.xoff, xon_bytes=room.xon, size_bytes=room.size)


def rebound(tables: Tables, port: str, setting: Setting) -> dict[str, Any]:
    """The tables with the buffer manager's own profile for a port that it sized again."""
    groups, profiles = dict(tables["BUFFER_PG"]), dict(tables["BUFFER_PROFILE"])
    name = f"{_OWN}{setting.speed_mbps}_{setting.cable_m:g}m_profile"
    for key, row in tables["BUFFER_PG"].items():
        old = row.get("profile", "")
        if key.partition("|")[0] != port or not old.startswith(_OWN) or old not in profiles:
            continue
        fields = {**tables["BUFFER_PROFILE"][old], "size": str(setting.size_bytes),
                  "xoff": str(setting.headroom_bytes), "xon": str(setting.xon_bytes)}  # fmt: skip
        groups[key] = {**row, "profile": name}
        profiles[name] = fields
    used = {row.get("profile") for row in groups.values()}
    profiles = {n: row for n, row in profiles.items() if n in used or not n.startswith(_OWN)}
    return {**tables, "BUFFER_PG": groups, "BUFFER_PROFILE": profiles}


def speeds(model: SwitchModel, lanes: int) -> list[int]:
    """What a port can run at."""
    return [speed for speed in SPEEDS if speed <= lanes * model.lane_gbps * 1000]
