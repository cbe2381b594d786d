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
        rule="switch-no-headroom",
        at=ANY_PORT,
        systems=("sonic",),
        change=port(headroom_bytes=0),
        # switch-headroom-small too, which is implied.
        expects=("switch-no-headroom {end}",),
        by_cohort=("switch-no-headroom {end}",),
        by_nobody=("switch-no-headroom {end}",),
    ),
    FabricFault(
        name="headroom_too_small",
        rule="switch-headroom-small",
        at=ANY_PORT,
        systems=("sonic",),
        change=worked_out(_half),
        expects=("switch-headroom-small {end}",),
        by_cohort=("switch-headroom-small {end}",),
        by_nobody=("switch-headroom-small {end}",),
    ),
    FabricFault(
        name="told_a_short_cable",
        rule="switch-cable-length",
        at=ANY_PORT,
        systems=("sonic",),
        # Headroom stays as it is: it was set by hand. The plan has 3 and 30 m; without one the
        # optics do not tell, and nothing is found.
        change=port(cable_m=1.0),
        expects=("switch-cable-length {end}",),
    ),
    FabricFault(
        name="egress_pool_small",
        rule="switch-egress-pool-small",
        at=("leaf", "spine"),
        systems=("sonic",),
        change=switch_field(egress_pool_bytes=100_000_000),
        expects=("switch-egress-pool-small {switch}",),
        by_cohort=("switch-egress-pool-small {switch}",),
        by_nobody=("switch-egress-pool-small {switch}",),
    ),
    FabricFault(
        name="no_watchdog",
        rule="switch-watchdog-missing",
        at=ANY_PORT,
        systems=("sonic", "cumulus"),  # EOS has one for the whole switch, Onyx does not tell
        change=port(watchdog=()),
        expects=("switch-watchdog-missing {end}",),
    ),
    FabricFault(
        name="watchdog_elsewhere",
        rule="switch-watchdog-missing",
        at=ANY_PORT,
        systems=("sonic",),
        change=port(watchdog=(4,)),
        # switch-watchdog-without-pfc too, which is implied; alone where the site asks for none.
        expects=("switch-watchdog-missing {end}",),
        by_cohort=("switch-watchdog-without-pfc {end}",),
        by_nobody=("switch-watchdog-without-pfc {end}",),
    ),
    FabricFault(
        name="switch_global_pause",
        rule="switch-global-pause",
        at=ANY_PORT,
        systems=("eos", "onyx"),
        change=port(pause_rx=True, pause_tx=True),
        expects=("switch-global-pause {end}",),
        by_cohort=("switch-global-pause {end}",),
        by_nobody=("switch-global-pause {end}",),
    ),
    FabricFault(
        name="storms",
        rule="switch-pause-storm",
        at=ANY_PORT,
        systems=("sonic", "cumulus", "eos"),
        change=counted(**{f"queue_storms_{DATA_CLASS}": 3}),
        before=counted(**{f"queue_storms_{DATA_CLASS}": 1}),
        expects=("switch-pause-storm {end}",),
        by_cohort=("switch-pause-storm {end}",),
        by_nobody=("switch-pause-storm {end}",),
    ),
    FabricFault(
        name="drops_of_data",
        rule="switch-drops-lossless",
        at=ANY_PORT,
        systems=("sonic", "cumulus", "eos"),
        change=counted(**{f"queue_drops_{DATA_CLASS}": 77_120}),
        before=untouched,
        expects=("switch-drops-lossless {end}",),
        by_cohort=("switch-drops-lossless {end}",),
        by_nobody=("switch-drops-lossless {end}",),
    ),
)
