"""Classes of packets on switches: PFC, trust, maps, marking, notifications."""

from lab.fleet.fabric.plan import STORAGE_DSCP
from lab.fleet.fabric.setting import CNP_CLASS, CNP_DSCP, DATA_CLASS, DATA_DSCP
from lab.fleet.faults.switch_change import (
    dscp,
    host_card,
    marking,
    port,
    whole_switch,
)
from lab.fleet.faults.switch_fault import FabricFault

ANY_PORT = ("leaf_down", "leaf_up", "spine_down")
# Where the site says nothing, two ends that differ are all that is known.
ODD_ONE = ("link-lossless-differs {end}",)
EITHER = ("link-lossless-differs {end}", "link-lossless-differs {peer}")

_NO_PFC = (False,) * 8

FABRIC_FAULTS = (
    FabricFault(
        name="switch_pfc_off",
        rule="switch-pfc-mismatch",
        at=ANY_PORT,
        change=port(pfc=(), watchdog=()),
        expects=("switch-pfc-mismatch {end}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="switch_pfc_other",
        rule="switch-pfc-mismatch",
        at=ANY_PORT,
        # Onyx has one list of priorities for all ports.
        systems=("sonic", "cumulus", "eos"),
        # With a buffer of its own there, as whoever did it would have set it up.
        change=port(
            pfc=(4,), watchdog=(4,), lossless_groups=(4,), class_group=(0, 0, 0, 0, 4, 0, 0, 0)
        ),
        expects=("switch-pfc-mismatch {end}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="host_pfc_off",
        rule="intent-pfc",
        at=("host",),
        change=host_card({"qos.pfc": _NO_PFC}),
        expects=("intent-pfc {host_port}",),
        implies=("host-config-differs {host}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="host_trust_pcp",
        rule="intent-trust",
        at=("host",),
        change=host_card({"qos.trust": "pcp"}),
        expects=("intent-trust {host_port}",),
        implies=("host-config-differs {host}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="switch_trust_pcp",
        rule="switch-data-class",
        at=ANY_PORT,
        systems=("sonic", "onyx", "eos"),  # of Cumulus a single port's trust is not read
        change=port(trust="pcp"),
        # It does not go by DSCP, and so gives data no class, unlike its peers.
        expects=("switch-data-class {end}",),
        implies=("switch-cnp-class {end}",),
        by_cohort=("switch-data-class {end}",),
        by_nobody=EITHER,
    ),
    FabricFault(
        name="data_in_best_effort",
        rule="switch-data-class",
        at=("leaf", "spine"),
        change=whole_switch(dscp(DATA_DSCP, 0)),
        expects=("switch-data-class {ends}",),
        by_cohort=("switch-data-class {ends}",),
    ),
    FabricFault(
        name="notifications_in_best_effort",
        rule="switch-cnp-class",
        at=("leaf", "spine"),
        change=whole_switch(dscp(CNP_DSCP, 0)),
        expects=("switch-cnp-class {ends}",),
        implies=("switch-cnp-queue {ends}",),
        by_cohort=("switch-cnp-class {ends}",),
    ),
    FabricFault(
        name="no_marks",
        rule="switch-ecn-off",
        at=ANY_PORT,
        change=port(marking={}),
        expects=("switch-ecn-off {end}",),
    ),
    FabricFault(
        name="marks_not_enabled",
        rule="switch-ecn-profile-idle",
        at=ANY_PORT,
        systems=("sonic",),
        change=marking(enabled=False),
        expects=("switch-ecn-profile-idle {end}",),
        by_cohort=("switch-ecn-profile-idle {end}",),
        by_nobody=("switch-ecn-profile-idle {end}",),
    ),
    FabricFault(
        name="drops_early",
        rule="switch-early-drop",
        at=ANY_PORT,
        systems=("sonic", "eos"),
        change=marking(ecn=False),
        expects=("switch-early-drop {end}",),
        # Nor does it mark, which is a fault where the site wants marks.
        implies=("switch-ecn-off {end}",),
        by_cohort=("switch-early-drop {end}",),
        by_nobody=("switch-early-drop {end}",),
    ),
    FabricFault(
        name="marks_after_pause",
        rule="switch-ecn-after-pfc",
        at=ANY_PORT,
        systems=("sonic",),
        # Marking begins at 1,000,000 bytes.
        change=port(pause_threshold_bytes=500_000),
        expects=("switch-ecn-after-pfc {end}",),
        by_cohort=("switch-ecn-after-pfc {end}",),
        by_nobody=("switch-ecn-after-pfc {end}",),
    ),
    FabricFault(
        name="notifications_lossless",
        rule="switch-cnp-queue",
        at=ANY_PORT,
        systems=("sonic",),
        change=port(
            pfc=(DATA_CLASS, CNP_CLASS),
            watchdog=(DATA_CLASS, CNP_CLASS),
            lossless_groups=(DATA_CLASS, CNP_CLASS),
            class_group=(0, 0, 0, DATA_CLASS, 0, 0, CNP_CLASS, 0),
        ),
        expects=("switch-cnp-queue {end}",),
        # A lossless priority more than the site wants is mere information.
        implies=("switch-pfc-mismatch {end}",),
        # Data is lossless at both ends: only that the port is unlike its kind can be told.
        by_cohort=ODD_ONE,
    ),
    FabricFault(
        name="notifications_not_strict",
        rule="switch-cnp-queue",
        at=ANY_PORT,
        # A weighted queue is a vendor's way: it is one because most of its kind are strict.
        by_majority=True,
        change=port(schedulers={0: 50, DATA_CLASS: 50, CNP_CLASS: 20}),
        expects=("switch-cnp-queue {end}",),
    ),
    FabricFault(
        name="storage_with_data",
        rule="switch-storage-class-mixed",
        at=("leaf", "spine"),
        change=whole_switch(dscp(STORAGE_DSCP, DATA_CLASS)),
        site="storage",
        by_majority=True,
        expects=("switch-storage-class-mixed {ends}",),
    ),
)
