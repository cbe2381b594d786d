"""Routes of Onyx (MLNX-OS): `show ip route`, as text.

    VRF Name default:
      Destination    Mask              Flag   Gateway     Interface   Source   AD/M
      10.8.3.0       255.255.255.192   c      10.9.0.1    eth1/1      bgp      20/0
                                       c      10.9.0.3    eth1/2      bgp      20/0

Equal-cost next hops follow without destination and mask, or repeat them. Old releases have
neither Flag nor AD/M.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of
from railwright.parse.onyx_text import port_name
from railwright.parse.route_rows import Hop, add_route
from railwright.parse.switch_rows import ROW_LIMIT, Rows
from railwright.parse.switch_values import error_words

_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_ROW = re.compile(
    rf"(?:(default|{_ADDRESS}) +({_ADDRESS}) +)?(?:[FBixcp]{{1,6}} +)?({_ADDRESS}) +"
    r"([A-Za-z][A-Za-z0-9/._-]{0,40}) +([A-Za-z][A-Za-z0-9-]{0,20})(?: +[0-9]{1,3}/[0-9]{1,10})?",
    re.ASCII,
)
_VRF = re.compile(r"VRF Name:? ([A-Za-z0-9_.-]{1,60}?):?", re.ASCII)
_HEADING = re.compile(r"Destination +Mask .*Gateway +Interface +Source.*")
_SAME = {"direct": "connected"}


def _length(mask: str) -> int | None:
    """The bits of a mask such as 255.255.255.192; None where it has gaps."""
    parts = [int(part) for part in mask.split(".")]
    if any(part > 255 for part in parts):
        return None
    bits = "".join(f"{part:08b}" for part in parts)
    return bits.count("1") if "01" not in bits else None


def _port(name: str) -> str:
    """eth1/12 is the port that all other commands call Eth1/12."""
    known = port_name(name[:1].upper() + name[1:])
    return known[0] if known else name


class _Table:
    """The routes so far, next hops of one prefix together."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], tuple[str, list[Hop]]] = {}
        self.is_known = False
        self._vrf = "default"
        self._at: tuple[str, str] | None = None

    def line(self, line: str) -> None:
        vrf = _VRF.fullmatch(line)
        if vrf:
            self._vrf, self._at = vrf[1], None
        elif line.startswith("Destination") and _HEADING.fullmatch(line):
            self.is_known, self._at = True, None
        elif self.is_known:
            self._row(line)

    def _row(self, line: str) -> None:
        row = _ROW.fullmatch(line)
        if row is None:
            return
        destination, mask, gateway, port, source = row.groups()
        if destination:
            length = _length(mask)
            address = "0.0.0.0" if destination == "default" else destination  # noqa: S104 (a prefix)
            self._at = None if length is None else (self._vrf, f"{address}/{length}")
        if self._at is not None:
            hop = (_port(port), "" if gateway == "0.0.0.0" else gateway)  # noqa: S104
            source = _SAME.get(source.lower(), source.lower())
            self.found.setdefault(self._at, (source, []))[1].append(hop)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per switch)
    """Table switch_route."""
    text = text_of(data)
    lines = text.split("\n")
    if len(lines) > ROW_LIMIT:
        raise NotUnderstoodError(f"more than {ROW_LIMIT} lines")
    table = _Table()
    for line in lines:
        table.line(line.strip())
    if not table.is_known:
        raise NotUnderstoodError(error_words(text)[:200] or "no table of routes")
    rows = Rows()
    for (vrf, prefix), (source, hops) in table.found.items():
        add_route(rows, vrf, prefix, source, hops)
    return iter(rows)
