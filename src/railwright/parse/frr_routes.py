"""`show ip route ... json` of FRR, which SONiC and Cumulus Linux route with.

    {"10.8.3.0/26": [{"protocol": "bgp", "selected": true, "nexthops": [{"fib": true, ...}]}]}

Of all tables (`vrf all`) releases print one object after the other, or one object with the tables
as keys (zebra/zebra_vty.c). A prefix may have several entries: the selected one is in force.
"""

from railwright.parse.base import NotUnderstoodError
from railwright.parse.json_text import json_objects
from railwright.parse.route_rows import PREFIX, Hop, add_route
from railwright.parse.switch_values import Node, Rows, error_words, node_of, sent, switched, text_at

_DROPS = ("unreachable", "blackhole", "reject", "admin-prohibited")


def is_routes(document: Node) -> bool:
    """Whether an object has prefixes as keys, and lists of routes below them."""
    return any(PREFIX.fullmatch(key) and isinstance(value, list) for key, value in document.items())


def _hops(entry: Node) -> list[Hop] | None:
    """Where it goes: the hops that are in the forwarding table.

    One that is itself looked up in the table (recursive) stands beside those that it leads to.
    """
    listed = entry.get("nexthops")
    hops = [node_of(hop) for hop in listed] if isinstance(listed, list) else []
    if sent(entry, "protocol") == "local":
        return []
    used = [hop for hop in hops if switched(hop.get("fib"))]
    used = used or [hop for hop in hops if switched(hop.get("active"))]
    if any(switched(hop.get(word)) for hop in hops for word in _DROPS):
        return []
    plain = [
        hop
        for hop in used
        if not switched(hop.get("recursive")) and not switched(hop.get("duplicate"))
    ]
    if not plain or any(not sent(hop, "interfaceName") for hop in plain):
        return None
    return [(sent(hop, "interfaceName"), sent(hop, "ip")) for hop in plain]


def _read(rows: Rows, document: Node, vrf: str) -> None:
    for prefix, listed in document.items():
        if not PREFIX.fullmatch(prefix) or not isinstance(listed, list):
            continue
        for entry in map(node_of, listed):
            if switched(entry.get("selected")):
                name = text_at(entry, "vrfName") or vrf
                # FRR writes Default where the backend of its tables is a namespace.
                name = "default" if name == "Default" else name
                add_route(rows, name, prefix, text_at(entry, "protocol"), _hops(entry))


def read_routes(rows: Rows, text: str) -> None:
    """All routes in an answer; raises where it holds none and does not say so."""
    is_known = False
    for document in json_objects(text):
        if is_routes(document) or document == {}:
            is_known = True
            _read(rows, document, "default")
            continue
        tables = [(vrf, inner) for vrf, inner in document.items() if isinstance(inner, dict)]
        is_known = is_known or "default" in document or any(is_routes(t) for _, t in tables)
        for vrf, inner in tables:
            _read(rows, inner, vrf)
    if not is_known:
        raise NotUnderstoodError(error_words(text)[:200] or "no routes of FRR")
