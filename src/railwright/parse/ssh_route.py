"""`ip -j route get CLIENT from SERVER`: the one route that the kernel chooses (iproute2 iproute.c).

The tool leaves out what is usual: no `type` means unicast, no `table` main. Where no source was
asked for, it prints the one that the kernel would take, as `prefsrc`.
"""

import ipaddress
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row
from railwright.parse.iproute_text import (
    Entry,
    answer_text,
    listed,
    no_answer,
    text_in,
    text_or_none,
)


def _address(entry: Entry, key: str) -> str | None:
    text = text_in(entry, key)
    try:
        return str(ipaddress.ip_address(text)) if text else None
    except ValueError:
        return None


def _gateway(entry: Entry) -> str | None:
    """A gateway of the other family is not called `gateway` but `via`."""
    if "via" in entry:
        via = entry["via"]
        return _address(via, "host") if isinstance(via, dict) else None
    return _address(entry, "gateway") if "gateway" in entry else ""


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table ssh_route."""
    text = answer_text(data)
    entries = listed(text)
    if entries is None:
        raise no_answer(text)
    if len(entries) != 1:
        raise NotUnderstoodError("not one route")
    entry = entries[0]
    client = _address(entry, "dst")
    if client is None:
        raise NotUnderstoodError("a route to no address")
    yield Row(
        "ssh_route",
        {
            "client": client,
            "source": _address(entry, "from" if "from" in entry else "prefsrc"),
            "type": text_in(entry, "type") if "type" in entry else "unicast",
            "netdev": text_or_none(entry, "dev") or None,
            "gateway": _gateway(entry),
            "routing_table": text_in(entry, "table") if "table" in entry else "main",
        },
    )
