"""`ip -j route show table all`: the routes of all tables, IPv4 and IPv6.

The tool leaves out what is usual (iproute2 ip/iproute.c, print_route): no `table` means main, no
`type` unicast, no `scope` global, no `protocol` boot, no `metric` 0. It never prints the family.
"""

from collections import Counter
from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, Row, Value
from railwright.parse.iproute_text import (
    Entry,
    answer_text,
    number_in,
    rows_of_list,
    text_in,
    text_or_none,
    texts_in,
)

_NO_WEIGHT = 0
_NO_NEXTHOP = 0
_NO_MTU = 0
_LENGTHS = {"inet": 32, "inet6": 128}


def _objects(entry: Entry, key: str) -> list[Entry]:
    found = entry.get(key)
    parts = found if isinstance(found, list) else [found]
    return [part for part in parts if isinstance(part, dict)]


def _family(entry: Entry, destination: str) -> str:
    """`default` has no colon: then its gateway tells, or `pref`, which only IPv6 has.

    A gateway of the other family is not called `gateway` but `via`.
    """
    hops = [entry, *_objects(entry, "nexthops")]
    texts = [text_in(hop, key) or "" for hop in hops for key in ("gateway", "prefsrc")]
    if any(":" in text for text in (destination, *texts)) or "pref" in entry:
        return "inet6"
    other = [text_in(via, "family") for hop in hops for via in _objects(hop, "via")]
    return "inet6" if "inet" in other else "inet"


def _gateway(hop: Entry) -> str | None:
    via = _objects(hop, "via")
    return text_in(via[0], "host") if via else text_or_none(hop, "gateway")


def _prefix_length(destination: str, family: str) -> int | None:
    if destination == "default":
        return 0
    _, slash, printed = destination.partition("/")
    length = number_in({"length": printed}, "length") if slash else _LENGTHS[family]
    return length if length is not None and length <= _LENGTHS[family] else None


def _mtu(entry: Entry) -> int | None:
    """The route's own; a list of objects, of which the first that has one counts."""
    found = [part for part in _objects(entry, "metrics") if "mtu" in part]
    return number_in(found[0], "mtu") if found else _NO_MTU


def _flags(entry: Entry, hop: Entry) -> str | None:
    texts = [texts_in(part, "flags") for part in (entry, hop)]
    flags = [flag for text in texts if text for flag in text.split(",")]
    return None if texts[0] is None else ",".join(dict.fromkeys(flags))


def _other(entry: Entry) -> str:
    """Conditions without a column: a route with one is not a second route to the same place."""
    parts = [f"{key} {text_in(entry, key)}" for key in ("tos", "from") if key in entry]
    return " ".join(parts)


def _path(entry: Entry, hop: Entry) -> dict[str, Value]:
    """One way that the route may take. With a nexthop object alone the way is not printed."""
    is_hidden = "nhid" in entry and not {"dev", "gateway", "via"} & hop.keys()
    return {
        "gateway": None if is_hidden else _gateway(hop),
        "netdev": None if is_hidden else text_or_none(hop, "dev"),
        "weight": number_in(hop, "weight") if "weight" in hop else _NO_WEIGHT,
        "flags": _flags(entry, hop),
    }


def _route(entry: Entry, destination: str, family: str) -> dict[str, Value]:
    """What all ways of a route have in common."""
    has_metric, has_nexthop = "metric" in entry, "nhid" in entry
    return {
        "family": family,
        "routing_table": text_in(entry, "table") if "table" in entry else "main",
        "destination": destination,
        "prefix_length": _prefix_length(destination, family),
        "other": _other(entry),
        "type": text_in(entry, "type") if "type" in entry else "unicast",
        "source": text_or_none(entry, "prefsrc"),
        "protocol": text_in(entry, "protocol") if "protocol" in entry else "boot",
        "scope": text_in(entry, "scope") if "scope" in entry else "global",
        "metric": number_in(entry, "metric", BIGINT_BITS) if has_metric else 0,
        "mtu": _mtu(entry),
        "nexthop_id": number_in(entry, "nhid", BIGINT_BITS) if has_nexthop else _NO_NEXTHOP,
    }


def _rows(entries: list[Entry]) -> Iterator[Row]:
    places: Counter[tuple[Value, ...]] = Counter()
    for entry in entries:
        destination = text_in(entry, "dst")
        if not destination:
            continue
        common = _route(entry, destination, _family(entry, destination))
        key = (common["family"], common["routing_table"], destination)
        for hop in _objects(entry, "nexthops") or [entry]:
            yield Row("route", {**common, "place": places[key], **_path(entry, hop)})
            places[key] += 1


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table route; no row where there is no route: `[]`."""
    return rows_of_list(answer_text(data), _rows)
