"""What kind of node most of a snapshot is made of, as collectives see it."""

from typing import Literal

import duckdb

from railwright.errors import UsageError
from railwright.hardware.collectives import gpus
from railwright.predict.collectives import Cluster
from railwright.store.duck import read_sql

_SHAPES = read_sql(__file__, "shapes.sql")
_HOSTS = "SELECT count(*)::BIGINT FROM target WHERE kind = 'host'"
_VENDORS: dict[str | None, Literal["Intel", "AMD"]] = {
    "GenuineIntel": "Intel",
    "AuthenticAMD": "AMD",
}
# GPUs as plain PCIe cards, alone or bridged in pairs: not the NVLink that the model has.
_NOT_SWITCHED = ("PCIE", "NVL")


def gpu_named(text: str) -> str | None:
    """H100 for `NVIDIA H100 80GB HBM3`; None = not one that the model has."""
    words = text.upper().replace("-", " ").split()
    if any(word in words for word in _NOT_SWITCHED):
        return None
    return next((name for name in gpus() if name in words), None)


def most_common(database: duckdb.DuckDBPyConnection) -> tuple[Cluster, str]:
    """The kind of most hosts, for one node, and how many they are; over port_ceiling."""
    shapes = {tuple(shape): count for *shape, count in database.execute(_SHAPES).fetchall()}
    ((total,),) = database.execute(_HOSTS).fetchall()
    if not shapes:
        raise UsageError(
            "no host of this snapshot has complete data of GPUs and compute ports",
            do="Describe the nodes: --gpu H100 --gpus 8 --nics 8 --nic-gbps 400.",
        )
    (count, name, nics, rate, least, vendor), hosts = max(
        shapes.items(), key=lambda item: (item[1], str(item[0]))
    )
    known = gpu_named(str(name))
    if known is None:
        raise UsageError(
            f"unknown GPU {name!r}",
            why="The model covers only GPUs connected by NVLink switches.",
            do=f"Choose the closest with --gpu: {', '.join(gpus())}.",
        )
    cluster = Cluster(
        gpus()[known],
        int(str(count)),
        int(str(nics)),
        float(str(rate)),
        1,
        float(str(least)),
        _VENDORS.get(str(vendor), "other"),
    )
    known_hosts = sum(shapes.values())
    aside = [
        f"{number} {what}"
        for number, what in (
            (known_hosts - hosts, "different"),
            (total - known_hosts, "incomplete"),
        )
        if number
    ]
    return cluster, f"{hosts} of {total} hosts" + (f" ({', '.join(aside)})" if aside else "")
