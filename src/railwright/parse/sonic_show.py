"""SONiC's `show` commands (also ecnconfig, pfcwd, lldpshow, buffershow): what is in force.

Also the buffers of APPL_DB, as sonic-db-dump prints them: with the dynamic buffer model the
configuration has no headroom, the switch works it out.

Each table is known by its headings, so one answer may hold several commands, one after the other.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of
from railwright.parse.json_text import json_values
from railwright.parse.sonic_config_db import read_buffers
from railwright.parse.sonic_database import is_running, running_database
from railwright.parse.sonic_lldp import Neighbors, neighbors, table_values
from railwright.parse.sonic_show_rows import GROUP_COUNTERS, PORT, handler_of
from railwright.parse.sonic_text import Block, Fields, blocks, cells, whole_lines
from railwright.parse.switch_rows import (
    ROW_LIMIT,
    Rows,
    buffer_pool_values,
    buffer_profile_values,
    reference,
    small_number,
    wred_values,
)
from railwright.parse.switch_values import node_of

_POLLING = re.compile(r"Changed polling interval to ([0-9]{1,9})ms", re.ASCII)
_VERSION = re.compile(
    r"(SONiC Software Version|Platform|HwSKU|Serial Number):[ \t]{0,20}(\S{1,200})[ \t]*", re.ASCII
)
# The command that was asked, where the line before a table of priority groups was lost.
_GROUP_COMMANDS = {
    "headroom": "Ingress headroom per PG",
    "shared": "Ingress shared pool occupancy per PG",
    "drop": "Ingress PG dropped packets",
}


def _version(lines: list[str], rows: Rows) -> bool:
    """`show version`: true if it is there."""
    matches = (_VERSION.fullmatch(line) for line in lines)
    found = {match[1]: match[2] for match in matches if match}
    version = found.get("SONiC Software Version")
    if version is None:
        return False
    rows.add(
        "switch",
        system="sonic",
        version=version,
        model=found.get("HwSKU"),
        platform=found.get("Platform"),
        serial=found.get("Serial Number"),
    )
    return True


def _fields(found: Fields, rows: Rows) -> bool:
    """A profile or a pool of ecnconfig, mmuconfig and buffershow."""
    fields = found.fields
    if found.kind == "Pool":
        rows.add("switch_buffer_pool", pool=found.name, **buffer_pool_values(fields))
    elif "pool" in fields:
        asic, bar, _ = found.name.rpartition("|")
        rows.add(
            "switch_buffer_profile",
            profile=found.name,
            pool=f"{asic}{bar}{reference(fields['pool'])}",
            **buffer_profile_values(fields),
        )
    elif any(name.startswith(("ecn", "wred_", "green_")) for name in fields):
        rows.add("switch_wred", profile=found.name, **wred_values(fields))
    else:
        return False
    return True


def _titled(block: Block, instance: str) -> Block:
    """The table with the line that says what it counts: as printed, or by what was asked."""
    if block.before.startswith(tuple(GROUP_COUNTERS)):
        return block
    asked = (title for word, title in _GROUP_COMMANDS.items() if word in instance)
    return block._replace(before=next(asked, ""))


def _table(block: Block, rows: Rows, heard: Neighbors) -> bool:
    """The rows of a table: true if it is known and says something, or is empty."""
    is_neighbors = {"LocalPort", "RemoteDevice", "RemotePortID"} <= set(block.columns)
    handler = handler_of(block.columns)
    if handler is None and not is_neighbors:
        return False
    before = len(rows)
    for line in block.lines:
        row = cells(block, line)
        if row is None:
            continue
        name = row[block.columns[0]]
        if not PORT.fullmatch(name.partition(":")[0]):
            continue
        if handler is not None:
            handler(block, row, rows)
        else:
            heard.add(name, table_values(row))
    return len(rows) > before or not block.lines


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of all switch tables that the commands in this answer can fill."""
    text = text_of(data)
    running = next((one for one in json_values(text) if is_running(node_of(one))), None)
    if running is not None:
        rows = Rows()
        read_buffers(running_database(node_of(running)), rows)
        return iter(rows)
    lines = whole_lines(text)
    if len(lines) > ROW_LIMIT:
        raise NotUnderstoodError(f"more than {ROW_LIMIT} lines")
    rows = Rows()
    heard = Neighbors(rows)
    is_known = _version(lines, rows)
    for found in blocks(lines):
        if isinstance(found, Fields):
            is_known |= _fields(found, rows)
        else:
            is_known |= _table(_titled(found, instance), rows, heard)
    for port, values in neighbors(lines):
        heard.add(port, values)
    for line in lines:
        match = _POLLING.match(line) if line.startswith("Changed") else None
        if match:
            rows.add("switch_port_qos", port="", watchdog_poll_ms=small_number(match[1]))
    if not is_known and not len(rows):
        words = " ".join(lines[0].split())[:100] if lines else "empty"
        raise NotUnderstoodError(f"no table that is known: {words}")
    return iter(rows)
