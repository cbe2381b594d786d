"""Who is at the other end of a SONiC switch's cables: `show lldp table` and `show lldp neighbors`.

The second prints what lldpctl prints: a line per interface, indented fields, dashes in between.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from railwright.parse.base import Value
from railwright.parse.switch_rows import Rows, small_number

_INTERFACE = re.compile(r"Interface:[ \t]+([^\s,]{1,128}),[ \t]+via:", re.ASCII)
_FIELD = re.compile(r"[ \t]+(ChassisID|SysName|MgmtIP|PortID|PortDescr|TTL):(.*)", re.ASCII)
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}", re.ASCII)


def _identity(text: str) -> str:
    """An id as rows have it: a MAC address in lower case."""
    return text.lower() if _MAC.fullmatch(text) else text


class Neighbors:
    """Counts the neighbors of each port, and adds their rows."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._seen: dict[str, int] = {}

    def add(self, port: str, values: dict[str, Value]) -> None:
        """One more neighbor of a port."""
        place = self._seen.get(port, 0)
        self._seen[port] = place + 1
        self._rows.add("switch_neighbor", port=port, place=place, **values)


def table_values(cells: dict[str, str]) -> dict[str, Value]:
    """A row of `show lldp table`."""
    return {
        "system_name": cells["RemoteDevice"],
        "port_id": _identity(cells["RemotePortID"]),
        "port_description": cells.get("RemotePortDescr"),
    }


def _values(lines: list[str], is_whole: bool) -> dict[str, Value]:
    """The fields of one neighbor. What it did not send is '', if nothing of it was cut."""
    found: dict[str, list[str]] = {}
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match:
            found.setdefault(match[1], []).append(match[2].strip())

    def text(field: str) -> str | None:
        return ",".join(found[field]) if field in found else "" if is_whole else None

    def identity(field: str) -> tuple[str | None, str | None]:
        kind, _, value = (text(field) or "").partition(" ")
        return (_identity(value.strip()), kind) if field in found else (text(field), text(field))

    chassis_id, chassis_type = identity("ChassisID")
    port_id, port_id_type = identity("PortID")
    return {
        "system_name": text("SysName"),
        "chassis_id": chassis_id,
        "chassis_type": chassis_type,
        "port_id": port_id,
        "port_id_type": port_id_type,
        "port_description": text("PortDescr"),
        "management_addresses": text("MgmtIP"),
        "ttl_s": small_number(text("TTL")),
    }


def neighbors(lines: list[str]) -> Iterator[tuple[str, dict[str, Value]]]:
    """Each neighbor of `show lldp neighbors` with the port that heard it."""
    starts = [
        (at, match[1])
        for at, line in enumerate(lines)
        if line.startswith("Interface:") and (match := _INTERFACE.match(line))
    ]
    for (at, port), (end, _) in pairwise([*starts, (len(lines), "")]):
        is_whole = lines[end - 1].startswith("---")
        yield port, _values(lines[at + 1 : end], is_whole)
