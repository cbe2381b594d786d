"""`railwright predict nccl`: bus bandwidth before anything was run."""

import json
from dataclasses import asdict

from railwright import __version__
from railwright.predict.collectives import Cluster, Prediction
from railwright.report.screen import Screen, number_of, padded, widths, wrapped

FORMAT = "railwright-nccl-1"
_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
REMARKS = (
    "Bus bandwidth as nccl-tests print it, GB/s. Below 1 MiB the model says nothing.",
    "NCCL chooses the algorithm by itself.",
    "Tree and nvlstree over two or three nodes may exceed what the cards carry: that is no error.",
)


def size_words(size: int) -> str:
    """1 GiB."""
    for unit, worth in _UNITS:
        if size >= worth and size % worth == 0:
            return f"{size // worth} {unit}"
    return f"{size} B"


def cluster_words(cluster: Cluster) -> str:
    """What was predicted for."""
    limit = (
        "" if cluster.ceiling_gbps is None else f", ceiling {cluster.ceiling_gbps:.1f} Gb/s each"
    )
    cards = number_of(cluster.nics, "card")
    return f"{cluster.gpus} {cluster.gpu.name} and {cards} of {cluster.nic_gbps:g}G per node{limit}"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"


def print_predictions(
    screen: Screen, cluster: Cluster, origin: str, found: list[Prediction]
) -> None:
    """A row per operation, algorithm, number of nodes and size."""
    screen.heading(cluster_words(cluster), f": {origin}")
    rows = [("collective", "algorithm", "nodes", "size", "bus", "from", "to", "ceiling", "by", "")]
    rows += [
        (
            *(one.collective, one.algorithm, str(one.nodes), size_words(one.bytes)),
            *(_number(one.bus), _number(one.low), _number(one.high), _number(one.ceiling)),
            *(one.binding, one.basis),
        )
        for one in found
    ]
    columns = widths(rows)
    for number, row in enumerate(rows):
        screen.line(padded(row, columns), "" if number else "dim")
    for text in REMARKS:
        for line in wrapped(screen, text, 0):
            screen.line(line, "dim")


def predictions_json(cluster: Cluster, origin: str, found: list[Prediction]) -> str:
    """The same for programs."""
    shape = {
        "gpu": cluster.gpu.name,
        "gpus_per_node": cluster.gpus,
        "nics_per_node": cluster.nics,
        "nic_gbps": cluster.nic_gbps,
        "ceiling_gbps": cluster.ceiling_gbps,
        "cpu": cluster.cpu,
        "from": origin,
    }
    rows = [asdict(one) for one in found]
    head = {"format": FORMAT, "railwright": __version__, "cluster": shape}
    return json.dumps({**head, "predictions": rows}, indent=1)
