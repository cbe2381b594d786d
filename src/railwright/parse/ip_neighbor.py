"""`ip -j neigh show`: neighbors whose address nobody answered for. The others are no rows."""

from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.iproute_text import Entry, answer_text, listed, merged, no_answer, text_in

# Linux net/core/neighbour.c: asked without an answer so far, and given up.
UNRESOLVED = ("FAILED", "INCOMPLETE")

_KEYS = {"unresolved_neighbor": ("netdev", "address")}


def _rows(entries: list[Entry]) -> Iterator[Row]:
    for entry in entries:
        states = entry.get("state", [])  # an entry in no state has no such key
        if not isinstance(states, list):
            raise NotUnderstoodError("a state that is no list")
        state = next((one for one in UNRESOLVED if one in states), None)
        if state is None:
            continue
        address, netdev = text_in(entry, "dst"), text_in(entry, "dev")
        if not address or not netdev:  # left out, it would read as one that answers
            raise NotUnderstoodError(f"a neighbor in state {state} without address or device")
        values: dict[str, Value] = {"netdev": netdev, "address": address.lower(), "state": state}
        yield Row("unresolved_neighbor", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table unresolved_neighbor; no row where all answer: `[]`."""
    text = answer_text(data)
    entries = listed(text)
    if entries is None or (entries and not any("dst" in one and "state" in one for one in entries)):
        raise no_answer(text)
    yield from merged(_rows(entries), _KEYS)
