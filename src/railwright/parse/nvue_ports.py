"""Ports of a Cumulus switch in NVUE's tree: link, neighbors and counters."""

import re

from railwright.parse.base import Value
from railwright.parse.nvue_text import Table
from railwright.parse.switch_values import (
    Node,
    Rows,
    colon_mac,
    forward_error_correction,
    node_of,
    nodes_of,
    one_number,
    sent,
    small_number,
    speed_mbps,
    switched,
    text_at,
    whole_number,
)

OF_THE_PORT = -1
_PORT = re.compile(r"[a-z][a-z0-9_-]{0,30}", re.ASCII)
# Loopbacks, VLANs, VRFs, bridges and tunnels are no ports. A release or a view may print no type.
_PORT_TYPES = frozenset({"swp", "eth", "bond", "peerlink", "fnm", ""})
_ASKED = re.compile(r"\binterface +((?:swp|eth|bond|peerlink)[a-z0-9_-]{0,30})(?![^ ])", re.ASCII)
_BARE_PORT = re.compile(r"(?:swp|eth|bond)[0-9][a-z0-9]{0,20}", re.ASCII)

_COUNTERS: dict[tuple[str, ...], str] = {
    ("netstat", "rx-bytes"): "rx_bytes",
    ("netstat", "tx-bytes"): "tx_bytes",
    ("netstat", "rx-pkts"): "rx_ok",
    ("netstat", "tx-pkts"): "tx_ok",
    ("drop-counters", "rx", "total-drops"): "rx_drops",
    ("drop-counters", "rx", "buffer-drops"): "rx_buffer_drops",
    ("drop-counters", "tx", "total-drops"): "tx_drops",
    ("drop-counters", "tx", "queue-drops"): "tx_queue_drops",
    ("netstat", "rx-drop"): "rx_drops",
    ("netstat", "tx-drop"): "tx_drops",
    ("error-counters", "rx", "total-errors"): "rx_errors",
    ("error-counters", "tx", "total-errors"): "tx_errors",
    ("error-counters", "rx", "fcs-errors"): "fcs_errors",
    ("error-counters", "rx", "symbol-errors"): "symbol_errors",
    ("carrier-transitions",): "link_changes",
    # the older place: link stats
    ("stats", "in-bytes"): "rx_bytes",
    ("stats", "in-pkts"): "rx_ok",
    ("stats", "in-drops"): "rx_drops",
    ("stats", "in-errors"): "rx_errors",
    ("stats", "out-bytes"): "tx_bytes",
    ("stats", "out-pkts"): "tx_ok",
    ("stats", "out-drops"): "tx_drops",
    ("stats", "out-errors"): "tx_errors",
    ("stats", "carrier-transitions"): "link_changes",
    # qos: only what is sent can be marked
    ("port-stats", "tx", "ecn-marked-packets"): "ecn_marked",
    ("port-stats", "rx", "pause-frames"): "pause_rx",
    ("port-stats", "tx", "pause-frames"): "pause_tx",
}
_PRIORITY_COUNTERS = {
    "rx-pause-frames": "pfc_rx",
    "rx-pause-duration": "pfc_rx_duration",
    "tx-pause-frames": "pfc_tx",
    "tx-pause-duration": "pfc_tx_duration",
}
_QUEUE_COUNTERS = {
    "tx-frames": "queue_packets",
    "tx-bytes": "queue_bytes",
    "tx-uc-buffer-discards": "queue_drops",
    "wred-discards": "red_drops",
}
_ID_TYPES = {"interface": "ifname", "interface-name": "ifname", "mac-address": "mac"}


def port_asked(instance: str) -> str:
    """The port of `nv show interface swp1s0 counters`; '' where none was asked for."""
    found = _ASKED.search(instance)
    if found:
        return found[1]
    return instance if _BARE_PORT.fullmatch(instance) else ""


def is_port(name: str, entry: Node) -> bool:
    """Whether an entry of `nv show interface` is a port: physical, or a bond of such."""
    return _PORT.fullmatch(name) is not None and sent(entry, "type") in _PORT_TYPES


# link


def _states(link: Node) -> tuple[bool | None, bool | None]:
    """Whether it is switched on, and up. Old releases print `state` alone, `{"up": {}}`: the link's
    state in the operational view, which has a MAC address, and the setting in the other."""
    state = link.get("state")
    words = list(state) if isinstance(state, dict) else [state]
    shown = switched(words[0]) if len(words) == 1 else None
    if "oper-status" in link or "admin-status" in link:
        return switched(link.get("admin-status")), switched(link.get("oper-status"))
    is_operational = not {"mac", "mac-address", "stats"}.isdisjoint(link)
    return (None, shown) if is_operational else (shown, None)


def read_link(rows: Rows, port: str, link: Node) -> None:
    """A link. One place holds both what FEC is asked for and what is in force."""
    admin_up, is_up = _states(link)
    fec = forward_error_correction(text_at(link, "fec"))
    is_active = bool(is_up) and fec != "auto"
    mac = text_at(link, "mac-address") or text_at(link, "mac")
    rows.add(
        "switch_port",
        port=port,
        admin_up=admin_up,
        is_up=is_up,
        speed_mbps=speed_mbps(text_at(link, "speed")),
        lanes=small_number(text_at(link, "lanes")),
        fec_active=fec if is_active else None,
        fec_configured=None if is_active else fec,
        mtu=small_number(text_at(link, "mtu")),
        autonegotiation=switched(link.get("auto-negotiate")),
        mac=colon_mac(mac) if mac else None,
    )
    _port_counters(rows, port, link)


# neighbors


def _management_addresses(chassis: Node) -> str:
    keys = ("management-address-ipv4", "management-address-ipv6", "management-address")
    return ",".join(filter(None, (sent(chassis, key) for key in keys)))


def read_neighbors(rows: Rows, port: str, lldp: Node) -> None:
    """LLDP of one port; `{}` where nobody was heard."""
    for place, (name, neighbor) in enumerate(nodes_of(lldp.get("neighbor"))):
        chassis, side = node_of(neighbor.get("chassis")), node_of(neighbor.get("port"))
        kind = sent(side, "type")
        chassis_id, port_id = text_at(chassis, "chassis-id"), text_at(side, "name")
        rows.add(
            "switch_neighbor",
            port=port,
            place=place,
            # The key is the neighbor's name too, or its address where it has none.
            system_name=sent(chassis, "system-name") if chassis else sent({"": name}, ""),
            chassis_id=colon_mac(chassis_id) if chassis_id is not None else None,
            port_id=colon_mac(port_id) if port_id is not None else None,
            port_id_type=_ID_TYPES.get(kind, kind) or None,
            port_description=sent(side, "description"),
            management_addresses=_management_addresses(chassis),
            ttl_s=small_number(text_at(side, "ttl")),
        )


# counters


def exact(text: str | None) -> int | None:
    """A count, without `Bytes` behind it. `56.52 MB` is rounded, and so no count."""
    return whole_number(text.removesuffix("Bytes").rstrip()) if text is not None else None


def _add(rows: Rows, port: str, counter: str, number: int, value: Value) -> None:
    rows.add("switch_counter", port=port, counter=counter, number=number, value=value)


def _port_counters(rows: Rows, port: str, node: Node) -> None:
    for path, counter in _COUNTERS.items():
        value = exact(text_at(node, *path))
        if value is not None:
            _add(rows, port, counter, OF_THE_PORT, value)


def _numbered(rows: Rows, port: str, node: object, names: dict[str, str]) -> None:
    """Counters of each priority or queue."""
    for key, entry in nodes_of(node):
        number = one_number(key, 63)
        for name, counter in names.items():
            text = text_at(entry, name)
            if number is None or text is None:
                continue
            # Discards are printed as packets or as bytes.
            in_bytes = counter == "queue_drops" and text.endswith(("Bytes", "B"))
            _add(rows, port, "queue_dropped_bytes" if in_bytes else counter, number, exact(text))


def read_counters(rows: Rows, port: str, counters: Node) -> None:
    """`counters` of a port, or its part `qos`."""
    qos = node_of(counters.get("qos", counters))
    _port_counters(rows, port, counters)
    if qos is not counters:
        _port_counters(rows, port, qos)
    _numbered(rows, port, qos.get("pfc-stats"), _PRIORITY_COUNTERS)
    _numbered(rows, port, qos.get("egress-queue-stats"), _QUEUE_COUNTERS)


# nv show interface without -o json


def _cell(columns: tuple[str, ...], cells: tuple[str, ...], name: str) -> str | None:
    text = cells[columns.index(name)] if name in columns else ""
    return text if text and "\u2026" not in text else None


def read_list(rows: Rows, table: Table) -> bool:
    """The list of interfaces with state, speed, MTU and neighbor; False for any other table."""
    columns = table.columns
    if not {"interface", "mtu", "type"} <= set(columns):
        return False
    state = "oper status" if "oper status" in columns else "state"
    for indent, cells in table.rows:
        port = cells[columns.index("interface")]
        entry: Node = {"type": _cell(columns, cells, "type") or ""}
        if indent != 0 or not is_port(port, entry):
            continue
        rows.add(
            "switch_port",
            port=port,
            admin_up=switched(_cell(columns, cells, "admin status")),
            is_up=switched(_cell(columns, cells, state)),
            speed_mbps=speed_mbps(_cell(columns, cells, "speed")),
            mtu=small_number(_cell(columns, cells, "mtu")),
        )
        host, side = _cell(columns, cells, "remote host"), _cell(columns, cells, "remote port")
        if host or side:
            port_id = colon_mac(side) if side else None
            rows.add("switch_neighbor", port=port, place=0, system_name=host, port_id=port_id)
    return True


def read_pluggable(rows: Rows, port: str, node: Node) -> None:
    """The plugged module."""
    kind = text_at(node, "identifier")
    if kind:
        rows.add("switch_port", port=port, transceiver=kind)


def is_counters(node: Node) -> bool:
    """Whether this is what `nv show interface <port> counters` prints."""
    keys = {"netstat", "drop-counters", "error-counters", "carrier-transitions", "pfc-stats"}
    more = {"egress-queue-stats", "port-stats"}
    return not (keys | more).isdisjoint(node)


def is_link(node: Node) -> bool:
    """Whether this is what `nv show interface <port> link` prints."""
    return "oper-status" in node or {"mtu", "state"} <= node.keys()
