"""`ethtool -a NETDEV`: link-level pause (802.3x), as text or JSON; with statistics or without."""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, Value, text_of
from railwright.parse.ethtool_text import (
    agreed,
    boolean,
    one_per_netdev,
    refuse,
    values_by_netdev,
    whole_lines,
    whole_number,
)

_HEADING = re.compile(r"^[ \t]*Pause parameters for ([^\s:][^\s]{0,40}):[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"\s{0,40}([A-Za-z][A-Za-z_ ]{0,40}):[ \t]{0,40}(\S{1,40})\s{0,40}")
_WHOLE_LINE = re.compile(r"(?:TX|RX|TX negotiated|RX negotiated):\s{0,40}(?:on|off)")
_SWITCHES = {
    "autonegotiate": "Autonegotiate",
    "rx": "RX",
    "tx": "TX",
    "rx_negotiated": "RX negotiated",
    "tx_negotiated": "TX negotiated",
}
_STATISTICS = ("rx_pause_frames", "tx_pause_frames", "tx_pause_storm_events")


def _text_values(body: str) -> dict[str, Value]:
    lines = map(_LINE.fullmatch, whole_lines(body, _WHOLE_LINE))
    found = agreed((match[1], match[2]) for match in lines if match)
    values: dict[str, Value] = {
        name: boolean(found.get(printed)) for name, printed in _SWITCHES.items()
    }
    return values | {name: whole_number(found.get(name)) for name in _STATISTICS}


def _part(entry: dict[str, object], name: str) -> dict[str, object]:
    part = entry.get(name)
    return part if isinstance(part, dict) else {}


def _json_values(entry: dict[str, object]) -> dict[str, Value]:
    negotiated, statistics = _part(entry, "negotiated"), _part(entry, "statistics")
    return {
        **{name: boolean(entry.get(name)) for name in ("autonegotiate", "rx", "tx")},
        "rx_negotiated": boolean(negotiated.get("rx")),
        "tx_negotiated": boolean(negotiated.get("tx")),
        **{name: whole_number(statistics.get(name)) for name in _STATISTICS},
    }


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Table netdev_pause."""
    text = text_of(data)
    every = values_by_netdev(text, _HEADING, _text_values, _json_values)
    found = [
        (netdev, values)
        for netdev, values in every
        if values["rx"] is not None or values["tx"] is not None
    ]
    if not found:
        refuse(text, "no pause parameters")
    return one_per_netdev("netdev_pause", found, instance)
