"""`dcb -j app show dev <netdev>`: which priority the kernel's application table gives to what.

A mapping that cannot be read is no answer at all: without it the table would look whole.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from railwright.parse.base import NotUnderstoodError, Row, Value, whole_number
from railwright.parse.dcb_text import read_dcb

_Mapping = tuple[str, int, int]  # selector, protocol, priority

_SELECTORS = {
    "ethtype_prio": "ethertype",
    "default_prio": "default",
    "dscp_prio": "dscp",
    "stream_port_prio": "stream_port",
    "dgram_port_prio": "datagram_port",
    "port_prio": "port",
    "pcp_prio": "pcp",
}
_NAMES = frozenset(_SELECTORS)
_LARGEST = {"dscp": 63, "pcp": 15}
_LARGEST_OTHER = 65535
_HEX = re.compile(r"[0-9a-f]{1,4}")
# Text has names for code points, from /etc/iproute2/rt_dsfield: CSn = 8n, AFxy = 8x + 2y.
_CODE_POINTS = {
    **{f"CS{n}": 8 * n for n in range(8)},
    **{f"AF{x}{y}": 8 * x + 2 * y for x in range(1, 5) for y in range(1, 4)},
    "EF": 46,
    "VOICE-ADMIT": 44,
    "LE": 1,
    "default": 0,
}
# Priority code point and drop eligibility of a VLAN tag, in the kernel's numbers (dcb_app.c).
_TAGS = {
    **{f"{n}nd": n for n in range(8)},
    **{f"{n}de": 8 + n for n in range(8)},
}
_NUMBERS = {
    **{("dscp", name): number for name, number in _CODE_POINTS.items()},
    **{("pcp", name): number for name, number in _TAGS.items()},
}
_LARGEST_ANSWER = 8192  # bytes that are worth remembering; 64 code points take 700


def _protocol(selector: str, key: str, is_json: bool) -> int | None:
    """The number that a mapping begins with."""
    if selector == "default":  # the kernel has it as ethertype 0
        return 0
    if selector == "ethertype" and not is_json:  # printed as %x, in JSON as a number
        return int(key, 16) if _HEX.fullmatch(key) else None
    number = _NUMBERS.get((selector, key))
    number = whole_number(key) if number is None else number
    largest = _LARGEST.get(selector, _LARGEST_OTHER)
    return number if number is not None and number <= largest else None


def _mappings(data: bytes) -> tuple[_Mapping, ...]:
    """Each entry once: the kernel's table is a set."""
    dcb = read_dcb(data, _NAMES)
    found: dict[_Mapping, None] = {}
    for name, pairs in dcb.fields.items():
        selector = _SELECTORS[name]
        for key, value in pairs:
            protocol = _protocol(selector, key, dcb.is_json)
            priority = whole_number(value)
            if protocol is None or priority is None:
                raise NotUnderstoodError(f"a {selector} mapping that cannot be read: {key[:40]}")
            found[selector, protocol, priority] = None
    return tuple(found)


# mlx5 lists all 64 code points, on each interface the same.
_known_mappings = lru_cache(maxsize=256)(_mappings)


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Table dcb_app; no row when the table is empty, which is an answer."""
    known = _known_mappings if len(data) < _LARGEST_ANSWER else _mappings
    for selector, protocol, priority in known(data):
        values: dict[str, Value] = {
            "netdev": instance,
            "selector": selector,
            "protocol": protocol,
            "priority": priority,
        }
        yield Row("dcb_app", values)
