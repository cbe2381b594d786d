"""Fabrics that tests and measurements are made on."""

from lab.fleet.fabric.shapes import Shape

SHAPES = {
    # What a person can follow by hand.
    "smallest": Shape(2, rails=2, hosts_per_leaf=2, uplinks=2, spines=2),
    # So few that no end has peers to compare with.
    "pair": Shape(2, rails=1, hosts_per_leaf=1, uplinks=1, spines=1),
    "mixed": Shape(
        8, rails=8, hosts_per_leaf=4, uplinks=4, spines=4,
        leaf_systems=("sonic", "cumulus", "eos"), spine_systems=("sonic", "cumulus", "eos"),
    ),
    # 200G, since Onyx ends with Spectrum-3.
    "onyx": Shape(
        8, rails=8, hosts_per_leaf=8, uplinks=8, spines=4, host_mbps=200_000, uplink_mbps=200_000,
        leaf_systems=("onyx", "sonic"), spine_systems=("onyx",), models={"sonic": "SN3700"},
    ),
    # Rails in three tiers: two pods.
    "pods": Shape(
        64, hosts_per_leaf=16, uplinks=16, spines=8, per_pod=2, spine_uplinks=8, cores=4,
    ),
    # A NIC's two ports in two planes, 200G each.
    "planes": Shape(
        32, planes=2, hosts_per_leaf=16, uplinks=8, spines=4, host_mbps=200_000, host_lanes=2,
    ),
    "fat_tree": Shape(
        64, rail_optimised=False, hosts_per_leaf=64, uplinks=64, spines=16,
    ),
    # Uplinks of 800G: eight lanes.
    "wide": Shape(32, hosts_per_leaf=32, uplinks=16, spines=8, uplink_mbps=800_000, uplink_lanes=8),
    "rails_512": Shape(512, hosts_per_leaf=64, uplinks=64, spines=64),
    # Three systems in turns.
    "systems_512": Shape(
        512, hosts_per_leaf=64, uplinks=64, spines=64,
        leaf_systems=("sonic", "cumulus", "eos"), spine_systems=("sonic", "cumulus", "eos"),
    ),
    "onyx_512": Shape(
        512, hosts_per_leaf=16, uplinks=8, spines=8, per_pod=2, spine_uplinks=16, cores=16,
        host_mbps=200_000, uplink_mbps=200_000, leaf_systems=("onyx", "sonic"),
        spine_systems=("onyx",), core_systems=("onyx",), models={"sonic": "SN3700"},
    ),
    "rails_4096": Shape(
        4_096, hosts_per_leaf=64, uplinks=16, spines=16, per_pod=8, spine_uplinks=16, cores=4,
    ),
    # 105,000 links; leaves are oversubscribed four times.
    "rails_10000": Shape(
        10_000, hosts_per_leaf=64, uplinks=16, spines=16, per_pod=8, spine_uplinks=16, cores=4,
        leaf_systems=("sonic", "cumulus"), spine_systems=("sonic", "eos"),
    ),
}  # fmt: skip
