"""SONiC: buffers in force, watermarks, error correction; and a database as sonic-db-dump prints it.

A switch that is up answers these too. They tell nothing about a healthy fabric that the other
commands do not, so that `answers` leaves them out.
"""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from lab.fleet.fabric.model import Fabric, Switch
from lab.fleet.fabric.setting import Setting, count
from lab.fleet.fabric.sonic_show import group_table, table

Entries = dict[str, dict[str, str]]  # key of the database -> fields
_EIGHT = range(8)
_EXPIRES = {"expireat": 1794694500.5, "ttl": -0.001, "type": "hash"}
APPLICATION = "BUFFER_*_TABLE:*"
APPLICATION_DUMP = f"sonic-db-dump -n APPL_DB -k '{APPLICATION}' -y"
_IN_FORCE = ("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE")


def entries(tables: Mapping[str, Entries]) -> Entries:
    """The keys of CONFIG_DB: TABLE|key."""
    return {
        f"{name}|{key}": fields for name, listed in tables.items() for key, fields in listed.items()
    }


def in_force(tables: Mapping[str, Entries]) -> Entries:
    """The buffers of APPL_DB: TABLE_TABLE:key, parts of keys with colons."""
    return {
        f"{name}_TABLE:{key.replace('|', ':')}": fields
        for name in _IN_FORCE
        for key, fields in tables.get(name, {}).items()
    }


def dump(known: Entries, pattern: str) -> str:
    """sonic-db-dump -k PATTERN -y: keys as Redis matches them."""
    found = {
        key: {**_EXPIRES, "value": fields}
        for key, fields in known.items()
        if fnmatchcase(key, pattern)
    }
    return json.dumps(found, indent=2) + "\n"


def _fields(heading: str, fields: Mapping[str, Any]) -> str:
    texts = {key: str(value) for key, value in fields.items()}
    width, room = max(map(len, texts)), max(map(len, texts.values()))
    rule = f"{'-' * width}  {'-' * room}"
    lines = [f"{key.ljust(width)}  {value}" for key, value in texts.items()]
    return "\n".join([heading, rule, *lines, rule, ""])


def buffer_information(tables: Mapping[str, Entries]) -> str:
    """show buffer information, which is mmuconfig -l."""
    pattern = {"default_dynamic_th": "0", "over_subscribe_ratio": "0"}
    found = [_fields("Lossless traffic pattern:", pattern)]
    found += [_fields(f"Pool: {name}", one) for name, one in tables["BUFFER_POOL"].items()]
    found += [_fields(f"Profile: {name}", one) for name, one in tables["BUFFER_PROFILE"].items()]
    return "\n".join(found) + "\n"


def _ports(switch: Switch) -> Iterator[tuple[int, str, Setting]]:
    for at, (port, setting) in enumerate(zip(switch.ports, switch.settings, strict=True)):
        yield at, port.name, setting


def fec_counters(fabric: Fabric, switch: Switch) -> str:
    """show interfaces counters fec-stats."""
    rows = []
    for at, name, setting in _ports(switch):
        state = "X" if not setting.admin_up else "U" if fabric.is_up(switch, at) else "D"
        words = ("fec_corrected", "fec_uncorrectable", "fec_symbol_errors")
        told = [f"{count(setting, word):,}" for word in words] if state == "U" else ["N/A"] * 3
        rates = ("0.00e+00", "0.00e+00") if state == "U" else ("N/A", "N/A")
        rows.append((name, state, *told, *rates))
    headings = ("IFACE", "STATE", "FEC_CORR", "FEC_UNCORR", "FEC_SYMBOL_ERR", "FEC_PRE_BER",
                "FEC_POST_BER")  # fmt: skip
    return table(headings, rows) + "\n"


def asymmetric(switch: Switch) -> str:
    """show pfc asymmetric."""
    rows = [(name, "off") for _, name, _ in _ports(switch)]
    return "\n" + table(("Interface", "Asymmetric"), rows, left=True) + "\n\n"


def queue_watermarks(switch: Switch) -> str:
    """show queue watermark unicast."""
    rows = [
        (name, *(count(setting, "queue_watermark", queue) for queue in _EIGHT))
        for _, name, setting in _ports(switch)
    ]
    headings = ("Port", *(f"UC{queue}" for queue in _EIGHT))
    return f"Egress shared pool occupancy per unicast queue:\n{table(headings, rows)}\n"


def more(
    fabric: Fabric, switch: Switch, tables: Mapping[str, Entries]
) -> Iterator[tuple[str, str]]:
    """Commands with their answers."""
    yield "show pfc asymmetric", asymmetric(switch)
    yield "show buffer information", buffer_information(tables)
    yield "show interfaces counters fec-stats", fec_counters(fabric, switch)
    yield "show queue watermark unicast", queue_watermarks(switch)
    for word, title in (("headroom", "Ingress headroom per PG:"),
                        ("shared", "Ingress shared pool occupancy per PG:")):  # fmt: skip
        told = group_table(switch, title, f"group_{word}_watermark")
        yield f"show priority-group watermark {word}", told
