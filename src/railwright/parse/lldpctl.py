"""`lldpctl -f json0` (and `-f json`): who is at the other end of each cable.

`json0` has lists and `{"value": ...}` everywhere. `json` folds what is single, so each level has
two shapes, and uses names as keys. Here each level is unfolded first and read once.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.json_text import json_object

# What the filter on the machine puts in place of a string that may not leave it.
_DROPPED = "[dropped]"
_CHASSIS_ITEMS = frozenset({"id", "name", "descr", "mgmt-ip", "mgmt-iface", "capability", "ttl"})
_TTL = re.compile(r"[0-9]{1,9}")
# The first releases with lldpd's own JSON writer (2017, json_writer.c) put a backslash before a raw
# control character, which is not JSON. A description of several lines, as Cisco's, has them.
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_CONTROL = {b"\n": rb"\n", b"\r": rb"\r", b"\t": rb"\t", b"\b": rb"\b", b"\f": rb"\f"}


def _document(data: bytes) -> dict[str, object]:
    """The first JSON object; a command echo before it and a warning after it are left aside."""
    mended = _ESCAPE.sub(lambda match: _CONTROL.get(match[1], match[0]), data)
    return json_object(text_of(mended))


def _objects(node: object) -> list[dict[str, object]]:
    """The objects at a place that holds one, a list of them, or nothing."""
    nodes = node if isinstance(node, list) else [node]
    return [entry for entry in nodes if isinstance(entry, dict)]


def _texts(node: object) -> list[str]:
    """The texts at a place that holds one or several, bare or as {"value": ...}."""
    nodes = node if isinstance(node, list) else [node]
    bare = (entry.get("value") if isinstance(entry, dict) else entry for entry in nodes)
    return [text_of(text.encode("utf-8", "replace")) for text in bare if isinstance(text, str)]


def _text(node: object) -> str | None:
    """The text at a place: '' where the neighbor sent none, None where it was dropped."""
    texts = _texts(node)
    if not texts:
        return ""
    return None if texts[0] == _DROPPED else texts[0]


def _id(node: object) -> tuple[str | None, str | None]:
    """An id and its type."""
    objects = _objects(node)
    return _text(node), _text(objects[0].get("type")) if objects else ""


def _chassis(node: object) -> tuple[str | None, dict[str, object]]:
    """The system name and the chassis. `json` makes the name, if one was sent, the only key.

    A switch may be named like an item, even `id`: then there is an `id` one level below.
    """
    objects = _objects(node)
    if not objects:
        return "", {}
    chassis = objects[0]
    if len(chassis) == 1:
        (key, inner), *_ = chassis.items()
        if isinstance(inner, dict) and (key not in _CHASSIS_ITEMS or "id" in inner):
            return _text(key), inner
    return _text(chassis.get("name")), chassis


def _addresses(node: object) -> str | None:
    texts = _texts(node)
    return None if _DROPPED in texts else ",".join(texts)


def _interfaces(lldp: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Each neighbor with the netdev that heard it."""
    for entry in _objects(lldp.get("interface")):
        if isinstance(entry.get("name"), str):  # json0; an object would be a netdev called name
            yield _text(entry["name"]) or "", entry
            continue
        for netdev, neighbors in entry.items():
            for neighbor in _objects(neighbors):
                yield _text(netdev) or "", neighbor


def _row(netdev: str, neighbor: dict[str, object]) -> Row:
    system_name, chassis = _chassis(neighbor.get("chassis"))
    port = (_objects(neighbor.get("port")) or [{}])[0]
    chassis_id, chassis_id_type = _id(chassis.get("id"))
    port_id, port_id_type = _id(port.get("id"))
    # Releases before 1.0 print the time to live with the chassis.
    ttl = _text(port.get("ttl", chassis.get("ttl")))
    values: dict[str, Value] = {
        "netdev": netdev,
        "rid": _text(neighbor.get("rid")),
        "chassis_id": chassis_id,
        "chassis_id_type": chassis_id_type,
        "system_name": system_name,
        "system_description": _text(chassis.get("descr")),
        "port_id": port_id,
        "port_id_type": port_id_type,
        "port_description": _text(port.get("descr")),
        "management_addresses": _addresses(chassis.get("mgmt-ip")),
        "ttl_s": int(ttl) if ttl and _TTL.fullmatch(ttl) else None,
        "age_text": _text(neighbor.get("age")),
    }
    return Row("lldp_neighbor", values)


def _says_no_neighbors(node: object) -> bool:
    """`{}` or `[{}]`: an answer, and the answer is nobody.

    `{"interface": {}}` is not: it is what a filter by key leaves of netdevs that were keys.
    """
    objects = _objects(node)
    whole = [node] if isinstance(node, dict) else node
    return whole == objects and all(lldp in ({}, {"interface": []}) for lldp in objects)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 - one answer per host
    """Rows of lldp_neighbor; none when nobody was heard, which is an answer."""
    node = _document(data).get("lldp")
    rows: dict[tuple[Value, ...], Row] = {}
    for lldp in _objects(node):
        for netdev, neighbor in _interfaces(lldp):
            if netdev and ("chassis" in neighbor or "port" in neighbor):
                row = _row(netdev, neighbor)
                key = tuple(row.values[part] for part in ("netdev", "rid", "chassis_id", "port_id"))
                rows.setdefault(key, row)
    if not rows and not _says_no_neighbors(node):
        raise NotUnderstoodError("JSON without LLDP neighbors")
    return iter(rows.values())
