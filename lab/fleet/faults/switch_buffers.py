"""Buffers of switch ports, the PFC watchdog, link-level pause, and what is counted."""

from collections.abc import Mapping
from typing import Any

from lab.fleet.fabric.setting import DATA_CLASS, Setting
from lab.fleet.faults.switch_change import counted, port, switch_field, untouched, worked_out
from lab.fleet.faults.switch_classes import ANY_PORT
from lab.fleet.faults.switch_fault import FabricFault


def _half(setting: Setting) -> Mapping[str, Any]:
    return {"headroom_bytes": (setting.headroom_bytes or 0) // 2}


FABRIC_FAULTS = (
    FabricFault(
        name="no_headroom",
        rule="SWQ-06",
        at=ANY_PORT,
        systems=("sonic",),
        change=port(headroom_bytes=0),
        # SWQ-13 too, which is implied.
        expects=("SWQ-06 {end}",),
        by_cohort=("SWQ-06 {end}",),
        by_nobody=("SWQ-06 {end}",),
    ),
    FabricFault(
        name="headroom_too_small",
        rule="SWQ-13",
        at=ANY_PORT,
        systems=("sonic",),
        change=worked_out(_half),
        expects=("SWQ-13 {end}",),
        by_cohort=("SWQ-13 {end}",),
        by_nobody=("SWQ-13 {end}",),
    ),
    FabricFault(
        name="told_a_short_cable",
        rule="SWQ-07",
        at=ANY_PORT,
        systems=("sonic",),
        # Headroom stays as it is: it was set by hand. The plan has 3 and 30 m; without one the
        # optics do not tell, and nothing is found.
        change=port(cable_m=1.0),
        expects=("SWQ-07 {end}",),
    ),
    FabricFault(
        name="egress_pool_small",
        rule="SWQ-11",
        at=("leaf", "spine"),
        systems=("sonic",),
        change=switch_field(egress_pool_bytes=100_000_000),
        expects=("SWQ-11 {switch}",),
        by_cohort=("SWQ-11 {switch}",),
        by_nobody=("SWQ-11 {switch}",),
    ),
    FabricFault(
        name="no_watchdog",
        rule="SWQ-08",
        at=ANY_PORT,
        systems=("sonic", "cumulus"),  # EOS has one for the whole switch, Onyx does not tell
        change=port(watchdog=()),
        expects=("SWQ-08 {end}",),
    ),
    FabricFault(
        name="watchdog_elsewhere",
        rule="SWQ-08",
        at=ANY_PORT,
        systems=("sonic",),
        change=port(watchdog=(4,)),
        # SWQ-14 too, which is implied; alone where the site does not ask for a watchdog.
        expects=("SWQ-08 {end}",),
        by_cohort=("SWQ-14 {end}",),
        by_nobody=("SWQ-14 {end}",),
    ),
    FabricFault(
        name="switch_global_pause",
        rule="SWQ-17",
        at=ANY_PORT,
        systems=("eos", "onyx"),
        change=port(pause_rx=True, pause_tx=True),
        expects=("SWQ-17 {end}",),
        by_cohort=("SWQ-17 {end}",),
        by_nobody=("SWQ-17 {end}",),
    ),
    FabricFault(
        name="storms",
        rule="SWQ-09",
        at=ANY_PORT,
        systems=("sonic", "cumulus", "eos"),
        change=counted(**{f"queue_storms_{DATA_CLASS}": 3}),
        before=counted(**{f"queue_storms_{DATA_CLASS}": 1}),
        expects=("SWQ-09 {end}",),
        by_cohort=("SWQ-09 {end}",),
        by_nobody=("SWQ-09 {end}",),
    ),
    FabricFault(
        name="drops_of_data",
        rule="SWQ-10",
        at=ANY_PORT,
        systems=("sonic", "cumulus", "eos"),
        change=counted(**{f"queue_drops_{DATA_CLASS}": 77_120}),
        before=untouched,
        expects=("SWQ-10 {end}",),
        by_cohort=("SWQ-10 {end}",),
        by_nobody=("SWQ-10 {end}",),
    ),
)
