"""What kind of node most of a snapshot is made of, as collectives see it."""

from collections import Counter
from typing import Literal

import duckdb

from railwright.errors import UsageError
from railwright.hardware.collectives import gpus
from railwright.predict.collectives import Cluster

# A host by its GPUs and its compute ports; what is not known of one leaves that host out.
_SHAPES = """
SELECT k.gpus, any_value(g.name), p.nics, p.rate_gbps, round(p.least, 1), c.vendor, count(*)::BIGINT
FROM host_kind AS k
INNER JOIN (
    SELECT target, count(*)::BIGINT AS nics, max(rate_gbps) AS rate_gbps, min(write_gbps) AS least,
        min(wire_gbps) AS wire
    FROM port_ceiling WHERE role = 'compute' GROUP BY target
    HAVING count(write_gbps) = count(*) AND count(DISTINCT rate_gbps) = 1
) AS p ON p.target = k.target
INNER JOIN (
    SELECT target, any_value(name) AS name FROM gpu GROUP BY target
    HAVING count(DISTINCT name) = 1 AND count(name) = count(*)
) AS g ON g.target = k.target
LEFT JOIN cpu AS c ON c.target = k.target
GROUP BY k.gpus, g.name, p.nics, p.rate_gbps, round(p.least, 1), c.vendor
"""
_VENDORS: dict[str | None, Literal["Intel", "AMD"]] = {
    "GenuineIntel": "Intel",
    "AuthenticAMD": "AMD",
}
# A card at its rate and MTU 4096 ends a little above what NCCL gets through it.
_USUAL_SHARE = 0.97


def gpu_named(text: str) -> str | None:
    """H100 for `NVIDIA H100 80GB HBM3`; None = not one that the model has."""
    words = text.upper().replace("-", " ").split()
    return next((name for name in gpus() if name in words), None)


def most_common(database: duckdb.DuckDBPyConnection) -> tuple[Cluster, str]:
    """The kind of most hosts, for one node, and how many they are; over port_ceiling."""
    rows = database.execute(_SHAPES).fetchall()
    shapes: Counter[tuple[object, ...]] = Counter()
    for *shape, count in rows:
        shapes[tuple(shape)] += count
    if not shapes:
        raise UsageError(
            "no host of this snapshot shows its GPUs and its compute ports whole",
            do="Say it: --gpu H100 --gpus 8 --nics 8 --nic-gbps 400.",
        )
    (count, name, nics, rate, least, vendor), hosts = max(
        shapes.items(), key=lambda item: (item[1], str(item[0]))
    )
    known = gpu_named(str(name))
    if known is None:
        raise UsageError(
            f"nothing is known of {name} in collectives",
            do=f"Known are {', '.join(gpus())}: --gpu names the one that is nearest.",
        )
    limited = float(str(least)) < _USUAL_SHARE * float(str(rate))
    cluster = Cluster(
        gpus()[known],
        int(str(count)),
        int(str(nics)),
        float(str(rate)),
        1,
        float(str(least)) if limited else None,
        _VENDORS.get(str(vendor), "other"),
    )
    return cluster, f"{hosts} of {sum(shapes.values())} hosts"
