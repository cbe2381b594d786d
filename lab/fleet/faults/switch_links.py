"""Links of a fabric: settings of their two ends, cables, neighbours, routes."""

from lab.fleet.faults.switch_change import (
    both_deaf,
    bounce,
    cut,
    deaf,
    foreign_uplink,
    hears_another,
    host_card,
    next_leaf,
    next_rail,
    other_plane,
    own_uplink,
    port,
    swapped,
)
from lab.fleet.faults.switch_fault import FabricFault

BOTH = ("XHP-02 {end}", "XHP-02 {peer}")

FABRIC_FAULTS = (
    FabricFault(
        name="switch_fec_other",
        rule="XHP-02",
        at=("leaf_down", "leaf_up", "spine_down"),
        systems=("sonic", "cumulus", "eos"),  # Onyx tells what is asked for, not what is in force
        both_ends=True,
        change=port(fec="fc", fec_asked="fc"),
        # No site says which error correction it wants: peers tell, or nobody.
        expects=("XHP-02 {end}",),
        by_cohort=("XHP-02 {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="host_fec_other",
        rule="XHP-02",
        at=("host",),
        systems=("sonic", "cumulus", "eos"),
        change=host_card({"link.fec_active": "BaseR", "link.fec_configured": ("BaseR",)}),
        expects=("XHP-02 {end}",),
        implies=("FLT-01 {host}",),
        by_cohort=("XHP-02 {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="other_speed_asked",
        rule="XHP-02",
        at=("leaf_up", "spine_down"),  # ends that negotiate ask for none
        systems=("sonic",),
        both_ends=True,
        change=port(speed_asked_mbps=100_000),
        expects=("XHP-02 {end}",),
        by_cohort=("XHP-02 {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="does_not_negotiate",
        rule="XHP-02",
        at=("leaf_down",),
        change=port(autonegotiation=False),
        expects=("XHP-02 {end}",),
        by_cohort=("XHP-02 {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="switch_mtu_small",
        rule="MTU-04",
        at=("leaf_down",),
        change=port(mtu=1500),
        expects=("MTU-04 {end}",),
        by_cohort=("MTU-04 {end}",),
        by_nobody=("MTU-04 {end}", "MTU-04 {peer}"),
    ),
    FabricFault(
        name="fabric_mtu_small",
        rule="MTU-05",
        at=("leaf_up", "spine_down"),
        change=port(mtu=4000),
        expects=("MTU-05 {end}",),
        # What most compute ports have is what the fabric must carry.
        by_cohort=("MTU-05 {end}",),
        by_nobody=("MTU-05 {end}",),
    ),
    FabricFault(
        name="rails_swapped",
        rule="TOP-01",
        at=("host",),
        change=swapped(next_rail),
        second=next_rail,
        # TOP-02 too, which is implied. Without a plan only a preview rule has a guess.
        expects=("TOP-01 {end}", "TOP-01 {second}"),
    ),
    FabricFault(
        name="planes_swapped",
        rule="TOP-04",
        at=("host",),
        change=swapped(other_plane),
        second=other_plane,
        expects=("TOP-04 {end}", "TOP-04 {second}"),
    ),
    FabricFault(
        name="uplink_down",
        rule="TOP-02",
        at=("leaf_up",),
        change=cut,
        # The leaf has an uplink less than its peers, and less speed upwards than it was built for.
        expects=("TOP-02 {end}",),
        implies=("TOP-05 {switch}", "TOP-06 {switch}"),
        by_cohort=("TOP-05 {switch}",),
    ),
    FabricFault(
        name="uplinks_swapped",
        rule="TOP-02",
        at=("leaf_up",),
        change=swapped(own_uplink),
        second=own_uplink,
        # Every spine still has as many: without a plan nothing can be told.
        expects=("TOP-02 {end}", "TOP-02 {second}"),
    ),
    FabricFault(
        name="uplinks_of_two_leaves_swapped",
        rule="TOP-02",
        at=("leaf_up",),
        change=swapped(foreign_uplink),
        second=foreign_uplink,
        # Both leaves now have one spine more often than another.
        expects=("TOP-02 {end}", "TOP-02 {second}"),
        implies=("TOP-05 {switch}", "TOP-05 {second_switch}"),
        by_cohort=("TOP-05 {switch}", "TOP-05 {second_switch}"),
        by_nobody=("TOP-05 {switch}", "TOP-05 {second_switch}"),
    ),
    FabricFault(
        name="hears_nobody",
        rule="TOP-07",
        at=("leaf_down", "leaf_up", "spine_down"),
        change=deaf,
        # The other end still tells where the cable is, and that nobody answers.
        expects=("TOP-07 {peer}",),
        by_cohort=("TOP-07 {peer}",),
        by_nobody=("TOP-07 {peer}",),
    ),
    FabricFault(
        name="hears_another",
        rule="TOP-02",
        at=("leaf_up",),
        change=hears_another,
        # The plan is contradicted at one end; the two ends contradict each other.
        expects=("TOP-02 {end}", "TOP-07 {peer}"),
        by_cohort=("TOP-07 {end}", "TOP-07 {peer}"),
        by_nobody=("TOP-07 {end}", "TOP-07 {peer}"),
    ),
    FabricFault(
        name="nobody_hears",
        rule="TOP-02",
        at=("leaf_up",),
        change=both_deaf,
        # As if it were not there.
        expects=("TOP-02 {end}",),
        implies=("TOP-05 {switch}", "TOP-06 {switch}"),
        by_cohort=("TOP-05 {switch}",),
    ),
    FabricFault(
        name="packets_bounce",
        rule="TOP-08",
        at=("spine",),
        change=bounce,
        second=next_leaf,
        # The two leaves send up again what came down to them.
        expects=("TOP-08 {peer_switch}", "TOP-08 {second_peer_switch}"),
        by_cohort=("TOP-08 {peer_switch}", "TOP-08 {second_peer_switch}"),
        by_nobody=("TOP-08 {peer_switch}", "TOP-08 {second_peer_switch}"),
    ),
)
