"""`rdma -j link show` (and its text): each RDMA port and the network device behind it.

Text: `link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev enp24s0np0`. The first releases
(until 2019) wrote `0/1: mlx5_0/1: state ...` and, in JSON, the port into `ifname` as well.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, Row, Value, members_once
from railwright.parse.iproute_text import (
    Entry,
    answer_text,
    merged,
    number_in,
    rows_of,
    text_in,
    text_or_none,
    whole_lines,
)

_LINE = re.compile(
    r"\s*(?:link |[0-9]{1,9}/[0-9]{1,9}: )([^\s/]{1,64})/([0-9]{1,9}):? (.*)", re.ASCII
)


def _of_text(text: str) -> Iterator[Entry]:
    for line in whole_lines(text):
        found = _LINE.match(line)
        if found:
            words = found[3].split()
            pairs = zip(words[::2], words[1::2], strict=False)  # a name may look like a key
            yield {**members_once(list(pairs)), "ifname": found[1], "port": found[2]}


def _rows(entry: Entry) -> Iterator[Row]:
    """Nothing for a link of another command: `rdma statistic` prints no state."""
    device = (text_in(entry, "ifname") or "").partition("/")[0]
    port = number_in(entry, "port")
    if not device or port is None or not {"state", "physical_state"} & entry.keys():
        return
    values: dict[str, Value] = {
        "device": device,
        "port": port,
        "state": text_in(entry, "state"),
        "physical_state": text_in(entry, "physical_state"),
        "netdev": text_or_none(entry, "netdev"),
        "lid": number_in(entry, "lid", BIGINT_BITS),
        "sm_lid": number_in(entry, "sm_lid", BIGINT_BITS),
        "lid_mask_count": number_in(entry, "lmc"),
        "subnet_prefix": text_in(entry, "subnet_prefix"),
    }
    yield Row("rdma_link", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table rdma_link; no row where there is no RDMA device: `[]`."""
    rows = rows_of(answer_text(data), _of_text, _rows)
    return merged(rows, {"rdma_link": ("device", "port")})
