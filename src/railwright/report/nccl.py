"""`railwright predict nccl`: bus bandwidth before anything was run."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from railwright import __version__
from railwright.predict.collectives import TREE_GAIN, Cluster, Prediction
from railwright.report.measured import CollectiveRun, print_collective_runs
from railwright.report.screen import Screen, number_of, padded, widths, wrapped

FORMAT = "railwright-nccl-1"
_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
REMARKS = (
    "Bus bandwidth (busbw) in GB/s, as nccl-tests print it. Messages below 1 MiB are not covered.",
    "NCCL chooses the algorithm itself (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING prints it).",
)
FASTEST = "Shown is the fastest algorithm by the model; --all shows the others."
DOMAIN = "Assumed: the nodes fill NVLink domains of {size} {gpu} one after another."
TREES = "Tree and nvlstree over two or three nodes can exceed what the NICs carry."


def size_words(size: int) -> str:
    """1 GiB."""
    for unit, worth in _UNITS:
        if size >= worth and size % worth == 0:
            return f"{size // worth} {unit}"
    return f"{size} B"


def cluster_words(cluster: Cluster) -> str:
    """What was predicted for."""
    limit = f", limited to {cluster.nic_ceiling_gbps:.1f} Gb/s each" if cluster.is_limited else ""
    cards = number_of(cluster.nics, f"{cluster.nic_gbps:g}G NIC")
    return f"{cluster.gpus} {cluster.gpu.name} and {cards} per node{limit}"


def fastest(found: list[Prediction]) -> list[Prediction]:
    """Of each size and number of nodes what takes the least time; where that is unknown, all."""
    least: dict[tuple[int, int], float] = {}
    for one in found:
        if one.microseconds is not None:
            key = (one.nodes, one.bytes)
            least[key] = min(one.microseconds, least.get(key, one.microseconds))
    return [one for one in found if one.microseconds == least.get((one.nodes, one.bytes))]


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"


def print_predictions(  # noqa: PLR0913 (what is shown)
    screen: Screen,
    cluster: Cluster,
    origin: str,
    found: list[Prediction],
    measured: Sequence[CollectiveRun] = (),
    *,
    everything: bool,
) -> None:
    """A row per number of nodes and size, or per algorithm too."""
    screen.heading(cluster_words(cluster), f": {origin}")
    told = found if everything else fastest(found)
    title = (
        "collective",
        "algorithm",
        "nodes",
        "size",
        "busbw",
        "from",
        "to",
        "ceiling",
        "limited by",
        "",
    )
    rows = [title]
    rows += [
        (
            *(one.collective, one.algorithm, str(one.nodes), size_words(one.bytes)),
            *(_number(one.bus), _number(one.low), _number(one.high), _number(one.ceiling)),
            *(one.binding, one.basis),
        )
        for one in told
    ]
    columns = widths(rows)
    for number, row in enumerate(rows):
        screen.line(padded(row, columns), "" if number else "dim")
    print_collective_runs(screen, list(measured), size_words)
    remarks = list(REMARKS)
    if len(told) < len(found):
        remarks.append(FASTEST)
    if any(one.algorithm in ("tree", "nvlstree") and one.nodes in TREE_GAIN for one in told):
        remarks.append(TREES)
    if cluster.gpu.nvlink_domain:
        remarks.append(DOMAIN.format(gpu=cluster.gpu.name, size=cluster.gpu.nvlink_domain))
    for text in remarks:
        for line in wrapped(screen, text, 0):
            screen.line(line, "dim")


def predictions_json(
    cluster: Cluster,
    origin: str,
    found: list[Prediction],
    measured: Sequence[CollectiveRun] = (),
) -> str:
    """The same for programs."""
    shape = {
        "gpu": cluster.gpu.name,
        "gpus_per_node": cluster.gpus,
        "nics_per_node": cluster.nics,
        "nic_gbps": cluster.nic_gbps,
        "ceiling_gbps": cluster.nic_ceiling_gbps,
        "cpu": cluster.cpu,
        "from": origin,
    }
    best = fastest(found)
    rows = [{**asdict(one), "is_fastest": one in best} for one in found]
    runs = [
        {**one._asdict(), "expected": asdict(one.expected) if one.expected else None}
        for one in measured
    ]
    head = {"format": FORMAT, "railwright": __version__, "cluster": shape}
    return json.dumps({**head, "predictions": rows, "measured": runs}, indent=1)
