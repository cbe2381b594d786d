"""Which chip is in a switch: the one list of models."""

from dataclasses import dataclass
from typing import Literal

from railwright.errors import RailwrightError
from railwright.hardware.data import Row, load_rows


@dataclass(frozen=True, kw_only=True)
class Asic(Row):
    """A chip, and the models of switches that it is in."""

    protocol: Literal["Ethernet", "InfiniBand"]
    generation: int
    models: tuple[str, ...]


def asics() -> dict[str, Asic]:
    """By name."""
    return load_rows(Asic, "switch_asics.toml")


def asic_of(model: str) -> str:
    """The chip of a model; what stands behind a model's number changes nothing."""
    for asic in asics().values():
        if model.startswith(asic.models):
            return asic.name
    raise RailwrightError(f"switch_asics.toml has no chip for {model}")


def spectrum() -> dict[int, tuple[str, ...]]:
    """The models of each generation of Spectrum."""
    rows = [one for one in asics().values() if one.protocol == "Ethernet"]
    return {one.generation: one.models for one in rows}
