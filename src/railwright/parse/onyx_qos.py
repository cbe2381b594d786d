"""Priorities, queues, maps and pools of an Onyx switch.

Onyx sorts packets into switch priorities, and these into traffic classes, whose numbers are also
those of the queues. A port's maps have the port's name.
"""

import re

from railwright.parse.base import Value
from railwright.parse.onyx_text import ENABLED_LIST, EXCEPTIONS, USED_CLASSES, Block, merged
from railwright.parse.switch_values import (
    Node,
    Rows,
    decimal,
    few,
    joined,
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
_TRUST = {"l2": "pcp", "l3": "dscp", "both": "both", "port": "port"}
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,4})?) ?(KB|MB|%|)", re.ASCII)
# The RoCE preset prints 150 and 1500 KB; it is the one that has 150,000 bytes on Cumulus.
_UNITS = {"": 1000, "KB": 1000, "MB": 1_000_000}
_PCP = re.compile(r"([0-7])\(([01])\)", re.ASCII)
_WRR = re.compile(r"wrr\s+([0-9]{1,3})%", re.ASCII | re.IGNORECASE)
_SWITCH_PRIORITY = re.compile(r"switch-priority ([0-7])", re.ASCII)
_MARKS = {"none": (False, False), "ecn": (True, False), "red": (False, True), "both": (True, True)}
_NONE = "N/A"


def _threshold(text: str | None, end: str) -> dict[str, Value]:
    """`150 KB`, or `20%` where it is relative to the pool."""
    found = _SIZE.fullmatch(text or "")
    if found is None:
        return {}
    if found[2] == "%":
        return {f"ecn_{end}_percent": float(found[1])}
    return {f"ecn_{end}_bytes": round(float(found[1]) * _UNITS[found[2]])}


# show dcb priority-flow-control


def read_pfc_of_switch(rows: Rows, fields: Node) -> list[int] | None:
    """PFC of the whole switch. Gives its priorities, which all ports share."""
    is_on = switched(fields.get("PFC"))
    priorities = number_list(text_at(fields, ENABLED_LIST))
    if priorities is None:
        return None
    rows.add(
        "switch_port_qos",
        port="",
        pfc_mode=None if is_on is None else ("on" if is_on else "off"),
        pfc_priorities=joined(priorities),
    )
    for priority in _EIGHT:
        listed = priority in priorities
        in_force = None if listed and is_on is not False else False
        rows.add("switch_pfc", port="", priority=priority, enabled=listed, is_operational=in_force)
    return priorities


def read_pfc_of_port(rows: Rows, port: str, fields: Node, priorities: list[int] | None) -> None:
    """`Auto` leaves it to the neighbor: then only what is in force is known."""
    mode, oper = sent(fields, "PFC admin").lower(), switched(fields.get("PFC oper"))
    is_on = {"on": True, "off": False}.get(mode)
    known = priorities if is_on else ([] if is_on is False else None)
    rows.add(
        "switch_port_qos",
        port=port,
        pfc_mode=mode if mode in ("on", "off", "auto") else None,
        pfc_priorities=joined(known),
        pfc_operational=oper,
    )
    if priorities is None and oper is not False:
        return  # in force on priorities that this answer does not name
    for priority in _EIGHT:
        listed = priorities is None or priority in priorities
        enabled = is_on if listed else False
        if priorities is None and is_on:
            enabled = None
        in_force = oper if listed else False
        rows.add(
            "switch_pfc", port=port, priority=priority, enabled=enabled, is_operational=in_force
        )


# show interfaces ethernet <port> congestion-control, show dcb ets interface ethernet <port>


def read_congestion(rows: Rows, port: str, queue: int, fields: Node) -> None:
    """One traffic class: whether it marks or drops early, and from where on."""
    ecn, red = _MARKS.get(sent(fields, "Mode").lower(), (None, None))
    rows.add(
        "switch_queue",
        port=port,
        queue=queue,
        ecn_enabled=ecn,
        red_enabled=red,
        **_threshold(text_at(fields, "Minimum threshold"), "minimum"),
        **_threshold(text_at(fields, "Maximum threshold"), "maximum"),
    )
    drops = whole_number(text_at(fields, "RED dropped packets"))
    if drops is not None:
        rows.add("switch_counter", port=port, counter="red_drops", number=queue, value=drops)


def read_scheduler(rows: Rows, port: str, classes: Node) -> None:
    """How each queue is served; the weight is its share in percent."""
    for name, value in classes.items():
        queue, fields = one_number(name), merged(value)
        mode = sent(fields, "S.Mode").lower()
        if queue is not None and mode in ("strict", "wrr"):
            weight = 0 if mode == "strict" else small_number(text_at(fields, "W(%)"))
            rows.add("switch_queue", port=port, queue=queue, scheduler=mode, weight=weight)


# show qos interface ethernet <port>


def _trust(text: str | None) -> str | None:
    return _TRUST.get((text or "").lower())


def _pcp_values(text: str) -> list[int]:
    """`2(0) 2(1)`: PCP with DEI. RDMA packets are not marked as eligible for discard: DEI 0."""
    return [int(pcp) for pcp, dei in _PCP.findall(text[:200]) if dei == "0"]


def _to_priority(rows: Rows, port: str, table: Node) -> None:
    for name, fields in few([(name, merged(value)) for name, value in table.items()]):
        priority = one_number(text_at(fields, "switch-priority"))
        if priority is None:
            continue
        for dscp in number_list(text_at(fields, "DSCP"), _DSCP) or ():
            rows.add("switch_dscp", map=port, dscp=dscp, priority=priority)
            rows.add("switch_port_qos", port=port, dscp_map=port)
        for pcp in _pcp_values(name):
            rows.add("switch_pcp", map=port, pcp=pcp, priority=priority)
            rows.add("switch_port_qos", port=port, pcp_map=port)


def _to_class(rows: Rows, port: str, table: Node) -> None:
    for name, value in table.items():
        priority = one_number(name)
        queue = one_number(text_at(merged(value), "TC"))
        if priority is not None and queue is not None:
            rows.add("switch_priority_queue", map=port, priority=priority, queue=queue)
            rows.add("switch_port_qos", port=port, priority_queue_map=port)


def read_sorting(rows: Rows, port: str, fields: Node) -> None:
    """Which field of a packet counts, and the maps of the port."""
    rows.add("switch_port_qos", port=port, trust=_trust(text_at(fields, "Trust mode")))
    for title, value in fields.items():
        if "to switch-priority mapping" in title:
            _to_priority(rows, port, merged(value))
        elif "rewrite mapping" in title:
            _to_class(rows, port, merged(value))


# show roce, and its pools


def read_pool(rows: Rows, name: str, fields: Node) -> None:
    """A traffic pool. Its size in bytes is printed with two digits (`13.9M`): not kept."""
    rows.add(
        "switch_buffer_pool",
        pool=name,
        kind=text_at(fields, "Type"),
        size_percent=decimal(sent(fields, "Memory [%]").removesuffix("%")),
        priorities=joined(number_list(text_at(fields, "Switch Priorities"))),
    )


def _exceptions(blocks: list[Block]) -> str | None:
    found = [sent(block.fields, "message") for block in blocks if block.name == EXCEPTIONS]
    return ",".join(words for words in found if words and words != _NONE) if found else None


def _roce_fields(blocks: list[Block]) -> Node:
    """In text they stand in one block, for their names are all different."""
    sections = ("", "Application TLV", "Port congestion-control")
    return merged([block.fields for block in blocks if block.name in sections])


def _tlv_priority(fields: Node) -> int | None:
    """What LLDP announces for RoCE. Another application's priority is another fact."""
    is_roce = (sent(fields, "Selector").lower(), sent(fields, "Protocol")) == ("udp", "4791")
    return one_number(text_at(fields, "Priority")) if is_roce else None


def _marking(fields: Node) -> dict[str, Value]:
    """`ecn, absolute` with numbers in KB, or `ecn, relative` in percent."""
    kind, _, how = sent(fields, "Mode").lower().partition(",")
    ecn, red = _MARKS.get(kind.strip(), (None, None))
    unit = {"absolute": "", "relative": "%"}.get(how.strip())
    values: dict[str, Value] = {"ecn_enabled": ecn, "red_enabled": red}
    if unit is not None:
        values |= _threshold(sent(fields, "Min") + unit, "minimum")
        values |= _threshold(sent(fields, "Max") + unit, "maximum")
    return values


def _used_classes(rows: Rows, blocks: list[Block], marking: dict[str, Value]) -> None:
    """The preset marks in the class of RoCE."""
    for block in blocks:
        for name, value in block.fields.items() if block.name == USED_CLASSES else ():
            entry = merged(value)
            priority, queue = one_number(name), one_number(text_at(entry, "TC"))
            if priority is None or queue is None:
                continue
            application, ets = sent(entry, "Application"), sent(entry, "ETS")
            share = _WRR.fullmatch(ets)
            scheduler = "wrr" if share else ("strict" if ets.lower() == "strict" else None)
            weight = int(share[1]) if share else (0 if scheduler else None)
            rows.add("switch_priority_queue", map="", priority=priority, queue=queue)
            rows.add(
                "switch_queue",
                port="",
                queue=queue,
                scheduler=scheduler,
                weight=weight,
                application=application,
                **(marking if application.lower() == "roce" else {}),
            )


def _roce_pfc(rows: Rows, fields: Node) -> None:
    """Only the priorities of the preset are listed: others may be lossless too."""
    if "PFC" not in fields and "Port trust mode" not in fields:
        return
    is_on = switched(fields.get("PFC"))
    rows.add(
        "switch_port_qos",
        port="",
        trust=_trust(text_at(fields, "Port trust mode")),
        pfc_mode=None if is_on is None else ("on" if is_on else "off"),
        pfc_priorities="" if is_on is False else None,
    )
    for name, value in fields.items():
        found = _SWITCH_PRIORITY.fullmatch(name)
        if found:
            enabled = switched(value)
            rows.add("switch_pfc", port="", priority=int(found[1]), enabled=enabled)


def read_roce(rows: Rows, blocks: list[Block]) -> None:
    """The RoCE preset. `RoCE mode: N/A` where none is set, and nothing else."""
    fields = _roce_fields(blocks)
    mode = sent(fields, "RoCE mode")
    is_set = mode not in ("", _NONE)
    rows.add(
        "switch",
        system="onyx",
        roce_state="enabled" if is_set else "disabled",
        roce_mode=mode if is_set else "",
        lldp_enabled=switched(fields.get("LLDP")),
        roce_tlv_priority=_tlv_priority(fields),
        roce_exceptions=_exceptions(blocks),
    )
    if is_set:
        _roce_pfc(rows, fields)
        _used_classes(rows, blocks, _marking(fields))
