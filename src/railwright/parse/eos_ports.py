"""Ports of Arista EOS: `show interfaces`, its short forms and its counters, as JSON."""

import re
from collections.abc import Callable

from railwright.parse.base import Value
from railwright.parse.switch_values import (
    Node,
    Rows,
    at,
    colon_mac,
    node_of,
    nodes_of,
    one_number,
    sent,
    small_number,
    switched,
    text_at,
    whole_number,
)

# Sub-interfaces, VLANs, loopbacks and tunnels are no ports.
PORT = re.compile(r"(?:Ethernet|Management|Port-Channel)[0-9]{1,5}(?:/[0-9]{1,3}){0,3}", re.ASCII)
OF_THE_PORT = -1
_TRAFFIC_CLASS = re.compile(r"TC([0-9]{1,2})", re.ASCII)
_MEMBER = re.compile(r"Member of (Port-Channel[0-9]{1,5})", re.ASCII)
_COUNTERS = {
    "inOctets": "rx_bytes",
    "inTotalPkts": "rx_ok",
    "inDiscards": "rx_drops",
    "totalInErrors": "rx_errors",
    "inErrors": "rx_errors",
    "outOctets": "tx_bytes",
    "outTotalPkts": "tx_ok",
    "outDiscards": "tx_drops",
    "totalOutErrors": "tx_errors",
    "outErrors": "tx_errors",
    "linkStatusChanges": "link_changes",
    "fcsErrors": "fcs_errors",
    "symbolErrors": "symbol_errors",
    "rxPause": "pause_rx",
    "txPause": "pause_tx",
}
# Old releases print no total: it is the sum of the three kinds of packets.
_KINDS_OF_PACKETS = {
    "rx_ok": ("inUcastPkts", "inMulticastPkts", "inBroadcastPkts"),
    "tx_ok": ("outUcastPkts", "outMulticastPkts", "outBroadcastPkts"),
}
_FEC = {"reedSolomon": "rs", "reedSolomon544": "rs", "fireCode": "fc", "disabled": "none"}
_ADMIN_UP = {"disabled": False, "connected": True, "notconnect": True}
_PORT_KEYS = frozenset(
    {"interfaceStatus", "linkStatus", "lineProtocolStatus", "mediaType", "interfaceType", "mtu"}
)


def ports_of(node: object) -> list[tuple[str, Node]]:
    """The ports of an object that has interfaces as keys."""
    return [(port, entry) for port, entry in nodes_of(node) if PORT.fullmatch(port)]


def _packets(node: Node, keys: tuple[str, ...]) -> int | None:
    parts = [whole_number(text_at(node, key)) for key in keys]
    total = sum(part for part in parts if part is not None)
    return total if None not in parts and total < 2**63 else None


def _counters(rows: Rows, port: str, *nodes: object) -> None:
    found: dict[str, Value] = {}
    for node in map(node_of, nodes):
        for key in node:
            if key in _COUNTERS:
                found.setdefault(_COUNTERS[key], whole_number(text_at(node, key)))
        for counter, keys in _KINDS_OF_PACKETS.items():
            total = _packets(node, keys) if keys[0] in node else None
            if total is not None:
                found.setdefault(counter, total)
    for counter, value in found.items():
        rows.add("switch_counter", port=port, counter=counter, number=OF_THE_PORT, value=value)


def _speed(bits: str | None) -> int | None:
    """Mb/s of a bandwidth in bit/s. A port without a link may print 0."""
    speed = (whole_number(bits) or 0) // 1_000_000
    return speed if 0 < speed < 2**31 else None


def _admin_up(status: str | None) -> bool | None:
    """An error can also switch a port off (errdisabled): then nothing is said about the setting."""
    return _ADMIN_UP.get(status or "")


def _is_up(entry: Node) -> bool | None:
    protocol = text_at(entry, "lineProtocolStatus")
    if protocol is not None:
        return protocol == "up"
    status = text_at(entry, "linkStatus") or text_at(entry, "interfaceStatus")
    return None if status is None else status == "connected"


def _vlan_mode(entry: Node) -> str | None:
    member = _MEMBER.fullmatch(sent(entry, "interfaceMembership"))
    if member:
        return member[1]
    return text_at(entry, "vlanInformation", "interfaceMode") or text_at(entry, "forwardingModel")


def is_port_entry(entry: Node) -> bool:
    """Whether an entry says something about the port itself, not only counts."""
    return not _PORT_KEYS.isdisjoint(entry)


def port_row(rows: Rows, port: str, entry: Node) -> None:
    """The row of a port, as far as this command prints it."""
    negotiates = entry.get("autoNegotiateActive", entry.get("autoNegotiate"))
    mac = text_at(entry, "physicalAddress")
    transceiver = text_at(entry, "mediaType") or text_at(entry, "interfaceType")
    rows.add(
        "switch_port",
        port=port,
        admin_up=_admin_up(text_at(entry, "interfaceStatus") or text_at(entry, "linkStatus")),
        is_up=_is_up(entry),
        speed_mbps=_speed(text_at(entry, "bandwidth")),
        lanes=small_number(text_at(entry, "lanes")),
        mtu=small_number(text_at(entry, "mtu")),
        autonegotiation=switched(negotiates),
        # EOS prints this for an empty cage.
        transceiver="" if transceiver == "Not Present" else transceiver,
        vlan_mode=_vlan_mode(entry),
        mac=colon_mac(mac) if mac else None,
    )


def _queue_drops(rows: Rows, port: str, classes: object) -> None:
    """show interfaces counters queue drops: by traffic class, before and behind the fabric."""
    for name, entry in nodes_of(classes):
        found = _TRAFFIC_CLASS.fullmatch(name)
        if found is None:
            continue
        for key, counter in (
            ("egressQueueCounters", "queue_drops"),
            ("ingressVoqCounters", "voq_drops"),
        ):
            place = (key, "countersSum", "droppedPackets")
            if at(entry, *place) is not None:
                value = whole_number(text_at(entry, *place))
                number = int(found[1])
                rows.add("switch_counter", port=port, counter=counter, number=number, value=value)


def _storms(rows: Rows, port: str, queues: object) -> None:
    """show priority-flow-control counters watchdog: only queues that were stuck are listed.

    The keys are those that public test code for EOS reads; no capture of ours has them.
    """
    for name, entry in nodes_of(queues):
        number, stuck = one_number(name, 63), whole_number(text_at(entry, "stuckCount"))
        if number is not None and stuck is not None:
            rows.add(
                "switch_counter", port=port, counter="queue_storms", number=number, value=stuck
            )


def interfaces(rows: Rows, document: Node) -> None:
    """All commands whose answer has `interfaces`: each prints other parts of an entry."""
    for port, entry in ports_of(document["interfaces"]):
        if is_port_entry(entry):
            port_row(rows, port, entry)
        counters = node_of(entry.get("interfaceCounters"))
        details = (counters.get("inputErrorsDetail"), counters.get("outputErrorsDetail"))
        _counters(rows, port, entry, counters, *details)
        _queue_drops(rows, port, entry.get("trafficClasses"))
        _storms(rows, port, entry.get("txQueues"))


def counters_by_port(key: str) -> Callable[[Rows, Node], None]:
    """A reader of counters by port: show interfaces counters errors, ... flow-control."""

    def read(rows: Rows, document: Node) -> None:
        for port, entry in ports_of(document[key]):
            _counters(rows, port, entry)

    return read


def flow_control(rows: Rows, document: Node) -> None:
    """show interfaces flow-control: what is in force, and the counts."""
    for port, entry in ports_of(document["interfaceFlowControls"]):
        states = {
            way: switched(entry.get(f"{way}OperState", entry.get(f"{way}AdminState")))
            for way in ("rx", "tx")
        }
        if set(states.values()) != {None}:
            rows.add("switch_port", port=port, pause_rx=states["rx"], pause_tx=states["tx"])
        _counters(rows, port, entry)


def error_correction(rows: Rows, document: Node) -> None:
    """show interfaces error-correction."""
    for port, entry in ports_of(document["interfaceErrCorrStatuses"]):
        word = text_at(entry, "errCorrEncodingStatus")
        if word:
            rows.add("switch_port", port=port, fec_active=_FEC.get(word, word))
