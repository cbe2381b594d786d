"""`ethtool NETDEV`: speed, lanes, modes and state of a link, as text or JSON.

Link modes stand one per line below their key, FEC modes behind it. What a driver or release does
not know is printed as `Unknown!`, `Not reported`, or not at all.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, Value, text_of
from railwright.parse.ethtool_text import (
    agreed,
    boolean,
    json_list,
    json_text,
    one_per_netdev,
    refuse,
    values_by_netdev,
    whole_lines,
    whole_number,
)

_HEADING = re.compile(r"^[ \t]*Settings for ([^\s:][^\s]{0,40}):[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"\s{0,40}([A-Z][A-Za-z -]{0,60}):([^\n]{0,500})")
# 10000baseR_FEC is the one mode without a duplex; BIT98 a mode that ethtool does not know yet.
_MODE = re.compile(r"[0-9]{2,8}base[A-Za-z0-9_]{1,30}(?:/(?:Full|Half))?|BIT[0-9]{1,3}")
_WHOLE_LINE = re.compile(r"Link detected: (?:yes|no|no \([^()\n]{1,100}\))")
_SPEED = re.compile(r"([0-9]{1,9})Mb/s")
_DETECTED = re.compile(r"(yes|no)(?: \(([^\n]{1,200})\))?")
_CUT = "..."

# column -> (key in text, key in JSON)
_MODE_LISTS = {
    "supported_link_modes": ("Supported link modes", "supported-link-modes"),
    "advertised_link_modes": ("Advertised link modes", "advertised-link-modes"),
    "partner_link_modes": (
        "Link partner advertised link modes",
        "link-partner-advertised-link-modes",
    ),
    "supported_fec_modes": ("Supported FEC modes", "supported-fec-modes"),
    "advertised_fec_modes": ("Advertised FEC modes", "advertised-fec-modes"),
    "partner_fec_modes": ("Link partner advertised FEC modes", "link-partner-advertised-fec-modes"),
    "supported_ports": ("Supported ports", "supported-ports"),
}
_SWITCHES = {
    "auto_negotiation": ("Auto-negotiation", "auto-negotiation"),
    "supports_auto_negotiation": ("Supports auto-negotiation", "supports-auto-negotiation"),
    "advertised_auto_negotiation": ("Advertised auto-negotiation", "advertised-auto-negotiation"),
    "partner_auto_negotiation": (
        "Link partner advertised auto-negotiation",
        "link-partner-advertised-auto-negotiation",
    ),
}
_TEXTS = {
    "duplex": ("Duplex", "duplex"),
    "port": ("Port", "port"),
    "advertised_pause": ("Advertised pause frame use", "advertised-pause-frame-use"),
    "partner_pause": (
        "Link partner advertised pause frame use",
        "link-partner-advertised-pause-frame-use",
    ),
}
_LISTS = frozenset(text for text, _ in _MODE_LISTS.values())
_KNOWN = _LISTS | {
    *(text for text, _ in _SWITCHES.values()),
    *(text for text, _ in _TEXTS.values()),
    *("Speed", "Lanes", "Link detected", "Link Down Events"),
}


def _printed(body: str) -> dict[str, str]:
    """What is printed for each key; the lines below a list belong to it."""
    found: list[tuple[str, list[str]]] = []
    inside = False  # the lines of a list
    for line in whole_lines(body, _WHOLE_LINE):
        match = _LINE.fullmatch(line)
        if match:
            inside = match[1] in _LISTS
            if match[1] in _KNOWN:
                found.append((match[1], [match[2].strip()]))
        elif inside and not line.startswith("netlink error"):
            words = line.split()
            # A row of dots, or half a mode: the list is not whole.
            inside = all(map(_MODE.fullmatch, words))
            found[-1][1].extend(words if inside else [_CUT])
    if inside:  # nothing behind a list: a whole answer goes on, this one was cut
        found[-1][1].append(_CUT)
    return agreed((key, " ".join(filter(None, said))) for key, said in found)


def _listed(said: str | None) -> str | None:
    """A list as one text; '' where the driver reports none, None where it is not whole."""
    if not said or _CUT in said:  # "": the lines below the key were lost
        return None
    return "" if said == "Not reported" else ",".join(said.strip("[]").split())


def _text_values(body: str) -> dict[str, Value] | None:
    found = _printed(body)
    if not found:
        return None
    speed = _SPEED.fullmatch(found.get("Speed", ""))
    detected = _DETECTED.fullmatch(found.get("Link detected", ""))
    return {
        "speed_mbps": whole_number(speed[1], 31) if speed else None,
        "lanes": whole_number(found.get("Lanes"), 31),
        **{name: found.get(text) for name, (text, _) in _TEXTS.items()},
        **{name: boolean(found.get(text)) for name, (text, _) in _SWITCHES.items()},
        "link_detected": boolean(detected[1]) if detected else None,
        "link_reason": detected[2] if detected else None,
        "link_down_events": whole_number(found.get("Link Down Events")),
        **{name: _listed(found.get(text)) for name, (text, _) in _MODE_LISTS.items()},
    }


def _json_values(entry: dict[str, object]) -> dict[str, Value] | None:
    reason = entry.get("link-state")
    words = [json_text(word) or "" for word in reason] if isinstance(reason, list) else []
    values: dict[str, Value] = {
        "speed_mbps": whole_number(entry.get("speed"), 31),
        "lanes": whole_number(entry.get("lanes"), 31),
        **{name: json_text(entry.get(key)) for name, (_, key) in _TEXTS.items()},
        **{name: boolean(entry.get(key)) for name, (_, key) in _SWITCHES.items()},
        "link_detected": boolean(entry.get("link-detected")),
        "link_reason": ", ".join(words) or None,
        "link_down_events": whole_number(entry.get("link-down-events")),
        **{name: json_list(entry.get(key)) for name, (_, key) in _MODE_LISTS.items()},
    }
    return values if any(value is not None for value in values.values()) else None


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Table ethtool_link."""
    text = text_of(data)
    found = values_by_netdev(text, _HEADING, _text_values, _json_values)
    if not found:
        refuse(text, "no link settings")
    return one_per_netdev("ethtool_link", found, instance)
