"""`rdma -j dev show` (and its text): RDMA devices as the kernel numbers them.

Text: `0: mlx5_0: node_type ca fw 28.43.2026 node_guid ... sys_image_guid ...`.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, Value
from railwright.parse.iproute_text import (
    Entry,
    answer_text,
    ended_lines,
    merged,
    number_in,
    pairs,
    rows_of,
    text_in,
)

_LINE = re.compile(r"\s*([0-9]{1,9}): ([^\s:]{1,64}): (.*)", re.ASCII)
# Each ends the value before it: the driver's firmware may be empty.
_KEYS = frozenset({"node_type", "protocol", "fw", "node_guid", "sys_image_guid"})


def _of_text(text: str) -> Iterator[Entry]:
    for line in ended_lines(text):
        found = _LINE.match(line)
        if found:
            yield {"ifindex": found[1], "ifname": found[2], **pairs(found[3], _KEYS)}


def _rows(entry: Entry) -> Iterator[Row]:
    device = text_in(entry, "ifname")
    if not device or not _KEYS & entry.keys():
        return
    values: dict[str, Value] = {
        "device": device,
        "index": number_in(entry, "ifindex"),
        "node_type": text_in(entry, "node_type"),
        "protocol": text_in(entry, "protocol"),
        "firmware_version": text_in(entry, "fw"),
        "node_guid": text_in(entry, "node_guid"),
        "sys_image_guid": text_in(entry, "sys_image_guid"),
    }
    yield Row("rdma_dev", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table rdma_dev; no row where there is no RDMA device: `[]`."""
    rows = rows_of(answer_text(data), _of_text, _rows)
    return merged(rows, {"rdma_dev": ("device",)})
