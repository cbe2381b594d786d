"""Priorities, queues and maps of Arista EOS as JSON.

Read: `show priority-flow-control` and its counters, `show qos maps`,
`show qos interfaces ecn counters queue`.
"""

from railwright.parse.base import Value
from railwright.parse.eos_ports import OF_THE_PORT, is_port_entry, port_row, ports_of
from railwright.parse.switch_values import (
    Node,
    Rows,
    decimal,
    joined,
    node_of,
    one_number,
    switched,
    text_at,
    whole_number,
)

_PRIORITIES = range(8)
_QUEUES = 63
_DSCP = 63


def _milliseconds(node: Node, key: str) -> int | None:
    seconds = decimal(text_at(node, key))
    return round(seconds * 1000) if seconds is not None and seconds < 2_000_000 else None


def _watchdog(node: Node) -> dict[str, Value]:
    """A watchdog whose timeout is 0 does not watch: that is the default."""
    timeout = _milliseconds(node, "watchdogTimeout")
    return {
        "watchdog": None if timeout is None else timeout > 0,
        "watchdog_detection_ms": timeout,
        "watchdog_restoration_ms": _milliseconds(node, "watchdogRecoveryTime"),
        "watchdog_poll_ms": _milliseconds(node, "watchdogPollingInterval"),
        "watchdog_action": text_at(node, "watchdogAction"),
    }


def _pfc_priorities(entry: Node) -> list[int] | None:
    listed = entry.get("priorities")
    words = listed if isinstance(listed, list) else [listed]
    numbers = [one_number(word) if isinstance(word, str) else None for word in words]
    return None if None in numbers else sorted({number for number in numbers if number is not None})


def _pfc_port(rows: Rows, port: str, entry: Node) -> None:
    enabled, active = switched(entry.get("enabled")), switched(entry.get("active"))
    priorities = _pfc_priorities(entry)
    rows.add(
        "switch_port_qos",
        port=port,
        pfc_mode=None if enabled is None else ("on" if enabled else "off"),
        pfc_priorities=joined(priorities),
        pfc_operational=active,
        **_watchdog(entry),
    )
    for priority in _PRIORITIES if priorities is not None else ():
        listed = priority in priorities if priorities else False
        rows.add(
            "switch_pfc",
            port=port,
            priority=priority,
            enabled=enabled if listed else False,
            is_operational=active if listed else False,
        )


def statuses(rows: Rows, document: Node) -> None:
    """show interfaces status and show priority-flow-control have the same key."""
    for port, entry in ports_of(document["interfaceStatuses"]):
        if "priorities" in entry:
            _pfc_port(rows, port, entry)
        elif is_port_entry(entry):
            port_row(rows, port, entry)
    if "watchdogAction" in document or "watchdogTimeout" in document:
        rows.add("switch_port_qos", port="", **_watchdog(document))


def pfc_counters(rows: Rows, document: Node) -> None:
    """show priority-flow-control counters: of the port, not of each priority."""
    for port, entry in ports_of(document["interfaceCounters"]):
        for key, counter in (("rxFrames", "pfc_rx"), ("txFrames", "pfc_tx")):
            if key in entry:
                value = whole_number(text_at(entry, key))
                rows.add(
                    "switch_counter", port=port, counter=counter, number=OF_THE_PORT, value=value
                )


def marks(rows: Rows, document: Node) -> None:
    """`-` stands where marks are not counted, which does not say whether the queue marks."""
    for port, entry in ports_of(document["intfQueueCounters"]):
        for name in node_of(entry.get("queueCounters")):
            queue = one_number(name, _QUEUES)
            if queue is not None:
                value = whole_number(text_at(entry, "queueCounters", name))
                rows.add(
                    "switch_counter", port=port, counter="ecn_marked", number=queue, value=value
                )


def dscp_map(rows: Rows, document: Node) -> None:
    """show qos maps: DSCP."""
    for name in node_of(document["dscpToTcMap"]):
        dscp = one_number(name, _DSCP)
        traffic_class = one_number(text_at(document, "dscpToTcMap", name), _QUEUES)
        if dscp is not None:
            rows.add("switch_dscp", map="", dscp=dscp, traffic_class=traffic_class)


def pcp_map(rows: Rows, document: Node) -> None:
    """show qos maps: 802.1p, which EOS calls CoS."""
    for name in node_of(document["cosToTcMap"]):
        pcp = one_number(name)
        traffic_class = one_number(text_at(document, "cosToTcMap", name), _QUEUES)
        if pcp is not None:
            rows.add("switch_pcp", map="", pcp=pcp, traffic_class=traffic_class)


def queue_map(rows: Rows, document: Node) -> None:
    """RDMA is unicast: the queue of unicast packets counts."""
    for name in node_of(document["tcToTxQueueMap"]):
        place = ("tcToTxQueueMap", name)
        queue = text_at(document, *place) or text_at(document, *place, "unicastTxQueueId")
        traffic_class = one_number(name, _QUEUES)
        if traffic_class is not None:
            rows.add(
                "switch_class_queue",
                map="",
                traffic_class=traffic_class,
                queue=one_number(queue, _QUEUES),
            )
