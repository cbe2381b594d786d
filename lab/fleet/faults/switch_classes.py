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
ODD_ONE = ("XHP-01 {end}",)
EITHER = ("XHP-01 {end}", "XHP-01 {peer}")

_NO_PFC = (False,) * 8

FABRIC_FAULTS = (
    FabricFault(
        name="switch_pfc_off",
        rule="SWQ-01",
        at=ANY_PORT,
        change=port(pfc=(), watchdog=()),
        expects=("SWQ-01 {end}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="switch_pfc_other",
        rule="SWQ-01",
        at=ANY_PORT,
        # Onyx has one list of priorities for all ports.
        systems=("sonic", "cumulus", "eos"),
        # With a buffer of its own there, as whoever did it would have set it up.
        change=port(
            pfc=(4,), watchdog=(4,), lossless_groups=(4,), class_group=(0, 0, 0, 0, 4, 0, 0, 0)
        ),
        expects=("SWQ-01 {end}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="host_pfc_off",
        rule="INTENT.pfc",
        at=("host",),
        change=host_card({"qos.pfc": _NO_PFC}),
        expects=("INTENT.pfc {host_port}",),
        implies=("FLT-01 {host}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="host_trust_pcp",
        rule="INTENT.trust",
        at=("host",),
        change=host_card({"qos.trust": "pcp"}),
        expects=("INTENT.trust {host_port}",),
        implies=("FLT-01 {host}",),
        by_cohort=ODD_ONE,
        by_nobody=EITHER,
    ),
    FabricFault(
        name="switch_trust_pcp",
        rule="SWQ-02",
        at=ANY_PORT,
        systems=("sonic", "onyx", "eos"),  # of Cumulus a single port's trust is not read
        change=port(trust="pcp"),
        # It does not go by DSCP, and so gives data no class, unlike its peers.
        expects=("SWQ-02 {end}",),
        implies=("SWQ-19 {end}",),
        by_cohort=("SWQ-02 {end}",),
        by_nobody=EITHER,
    ),
    FabricFault(
        name="data_in_best_effort",
        rule="SWQ-02",
        at=("leaf", "spine"),
        change=whole_switch(dscp(DATA_DSCP, 0)),
        expects=("SWQ-02 {ends}",),
        by_cohort=("SWQ-02 {ends}",),
    ),
    FabricFault(
        name="notifications_in_best_effort",
        rule="SWQ-19",
        at=("leaf", "spine"),
        change=whole_switch(dscp(CNP_DSCP, 0)),
        expects=("SWQ-19 {ends}",),
        implies=("SWQ-15 {ends}",),
        by_cohort=("SWQ-19 {ends}",),
    ),
    FabricFault(
        name="no_marks",
        rule="SWQ-03",
        at=ANY_PORT,
        change=port(marking={}),
        expects=("SWQ-03 {end}",),
    ),
    FabricFault(
        name="marks_not_enabled",
        rule="SWQ-04",
        at=ANY_PORT,
        systems=("sonic",),
        change=marking(enabled=False),
        expects=("SWQ-04 {end}",),
        by_cohort=("SWQ-04 {end}",),
        by_nobody=("SWQ-04 {end}",),
    ),
    FabricFault(
        name="drops_early",
        rule="SWQ-18",
        at=ANY_PORT,
        systems=("sonic", "eos"),
        change=marking(ecn=False),
        expects=("SWQ-18 {end}",),
        # Nor does it mark, which is a fault where the site wants marks.
        implies=("SWQ-03 {end}",),
        by_cohort=("SWQ-18 {end}",),
        by_nobody=("SWQ-18 {end}",),
    ),
    FabricFault(
        name="marks_after_pause",
        rule="SWQ-05",
        at=ANY_PORT,
        systems=("sonic",),
        # Marking begins at 1,000,000 bytes.
        change=port(pause_threshold_bytes=500_000),
        expects=("SWQ-05 {end}",),
        by_cohort=("SWQ-05 {end}",),
        by_nobody=("SWQ-05 {end}",),
    ),
    FabricFault(
        name="notifications_lossless",
        rule="SWQ-15",
        at=ANY_PORT,
        systems=("sonic",),
        change=port(
            pfc=(DATA_CLASS, CNP_CLASS),
            watchdog=(DATA_CLASS, CNP_CLASS),
            lossless_groups=(DATA_CLASS, CNP_CLASS),
            class_group=(0, 0, 0, DATA_CLASS, 0, 0, CNP_CLASS, 0),
        ),
        expects=("SWQ-15 {end}",),
        # A lossless priority more than the site wants is mere information.
        implies=("SWQ-01 {end}",),
        # Data is lossless at both ends: only that the port is unlike its kind can be told.
        by_cohort=ODD_ONE,
    ),
    FabricFault(
        name="notifications_not_strict",
        rule="SWQ-15",
        at=ANY_PORT,
        # A weighted queue is a vendor's way: it is one because most of its kind are strict.
        by_majority=True,
        change=port(schedulers={0: 50, DATA_CLASS: 50, CNP_CLASS: 20}),
        expects=("SWQ-15 {end}",),
    ),
    FabricFault(
        name="storage_with_data",
        rule="SWQ-16",
        at=("leaf", "spine"),
        change=whole_switch(dscp(STORAGE_DSCP, DATA_CLASS)),
        site="storage",
        by_majority=True,
        expects=("SWQ-16 {ends}",),
    ),
)
