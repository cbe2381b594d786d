"""SONiC's generic configuration updater: a JSON patch on CONFIG_DB, looked at and applied.

What it refuses is in gcu_field_operation_validators.conf.json of sonic-utilities; texts of errors
as `config apply-patch` prints them. It has no lock, and applies one change after the other.
"""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

from lab.fleet.fabric.model import Switch
from lab.switch_writes.outcome import RefusedError
from lab.switch_writes.sonic_tables import Tables, speeds

Change = dict[str, Any]
_OPS = ("add", "remove", "replace", "move", "copy", "test")
# Which units the updater takes for which chip; those of the lab that it knows.
_CHIPS = {"Mellanox-SN5600-V256": "spc4", "Arista-7060X6-64PE-O128S2": "th5"}
_VALIDATORS = "generic_config_updater.field_operation_validators"
_FECS = ("rs", "fc", "none", "auto")
_PROFILE_FIELDS = ("dynamic_th", "xoff")
# Tables that have a YANG model and need not be there.
_MODELLED = (
    *("BUFFER_PG", "BUFFER_PROFILE", "BUFFER_QUEUE", "CABLE_LENGTH", "DEVICE_NEIGHBOR"),
    *("DOT1P_TO_TC_MAP", "DSCP_TO_TC_MAP", "FEATURE", "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_WD"),
    *("PORT", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "PORT_QOS_MAP", "QUEUE", "SCHEDULER"),
    *("TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "WRED_PROFILE", "VLAN", "VLAN_MEMBER"),
)
_BOUND = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP", "dot1p_to_tc_map": "DOT1P_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP", "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE", "profile": "BUFFER_PROFILE",
}  # fmt: skip
_BINDING = ("PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE")
_OF_PORTS = (*_BINDING, "PFC_WD")
_NOT_PORTS = ("global", "GLOBAL")
_EIGHTHS = re.compile(r"[0-7](-[0-7])?(,[0-7](-[0-7])?)*")
_MOST = 100_000  # changes of one patch
MTU = range(68, 9217)


def read(data: bytes) -> list[Change]:
    """A patch out of a file; what json says where it is none."""
    try:
        found = json.loads(data)
    except RecursionError:
        raise RefusedError("maximum recursion depth exceeded while decoding a JSON array") from None
    except ValueError as error:  # also of bytes that are not text
        raise RefusedError(str(error)) from None
    if not isinstance(found, list):
        raise RefusedError("'list' expected for a JSON patch")
    for change in found[:_MOST]:
        if not isinstance(change, dict) or not isinstance(change.get("path"), str):
            raise RefusedError("Operation does not contain 'path' member")
        if change.get("op") not in _OPS:
            raise RefusedError(f"Unknown operation {change.get('op')!r}")
        if change["op"] in ("add", "replace", "test") and "value" not in change:
            raise RefusedError("The operation does not contain a 'value' member")
    if len(found) > _MOST:
        raise RefusedError("the patch is too long")
    return found


def parts(path: str) -> list[str]:
    """A JSON pointer; `/localhost` before it is the whole switch."""
    if not path:
        raise RefusedError("Wrong patch with empty path.")
    if not path.startswith("/"):
        raise RefusedError("Location must start with /")
    found = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    if found[0] == "localhost":
        return found[1:]
    if found[0].startswith("asic"):
        words = f"Error resolving path: '{path}' due to incorrect ASIC number."
        raise RefusedError(words)
    return found


def _parent(tables: Any, path: list[str]) -> Any:
    at = tables
    for part in path[:-1]:
        if not isinstance(at, dict) or part not in at:
            raise RefusedError(f"member '{part}' not found in the configuration")
        at = at[part]
    if not isinstance(at, dict):
        raise RefusedError(f"member '{path[-1]}' not found in the configuration")
    return at


def _depth_copied(tables: Tables, path: list[str]) -> dict[str, Any]:
    """CONFIG_DB with copies of what a change touches."""
    made = dict(tables)
    if path and isinstance(made.get(path[0]), dict):
        made[path[0]] = dict(made[path[0]])
        if len(path) > 1 and isinstance(made[path[0]].get(path[1]), dict):
            made[path[0]][path[1]] = dict(made[path[0]][path[1]])
    return made


def applied(tables: Tables, change: Change) -> dict[str, Any]:
    """CONFIG_DB after one change."""
    path, op = parts(change["path"]), change["op"]
    if not path or not path[0]:
        raise RefusedError("Wrong patch with empty path.")
    made = _depth_copied(tables, path)
    if op in ("move", "copy"):
        source = parts(str(change.get("from", "")))
        made = _depth_copied(made, source)
        holder = _parent(made, source)
        if source[-1] not in holder:
            raise RefusedError(f"member '{source[-1]}' not found in the configuration")
        value = copy.deepcopy(holder[source[-1]])
        if op == "move":
            del holder[source[-1]]
        _parent(made, path)[path[-1]] = value
        return made
    holder, name = _parent(made, path), path[-1]
    if op == "add":
        holder[name] = change["value"]
    elif name not in holder:
        verb = "remove" if op == "remove" else op
        raise RefusedError(f"can't {verb} a non-existent object '{name}'")
    elif op == "remove":
        del holder[name]
    elif op == "replace":
        holder[name] = change["value"]
    elif holder[name] != change["value"]:
        raise RefusedError(f"{holder[name]!r} is not equal to tested value {change['value']!r}")
    return made


# ---- what is refused


def _is_known(switch: Switch) -> bool:
    return switch.model.sku in _CHIPS


def _profile_may(switch: Switch, change: Change, path: list[str]) -> bool:
    """Whole profiles always; of one, two fields, and only their values."""
    if len(path) == 2:
        return True
    return _is_known(switch) and change["op"] == "replace" and path[-1] in _PROFILE_FIELDS


def _port_may(switch: Switch, change: Change, path: list[str]) -> bool:
    value = change.get("value")
    fields = {path[2]: value} if len(path) == 3 else value if len(path) == 2 else {}
    if change["op"] == "remove" or not isinstance(fields, dict):
        return True
    if "fec" in fields and fields["fec"] not in _FECS:
        return False
    if "speed" not in fields:
        return True
    width = next((one.width for one in switch.ports if one.name == path[1]), 0)
    return str(fields["speed"]) in map(str, speeds(switch.model, width))


def look_at_operation(switch: Switch, change: Change) -> None:
    """The validators of tables and fields."""
    path = parts(change["path"])
    table = path[0] if path else ""
    may, name = True, "rdma_config_update_validator"
    if table == "BUFFER_POOL":
        may = False
    elif table == "PFC_WD":
        may = _is_known(switch)
    elif table == "BUFFER_PROFILE":
        may, name = _profile_may(switch, change, path), "buffer_profile_config_update_validator"
    elif table == "PORT":
        may, name = _port_may(switch, change, path), "port_config_update_validator"
    if not may:
        raise RefusedError(
            f"Modification of {table} table is illegal- validating function "
            f"{_VALIDATORS}.{name} returned False"
        )


def look_at_target(before: Tables, after: Tables) -> None:
    """Empty tables, tables without a model, and what the models say of values and references."""
    empty = [name for name, rows in after.items() if rows == {}]
    if empty:
        names = ", ".join(empty)
        raise RefusedError(
            "localhost: given patch is not valid because it will result in empty tables which is "
            f"not allowed in ConfigDb. Table{'s' if len(empty) > 1 else ''}: {names}"
        )
    for table, rows in after.items():
        if before.get(table) is rows or before.get(table) == rows:
            continue
        if table not in before and table not in _MODELLED:
            raise RefusedError(
                "Given patch is not valid because it has changes to tables without YANG models"
            )
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise _loading(f"{table}: rows expected")
        for key, row in rows.items():
            if not all(isinstance(value, str) for value in row.values()):
                raise _loading(f"{table} {key}: values are texts")
    for words in _wrong(after):
        raise _loading(words)


def _loading(words: str) -> RefusedError:
    return RefusedError(f"Data Loading Failed:{words}")


def _wrong(tables: Tables) -> Iterator[str]:
    """What a model does not allow."""
    ports = tables.get("PORT", {})
    for name, row in ports.items():
        mtu = str(row.get("mtu", "9100"))
        if not mtu.isascii() or not mtu.isdigit() or len(mtu) > 5 or int(mtu) not in MTU:
            yield f'Value "{mtu}" does not satisfy the constraint of "mtu" of PORT {name}'
        if row.get("admin_status", "up") not in ("up", "down"):
            yield f'Invalid value of "admin_status" of PORT {name}'
        if row.get("autoneg", "off") not in ("on", "off"):
            yield f'Invalid value of "autoneg" of PORT {name}'
    for table in _OF_PORTS:
        for key, row in tables.get(table, {}).items():
            name, _, which = key.partition("|")
            if name not in ports and name not in _NOT_PORTS:
                yield f'Leafref "{name}" of {table} points to a non-existing leaf of PORT'
            yield from _wrong_row(tables, table, which, row)
    yield from _wrong_maps(tables)


def _wrong_row(tables: Tables, table: str, which: str, row: Any) -> Iterator[str]:
    if table in _BINDING:
        for field, target in _BOUND.items():
            name = str(row.get(field, "NULL"))
            if name != "NULL" and name not in tables.get(target, {}):
                yield f'Leafref "{name}" of {table} points to a non-existing leaf of {target}'
    lists = [row.get("pfc_enable", ""), row.get("pfcwd_sw_enable", ""), which]
    for text in lists if table != "PFC_WD" else ():
        if not _is_eighth(text):
            yield f'Value "{text}" does not satisfy the constraint of {table}'
    for field in ("detection_time", "restoration_time") if table == "PFC_WD" else ():
        if not str(row.get(field, "400")).isdigit():
            yield f'Invalid value of "{field}" of {table}'


def _is_eighth(text: Any) -> bool:
    return isinstance(text, str) and (not text or bool(_EIGHTHS.fullmatch(text)))


_SIZES = {
    "DSCP_TO_TC_MAP": 64, "DOT1P_TO_TC_MAP": 8, "TC_TO_QUEUE_MAP": 8,
    "TC_TO_PRIORITY_GROUP_MAP": 8, "MAP_PFC_PRIORITY_TO_QUEUE": 8,
}  # fmt: skip
_NUMBERS = {
    "BUFFER_PROFILE": re.compile("size|xon|xoff|static_th"),
    "SCHEDULER": re.compile("weight"),
    "WRED_PROFILE": re.compile(".*(threshold|probability)"),
}


def _wrong_maps(tables: Tables) -> Iterator[str]:
    for table, size in _SIZES.items():
        keys = {str(number) for number in range(size)}
        for name, row in tables.get(table, {}).items():
            if not all(key in keys and value in keys and int(value) < 8
                       for key, value in row.items()):  # fmt: skip
                yield f"Value does not satisfy the constraint of {table} {name}"
    for lengths in tables.get("CABLE_LENGTH", {}).values():
        for port, length in lengths.items():
            if not _is_length(length):
                yield f'Value "{length}" of CABLE_LENGTH {port} does not satisfy the constraint'
    for table, named in _NUMBERS.items():
        for name, row in tables.get(table, {}).items():
            yield from (
                f'Invalid value of "{field}" of {table} {name}'
                for field, value in row.items()
                if named.fullmatch(field) and not _is_number(value)
            )


def _is_number(text: Any) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 12


def _is_length(text: Any) -> bool:
    """40m."""
    whole = text[:-1].replace(".", "", 1) if isinstance(text, str) else ""
    return _is_number(whole) and text.endswith("m")
