"""Link modes: how a speed is carried, and which error correction it needs."""

from dataclasses import dataclass
from typing import Literal

from railwright.hardware.data import NotDocumented, Row, load_rows

Fec = Literal["none", "Firecode", "RS(528,514)", "RS(544,514)", "LL RS(272,257)"]


@dataclass(frozen=True, kw_only=True)
class LinkMode(Row):
    """One way to run a port, under the name that mlxlink or sysfs prints."""

    protocol: Literal["Ethernet", "InfiniBand"]
    gbps: float  # of the port, one direction
    lanes: int
    lane_gbps: float
    modulation: Literal["NRZ", "PAM4"] | NotDocumented
    fec: tuple[Fec, ...] | NotDocumented  # one of these must be agreed by both ends
    fec_required: bool | NotDocumented  # true: the link cannot run without


def link_modes() -> dict[str, LinkMode]:
    """Every link mode by name: 400G_4X, 4X NDR."""
    return load_rows(LinkMode, "link_modes.toml")
