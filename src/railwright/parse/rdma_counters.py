"""Counters of an RDMA port that counters.toml knows, from the files of probe `infiniband`:

    /sys/class/infiniband/*/ports/*/{counters,hw_counters}/*

The rest stays in the evidence; `lifespan` is no counter, it says how old a reading may be (ms).
"""

from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, Row, whole_number
from railwright.parse.files import Files, is_missing
from railwright.schema.counters import counter_names

KINDS = ("counters", "hw_counters")


def rdma_counters(files: Files, base: str, device: str, port: int) -> Iterator[Row]:
    """Table rdma_counter, for the port whose folder is `base`.

    A counter that the machine lists and that could not be read (an errno; `N/A (no PMA)`) is a row
    without a value; one that it does not list is no row.
    """
    for kind in KINDS:
        known = counter_names(kind)
        for name in files.below(f"{base}/{kind}"):
            path = f"{base}/{kind}/{name}"
            if name in known and not is_missing(files, path):
                yield Row(
                    "rdma_counter",
                    {
                        "device": device,
                        "port": port,
                        "kind": kind,
                        "counter": name,
                        "value": whole_number(files.text(path), BIGINT_BITS),
                    },
                )
