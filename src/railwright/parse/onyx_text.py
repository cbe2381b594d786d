"""What Onyx (MLNX-OS) prints, as text or with `| json-print`, brought into one shape: blocks.

A block has a name, mostly a port or `TC-3`, and fields. JSON wraps nearly every object into a list
of its own, names blocks by a key or by `header`, and has all values as text. In text a block begins
with a line that is only its name; empty lines say nothing, for they may be lost.
"""

import re
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError
from railwright.parse.switch_values import Node, node_of, storable, text_at

_PORT_NAME = r"(?:Eth|Po|Mpo)[0-9][0-9/]{0,12}"
_PORT = re.compile(rf"({_PORT_NAME})(?: \(((?:Po|Mpo)[0-9]{{1,5}})\))?:?", re.ASCII)
_CLASS = re.compile(r"TC-[0-9]{1,2}:?", re.ASCII)
_FIELD = re.compile(r"([^:]{1,80}):(?:[ \t]+(.*))?")
_DIRECTIONS = {"Rx": "Rx", "Rx:": "Rx", "Tx": "Tx", "Tx:": "Tx"}  # MLNX-OS omits the colon
_COUNT = re.compile(r"([0-9]{1,20})[ \t]+([A-Za-z][A-Za-z ()/-]{1,60})", re.ASCII)
_PFC_ROW = re.compile(rf"({_PORT_NAME})[ \t]+(On|Off|Auto)[ \t]+(\w{{1,20}})", re.IGNORECASE)
_USED_CLASS = re.compile(r"([0-7])[ \t]+([0-7])[ \t]+(\S{1,20})[ \t]+(WRR[ \t]+[0-9]{1,3}%|Strict)")
_POOL = re.compile(
    r"(\S{1,60})[ \t]+(lossless|lossy)[ \t]+(\S{1,20})[ \t]+"
    r"([0-7](?:,[ \t]?[0-7]){0,7}|N/A|-)[ \t]+\S{1,20}[ \t]+\S{1,20}[ \t]+\S{1,20}"
)
_NAMES = ("Eth", "Po", "Mpo", "TC-")
# leaf07 [standalone: master] # show roce
_PROMPT = re.compile(r"\S{1,100} \[[^\]]{1,100}\] (?:\([^)]{1,60}\) )?[>#].*")
_PFC_HEADING = "PFC admin"
EXCEPTIONS = "Exception list"
USED_CLASSES = "RoCE used TCs"
ENABLED_LIST = "Priority Enabled List"
INTERFACE = "Interface ethernet"


class Block(NamedTuple):
    """One thing and what is said about it."""

    name: str
    fields: Node


def port_name(text: str) -> tuple[str, str] | None:
    """The port and the port channel that it belongs to ('' = none): `Eth1/1 (Po100)`."""
    found = _PORT.fullmatch(text.strip())
    return (found[1], found[2] or "") if found else None


# JSON


def merged(value: object) -> Node:
    """The fields of an object, or of all objects in a list."""
    fields: Node = {}
    for entry in value if isinstance(value, list) else [value]:
        fields.update(node_of(entry))
    return fields


def blocks_of_json(document: object) -> list[Block]:
    """The blocks of a JSON answer; the web interface wraps them into `data`."""
    if isinstance(document, dict) and "executed_command" in document:
        document = document.get("data")
    blocks = []
    for node in document if isinstance(document, list) else [document]:
        fields = node_of(node)
        header = text_at(fields, "header")
        if header is not None:
            blocks.append(Block(header, fields))
            continue
        if any(isinstance(value, str) for value in fields.values()):
            blocks.append(Block("", fields))
        blocks += [
            Block(storable(key), merged(value))
            for key, value in fields.items()
            if isinstance(value, (dict, list))
        ]
    return blocks


# text


class _Reader:
    """Goes through the lines and keeps the block that is being read."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._counts: Node | None = None
        self._table = ""
        self._begin("")

    def _begin(self, name: str) -> None:
        self._fields: Node = {}
        self.blocks.append(Block(name.rstrip(":"), self._fields))
        self._counts, self._table = None, ""

    def _row(self, line: str) -> bool:
        """A row of a table that is known: a block of its own, to which no line is added."""
        pfc = _PFC_ROW.fullmatch(line) if self._table == _PFC_HEADING else None
        if pfc:
            self.blocks.append(Block(pfc[1], {"PFC admin": pfc[2], "PFC oper": pfc[3]}))
            return True
        used = _USED_CLASS.fullmatch(line) if line[0].isdigit() else None
        if used:
            entry = {"TC": used[2], "Application": used[3], "ETS": used[4]}
            self.blocks.append(Block(USED_CLASSES, {used[1]: [entry]}))
            return True
        pool = _POOL.fullmatch(line) if "loss" in line else None
        if pool:
            fields = {"Type": pool[2], "Memory [%]": pool[3], "Switch Priorities": pool[4]}
            self.blocks.append(Block(pool[1], dict(fields)))
        return pool is not None

    def _direction(self, line: str) -> bool:
        direction = _DIRECTIONS.get(line)
        if direction is None:
            return False
        if direction in self._fields:
            raise NotUnderstoodError("counters of several ports that are not named")
        self._counts = {}
        self._fields[direction] = self._counts
        return True

    def _field(self, line: str) -> None:
        found = _FIELD.fullmatch(line)
        if found:
            key, value = found[1].strip(), (found[2] or "").strip()
            if key == INTERFACE:
                self._begin("")
            self._table = EXCEPTIONS if key == EXCEPTIONS else ""
            if value or key == ENABLED_LIST:  # an empty list says that there are none
                self._fields.setdefault(key, value)

    def line(self, line: str) -> None:
        """Take in one line, without blanks around it."""
        count = _COUNT.fullmatch(line) if self._counts is not None else None
        if _PFC_HEADING in line and ":" not in line:
            self._table = _PFC_HEADING
        elif self._table == EXCEPTIONS:
            self.blocks.append(Block(EXCEPTIONS, {"message": line}))
        elif line.startswith(_NAMES) and (port_name(line) or _CLASS.fullmatch(line)):
            self._begin(line)
        elif count and self._counts is not None:
            self._counts.setdefault(count[2].strip().lower(), count[1])
        elif not self._row(line) and not self._direction(line):
            self._field(line)


def blocks_of_text(text: str) -> list[Block]:
    """The blocks of a text answer. What stands behind the last line break was cut short."""
    reader = _Reader()
    for line in text.split("\n")[:-1]:
        stripped = line.strip()
        if stripped.strip("-") and not _PROMPT.fullmatch(stripped):
            reader.line(stripped)
    return [block for block in reader.blocks if block.fields]
