"""What collective operations are planned with."""

from dataclasses import dataclass
from typing import Literal

from railwright.hardware.data import Row, load_rows


@dataclass(frozen=True, kw_only=True)
class Gpu(Row):
    """A GPU as one of several on NVLink."""

    generation: Literal["Ampere", "Hopper", "Blackwell"]
    nvlink_gbytes: float  # GB/s, one direction
    nvls_gbytes: float  # bus bandwidth of all-reduce by NVLink SHARP; 0 = it has none
    nvls_most_gbytes: float  # the most that was published of it
    nvlink_domain: int = 0  # GPUs that NVLink connects across nodes; 0 = those of one node


@dataclass(frozen=True, kw_only=True)
class Nic(Row):
    """A card of a rate, as NCCL uses it."""

    rate_gbps: float
    gbytes: float


@dataclass(frozen=True, kw_only=True)
class Times(Row):
    """Of an algorithm."""

    base_us: float
    intra_us: float
    inter_us: float
    share: float  # of the bus bandwidth that is left


def gpus() -> dict[str, Gpu]:
    """By name."""
    return load_rows(Gpu, "collectives.toml")


def nics() -> dict[float, Nic]:
    """By rate in Gb/s."""
    return {row.rate_gbps: row for row in load_rows(Nic, "collective_nics.toml").values()}


def times() -> dict[str, Times]:
    """By algorithm."""
    return load_rows(Times, "collective_times.toml")
