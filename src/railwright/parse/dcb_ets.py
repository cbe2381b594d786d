"""`dcb -j ets show dev <netdev>`: traffic classes and their schedulers, as the kernel tells it.

What a neighbor recommends (`reco-*`) and the bandwidth of priority groups (`pg-bw`) stay in the
evidence: they are not what the interface does.
"""

from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, whole_number
from railwright.parse.dcb_text import by_number, read_dcb, single, switch

_NAMES = frozenset(
    {"willing", "ets_cap", "cbs", "tc_bw", "pg_bw", "tc_tsa", "prio_tc"}
    | {"reco_tc_bw", "reco_tc_tsa", "reco_prio_tc"}
)
_NOT_READ = frozenset({"pg_bw", "reco_tc_bw", "reco_tc_tsa", "reco_prio_tc"})
# dcb prints ??? for a number that it has no name for (dcb.c, dcb_print_array_kw).
_SCHEDULERS = {name: name for name in ("strict", "cbs", "ets", "vendor")} | {"???": "unknown"}


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Tables dcb_ets, dcb_ets_class and dcb_ets_priority."""
    dcb = read_dcb(data, _NAMES)
    if not dcb.fields.keys() - _NOT_READ:
        raise NotUnderstoodError("no ETS state")
    bandwidths, schedulers = by_number(dcb, "tc_bw"), by_number(dcb, "tc_tsa")
    yield Row(
        "dcb_ets",
        {
            "netdev": instance,
            "capability": whole_number(single(dcb, "ets_cap")),
            "willing": switch(single(dcb, "willing")),
            "credit_based_shaper": switch(single(dcb, "cbs")),
        },
    )
    for traffic_class in sorted({*bandwidths, *schedulers}):
        yield Row(
            "dcb_ets_class",
            {
                "netdev": instance,
                "traffic_class": traffic_class,
                "scheduler": _SCHEDULERS.get(schedulers.get(traffic_class, "")),
                "bandwidth_percent": whole_number(bandwidths.get(traffic_class)),
            },
        )
    for priority, traffic_class_text in sorted(by_number(dcb, "prio_tc").items()):
        yield Row(
            "dcb_ets_priority",
            {
                "netdev": instance,
                "priority": priority,
                "traffic_class": whole_number(traffic_class_text),
            },
        )
