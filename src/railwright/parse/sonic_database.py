"""SONiC's configuration database as JSON, in each of its forms brought into one shape.

Nested: {"PORT": {"Ethernet0": {...}}}   config_db.json, sonic-cfggen, show runningconfiguration all
Flat:   {"PORT|Ethernet0": {...}}        a dump of Redis; sonic-db-dump puts type and value around
By ASIC: {"localhost": {"PORT": ...}, "asic0": {...}}   a box with several

Values are texts, some are lists of texts. Old releases write a reference as [SCHEDULER|name].
"""

import re
from collections.abc import Mapping

from railwright.parse.base import NotUnderstoodError, text_of
from railwright.parse.json_text import json_at
from railwright.parse.switch_rows import ROW_LIMIT, reference

Entry = dict[str, str]
Table = dict[str, Entry]

# What the rows are made of; the rest (users, keys, routes) is not looked at.
KNOWN = frozenset(
    {
        *("BUFFER_PG", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE"),
        *("CABLE_LENGTH", "DEVICE_METADATA"),
        *("DOT1P_TO_TC_MAP", "DSCP_TO_TC_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"),
        *("TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP"),
        *("PFC_WD", "PFC_WD_TABLE", "PORT", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "PORT_QOS_MAP"),
        *("QUEUE", "SCHEDULER", "VLAN_MEMBER", "WRED_PROFILE"),
    }
)
_HOST = "localhost"
_ASIC = re.compile(r"asic[0-9]{1,3}", re.ASCII)
_JSON_START = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
_RANGE = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", re.ASCII)


def clean(text: str) -> str:
    """A text that the store can hold: an escape may have made half a surrogate pair, or NUL."""
    if text.isprintable() and text.isascii():
        return text
    return text_of(text.encode("utf-8", "replace"))


def _value(node: object) -> str | None:
    """A field as text; None for what the database cannot hold."""
    if isinstance(node, str):
        return clean(node)
    if isinstance(node, list):
        return ",".join(clean(part) for part in node if isinstance(part, str))
    return None


def _entry(node: Mapping[str, object]) -> Entry:
    inner = node.get("value")
    if isinstance(inner, dict) and node.get("type") == "hash":  # sonic-db-dump
        node = inner
    values = ((clean(name), _value(value)) for name, value in node.items())
    return {name: value for name, value in values if value is not None}


# Of the running database: what the buffer manager worked out, under the same names.
_RUNNING = re.compile(r"(BUFFER_(?:PG|POOL|PROFILE|QUEUE))_TABLE:(.{1,300})", re.ASCII)


def is_running(document: Mapping[str, object]) -> bool:
    """Whether this is of APPL_DB: `{"BUFFER_PG_TABLE:Ethernet0:3-4": {...}}`."""
    return any(_RUNNING.fullmatch(name) for name in document)


def as_configuration(document: Mapping[str, object]) -> dict[str, object]:
    """Entries of APPL_DB under the keys that CONFIG_DB has for them."""
    found = {}
    for name, node in document.items():
        match = _RUNNING.fullmatch(name)
        if match:
            found[f"{match[1]}|{match[2].replace(':', '|')}"] = node
    return found


def running_database(document: Mapping[str, object]) -> "Database":
    """The buffers that are in force."""
    return Database(_tables(as_configuration(document)))


def _tables(document: Mapping[str, object]) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for name, node in document.items():
        table, is_flat, key = name.partition("|")
        if table not in KNOWN or not isinstance(node, dict):
            continue
        entries = {key: node} if is_flat else node
        found = tables.setdefault(table, {})
        for inner_key, inner in entries.items():
            if isinstance(inner, dict):
                found[clean(inner_key)] = _entry(inner)
    return tables


class Database:
    """The tables of one ASIC (most boxes have one)."""

    def __init__(self, tables: dict[str, Table], prefix: str = "") -> None:
        self._tables = tables
        # Each ASIC has maps and profiles of its own, under names that repeat.
        self._prefix = prefix
        # Redis keeps no empty tables: where the whole database was printed, a table that is not
        # there is empty. Every SONiC has these two; a template's output (only QoS) has not.
        self.is_whole = bool(self.metadata) and "PORT" in tables

    @property
    def metadata(self) -> Entry:
        """What the box says of itself."""
        return self.table("DEVICE_METADATA").get(_HOST, {})

    def table(self, name: str) -> Table:
        """The entries of a table; none where it is absent."""
        return self._tables.get(name, {})

    def was_read(self, *names: str) -> bool:
        """Whether the answer tells what one of these tables holds, even if nothing."""
        return self.is_whole or any(name in self._tables for name in names)

    def named(self, name: str) -> str:
        """The name of a map or profile, as rows have it."""
        return self._prefix + name

    def reference(self, entry: Entry, field: str) -> str:
        """The name that a field refers to, as its own table has it; '' where it is absent."""
        return reference(entry.get(field, ""))

    def bound(self, entry: Entry, field: str) -> str:
        """The name that a field refers to, as rows have it; '' where it is absent."""
        name = self.reference(entry, field)
        return self.named(name) if name else ""

    def port_of(self, name: str) -> str:
        """A port as PORT spells it.

        A chassis names the queues of all its line cards `host|asic|Ethernet0`; those of other
        cards stay apart by their whole name.
        """
        host, is_long, rest = name.partition("|")
        if not is_long:
            return name
        asic, _, port = rest.partition("|")
        own = self.metadata
        is_own = host == own.get("hostname") and asic.lower() == own.get("asic_name", "").lower()
        return port if port and is_own else name

    def expanded(self, table: str, *fields: str) -> dict[tuple[str, int], Entry]:
        """These fields of a table with keys such as `Ethernet0,Ethernet4|3-4`, by port and number.

        A field that two keys set for one thing (`3-4` and `3`) counts as first met.
        """
        found: dict[tuple[str, int], Entry] = {}
        steps = 0
        for key, entry in self.table(table).items():
            names, _, numbers = key.rpartition("|")
            match = _RANGE.fullmatch(numbers)
            if match is None:
                continue
            picked = {field: entry[field] for field in fields if field in entry}
            span = range(int(match[1]), int(match[2] or match[1]) + 1)
            for name in filter(None, names.split(",")):
                steps += len(span)
                if steps > ROW_LIMIT:
                    raise NotUnderstoodError(f"more than {ROW_LIMIT} rows")
                port = self.port_of(name)
                for number in span:
                    found[port, number] = picked | found.get((port, number), {})
        return found


def read(data: bytes) -> list[Database]:
    """The databases of an answer: one, or one of the host and one of each ASIC."""
    text = text_of(data)
    start = _JSON_START.search(text)
    if start is None:
        raise NotUnderstoodError("no JSON object")
    document = json_at(text, start.end())
    parts = [(_HOST, document)]
    parts += [
        (name, node)
        for name, node in document.items()
        if isinstance(node, dict) and (name == _HOST or _ASIC.fullmatch(name))
    ]
    found = [(name, _tables(node)) for name, node in parts]
    databases = [
        Database(tables, prefix="" if name == _HOST else f"{name}|")
        for name, tables in found
        if tables
    ]
    if not databases:
        raise NotUnderstoodError("JSON without a table of SONiC's configuration that is known")
    return databases
