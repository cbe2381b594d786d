"""Routes of Arista EOS: `show ip route vrf all | json`."""

from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of
from railwright.parse.eos_show import documents_of, refusal_of
from railwright.parse.route_rows import PREFIX, Hop, add_route
from railwright.parse.switch_values import Node, Rows, error_words, node_of, nodes_of, sent

# eBGP, iBGP, bgpAggregate; ospfInter, ospfExternalType1, ospf3Intra; ISISLevel1.
_FAMILIES = ("bgp", "ospf", "isis")


def _protocol(word: str) -> str:
    lower = word.lower()
    return next((family for family in _FAMILIES if family in lower), lower)


def _hops(entry: Node) -> list[Hop] | None:
    if sent(entry, "routeAction") in ("drop", "null0"):
        return []
    listed = entry.get("vias")
    vias = [node_of(via) for via in listed] if isinstance(listed, list) else []
    # A via without an interface is a tunnel or a group of next hops.
    if not vias or any(not sent(via, "interface") for via in vias):
        return None
    return [(sent(via, "interface"), sent(via, "nexthopAddr")) for via in vias]


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (the routes say their table)
    """Table switch_route."""
    text = text_of(data)
    documents = documents_of(text)
    found = [document for document in documents if isinstance(document.get("vrfs"), dict)]
    if not found:
        words = refusal_of(documents) or error_words(text)
        raise NotUnderstoodError(words[:200] or "no JSON with routes")
    rows = Rows()
    for document in found:
        for vrf, table in nodes_of(document["vrfs"]):
            for prefix, entry in nodes_of(table.get("routes")):
                if PREFIX.fullmatch(prefix):
                    protocol = _protocol(sent(entry, "routeType")) or None
                    add_route(rows, vrf, prefix, protocol, _hops(entry))
    return iter(rows)
