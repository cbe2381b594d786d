"""What nccl-tests should print: bus bandwidth by operation, algorithm, nodes and message size.

A latency and a bandwidth per algorithm, as NCCL's own tuning has them (hardware/collective*.toml
names the versions), and the ceilings of large messages as SimAI has them. Bandwidths are GB/s.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from railwright.hardware.collectives import Gpu, Times, nics, times
from railwright.predict.ceiling import Basis, headers, once, wire

Collective = Literal[
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"
]
COLLECTIVES: tuple[Collective, ...] = (
    *("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"),
    "all_to_all",
)
# Of the bandwidth of large messages; what SimAI's table ends with (nic_ratio.csv, 16 GB).
REACHED = 0.96
# Large: a message that takes twenty times as long as its latency. Smaller ones were within 15 % of
# SimAI's table in three of four cases; below 1 MB, where NCCL leaves Simple, there is no model.
LARGE, MIDDLE, SMALLEST = 20, 0.15, 1 << 20
# Of what the model gives large messages, what was seen: 46 GB/s of 48.5 per 400G card (nccl-tests
# issue 290), 192 of 188 with eight 200G cards (nccl issue 1576). Nothing goes above a ceiling.
LOW, HIGH = 0.94, 1.03
# NCCL's tree over few nodes sends less through the cards than a ring does (SimAI calbusbw.cc).
TREE_GAIN = {2: 2.0, 3: 4 / 3}
# What the processor adds to each step towards the network, three times with the protocol Simple
# (NCCL src/graph/tuning.cc, getNetOverhead).
OVERHEAD_US = {"AMD": 2.0}
# A card at its rate and MTU 4096 ends a little above what NCCL gets through it.
USUAL_SHARE, _USUAL_MTU = 0.97, 4096
# Where the ring was held to SimAI's table, whose origin is not stated: nodes and bytes.
TABLE_NODES, TABLE_BYTES = (2, 128), (16 << 20, 16 << 30)


@dataclass(frozen=True)
class Cluster:
    """Alike nodes; every card at its own rail."""

    gpu: Gpu
    gpus: int  # per node
    nics: int  # per node
    nic_gbps: float  # rate of one card
    nodes: int
    ceiling_gbps: float | None = None  # of one card, as read; None = a port at MTU 4096
    cpu: Literal["Intel", "AMD", "other"] = "other"

    @property
    def ranks(self) -> int:
        """All GPUs."""
        return self.nodes * self.gpus

    @property
    def nic_ceiling_gbps(self) -> float:
        """Gb/s of data that one card can carry."""
        if self.ceiling_gbps is not None:
            return self.ceiling_gbps
        around = headers("RoCE over IPv4", vlan=False)
        return wire(self.nic_gbps, _USUAL_MTU, around, once("write")) or self.nic_gbps

    @property
    def is_limited(self) -> bool:
        """PCIe or the MTU lets through less than the port could."""
        return self.nic_ceiling_gbps < USUAL_SHARE * self.nic_gbps

    @property
    def nic_gbytes(self) -> float:
        """What NCCL gets through one card."""
        known = nics().get(self.nic_gbps)
        # Of a rate that SimAI has not: the share that it has at 400G. Judgement.
        best = known.gbytes if known else nics()[400].gbytes / 400 * self.nic_gbps
        return min(best, self.nic_ceiling_gbps / 8)

    @property
    def domains(self) -> list[int]:
        """GPUs of each NVLink domain, one filled after the other."""
        size = max(self.gpu.nvlink_domain // self.gpus * self.gpus, self.gpus)
        whole, rest = divmod(self.ranks, size)
        return [size] * whole + [rest] * bool(rest)

    @property
    def network(self) -> float:
        """What the smallest NVLink domain gets through all its cards."""
        return min(self.domains) // self.gpus * self.nics * self.nic_gbytes

    @property
    def network_ceiling(self) -> float:
        """The same, if every card carried its ceiling."""
        return self.network / self.nic_gbytes * self.nic_ceiling_gbps / 8


@dataclass(frozen=True)
class Prediction:
    """One row of nccl-tests, before it was run."""

    collective: Collective
    algorithm: str
    nodes: int
    bytes: int
    bus: float | None  # GB/s; None = the model does not say
    low: float | None
    high: float | None
    ceiling: float  # GB/s, never above it
    binding: Literal["NVLink", "NVLink SHARP", "network"]
    basis: Basis
    microseconds: float | None


def factor(collective: Collective, ranks: int) -> float:
    """Bus bandwidth is so many times the bytes per second of the operation (nccl-tests)."""
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return 1.0 if collective in ("broadcast", "reduce") else (ranks - 1) / ranks


def algorithms(collective: Collective, cluster: Cluster) -> list[str]:
    """Those that the model knows for it."""
    if collective == "all_to_all":
        return ["pairwise"]
    if collective != "all_reduce":
        return ["ring"]
    sharp = cluster.gpu.nvls_gbytes > 0
    if len(cluster.domains) == 1:
        return ["ring", "nvls"] if sharp else ["ring"]
    return ["ring", "tree", "nvlstree"] if sharp else ["ring", "tree"]


class Bound(NamedTuple):
    """What large messages reach by the model, what nothing goes above, and what binds."""

    bus: float
    ceiling: float
    binding: Literal["NVLink", "NVLink SHARP", "network"]


def bound(algorithm: str, cluster: Cluster) -> Bound:
    """Bus bandwidth of messages without end."""
    ranks, domains, gpu = cluster.ranks, len(cluster.domains), cluster.gpu
    inside = Bound(gpu.nvlink_gbytes, gpu.nvlink_gbytes, "NVLink")
    if algorithm in ("nvls", "nvlstree"):
        inside = Bound(gpu.nvls_gbytes, gpu.nvls_most_gbytes, "NVLink SHARP")
    if domains == 1:
        return inside
    gain = 1.0
    if algorithm == "pairwise":
        # Of each GPU's data the part for other domains goes through its share of the cards.
        largest = max(cluster.domains)
        gain = (ranks - 1) / (ranks - largest) / min(cluster.domains)
    elif algorithm in ("tree", "nvlstree"):
        gain = TREE_GAIN.get(domains, 1.0) * (ranks - 1) / ranks
    outside = Bound(cluster.network * gain, cluster.network_ceiling * gain, "network")
    # Which binds goes by what is reached; nothing goes above either ceiling.
    return min(inside, outside)._replace(ceiling=min(inside.ceiling, outside.ceiling))


def latency(collective: Collective, algorithm: str, cluster: Cluster) -> float | None:
    """Microseconds before the first byte is of use; None = no model of it."""
    one: Times | None = times().get(algorithm)
    if one is None:
        return None
    intra = max(one.intra_us, 3 * OVERHEAD_US.get(cluster.cpu, 1.0)) if one.intra_us else 0.0
    domains = len(cluster.domains)
    if algorithm == "ring":
        twice = 2 if collective == "all_reduce" else 1
        between = twice * (domains - 1)
        return (
            one.base_us + (twice * (cluster.ranks - 1) - between) * intra + between * one.inter_us
        )
    levels = math.floor(math.log2(domains))
    inside = (max(cluster.domains) - 1) * intra if algorithm == "tree" else 0.0
    return one.base_us + 2 * (inside + levels * one.inter_us)


def _basis(
    collective: Collective, algorithm: str, cluster: Cluster, size: int, *, large: bool
) -> Basis:
    """What stands behind a number."""
    if collective != "all_reduce" or cluster.gpus != 8:
        return "unvalidated"
    if cluster.nodes == 1:
        return "validated" if large and cluster.gpu.name == "H100" else "unvalidated"
    if algorithm != "ring" or cluster.is_limited:
        return "unvalidated"
    if cluster.gpu.name == "A100":  # 192 GB/s of 188, eight cards of 200G
        return (
            "validated" if large and (cluster.nics, cluster.nic_gbps) == (8, 200) else "unvalidated"
        )
    in_table = (
        TABLE_NODES[0] <= cluster.nodes <= TABLE_NODES[1]
        and TABLE_BYTES[0] <= size <= TABLE_BYTES[1]
        and (cluster.gpu.name, cluster.nics, cluster.nic_gbps) == ("H100", 8, 400)
        and cluster.cpu not in OVERHEAD_US  # it was held to the table without the overhead
    )
    return "validated" if in_table else "unvalidated"


def predict(collective: Collective, algorithm: str, cluster: Cluster, size: int) -> Prediction:
    """One operation over `size` bytes, as nccl-tests count them."""
    most = bound(algorithm, cluster)
    wait = latency(collective, algorithm, cluster)
    share = times()[algorithm].share if algorithm in times() else 1.0
    busy = factor(collective, cluster.ranks) * size / (1000 * most.bus * share)
    large = wait is not None and busy >= LARGE * wait
    bus = low = high = spent = None
    if wait is not None and size >= SMALLEST:
        spent = (wait + busy) / REACHED
        bus = factor(collective, cluster.ranks) * size / (1000 * spent)
        low, high = (1 - MIDDLE) * bus, min((1 + MIDDLE) * bus, most.ceiling)
        if large:
            low, high = min(bus, LOW * most.bus * share), min(HIGH * most.bus, most.ceiling)
    basis = _basis(collective, algorithm, cluster, size, large=large)
    return Prediction(
        *(collective, algorithm, cluster.nodes, size, bus, low, high),
        *(most.ceiling, most.binding, basis, spent),
    )
