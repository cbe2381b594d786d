"""`ip -j address show`: the addresses of all network interfaces, and the interfaces themselves.

The tool prints only what there is. What it leaves out and the kernel sends always (no master, no
second namespace) is a fact, and stands in the row as such.
"""

from collections import Counter
from collections.abc import Iterator

from railwright.parse.base import Row, Value
from railwright.parse.iproute_text import (
    Entry,
    answer_text,
    listed,
    merged,
    no_answer,
    number_in,
    text_in,
    text_or_none,
    texts_in,
)

_NO_NAMESPACE = -1


def _link_name(entry: Entry) -> str | None:
    """What it lies on. In another namespace it has a number only: `link_index`.

    A tunnel on no interface (sit0@NONE) has the key with null (iproute2 lib/utils.c).
    """
    if "link_index" in entry:
        return None
    return "" if entry.get("link") is None else text_in(entry, "link")


def _link(netdev: str, entry: Entry) -> Row:
    in_namespace = "link_netnsid" in entry
    values: dict[str, Value] = {
        "netdev": netdev,
        "ifindex": number_in(entry, "ifindex"),
        "link_type": text_in(entry, "link_type"),
        "mtu": number_in(entry, "mtu"),
        "operstate": text_in(entry, "operstate"),
        "flags": texts_in(entry, "flags"),
        "qdisc": text_in(entry, "qdisc"),
        "master": text_or_none(entry, "master"),
        "link": _link_name(entry),
        "link_netnsid": number_in(entry, "link_netnsid") if in_namespace else _NO_NAMESPACE,
        "other_names": texts_in(entry, "altnames") if "altnames" in entry else "",
    }
    return Row("ip_link", values)


def _address(netdev: str, entry: Entry, place: int) -> Row:
    flags = [text_in({"flag": key}, "flag") or "" for key, value in entry.items() if value is True]
    values: dict[str, Value] = {
        "netdev": netdev,
        "family": text_in(entry, "family"),
        "address": text_in(entry, "local"),
        "place": place,
        "prefix_length": number_in(entry, "prefixlen"),
        "peer": text_or_none(entry, "address"),
        "scope": text_in(entry, "scope"),
        "label": text_or_none(entry, "label"),
        "flags": ",".join(flags),
    }
    return Row("address", values)


def _rows(entries: list[Entry]) -> Iterator[Row]:
    places: Counter[tuple[Value, ...]] = Counter()
    for entry in entries:
        netdev = text_in(entry, "ifname")
        if not netdev:
            continue
        yield _link(netdev, entry)
        found = entry.get("addr_info")
        for info in found if isinstance(found, list) else []:
            if isinstance(info, dict) and text_in(info, "local"):
                key = (netdev, text_in(info, "family"), text_in(info, "local"))
                yield _address(netdev, info, places[key])
                places[key] += 1


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables ip_link and address. Every host has `lo`, so an answer without a row is none."""
    text = answer_text(data)
    rows = list(_rows(listed(text) or []))
    if not rows:
        raise no_answer(text)
    keys = {"ip_link": ("netdev",), "address": ("netdev", "family", "address", "place")}
    return merged(rows, keys)
