"""`dcb -j buffer show dev <netdev>`: receive buffers, as the kernel tells it."""

from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, whole_number
from railwright.parse.dcb_text import by_number, read_dcb, single, size_in_bytes

_NAMES = frozenset({"prio_buffer", "buffer_size", "total_size"})


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Tables dcb_buffer_total, dcb_buffer and dcb_buffer_priority."""
    dcb = read_dcb(data, _NAMES)
    if not dcb.fields:
        raise NotUnderstoodError("no buffers")
    total = size_in_bytes(single(dcb, "total_size"))
    yield Row("dcb_buffer_total", {"netdev": instance, "total_bytes": total})
    for number, size in sorted(by_number(dcb, "buffer_size").items()):
        yield Row(
            "dcb_buffer",
            {"netdev": instance, "buffer": number, "size_bytes": size_in_bytes(size)},
        )
    for priority, number_text in sorted(by_number(dcb, "prio_buffer").items()):
        yield Row(
            "dcb_buffer_priority",
            {"netdev": instance, "priority": priority, "buffer": whole_number(number_text)},
        )
