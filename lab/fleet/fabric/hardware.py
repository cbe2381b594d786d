"""Switches as data: cages, lanes and how each system calls the ports that they are split into."""

from dataclasses import dataclass
from functools import lru_cache

SYSTEMS = ("sonic", "cumulus", "eos", "onyx")
# What a cage that is split in so many is called behind its number, SONiC and Cumulus.
_LETTERS = "abcdefgh"


@dataclass(frozen=True)
class SwitchModel:
    """A switch that can be bought."""

    name: str
    cages: int
    lanes: int  # of a cage
    lane_gbps: int
    spectrum: int  # generation of NVIDIA's chip; 0 = another maker's
    systems: tuple[str, ...]
    source: str
    # What SONiC calls it.
    sku: str = ""
    platform: str = ""

    @property
    def all_lanes(self) -> int:
        """Lanes of the whole switch."""
        return self.cages * self.lanes

    def cage_mbps(self) -> int:
        """What one cage can carry."""
        return self.lanes * self.lane_gbps * 1000


SWITCH_MODELS = {
    model.name: model
    for model in (
        SwitchModel(
            "SN5600", 64, 8, 100, 4, ("sonic", "cumulus"),
            "reference B12: 64 x 800, 128 x 400 or 256 x 200 in OSFP, lanes of 100G",
            "Mellanox-SN5600-V256", "x86_64-nvidia_sn5600-r0",
        ),
        SwitchModel(
            "SN5400", 64, 8, 50, 4, ("sonic", "cumulus"),
            "reference B12: 64 x 400 in QSFP-DD, lanes of 50G",
            "Mellanox-SN5400-V128", "x86_64-nvidia_sn5400-r0",
        ),
        SwitchModel(
            "SN3700", 32, 4, 50, 2, ("sonic", "cumulus", "onyx"),
            "reference B12: 32 x 200; QSFP56 has four lanes",
            "Mellanox-SN3700-D48C8", "x86_64-mlnx_msn3700-r0",
        ),
        SwitchModel(
            "DCS-7060X6-64PE", 64, 8, 100, 0, ("eos", "sonic"),
            "judgement: Arista's 7060X6, 64 OSFP cages of 800G; the samples have ports 1/1 and 1/5",
            "Arista-7060X6-64PE-O128S2", "x86_64-arista_7060x6_64pe",
        ),
        SwitchModel(
            "Z9864F-ON", 64, 8, 100, 0, ("sonic",),
            "judgement: Dell's Tomahawk 5, 64 OSFP cages of 800G",
            "DellEMC-Z9864f-O64", "x86_64-dellemc_z9864f_o64-r0",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class PortName:
    """A port as its system calls it, and the lanes that it takes."""

    name: str
    alias: str  # SONiC only
    announced: str  # port id in its LLDP messages
    description: str  # port description in them
    cage: int  # from 1
    lanes: tuple[int, ...]  # numbers on the switch, from 0

    @property
    def width(self) -> int:
        """How many lanes."""
        return len(self.lanes)


def _port(system: str, model: SwitchModel, cage: int, part: int, parts: int) -> PortName:
    width = model.lanes // parts
    first = (cage - 1) * model.lanes + part * width
    lanes = tuple(range(first, first + width))
    if system == "sonic":
        alias = f"etp{cage}{_LETTERS[part] if parts > 1 else ''}"
        return PortName(f"Ethernet{first}", alias, alias, f"Ethernet{first}", cage, lanes)
    if system == "cumulus":
        name = f"swp{cage}s{part}" if parts > 1 else f"swp{cage}"
        return PortName(name, "", name, name, cage, lanes)
    if system == "eos":
        name = f"Ethernet{cage}/{part * width + 1}"
        return PortName(name, "", name, "", cage, lanes)
    name = f"Eth1/{cage}/{part + 1}" if parts > 1 else f"Eth1/{cage}"
    return PortName(name, "", name, "", cage, lanes)


def ports_per_cage(model: SwitchModel, speed_mbps: int, lanes: int) -> int:
    """In how many ports of a speed and width a cage is split; 0 = it cannot carry one."""
    fits = lanes <= model.lanes and model.lanes % lanes == 0
    return model.lanes // lanes if fits and lanes * model.lane_gbps * 1000 >= speed_mbps else 0


@lru_cache(maxsize=256)
def layout(system: str, model: SwitchModel, parts: tuple[int, ...]) -> tuple[PortName, ...]:
    """The ports of a switch whose cages are split in so many parts each, in order."""
    if system not in model.systems:
        raise ValueError(f"{system} does not run on {model.name}")
    if len(parts) > model.cages:
        raise ValueError(f"{model.name} has {model.cages} cages, not {len(parts)}")
    return tuple(
        _port(system, model, cage, part, count)
        for cage, count in enumerate(parts, 1)
        for part in range(count)
    )
