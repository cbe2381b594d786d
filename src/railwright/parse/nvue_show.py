"""`nv show ...` of Cumulus Linux: NVUE's tree or a part of it, as JSON or as tables.

Every command prints a part of one tree and does not say which: the keys tell. A part of one port
does not name the port either: it is taken from the command, where that is known.
"""

import re
from collections.abc import Callable, Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of
from railwright.parse.nvue_ports import (
    is_counters,
    is_link,
    is_port,
    port_asked,
    read_counters,
    read_link,
    read_list,
    read_neighbors,
    read_pluggable,
)
from railwright.parse.nvue_qos import is_qos, is_roce, read_part, read_qos, read_roce
from railwright.parse.nvue_text import says_no_data, tables_of, tree_of
from railwright.parse.switch_values import (
    Node,
    Rows,
    colon_mac,
    error_words,
    first_json,
    node_of,
    nodes_of,
    text_at,
)

_JSON_START = re.compile(r"^\{", re.MULTILINE)
_NOT_KNOWN = frozenset({"", "n/a", "N/A"})
_PARTS_OF_A_PORT = frozenset({"link", "lldp", "counters", "qos", "pluggable"})


def _known(node: Node, key: str) -> str | None:
    text = text_at(node, key)
    return None if text in _NOT_KNOWN else text


def _system(rows: Rows, _: str, node: Node) -> None:
    """nv show system, nv show platform."""
    mac = _known(node, "system-mac")
    # The system's product-name is Cumulus Linux, the platform's is the model.
    is_platform = "system-mac" in node or "asic-model" in node
    rows.add(
        "switch",
        system="cumulus",
        hostname=_known(node, "hostname"),
        version=_known(node, "product-release") or _known(node, "build"),
        model=_known(node, "product-name") if is_platform else None,
        serial=_known(node, "serial-number"),
        mac=colon_mac(mac) if mac else None,
    )


def _is_system(node: Node) -> bool:
    return not {"product-release", "build", "system-mac", "asic-model"}.isdisjoint(node)


def _port(rows: Rows, port: str, node: Node) -> None:
    """A port's part of the tree."""
    parts = {key: node_of(node[key]) for key in _PARTS_OF_A_PORT if key in node}
    if parts.get("link"):
        read_link(rows, port, parts["link"])
    if "pluggable" in parts:
        read_pluggable(rows, port, parts["pluggable"])
    if "lldp" in parts:
        read_neighbors(rows, port, parts["lldp"])
    if "qos" in parts:
        read_qos(rows, port, parts["qos"])
        read_counters(rows, port, node_of(parts["qos"].get("counters")))
    if "counters" in parts:
        read_counters(rows, port, parts["counters"])


def _is_part_of_port(node: Node) -> bool:
    return not _PARTS_OF_A_PORT.isdisjoint(node)


def _is_ports(node: Node) -> bool:
    return any(_is_part_of_port(entry) for _, entry in nodes_of(node))


def _ports(rows: Rows, _: str, node: Node) -> None:
    for name, entry in nodes_of(node):
        if is_port(name, entry):
            _port(rows, name, entry)


# What an answer may be, the most telling first: `counters` has a `qos` of its own, as a port has.
_KINDS: tuple[tuple[Callable[[Node], bool], Callable[[Rows, str, Node], None]], ...] = (
    (is_roce, read_roce),
    (is_counters, read_counters),
    (is_link, read_link),
    (lambda node: isinstance(node.get("neighbor"), dict), read_neighbors),
    (_is_part_of_port, _port),
    (is_qos, read_qos),
    (_is_ports, _ports),
    (_is_system, _system),
    (lambda _: True, read_part),
)


def _says_none(node: Node) -> bool:
    """`{}`, or ports that heard nobody: an answer, and the answer is none."""
    return all(entry in ({}, {"lldp": {}}, {"lldp": {"neighbor": {}}}) for entry in node.values())


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of the switch tables."""
    text = text_of(data)
    document = first_json(text, _JSON_START)
    rows, is_list = Rows(), False
    if document is None:
        tables = tables_of(text)
        lists = [read_list(rows, table) for table in tables]
        document, is_list = tree_of(tables), any(lists)
        is_empty = says_no_data(text)
    else:
        is_empty = _says_none(node_of(document))
    if not is_list:
        node = node_of(document)
        read = next(reader for fits, reader in _KINDS if fits(node))
        read(rows, port_asked(instance), node)
    if not is_empty and next(iter(rows), None) is None:
        raise NotUnderstoodError(error_words(text)[:200] or "no part of the tree that is known")
    return iter(rows)
