"""Adapters, switches, cables and what else one buys: the kinds of rows, and where they are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from railwright.hardware.data import NotDocumented, Row, load_rows
from railwright.hardware.interconnects import Interconnect
from railwright.hardware.link_modes import link_modes
from railwright.hardware.measurements import measurements
from railwright.hardware.pcie import Generation
from railwright.hardware.switch_asics import asic_of, asics

Protocol = Literal["Ethernet", "InfiniBand"]
Plug = Literal[
    "OSFP",
    "twin-port OSFP (finned top)",
    "twin-port OSFP (flat top)",
    "QSFP-DD",
    "QSFP112",
    "QSFP56",
    "QSFP28",
    "SFP56",
    "SFP28",
]


@dataclass(frozen=True, kw_only=True)
class Cage(Row):
    """What a plug goes into."""

    accepts: tuple[Plug, ...] | NotDocumented
    used_by: Literal["adapter", "switch", "adapter or switch"]


@dataclass(frozen=True, kw_only=True)
class Adapter(Row):
    """A network adapter, by its ordering number."""

    family: str
    psid: str | NotDocumented
    form: Literal["PCIe", "OCP 3.0"]
    ports: int
    cage: str
    lanes: int | NotDocumented  # of each port
    lane_gbps: tuple[float, ...] | NotDocumented
    ethernet_gbps: tuple[float, ...]  # () = no Ethernet
    infiniband: tuple[str, ...]  # link modes; () = no InfiniBand
    pcie_generation: int | NotDocumented
    pcie_width: int
    second: Literal["none", "extension", "same slot"]  # another PCIe interface (Socket Direct)
    second_generation: int | NotDocumented
    second_width: int
    crypto: bool | NotDocumented
    power_w: float | NotDocumented
    airflow_lfm: float | NotDocumented
    external_power: Literal["none", "8-pin ATX"] | NotDocumented
    module_w: float | NotDocumented  # what a cage can feed
    called: str = ""  # the short name that several ordering numbers share: B3140H
    also: str = ""  # other ordering numbers of the same card, with blanks between
    most_gbps: float = 0  # of all ports together; 0 = as much as they come to

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """What its ports can speak."""
        spoken: dict[Protocol, bool] = {
            "Ethernet": bool(self.ethernet_gbps),
            "InfiniBand": bool(self.infiniband),
        }
        return tuple(name for name, is_spoken in spoken.items() if is_spoken)


@dataclass(frozen=True, kw_only=True)
class Switch(Row):
    """A switch, by its model."""

    protocol: Protocol
    cages: int | NotDocumented
    cage: str | NotDocumented
    lanes: int | NotDocumented  # of each cage
    lane_gbps: tuple[float, ...] | NotDocumented
    ethernet_gbps: tuple[float, ...]
    infiniband: tuple[str, ...] | NotDocumented
    splits: tuple[int, ...] | NotDocumented
    module_w: float | NotDocumented
    unsure: tuple[str, ...] = ()  # link modes of which no document says whether it runs them
    asic: str = ""  # filled in from the list of chips


@dataclass(frozen=True, kw_only=True)
class Cable(Row):
    """What is between a switch's cage and an adapter's, plugs included."""

    kind: Literal["passive copper", "active copper", "optical"]
    switch_plug: Plug
    adapter_plug: Plug
    legs: int
    lanes: int  # of each leg
    lane_gbps: tuple[float, ...]
    protocols: tuple[Protocol, ...]
    reach_m: float | NotDocumented
    switch_w: float | NotDocumented
    adapter_w: float | NotDocumented


Fibres = Literal["multimode", "single mode"]


@dataclass(frozen=True, kw_only=True)
class Transceiver(Row):
    """An optical module."""

    plug: Plug
    engines: int
    lanes: int  # of each engine
    lane_gbps: float
    fibre: Fibres
    protocols: tuple[Protocol, ...]
    reach_m: float
    watts: float | NotDocumented


@dataclass(frozen=True, kw_only=True)
class Fibre(Row):
    """A fibre cable between two modules."""

    fibre: Fibres
    ways: int


def cages() -> dict[str, Cage]:
    """By name."""
    return load_rows(Cage, "cages.toml")


def adapters() -> dict[str, Adapter]:
    """By ordering number."""
    kinds = ("connectx", "supernic", "bluefield", "others")
    files = [f"adapters_{kind}.toml" for kind in kinds]
    return {name: row for file in files for name, row in load_rows(Adapter, file).items()}


@cache
def switches() -> dict[str, Switch]:
    """By model."""
    rows = load_rows(Switch, "switches.toml")
    return {name: replace(row, asic=asic_of(name)) for name, row in rows.items()}


def cables() -> dict[str, Cable]:
    """By the part number's beginning."""
    return load_rows(Cable, "cables.toml")


def transceivers() -> dict[str, Transceiver]:
    """By the part number's beginning."""
    return load_rows(Transceiver, "transceivers.toml")


def fibres() -> dict[str, Fibre]:
    """By the part number's beginning."""
    return load_rows(Fibre, "fibres.toml")


def catalogue() -> Mapping[str, Mapping[str, Row]]:
    """All that `railwright hardware` lists, by kind."""
    return {
        "adapter": adapters(),
        "switch": switches(),
        "switch chip": asics(),
        "cage": cages(),
        "cable": cables(),
        "transceiver": transceivers(),
        "fibre": fibres(),
        "link mode": link_modes(),
        "PCIe generation": load_rows(Generation, "pcie_generations.toml"),
        "socket interconnect": load_rows(Interconnect, "interconnects.toml"),
        "measurement": measurements(),
    }
