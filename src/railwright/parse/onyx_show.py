"""`show ...` of Onyx (MLNX-OS), as text or with `| json-print`: blocks, told apart by their fields.

A port is called `Eth1/1` nearly everywhere; where a command prints `1/1` alone it gets that name.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.onyx_qos import (
    read_congestion,
    read_pfc_of_port,
    read_pfc_of_switch,
    read_pool,
    read_roce,
    read_scheduler,
    read_sorting,
)
from railwright.parse.onyx_text import (
    INTERFACE,
    Block,
    blocks_of_json,
    blocks_of_text,
    merged,
    port_name,
)
from railwright.parse.switch_values import (
    Node,
    Rows,
    colon_mac,
    error_words,
    first_json,
    forward_error_correction,
    node_of,
    one_number,
    sent,
    small_number,
    speed_mbps,
    switched,
    text_at,
    whole_number,
)

_JSON_START = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_ASKED = re.compile(r"\bethernet ([0-9]{1,2}/[0-9]{1,3}(?:/[0-9]{1,2})?)(?![^ ])", re.ASCII)
_FLOW_CONTROL = re.compile(r"receive (on|off) send (on|off)", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,2}/[0-9]{1,3}(?:/[0-9]{1,2})?", re.ASCII)
_CLASS = re.compile(r"TC-([0-9]{1,2})", re.ASCII)
_LEADING_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
# `Mellanox MSN3700,MLNX-OS,SWv3.9.0300-02`
_DESCRIPTION = re.compile(r"Mellanox ([^,]{1,40}),[^,]{1,40},SWv\S{1,40}")
_SUBTYPE = re.compile(r"\(([0-9])\)", re.ASCII)
_PORT_ID_TYPES = {"1": "ifalias", "3": "mac", "4": "ip", "5": "ifname", "7": "local"}
_CHASSIS_ID_TYPES = {"4": "mac", "5": "ip", "6": "ifname", "7": "local"}
_NOT_SENT = frozenset({"Not Advertised", "N\\A", "N/A"})
_OF_THE_PORT = -1

_COUNTERS = {
    ("Rx", "packets"): "rx_ok",
    ("Rx", "bytes"): "rx_bytes",
    ("Rx", "error packets"): "rx_errors",
    ("Rx", "discard packets"): "rx_drops",
    ("Rx", "fcs errors"): "fcs_errors",
    ("Rx", "symbol errors"): "symbol_errors",
    ("Rx", "pause packets"): "pause_rx",
    ("Tx", "packets"): "tx_ok",
    ("Tx", "bytes"): "tx_bytes",
    ("Tx", "error packets"): "tx_errors",
    ("Tx", "discard packets"): "tx_drops",
    ("Tx", "hoq discard packets"): "tx_head_of_line_drops",
    ("Tx", "pause packets"): "pause_tx",
}


# show interfaces ethernet, show interfaces ethernet status


def _counters(rows: Rows, port: str, fields: Node) -> None:
    if "Rx" not in fields and "Tx" not in fields:
        return
    for (direction, name), counter in _COUNTERS.items():
        value = whole_number(text_at(fields, direction, name))
        if value is not None:
            rows.add("switch_counter", port=port, counter=counter, number=_OF_THE_PORT, value=value)


def _negotiates(word: str | None) -> bool | None:
    """`No-Negotiation`; `Auto` and `Auto-Negotiation` where it does."""
    if not word:
        return None
    return False if word == "No-Negotiation" else (True if word.startswith("Auto") else None)


def _interface(rows: Rows, port: str, channel: str, fields: Node) -> None:
    mtu = _LEADING_NUMBER.match(sent(fields, "MTU"))
    mac = text_at(fields, "Mac address")
    rows.add(
        "switch_port",
        port=port,
        admin_up=switched(fields.get("Admin state")),
        is_up=switched(fields.get("Operational state")),
        speed_mbps=speed_mbps(text_at(fields, "Actual speed") or text_at(fields, "Speed")),
        fec_configured=forward_error_correction(text_at(fields, "Fec")),
        mtu=small_number(mtu[0]) if mtu else None,
        autonegotiation=_negotiates(text_at(fields, "Negotiation")),
        vlan_mode=channel or text_at(fields, "Switchport mode"),
        mac=colon_mac(mac) if mac else None,
        **_pauses(sent(fields, "Flow-control")),
    )


def _pauses(text: str) -> dict[str, Value]:
    """`receive off send off`."""
    found = _FLOW_CONTROL.fullmatch(text)
    rx, tx = (found[1] == "on", found[2] == "on") if found else (None, None)
    return {"pause_rx": rx, "pause_tx": tx}


# show lldp interfaces ethernet remote


def _identity(fields: Node, key: str, subtype: str, types: dict[str, str]) -> tuple[str, str]:
    """An id and its kind. In text both stand in one line: `Eth1/9 ; port id subtype: ... (5)`."""
    value, _, rest = sent(fields, key).partition(" ; ")
    found = _SUBTYPE.search(sent(fields, subtype) or rest)
    return _said(value), types.get(found[1], "") if found else ""


def _said(text: str) -> str:
    return "" if text in _NOT_SENT else text


def _neighbor(rows: Rows, port: str, fields: Node) -> None:
    chassis_id, chassis_type = _identity(
        fields, "Remote chassis id", "chassis id subtype", _CHASSIS_ID_TYPES
    )
    port_id, port_type = _identity(fields, "Remote port-id", "port id subtype", _PORT_ID_TYPES)
    if not chassis_id and not port_id:  # every neighbor sends both: nobody was heard
        return
    rows.add(
        "switch_neighbor",
        port=port,
        place=0,
        system_name=_said(sent(fields, "Remote system name")),
        chassis_id=colon_mac(chassis_id) if "Remote chassis id" in fields else None,
        chassis_type=chassis_type or None,
        port_id=colon_mac(port_id),
        port_id_type=port_type or None,
        port_description=_said(sent(fields, "Remote port description")),
    )


# show version, show lldp local, show protocols


def _version(rows: Rows, fields: Node) -> None:
    """`Product model` is the kind of its processor board; the model stands in its LLDP message."""
    rows.add(
        "switch",
        system="onyx",
        version=text_at(fields, "Product release"),
        platform=text_at(fields, "Product model"),
        serial=sent(fields, "System serial num").strip('\\"') or None,
    )


def _local(rows: Rows, fields: Node) -> None:
    found = _DESCRIPTION.fullmatch(sent(fields, "System Description"))
    is_mac = sent(fields, "Chassis sub type").lower() == "mac address"
    rows.add(
        "switch",
        system="onyx",
        hostname=text_at(fields, "System Name"),
        model=found[1] if found else None,
        mac=colon_mac(sent(fields, "Chassis id")) if is_mac else None,
    )


def _protocols(rows: Rows, fields: Node) -> None:
    is_on = switched(fields.get("priority-flow-control"))
    rows.add("switch", system="onyx", lldp_enabled=switched(fields.get("lldp")))
    if is_on is not None:
        mode = "on" if is_on else "off"
        priorities = None if is_on else ""
        rows.add("switch_port_qos", port="", pfc_mode=mode, pfc_priorities=priorities)


# which block is which


def _whole_switch(rows: Rows, blocks: list[Block]) -> list[int] | None:
    """What concerns the whole switch. Gives the lossless priorities, which all ports share."""
    fields = merged([block.fields for block in blocks if block.name == ""])
    priorities = read_pfc_of_switch(rows, fields)
    if any("RoCE mode" in block.fields for block in blocks):
        read_roce(rows, blocks)
    elif "LLDP" in fields:
        rows.add("switch", system="onyx", lldp_enabled=switched(fields["LLDP"]))
    for block in blocks:
        if "Product release" in block.fields:
            _version(rows, block.fields)
        elif {"Chassis id", "System Name"} <= block.fields.keys():
            _local(rows, block.fields)
        elif {"lldp", "priority-flow-control"} <= block.fields.keys():
            _protocols(rows, block.fields)
        elif block.name and {"Type", "Switch Priorities"} <= block.fields.keys():
            read_pool(rows, block.name, block.fields)
    return priorities


def _of_port(rows: Rows, name: tuple[str, str], fields: Node, priorities: list[int] | None) -> None:
    port, channel = name
    if "PFC admin" in fields:
        read_pfc_of_port(rows, port, fields, priorities)
    if "Operational state" in fields:
        _interface(rows, port, channel, fields)
    if "Trust mode" in fields:
        read_sorting(rows, port, fields)
    if "ETS per TC" in fields:
        read_scheduler(rows, port, merged(fields["ETS per TC"]))
    if "Remote chassis id" in fields or "Remote port-id" in fields:
        _neighbor(rows, port, fields)
    _counters(rows, port, fields)


def _ports(rows: Rows, blocks: list[Block], asked: str, priorities: list[int] | None) -> None:
    port = asked
    for block in blocks:
        name, queue = port_name(block.name), _CLASS.fullmatch(block.name)
        number = text_at(block.fields, INTERFACE)
        if number and _NUMBER.fullmatch(number):
            port = f"Eth{number}"
        marks = whole_number(text_at(block.fields, "ECN marked packets"))
        if marks is not None:
            rows.add(
                "switch_counter", port=port, counter="ecn_marked", number=_OF_THE_PORT, value=marks
            )
        if name:
            _of_port(rows, name, block.fields, priorities)
        elif queue and one_number(queue[1], 63) is not None and "Mode" in block.fields:
            read_congestion(rows, port, int(queue[1]), block.fields)
        elif not block.name:
            _counters(rows, port, block.fields)


def _says_none(blocks: list[Block]) -> bool:
    """Ports that heard nobody: an answer, and the answer is none."""
    return any("Remote port-id" in block.fields for block in blocks)


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of the switch tables."""
    text = text_of(data)
    document = first_json(text, _JSON_START)
    blocks = blocks_of_text(text) if document is None else blocks_of_json(document)
    asked = _ASKED.search(instance)
    rows = Rows()
    priorities = _whole_switch(rows, blocks)
    _ports(rows, blocks, f"Eth{asked[1]}" if asked else "", priorities)
    if not _says_none(blocks) and next(iter(rows), None) is None:
        words = error_words(text) or text_at(node_of(document), "status_message") or ""
        raise NotUnderstoodError(words[:200] or "nothing about ports, priorities or the switch")
    return iter(rows)
