"""`ip -j rule show`: policy routing rules, IPv4 (the tool shows IPv6 rules with -6 only)."""

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
)

# Keys with a column of their own, and those that are no condition (who made the rule, realms).
_KNOWN = frozenset(
    {"priority", "not", "src", "srclen", "dst", "dstlen", "fwmark", "fwmask", "iif", "oif"}
    | {"table", "action", "nop", "l3mdev", "protocol", "flow_from", "flow_to"}
)
# What is done, by the key that says it: these have no `action`.
_ACTIONS = {"table": "lookup", "l3mdev": "l3mdev", "goto": "goto", "nop": "nop"}


def _joined(entry: Entry, name: str, behind: str) -> str | None:
    """`10.21.0.0/24` and `0x10/0xff` of two keys, of which the second may be absent."""
    first = text_in(entry, name)
    if first is None or behind not in entry:
        return first
    second = text_in(entry, behind)
    return None if second is None else f"{first}/{second}"


def _action(entry: Entry) -> str | None:
    if "action" in entry:
        return text_in(entry, "action")
    return next((action for key, action in _ACTIONS.items() if key in entry), None)


def _other(entry: Entry) -> str:
    """Every condition without a column: a rule with one is not the rule without it."""
    parts = []
    for key in entry:
        if key not in _KNOWN:
            name, value = text_in({"key": key}, "key"), text_in(entry, key)
            parts.append(f"{name} {value}" if value else f"{name}")
    return " ".join(parts)


def _rows(entries: list[Entry]) -> Iterator[Row]:
    places: Counter[int] = Counter()
    for entry in entries:
        priority = number_in(entry, "priority", BIGINT_BITS)
        if priority is None:
            continue
        values: dict[str, Value] = {
            "priority": priority,
            "place": places[priority],
            "inverted": entry.get("not", False) is not False,  # printed as null
            "source": _joined(entry, "src", "srclen") if "src" in entry else "all",
            "destination": _joined(entry, "dst", "dstlen") if "dst" in entry else "all",
            "fwmark": _joined(entry, "fwmark", "fwmask") if "fwmark" in entry else "",
            "iif": text_or_none(entry, "iif"),
            "oif": text_or_none(entry, "oif"),
            "other": _other(entry),
            "action": _action(entry),
            "routing_table": text_or_none(entry, "table"),
        }
        places[priority] += 1
        yield Row("ip_rule", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table ip_rule; no row where all rules were removed: `[]`."""
    return rows_of_list(answer_text(data), _rows)
