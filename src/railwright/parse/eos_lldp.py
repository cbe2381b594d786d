"""Neighbors of Arista EOS: `show lldp neighbors`, a list, and with `detail`, by port; as JSON."""

from railwright.parse.eos_ports import PORT, ports_of
from railwright.parse.switch_values import (
    Node,
    Rows,
    colon_mac,
    is_mac,
    node_of,
    sent,
    small_number,
    text_at,
)

_ID_TYPES = {
    "macAddress": "mac",
    "interfaceName": "ifname",
    "interfaceAlias": "ifalias",
    "networkAddress": "ip",
    "locallyAssigned": "local",
}


def _neighbor_in_short(rows: Rows, place: int, entry: Node) -> None:
    """Where a neighbor has no name, EOS prints its chassis id in place of one."""
    device, port_id = sent(entry, "neighborDevice"), sent(entry, "neighborPort")
    rows.add(
        "switch_neighbor",
        port=sent(entry, "port"),
        place=place,
        system_name="" if is_mac(device) else device,
        chassis_id=colon_mac(device) if is_mac(device) else None,
        port_id=colon_mac(port_id.strip('"')),
        ttl_s=small_number(text_at(entry, "ttl")),
    )


def _id_type(node: object, key: str) -> str | None:
    word = sent(node, key)
    return _ID_TYPES.get(word, word) or None


def _neighbor(rows: Rows, port: str, place: int, entry: Node) -> None:
    side = node_of(entry.get("neighborInterfaceInfo"))
    listed = entry.get("managementAddresses")
    addresses = [sent(address, "address") for address in listed] if isinstance(listed, list) else []
    rows.add(
        "switch_neighbor",
        port=port,
        place=place,
        system_name=sent(entry, "systemName"),
        chassis_id=colon_mac(sent(entry, "chassisId")),
        chassis_type=_id_type(entry, "chassisIdType"),
        # EOS puts names into quotes of their own.
        port_id=colon_mac(sent(side, "interfaceId").strip('"')),
        port_id_type=_id_type(side, "interfaceIdType"),
        port_description=sent(side, "interfaceDescription"),
        management_addresses=",".join(filter(None, addresses)),
        ttl_s=small_number(text_at(entry, "ttl")),
    )


def neighbors(rows: Rows, document: Node) -> None:
    """Both forms; a port that heard nobody has an empty list."""
    listed = document["lldpNeighbors"]
    places: dict[str, int] = {}
    for entry in listed if isinstance(listed, list) else []:
        port = sent(entry, "port")
        if PORT.fullmatch(port):
            _neighbor_in_short(rows, places.get(port, 0), entry)
            places[port] = places.get(port, 0) + 1
    for port, node in ports_of(listed):
        found = node.get("lldpNeighborInfo")
        for place, entry in enumerate(found if isinstance(found, list) else []):
            if node_of(entry):
                _neighbor(rows, port, place, entry)
