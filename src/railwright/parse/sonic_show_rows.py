"""What each table of SONiC's `show` commands says: rows of the switch tables, by the headings."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from railwright.parse.sonic_text import Block
from railwright.parse.switch_rows import (
    PRIORITIES,
    Rows,
    lane_count,
    priorities_of,
    small_number,
    whole_number,
)

Cells = dict[str, str]
Handler = Callable[[Block, Cells, Rows], None]

_NONE = ("N/A", "-")
_OF_THE_PORT = -1
# Some prompts and messages have as many words as a table has columns; a port has a number.
PORT = re.compile(r"(?=[^0-9]{0,127}[0-9])[A-Za-z][A-Za-z0-9_./|-]{0,127}", re.ASCII)
_SPEED = re.compile(r"([0-9]{1,6})(?:\.([0-9]))?([GM])", re.ASCII)
_DIGITS = re.compile(r"[0-9,]{1,40}", re.ASCII)
_NUMBERED = re.compile(r"(PFC|PG|UC|MC|ALL|VOQ)([0-9]{1,3})", re.ASCII)
_UP = {"up": True, "down": False}
_ON = {"on": True, "off": False, "enabled": True, "disabled": False}

_PORT_COUNTERS = {
    "RX_OK": "rx_ok",
    "RX_ERR": "rx_errors",
    "RX_DRP": "rx_drops",
    # OVR is not overrun: it counts packets longer than the port takes (portstat.py: OVERSIZE).
    "RX_OVR": "rx_oversize",
    "TX_OK": "tx_ok",
    "TX_ERR": "tx_errors",
    "TX_DRP": "tx_drops",
    "TX_OVR": "tx_oversize",
    "FEC_CORR": "fec_corrected",
    "FEC_UNCORR": "fec_uncorrected",
    "FEC_SYMBOL_ERR": "fec_symbol_errors",
}
_QUEUE_COUNTERS = {
    "Counter/pkts": "queue_packets",
    "Counter/bytes": "queue_bytes",
    "Drop/pkts": "queue_drops",
    "Drop/bytes": "queue_dropped_bytes",
    "Trim/pkts": "queue_trimmed",
    "TrimDrop/pkts": "queue_trimmed_drops",
    "WredDrp/pkts": "red_drops",
    "EcnMarked/pkts": "ecn_marked",
    "Credit-WD-Del/pkts": "queue_credit_drops",
}
# The queues of one port may have the same numbers twice: unicast and multicast, or at ingress.
_QUEUE_PREFIX = {"UC": "", "ALL": "", "MC": "multicast_", "VOQ": "voq_"}
_PAUSE_HISTORY = {
    "RX_Pause_Transitions": "pfc_rx_transitions",
    "Total_RX_Pause_Time_MS": "pfc_rx_duration_ms",
}
_STORM_DROPS = {"TX_OK/DROP": "queue_storm_tx_drops", "RX_OK/DROP": "queue_storm_rx_drops"}
# First words of the line before a table of priority groups -> what it counts.
GROUP_COUNTERS = {
    "Ingress headroom per PG": "group_headroom_watermark_bytes",
    "Ingress shared pool occupancy per PG": "group_shared_watermark_bytes",
    "Ingress PG dropped packets": "group_drops",
}


def _count(rows: Rows, port: str, counter: str, number: int, text: str) -> None:
    """A counter; one that the switch prints as N/A is a row too, of a value that is not known."""
    value = whole_number(text)
    if value is not None or text in _NONE or _DIGITS.fullmatch(text):
        rows.count(port, counter, number, value)


@lru_cache(maxsize=1024)
def _numbered(name: str) -> tuple[str, int] | None:
    """Of PFC3, PG3 or UC3 the letters and the number."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def _not_na(text: str | None) -> str | None:
    """A text as printed; '' where the switch prints N/A: there is none."""
    return "" if text == "N/A" else text


def _speed(text: str | None) -> int | None:
    match = _SPEED.fullmatch(text or "")
    if match is None:
        return None
    megabits = int(match[1]) * 10 + int(match[2] or "0")
    return megabits * 100 if match[3] == "G" else megabits // 10


def _status(_: Block, row: Cells, rows: Rows) -> None:
    """`show interface status`; a port channel has no lanes, and prints N/A."""
    lanes = row["Lanes"]
    rows.add(
        "switch_port",
        port=row["Interface"],
        alias=_not_na(row.get("Alias")),
        admin_up=_UP.get(row.get("Admin", "")),
        is_up=_UP.get(row.get("Oper", "")),
        speed_mbps=_speed(row.get("Speed")),
        lanes=0 if lanes == "N/A" else lane_count(lanes),
        fec_configured=_not_na(row.get("FEC")),
        mtu=small_number(row.get("MTU")),
        transceiver=_not_na(row.get("Type")),
        vlan_mode=row.get("Vlan"),
        asymmetric_pfc=_ON.get(row.get("Asym_PFC", "")),
    )


def _fec(_: Block, row: Cells, rows: Rows) -> None:
    rows.add(
        "switch_port",
        port=row["Interface"],
        fec_active=_not_na(row["FEC_Oper"]),
        fec_configured=_not_na(row.get("FEC_Admin")),
    )


def _autonegotiation(_: Block, row: Cells, rows: Rows) -> None:
    mode = _ON.get(row["Auto-Neg_Mode"])
    rows.add("switch_port", port=row["Interface"], autonegotiation=mode)


def _asymmetric(_: Block, row: Cells, rows: Rows) -> None:
    rows.add("switch_port", port=row["Interface"], asymmetric_pfc=_ON.get(row["Asymmetric"]))


def _lossless(_: Block, row: Cells, rows: Rows) -> None:
    """`show pfc priority`: N/A where no priority of the port is lossless."""
    lossless = priorities_of(_not_na(row["Lossless_priorities"]) or "")
    for priority in PRIORITIES if lossless is not None else ():
        rows.add(
            "switch_pfc",
            port=row["Interface"],
            priority=priority,
            enabled=priority in (lossless or ()),
        )


def _port_counters(_: Block, row: Cells, rows: Rows) -> None:
    for column, counter in _PORT_COUNTERS.items():
        if column in row:
            _count(rows, row["IFACE"], counter, _OF_THE_PORT, row[column])


def _pfc_counters(block: Block, row: Cells, rows: Rows) -> None:
    heading = block.columns[0]
    counter = "pfc_rx" if heading == "Port_Rx" else "pfc_tx"
    for column, text in row.items():
        known = _numbered(column)
        if known:
            _count(rows, row[heading], counter, known[1], text)


def _pause_history(_: Block, row: Cells, rows: Rows) -> None:
    known = _numbered(row["Priority"])
    for column, counter in _PAUSE_HISTORY.items():
        if known and column in row:
            _count(rows, row["Port"], counter, known[1], row[column])


def _of_queue(name: str, counter: str) -> tuple[str, int] | None:
    """The counter of a queue such as UC3, by our vocabulary, and the queue's number."""
    known = _numbered(name)
    if known is None or known[0] not in _QUEUE_PREFIX:
        return None
    prefix = _QUEUE_PREFIX[known[0]]
    return prefix + (counter.removeprefix("queue_") if prefix == "voq_" else counter), known[1]


def _queue_counters(block: Block, row: Cells, rows: Rows) -> None:
    for column, counter in _QUEUE_COUNTERS.items():
        known = _of_queue(row[block.columns[1]], counter)
        if known and column in row:
            _count(rows, row["Port"], *known, row[column])


def _by_group(block: Block, row: Cells, rows: Rows) -> None:
    """Watermarks and drops of priority groups; only the line before says which."""
    counter = GROUP_COUNTERS.get(block.before.split(":")[0].split(" (")[0])
    for column, text in row.items():
        known = _numbered(column)
        if known and counter:
            _count(rows, row["Port"], counter, known[1], text)


def _by_queue(_: Block, row: Cells, rows: Rows) -> None:
    """Watermarks of queues."""
    for column, text in row.items():
        known = _of_queue(column, "queue_watermark_bytes")
        if known:
            _count(rows, row["Port"], *known, text)


def _watchdog(_: Block, row: Cells, rows: Rows) -> None:
    restoration = row["RESTORATION_TIME"]
    history = row.get("HISTORY")
    rows.add(
        "switch_port_qos",
        port=row["PORT"],
        watchdog=True,
        watchdog_action=row["ACTION"],
        watchdog_detection_ms=small_number(row["DETECTION_TIME"]),
        watchdog_restoration_ms=0 if restoration == "infinite" else small_number(restoration),
        watchdog_history={"enable": True, "disable": False}.get(history or ""),
    )


def _storms(block: Block, row: Cells, rows: Rows) -> None:
    """`show pfcwd stats`: `Ethernet0:3  stormed  1/0  ...`."""
    port, _, number = row[block.columns[0]].rpartition(":")
    queue = small_number(number)
    if not PORT.fullmatch(port) or queue is None:
        return
    detected, _, restored = row["STORM_DETECTED/RESTORED"].partition("/")
    _count(rows, port, "queue_storms", queue, detected)
    _count(rows, port, "queue_storms_restored", queue, restored)
    is_stormed = {"stormed": 1, "operational": 0}.get(row["STATUS"])
    rows.count(port, "queue_is_stormed", queue, is_stormed)
    for column, counter in _STORM_DROPS.items():
        if column in row:
            _count(rows, port, counter, queue, row[column].rpartition("/")[2])


class Kind(NamedTuple):
    """A table: its first two headings, what reads its rows, further headings that it needs."""

    first: tuple[str, str]
    handler: Handler
    needs: tuple[str, ...] = ()


_KINDS = {
    kind.first: kind
    for kind in (
        Kind(("Interface", "Lanes"), _status),
        Kind(("Interface", "FEC_Oper"), _fec),
        Kind(("Interface", "Auto-Neg_Mode"), _autonegotiation),
        Kind(("Interface", "Asymmetric"), _asymmetric),
        Kind(("Interface", "Lossless_priorities"), _lossless),
        Kind(("IFACE", "STATE"), _port_counters),
        Kind(("Port_Rx", "PFC0"), _pfc_counters),
        Kind(("Port_Tx", "PFC0"), _pfc_counters),
        Kind(("Port", "Priority"), _pause_history),
        Kind(("Port", "TxQ"), _queue_counters),
        Kind(("Port", "Voq"), _queue_counters),
        Kind(("PORT", "ACTION"), _watchdog, ("DETECTION_TIME", "RESTORATION_TIME")),
        Kind(("QUEUE", "STATUS"), _storms, ("STORM_DETECTED/RESTORED",)),
    )
}


def handler_of(columns: tuple[str, ...]) -> Handler | None:
    """What reads the rows under these headings; None for a table that is not known."""
    kind = _KINDS.get(columns[:2])  # type: ignore[arg-type]
    if kind is not None:
        return kind.handler if set(kind.needs) <= set(columns) else None
    if len(columns) < 2 or columns[0] != "Port":
        return None
    known = _numbered(columns[1])
    return None if known is None else _by_group if known[0] == "PG" else _by_queue
