"""`rdma -j statistic show` (and its text): the hardware counters of each RDMA port.

Text: `link mlx5_0/1 rx_write_requests 12 out_of_buffer 0 ...`, with -p one pair per line below the
link. Only the counters that counters.toml knows become rows; the rest stays in the evidence.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, Value, members_once
from railwright.parse.iproute_text import (
    Entry,
    answer_text,
    before_cut,
    listed,
    merged,
    no_answer,
    number_in,
    text_in,
)
from railwright.schema.counters import counter_names

_LINK = re.compile(r"^[ \t]*link ([^\s/]{1,64})/([0-9]{1,9})(?=\s|$)", re.ASCII | re.MULTILINE)
_PAIR = re.compile(r"(?<!\S)([A-Za-z][A-Za-z0-9_.-]{0,63})[ \t]+([0-9]{1,20})(?!\S)", re.ASCII)
_VALUE = re.compile(r"[0-9]{1,40}|\.\.\.")
# `rdma statistic qp show` and `qp mode`: of queue pairs, not of the port. `rdma link`: no counters.
_OF_OTHERS = frozenset({"cntn", "lqpn", "qp-type", "mode", "state", "physical_state"})


def _refuse_odd_values(words: list[str]) -> None:
    """8,811 is not 8, and not nothing either."""
    known = counter_names("hw_counters")
    for word, after in pairwise(words):
        if word in known and not _VALUE.fullmatch(after):
            raise NotUnderstoodError(f"{word} has no number behind it")


def _of_text(text: str) -> Iterator[Entry]:
    whole = text[: max(text.rfind(" "), text.rfind("\n")) + 1]  # a last word may have been cut
    _, *parts = _LINK.split(whole)
    for device, port, lines in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        block = before_cut(lines)
        words = block.split()
        others = _OF_OTHERS.intersection(words)
        _refuse_odd_values(words)
        yield {
            "ifname": device,
            "port": port,
            **dict.fromkeys(others),
            **members_once(_PAIR.findall(block)),
        }


def _is_port(entry: Entry) -> bool:
    named = text_in(entry, "ifname") and number_in(entry, "port") is not None
    return bool(named) and not _OF_OTHERS & entry.keys()


def _rows(entries: list[Entry]) -> Iterator[Row]:
    known = counter_names("hw_counters")
    for entry in entries:
        device, port = text_in(entry, "ifname"), number_in(entry, "port")
        for name in [name for name in entry if name in known]:
            values: dict[str, Value] = {"device": device, "port": port, "counter": name}
            values["value"] = number_in(entry, name, BIGINT_BITS)
            yield Row("rdma_statistic", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table rdma_statistic. A driver with other counters gives no rows, and is understood."""
    text = answer_text(data)
    entries = listed(text)
    ports = [entry for entry in (_of_text(text) if entries is None else entries) if _is_port(entry)]
    if not ports and entries != []:
        raise no_answer(text)
    return merged(_rows(ports), {"rdma_statistic": ("device", "port", "counter")})
