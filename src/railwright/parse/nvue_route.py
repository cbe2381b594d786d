"""Routes of Cumulus Linux: `show ip route vrf all json` of FRR's vtysh, or NVUE's rib.

    nv show vrf default router rib ipv4 route -o json
    {"10.8.3.0/26": {"route-entry": {"1": {"protocol": "bgp", "flags": {"selected": {}},
                                           "via": {"10.0.0.1": {"type": ..., "interface": ...}}}}}}

Older releases call `via` `via-entry`. Newer ones print the number of a group of next hops instead:
then the ports are not told.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, text_of
from railwright.parse.frr_routes import read_routes
from railwright.parse.json_text import json_objects
from railwright.parse.route_rows import PREFIX, Hop, add_route
from railwright.parse.switch_values import Node, Rows, node_of, nodes_of, sent, text_at

_VRF = re.compile(r"\bvrf +([A-Za-z0-9_.-]{1,40}) ", re.ASCII)


def _hops(entry: Node) -> list[Hop] | None:
    via = node_of(entry.get("via") or entry.get("via-entry"))
    hops: list[Hop] = []
    for name, inner in nodes_of(via):
        kind = sent(inner, "type")
        if kind == "blackhole":
            return []
        port = sent(inner, "interface") or (name if kind == "interface" else "")
        if not port:
            return None
        hops.append((port, "" if kind == "interface" else name))
    return hops or None


def _is_rib(document: Node) -> bool:
    return any(
        PREFIX.fullmatch(prefix) and "route-entry" in node for prefix, node in nodes_of(document)
    )


def _read(rows: Rows, vrf: str, document: Node) -> None:
    for prefix, node in nodes_of(document):
        for _, entry in nodes_of(node.get("route-entry")) if PREFIX.fullmatch(prefix) else ():
            if "selected" in node_of(entry.get("flags")):
                add_route(rows, vrf, prefix, text_at(entry, "protocol"), _hops(entry))


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Table switch_route."""
    text = text_of(data)
    rows = Rows()
    first: Node = next(json_objects(text), {})
    inner = node_of(first.get("route")) if set(first) == {"route"} else first
    if _is_rib(inner):
        vrf = _VRF.search(instance)
        _read(rows, vrf[1] if vrf else "default", inner)
    else:
        read_routes(rows, text)
    return iter(rows)
