"""`dcb -j pfc show dev <netdev>`: priority flow control as the kernel tells it.

Text is read as well, with and without the counts that `-s` adds.
"""

from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, whole_number
from railwright.parse.dcb_text import by_number, read_dcb, single, switch

_NAMES = frozenset({"pfc_cap", "macsec_bypass", "delay", "prio_pfc", "requests", "indications"})


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Tables dcb_pfc and dcb_pfc_priority."""
    dcb = read_dcb(data, _NAMES)
    if not dcb.fields:
        raise NotUnderstoodError("no PFC state")
    enabled = by_number(dcb, "prio_pfc")
    requests = by_number(dcb, "requests")
    indications = by_number(dcb, "indications")
    yield Row(
        "dcb_pfc",
        {
            "netdev": instance,
            "capability": whole_number(single(dcb, "pfc_cap")),
            "macsec_bypass": switch(single(dcb, "macsec_bypass")),
            "delay": whole_number(single(dcb, "delay")),
        },
    )
    for priority in sorted({*enabled, *requests, *indications}):
        yield Row(
            "dcb_pfc_priority",
            {
                "netdev": instance,
                "priority": priority,
                "enabled": switch(enabled.get(priority)),
                "requests": whole_number(requests.get(priority), BIGINT_BITS),
                "indications": whole_number(indications.get(priority), BIGINT_BITS),
            },
        )
