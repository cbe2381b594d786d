"""Published measurements that ceilings are held to."""

from dataclasses import dataclass
from typing import Literal

from railwright.hardware.data import NotDocumented, Row, load_rows


@dataclass(frozen=True, kw_only=True)
class Measurement(Row):
    """One figure of perftest."""

    link_layer: Literal["Ethernet", "InfiniBand"]
    bound_by: Literal["port", "PCIe"]
    rate_gbps: float
    mtu: int
    test: Literal["write", "read", "send"]
    seen_gbps: float
    gts: float | NotDocumented
    width: int | NotDocumented


def measurements() -> dict[str, Measurement]:
    """All of them, by name."""
    return load_rows(Measurement, "measurements.toml")
