"""Priorities, queues and pools of a Cumulus switch in NVUE's tree.

`nv show qos roce` speaks of all ports: its rows have the port ''. The same facts of one port come
from `nv show interface <port> qos ...`. A switch priority becomes a traffic class, whose number is
also that of the queue.
"""

import re

from railwright.parse.base import NotUnderstoodError, Value
from railwright.parse.switch_values import (
    Node,
    Rows,
    decimal,
    few,
    joined,
    node_of,
    nodes_of,
    number_list,
    one_number,
    sent,
    small_number,
    switched,
    text_at,
    whole_number,
)

_EIGHT = range(8)
_DSCP = 63
_DWRR = re.compile(r"dwrr-([0-9]{1,3})%", re.ASCII)
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(Bytes|B|KB|MB|GB|%|)", re.ASCII)
# 150,000 bytes are printed as 146.48 KB (Cumulus Linux guide, RoCE).
_UNITS = {"": 1, "B": 1, "Bytes": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}
_TRUST = {
    "pcp,dscp": "both",
    "dscp,pcp": "both",
    "both": "both",
    "pcp": "pcp",
    "l2": "pcp",
    "dscp": "dscp",
    "l3": "dscp",
    "none": "port",
    "port": "port",
}
_UNLIMITED = frozenset({"inf", "infinity", "infinite"})


def size_bytes(text: str | None) -> int | None:
    """A size in bytes: two digits behind the point are all that NVUE prints."""
    found = _SIZE.fullmatch(text or "")
    if found is None or found[2] == "%":
        return None
    return round(float(found[1]) * _UNITS[found[2]])


def percent(text: str | None) -> float | None:
    """A size in percent."""
    found = _SIZE.fullmatch(text or "")
    return float(found[1]) if found and found[2] == "%" else None


def _trust(text: str | None) -> str | None:
    return _TRUST.get((text or "").replace(" ", "").lower())


# RoCE


def is_roce(node: Node) -> bool:
    """Whether this is what `nv show qos roce` or `... qos roce status` prints."""
    pfc, control = node_of(node.get("pfc")), node_of(node.get("congestion-control"))
    maps = {"prio-map", "tc-map", "pool"} & node.keys()
    return "pfc-priority" in pfc or "enabled-tc" in control or bool(maps)


def _tlv_priority(node: Node) -> int | None:
    """What LLDP announces for RoCE. Another application's priority is another fact."""
    tlv = node_of(node.get("lldp-app-tlv"))
    is_roce_tlv = (sent(tlv, "selector").lower(), sent(tlv, "protocol-id")) == ("udp", "4791")
    return one_number(text_at(tlv, "priority")) if is_roce_tlv else None


def _exceptions(node: Node) -> str | None:
    listed = node.get("exception-list")
    if isinstance(listed, list):
        words = [sent({"": word}, "") for word in listed]
    elif isinstance(listed, dict):
        words = [sent(entry, "description") for _, entry in nodes_of(listed)]
    else:
        return None
    return ",".join(filter(None, words))


def _switch_row(rows: Rows, node: Node) -> None:
    if "mode" not in node:  # one of the maps alone
        return
    is_on = switched(node.get("state", node.get("enable")))
    rows.add(
        "switch",
        system="cumulus",
        roce_state=None if is_on is None else ("enabled" if is_on else "disabled"),
        roce_mode=text_at(node, "mode"),
        roce_tlv_priority=_tlv_priority(node),
        roce_exceptions=_exceptions(node),
    )


def _pfc_mode(priorities: list[int] | None, rx: bool | None, tx: bool | None) -> str | None:
    if priorities == [] or (rx is False and tx is False):
        return "off"
    return "on" if priorities and (rx or tx) else None


def _pfc_rows(
    rows: Rows, port: str, priorities: list[int] | None, mode: str | None, **more: Value
) -> None:
    """The port's row, and one for each priority where they were listed."""
    rows.add("switch_port_qos", port=port, pfc_mode=mode, pfc_priorities=joined(priorities), **more)
    for priority in _EIGHT if priorities is not None else ():
        listed = priority in (priorities or ())
        enabled = {"on": listed, "off": False}.get(mode or "", None if listed else False)
        rows.add("switch_pfc", port=port, priority=priority, enabled=enabled)


def _roce_pfc(rows: Rows, port: str, node: Node) -> None:
    pfc = node_of(node.get("pfc"))
    if not pfc and "trust" not in node:
        return
    rx, tx = switched(pfc.get("rx-enabled")), switched(pfc.get("tx-enabled"))
    priorities = number_list(text_at(pfc, "pfc-priority"))
    _pfc_rows(
        rows,
        port,
        priorities,
        _pfc_mode(priorities, rx, tx),
        trust=_trust(text_at(node, "trust", "trust-mode")),
        pfc_rx=rx,
        pfc_tx=tx,
        # Up to 5.11 it stands beside `pfc`, not in it (Cumulus Linux guide, 5.0 to 5.11).
        pfc_cable_length_m=decimal(text_at(pfc, "cable-length") or text_at(node, "cable-length")),
    )


def _scheduler(word: str | None) -> tuple[str, int] | None:
    """`DWRR-50%`, `strict-priority`; `dwrr-50%`, `strict priority` in the status of a port."""
    lower = (word or "").lower()
    found = _DWRR.fullmatch(lower)
    if found:
        return "dwrr", int(found[1])
    return ("strict", 0) if lower.replace(" ", "-") == "strict-priority" else None


def _scheduler_rows(rows: Rows, port: str, node: Node) -> None:
    """Several priorities may share a class. Where they disagree about it, nothing is known."""
    said: dict[int, set[tuple[str, int] | None]] = {}
    names: dict[int, str] = {}
    for name, entry in nodes_of(node.get("tc-map")):
        queue = one_number(text_at(entry, "traffic-class"))
        if queue is not None:
            said.setdefault(queue, set()).add(_scheduler(text_at(entry, "scheduler-weight")))
            names[queue] = {"roce": "RoCE", "cnp": "CNP"}.get(name, "")
    for queue, schedulers in said.items():
        scheduler = next(iter(schedulers)) if len(schedulers) == 1 else None
        kind, weight = scheduler or (None, None)
        application = names[queue] or None
        rows.add(
            "switch_queue",
            port=port,
            queue=queue,
            scheduler=kind,
            weight=weight,
            application=application,
        )


def _thresholds(node: Node) -> dict[str, Value]:
    least, most = text_at(node, "min-threshold"), text_at(node, "max-threshold")
    return {
        "ecn_minimum_bytes": size_bytes(least),
        "ecn_maximum_bytes": size_bytes(most),
        "ecn_minimum_percent": percent(least),
        "ecn_maximum_percent": percent(most),
        "ecn_probability_percent": small_number(text_at(node, "probability")),
    }


def _congestion_rows(rows: Rows, port: str, node: Node) -> None:
    """The classes that mark are listed, so the others do not."""
    control = node_of(node.get("congestion-control"))
    classes = number_list(text_at(control, "enabled-tc"))
    if classes is None:
        return
    marks = "ecn" in sent(control, "congestion-mode").lower()
    for queue in _EIGHT:
        is_listed = queue in classes
        values = _thresholds(control) if is_listed else {}
        rows.add("switch_queue", port=port, queue=queue, ecn_enabled=is_listed and marks, **values)


def _priority_map(rows: Rows, node: Node) -> None:
    for _, entry in few(nodes_of(node.get("prio-map"))):
        priority = one_number(text_at(entry, "switch-prio"))
        for dscp in number_list(text_at(entry, "dscp"), _DSCP) or ():
            rows.add("switch_dscp", map="", dscp=dscp, priority=priority)
        for pcp in number_list(text_at(entry, "pcp")) or ():
            rows.add("switch_pcp", map="", pcp=pcp, priority=priority)
    for _, entry in nodes_of(node.get("tc-map")):
        priority = one_number(text_at(entry, "switch-prio"))
        queue = one_number(text_at(entry, "traffic-class"))
        if priority is not None:
            rows.add("switch_priority_queue", map="", priority=priority, queue=queue)


def _pools(rows: Rows, node: Node) -> None:
    for _, entry in nodes_of(node.get("pool")):
        name, size = sent(entry, "name"), sent(entry, "size")
        direction = name.rpartition("-")[2]
        is_unlimited = size.lower() in _UNLIMITED
        if not name:
            continue
        rows.add(
            "switch_buffer_pool",
            pool=name,
            direction=direction if direction in ("ingress", "egress") else None,
            mode=sent(entry, "mode").lower() or None,
            size_bytes=size_bytes(size),
            size_percent=percent(size),
            is_unlimited=is_unlimited if size else None,
            priorities=joined(number_list(text_at(entry, "switch-priorities"))),
            traffic_classes=joined(number_list(text_at(entry, "traffic-class"), 63)),
        )


def read_roce(rows: Rows, port: str, node: Node) -> None:
    """RoCE of the switch, or of a port. A port's maps hold RoCE and CNP only: they are left out."""
    if not port:
        _switch_row(rows, node)
        _priority_map(rows, node)
    _roce_pfc(rows, port, node)
    _scheduler_rows(rows, port, node)
    _congestion_rows(rows, port, node)
    _pools(rows, node)


# nv show interface <port> qos ...


def read_congestion_control(rows: Rows, port: str, node: Node) -> None:
    """What the hardware holds, which may differ a little from what was asked for."""
    for name, entry in nodes_of(node.get("traffic-class")):
        queue = one_number(name)
        if queue is not None and "ecn" in entry:
            rows.add(
                "switch_queue",
                port=port,
                queue=queue,
                ecn_enabled=switched(entry.get("ecn")),
                red_enabled=switched(entry.get("red")),
                **_thresholds(entry),
            )


def read_scheduler(rows: Rows, port: str, node: Node) -> None:
    """How each queue is served."""
    for name, entry in nodes_of(node.get("traffic-class")):
        queue, mode = one_number(name), sent(entry, "mode").lower()
        if queue is not None and mode in ("strict", "dwrr"):
            weight = 0 if mode == "strict" else small_number(text_at(entry, "bw-percent"))
            rows.add("switch_queue", port=port, queue=queue, scheduler=mode, weight=weight)


def read_queue_mapping(rows: Rows, port: str, node: Node) -> None:
    """Switch priority to traffic class. The port's map has the port's name."""
    for name, entry in nodes_of(node.get("switch-priority")):
        priority, queue = one_number(name), one_number(text_at(entry, "traffic-class"))
        if priority is not None and queue is not None:
            rows.add("switch_priority_queue", map=port, priority=priority, queue=queue)
            rows.add("switch_port_qos", port=port, priority_queue_map=port)


def read_mapping(rows: Rows, port: str, node: Node) -> None:
    """DSCP and PCP to switch priority, and which of them counts."""
    rows.add("switch_port_qos", port=port, trust=_trust(text_at(node, "trust")))
    for key, table, largest in (("dscp", "switch_dscp", _DSCP), ("pcp", "switch_pcp", 7)):
        for name, entry in nodes_of(node.get(key)):
            number = one_number(name, largest)
            if number is not None:
                priority = one_number(text_at(entry, "switch-priority"))
                place: dict[str, Value] = {"map": port, key: number}
                rows.add(table, priority=priority, **place)
                binding: dict[str, Value] = {f"{key}_map": port}
                rows.add("switch_port_qos", port=port, **binding)


def read_pfc(rows: Rows, port: str, node: Node) -> None:
    """PFC of a port. Without priorities, only whether the port obeys and sends pauses."""
    rx, tx = switched(node.get("rx")), switched(node.get("tx"))
    listed = node.get("switch-priority")
    priorities = number_list(",".join(map(str, listed))) if isinstance(listed, dict) else None
    _pfc_rows(rows, port, priorities, _pfc_mode(priorities, rx, tx), pfc_rx=rx, pfc_tx=tx)


def read_watchdog(rows: Rows, port: str, node: Node) -> None:
    """The PFC watchdog: whether it is set, and how often each queue was stuck."""
    rows.add("switch_port_qos", port=port, watchdog=switched(node.get("state")))
    for name, entry in nodes_of(node.get("status")):
        number, storms = one_number(name), whole_number(text_at(entry, "deadlock-count"))
        if number is not None and storms is not None:
            rows.add(
                "switch_counter", port=port, counter="queue_storms", number=number, value=storms
            )


_PARTS = {
    "congestion-control": read_congestion_control,
    "egress-scheduler": read_scheduler,
    "egress-queue-mapping": read_queue_mapping,
    "mapping": read_mapping,
    "pfc": read_pfc,
    "pfc-watchdog": read_watchdog,
}


def _part(node: Node) -> str | None:
    """Which part of a port's settings this is, by its keys: it may have been asked for alone."""
    classes = [entry for _, entry in nodes_of(node.get("traffic-class"))]
    priorities = [entry for _, entry in nodes_of(node.get("switch-priority"))]
    signs = {
        "congestion-control": any("ecn" in entry for entry in classes),
        "egress-scheduler": any("mode" in entry for entry in classes),
        "egress-queue-mapping": any("traffic-class" in entry for entry in priorities),
        "mapping": isinstance(node.get("trust"), str) or "port-default-sp" in node,
        # link-pause has rx and tx too
        "pfc": {"rx", "tx", "switch-priority"} <= node.keys(),
        "pfc-watchdog": "state" in node and "status" in node,
    }
    return next((name for name, fits in signs.items() if fits), None)


def read_part(rows: Rows, port: str, node: Node) -> None:
    """A part of a port's settings that was asked for alone."""
    name = _part(node)
    if name is None:
        return
    if not port:
        raise NotUnderstoodError(f"{name} of a port or profile that is not named")
    _PARTS[name](rows, port, node)


def is_qos(node: Node) -> bool:
    """Whether this is what `nv show qos` or `nv show interface <port> qos` prints."""
    return not {"roce", *_PARTS}.isdisjoint(node)


def read_qos(rows: Rows, port: str, qos: Node) -> None:
    """`qos` of a port, as far as the answer holds it."""
    roce = node_of(qos.get("roce"))
    status = node_of(roce.get("status", roce))
    if is_roce(status):
        read_roce(rows, port, status)
    pause = node_of(qos.get("link-pause"))
    if port and pause:
        rx, tx = switched(pause.get("rx")), switched(pause.get("tx"))
        rows.add("switch_port", port=port, pause_rx=rx, pause_tx=tx)
    for name, reader in _PARTS.items() if port else ():  # else these are profiles
        if node_of(qos.get(name)):
            reader(rows, port, node_of(qos[name]))
