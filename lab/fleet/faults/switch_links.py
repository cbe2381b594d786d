"""Links of a fabric: settings of their two ends, cables, neighbors, routes."""

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

BOTH = ("link-settings-differ {end}", "link-settings-differ {peer}")

FABRIC_FAULTS = (
    FabricFault(
        name="switch_fec_other",
        rule="link-settings-differ",
        at=("leaf_down", "leaf_up", "spine_down"),
        systems=("sonic", "cumulus", "eos"),  # Onyx tells what is asked for, not what is in force
        both_ends=True,
        change=port(fec="fc", fec_asked="fc"),
        # No site says which error correction it wants: peers tell, or nobody.
        expects=("link-settings-differ {end}",),
        by_cohort=("link-settings-differ {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="host_fec_other",
        rule="link-settings-differ",
        at=("host",),
        systems=("sonic", "cumulus", "eos"),
        change=host_card({"link.fec_active": "BaseR", "link.fec_configured": ("BaseR",)}),
        expects=("link-settings-differ {end}",),
        implies=("host-config-differs {host}",),
        by_cohort=("link-settings-differ {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="other_speed_asked",
        rule="link-settings-differ",
        at=("leaf_up", "spine_down"),  # ends that negotiate ask for none
        systems=("sonic",),
        both_ends=True,
        change=port(speed_asked_mbps=100_000),
        expects=("link-settings-differ {end}",),
        by_cohort=("link-settings-differ {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="does_not_negotiate",
        rule="link-settings-differ",
        at=("leaf_down",),
        change=port(autonegotiation=False),
        expects=("link-settings-differ {end}",),
        by_cohort=("link-settings-differ {end}",),
        by_nobody=BOTH,
    ),
    FabricFault(
        name="switch_mtu_small",
        rule="host-mtu-above-switch",
        at=("leaf_down",),
        change=port(mtu=1500),
        expects=("host-mtu-above-switch {end}",),
        by_cohort=("host-mtu-above-switch {end}",),
        by_nobody=("host-mtu-above-switch {end}", "host-mtu-above-switch {peer}"),
    ),
    FabricFault(
        name="fabric_mtu_small",
        rule="fabric-mtu-small",
        at=("leaf_up", "spine_down"),
        change=port(mtu=4000),
        expects=("fabric-mtu-small {end}",),
        # What most compute ports have is what the fabric must carry.
        by_cohort=("fabric-mtu-small {end}",),
        by_nobody=("fabric-mtu-small {end}",),
    ),
    FabricFault(
        name="rails_swapped",
        rule="cable-wrong-rail",
        at=("host",),
        change=swapped(next_rail),
        second=next_rail,
        # cable-unlike-plan too, which is implied. Without a plan only a preview rule has a guess.
        expects=("cable-wrong-rail {end}", "cable-wrong-rail {second}"),
    ),
    FabricFault(
        name="planes_swapped",
        rule="cable-wrong-plane",
        at=("host",),
        change=swapped(other_plane),
        second=other_plane,
        expects=("cable-wrong-plane {end}", "cable-wrong-plane {second}"),
    ),
    FabricFault(
        name="uplink_down",
        rule="cable-unlike-plan",
        at=("leaf_up",),
        change=cut,
        # The leaf has an uplink less than its peers, and less speed upwards than it was built for.
        expects=("cable-unlike-plan {end}",),
        implies=("uplinks-missing {switch}", "leaf-oversubscribed {switch}"),
        by_cohort=("uplinks-missing {switch}",),
    ),
    FabricFault(
        name="uplinks_swapped",
        rule="cable-unlike-plan",
        at=("leaf_up",),
        change=swapped(own_uplink),
        second=own_uplink,
        # Every spine still has as many: without a plan nothing can be told.
        expects=("cable-unlike-plan {end}", "cable-unlike-plan {second}"),
    ),
    FabricFault(
        name="uplinks_of_two_leaves_swapped",
        rule="cable-unlike-plan",
        at=("leaf_up",),
        change=swapped(foreign_uplink),
        second=foreign_uplink,
        # Both leaves now have one spine more often than another.
        expects=("cable-unlike-plan {end}", "cable-unlike-plan {second}"),
        implies=("uplinks-missing {switch}", "uplinks-missing {second_switch}"),
        by_cohort=("uplinks-missing {switch}", "uplinks-missing {second_switch}"),
        by_nobody=("uplinks-missing {switch}", "uplinks-missing {second_switch}"),
    ),
    FabricFault(
        name="hears_nobody",
        rule="neighbors-disagree",
        at=("leaf_down", "leaf_up", "spine_down"),
        change=deaf,
        # The other end still tells where the cable is, and that nobody answers.
        expects=("neighbors-disagree {peer}",),
        by_cohort=("neighbors-disagree {peer}",),
        by_nobody=("neighbors-disagree {peer}",),
    ),
    FabricFault(
        name="hears_another",
        rule="cable-unlike-plan",
        at=("leaf_up",),
        change=hears_another,
        # The plan is contradicted at one end; the two ends contradict each other.
        expects=("cable-unlike-plan {end}", "neighbors-disagree {peer}"),
        by_cohort=("neighbors-disagree {end}", "neighbors-disagree {peer}"),
        by_nobody=("neighbors-disagree {end}", "neighbors-disagree {peer}"),
    ),
    FabricFault(
        name="nobody_hears",
        rule="cable-unlike-plan",
        at=("leaf_up",),
        change=both_deaf,
        # As if it were not there.
        expects=("cable-unlike-plan {end}",),
        implies=("uplinks-missing {switch}", "leaf-oversubscribed {switch}"),
        by_cohort=("uplinks-missing {switch}",),
    ),
    FabricFault(
        name="packets_bounce",
        rule="pfc-deadlock-possible",
        at=("spine",),
        change=bounce,
        second=next_leaf,
        # The two leaves send up again what came down to them.
        expects=(
            "pfc-deadlock-possible {peer_switch}",
            "pfc-deadlock-possible {second_peer_switch}",
        ),
        by_cohort=(
            "pfc-deadlock-possible {peer_switch}",
            "pfc-deadlock-possible {second_peer_switch}",
        ),
        by_nobody=(
            "pfc-deadlock-possible {peer_switch}",
            "pfc-deadlock-possible {second_peer_switch}",
        ),
    ),
)
