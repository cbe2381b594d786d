"""`show ... | json` of Arista EOS: one object per command, told apart by their keys; and one text.

One answer of the eAPI holds the objects of several commands in the list `result`.
"""

import re
from collections.abc import Callable, Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of
from railwright.parse.eos_lldp import neighbors
from railwright.parse.eos_ports import counters_by_port, error_correction, flow_control, interfaces
from railwright.parse.eos_qos import dscp_map, marks, pcp_map, pfc_counters, queue_map, statuses
from railwright.parse.eos_qos_text import is_qos_text, read_qos_text
from railwright.parse.switch_values import (
    Node,
    Rows,
    colon_mac,
    error_words,
    first_json,
    node_of,
    nodes_of,
    storable,
    text_at,
)

_JSON_START = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)


def _version(rows: Rows, document: Node) -> None:
    mac = text_at(document, "systemMacAddress")
    rows.add(
        "switch",
        system="eos",
        version=text_at(document, "version"),
        model=text_at(document, "modelName"),
        serial=text_at(document, "serialNumber"),
        mac=colon_mac(mac) if mac else None,
    )


def _hostname(rows: Rows, document: Node) -> None:
    rows.add("switch", system="eos", hostname=text_at(document, "hostname"))


_READERS: dict[str, Callable[[Rows, Node], None]] = {
    "interfaces": interfaces,
    "interfaceStatuses": statuses,
    "interfaceErrCorrStatuses": error_correction,
    "interfaceErrorCounters": counters_by_port("interfaceErrorCounters"),
    "interfaceFlowControls": flow_control,
    "interfaceCounters": pfc_counters,
    "intfQueueCounters": marks,
    "dscpToTcMap": dscp_map,
    "cosToTcMap": pcp_map,
    "tcToTxQueueMap": queue_map,
    "lldpNeighbors": neighbors,
    "modelName": _version,
    "hostname": _hostname,
}


def documents_of(text: str) -> list[Node]:
    """The objects of an answer, one per command."""
    document = first_json(text, _JSON_START)
    result = document if isinstance(document, list) else node_of(document).get("result", [document])
    return (
        [entry for entry in result if isinstance(entry, dict)] if isinstance(result, list) else []
    )


def refusal_of(documents: list[Node]) -> str:
    """What the eAPI says where a command failed."""
    words = [text_at(entry, "error", "message") for entry in documents]
    for entry in documents:
        errors = entry.get("errors")
        words += errors if isinstance(errors, list) else []
    return "; ".join(storable(word) for word in words if isinstance(word, str))


def _says_none(value: object) -> bool:
    """`{}`, `[]`, or ports with an empty list each: an answer, and the answer is none."""
    ports = nodes_of(value)
    return value in ({}, []) or (
        0 < len(ports) == len(node_of(value))
        and all(entry in ({}, {"lldpNeighborInfo": []}) for _, entry in ports)
    )


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 - the keys tell the commands
    """Rows of the switch tables."""
    text = text_of(data)
    documents = documents_of(text)
    rows, is_empty = Rows(), False
    if not documents and is_qos_text(text):
        read_qos_text(rows, text)
    for document in documents:
        for key, reader in _READERS.items():
            if key in document:
                is_empty = is_empty or _says_none(document[key])
                reader(rows, document)
    if not is_empty and next(iter(rows), None) is None:
        words = refusal_of(documents) or error_words(text)
        raise NotUnderstoodError(words[:200] or "no JSON with ports, maps or neighbors")
    return iter(rows)
