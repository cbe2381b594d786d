"""Switches as vendors ship them: a file per system, a table per mode, a source for every value.

    switch_preset("cumulus", "lossless").port(model, wire)      the setting of a port

`as-wished` is no vendor's preset: it is what profile roce-lossless asks for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lab.fleet.fabric.hardware import SYSTEMS, SwitchModel
from lab.fleet.fabric.headroom import Wire, headroom
from lab.fleet.fabric.setting import (
    ALIKE,
    AT_RUN_TIME,
    USUAL_DSCP,
    Marking,
    Setting,
    Software,
)
from lab.fleet.presets.sourced import read

WISHED = "as-wished"
_VALUES = frozenset({
    "release", "model", "roce_mode", "qos", "trust", "trust_of_switch", "dscp", "dscp_rest", "pcp",
    "queues", "groups", "pfc", "lossless_groups", "watchdog", "watchdog_running", "marking",
    "schedulers", "cable_m", "mtu", "headroom", "headroom_bytes",
})  # fmt: skip
_STRICT = "strict"
_EIGHTS = "eights"


@dataclass(frozen=True)
class SwitchPreset:
    """One mode of one system; ports of a switch differ in speed and cable alone."""

    system: str
    name: str
    meaning: str
    software: Software
    model: str  # the switch that has it; '' = any of the system
    base: Setting  # without speed, lanes and cable
    cable_m: float | None  # None = as the shape says
    sources: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        """A preset is one of a kind."""
        return hash((self.system, self.name))

    @lru_cache(maxsize=512)  # noqa: B019 - presets are as many as their files say
    def port(self, model: SwitchModel, wire: Wire, *, to_host: bool, up: bool = True) -> Setting:
        """A port of a switch; optics between switches do not negotiate."""
        cable = wire.metres if self.cable_m is None else self.cable_m
        made = replace(
            self.base, speed_mbps=wire.mbps, lanes=wire.lanes, cable_m=cable,
            autonegotiation=to_host, up=up, admin_up=up,
        )  # fmt: skip
        if not model.spectrum or self.software.headroom not in ("by formula", AT_RUN_TIME):
            return made
        room = headroom(model.spectrum, wire._replace(metres=cable), made.mtu, shared=False)
        return replace(made, headroom_bytes=room.xoff, xon_bytes=room.xon, size_bytes=room.size)


def _numbers(text: str) -> range:
    """26, or 11-40."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _dscp_classes(values: Mapping[str, Any]) -> tuple[int, ...]:
    rest = values["dscp_rest"]
    found = list(USUAL_DSCP) if rest == _EIGHTS else [int(rest)] * len(USUAL_DSCP)
    for text, number in values.get("dscp", {}).items():
        for dscp in _numbers(text):
            found[dscp] = number
    return tuple(found)


def _marking(values: Mapping[str, Any]) -> dict[int, Marking]:
    if not values.get("queues"):
        return {}
    unit = "segments" if "minimum_segments" in values else "bytes"
    one = Marking(
        values[f"minimum_{unit}"], values[f"maximum_{unit}"], values["percent"],
        enabled=values.get("drops", True), unit=unit,
        colours=tuple(values.get("colours", ("green", "yellow", "red"))),
    )  # fmt: skip
    return dict.fromkeys(values["queues"], one)


def _base(values: Mapping[str, Any]) -> Setting:
    room: Mapping[str, int] = values.get("headroom_bytes", {})
    shares = {int(queue): 0 if share == _STRICT else share
              for queue, share in values["schedulers"].items()}  # fmt: skip
    return Setting(
        0, 0, 0.0, mtu=values["mtu"], trust=values["trust"], dscp_class=_dscp_classes(values),
        pcp_class=tuple(values.get("pcp", ALIKE)), class_queue=tuple(values.get("queues", ALIKE)),
        class_group=tuple(values["groups"]), pfc=tuple(values.get("pfc", ())),
        lossless_groups=tuple(values.get("lossless_groups", ())),
        watchdog=tuple(values.get("watchdog", ())),
        watchdog_running=values.get("watchdog_running", True),
        marking=_marking(values.get("marking", {})), schedulers=shares,
        headroom_bytes=room.get("xoff"), xon_bytes=room.get("xon", 0),
        size_bytes=room.get("size", 0),
    )  # fmt: skip


def _preset(system: str, name: str, values: Mapping[str, Any]) -> SwitchPreset:
    software = Software(
        values.get("release", ""), values.get("roce_mode", ""), values.get("qos", "loaded"),
        values.get("trust_of_switch", False), values["headroom"],
    )  # fmt: skip
    return SwitchPreset(
        system, name, values["meaning"], software, values.get("model", ""), _base(values),
        values.get("cable_m"), values["sources"],
    )  # fmt: skip


@cache
def switch_presets() -> dict[tuple[str, str], SwitchPreset]:
    """All, by system and name."""
    folder = Path(__file__).parent
    return {
        (system, name): _preset(system, name, values)
        for system in (*SYSTEMS, "strangers")
        for name, values in read(folder / f"{system}.toml", _VALUES).items()
    }


def switch_preset(system: str, name: str = WISHED) -> SwitchPreset:
    """One of them."""
    return switch_presets()[system, name]
