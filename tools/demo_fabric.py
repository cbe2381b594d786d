"""The fabric of `railwright demo`: its switches and hosts, and what is wrong with them.

32 hosts with 8 compute ports and 2 storage ports each; 8 SONiC leaves, one per rail, and 2 Cumulus
leaves for storage, all joined by 4 Cumulus spines. What is wrong is written here; what must be said
about it is written in tests/test_demo.py.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial

from lab.fleet import HostModel
from lab.fleet.fabric import End, Fabric, Shape, build
from lab.fleet.fabric.hosts import host_model
from lab.fleet.fabric.routes import planned_places
from lab.fleet.faults import Injection, all_faults, places
from lab.fleet.faults.change import counters
from lab.fleet.faults.switch_change import counted
from lab.fleet.faults.switch_fault import Place, all_fabric_faults

HOSTS, RAILS, STORAGE = 32, 8, (8, 9)
_SHAPE = Shape(
    HOSTS, rails=RAILS + len(STORAGE), hosts_per_leaf=32, uplinks=16, spines=4,
    uplink_mbps=800_000, uplink_lanes=8,
    leaf_systems=(*["sonic"] * RAILS, *["cumulus"] * len(STORAGE)), spine_systems=("cumulus",),
    leaf_presets={"cumulus": "lossless"}, spine_presets={"cumulus": "lossless"},
)  # fmt: skip
# A storage leaf has ports of 200G for hosts: the same switch, with other cages split.
_STORAGE_LEAF = replace(_SHAPE, rails=1, host_mbps=200_000, host_lanes=2, leaf_systems=("cumulus",))

SILENT, AWAY = 29, 30  # hosts that do not answer; the second one is out of service
KNOWN = 4  # a host whose fault has been waived
# Host -> the declared fault of lab/fleet/faults that it has, and where. Each has cost somebody a
# training run.
FAULTS = {
    KNOWN: ("narrow_link", "mlx5_3"),
    7: ("narrow_link", "mlx5_1"),
    12: ("acs_redirect", "mlx5_4"),
    19: ("trusts_vlan_tags", "mlx5_3"),
    23: ("wanted_parameter_waits", "mlx5_5"),
    26: ("small_mtu", "mlx5_0"),
}
NEW_TODAY = (7, 26)  # these were healthy the day before
# A port of a spine, counted from 0: somebody has taken PFC from it. It ignores the pauses of the
# leaf of rail 1, whose headroom overflows: a host there asks for these packets again.
NO_PFC = ("ember-spine01", 4)
LOST = 77_120
RETRANSMITS = (9, "mlx5_1", 412_000)  # since the day before: five a second
PACKETS = 98_000_000_000  # that it sent and received in that time
SWAPPED = (17, 5)  # host, port: its cable and that of the next rail are mixed up
DOWN_BEFORE = (15, 2)  # host, port: mended since the day before


@cache
def healthy() -> Fabric:
    """All as planned."""
    fabric = build(_SHAPE)
    fabric.name_width, fabric.host_prefix, fabric.first_number = 3, "ember-h", 1
    storage = build(_STORAGE_LEAF).switches[0]
    for number, switch in enumerate(fabric.switches):
        if number < RAILS:
            switch.name = f"ember-leaf{number + 1:02d}"
        elif number < RAILS + len(STORAGE):
            switch.name = f"cinder-leaf{number - RAILS + 1:02d}"
            switch.ports, switch.settings = storage.ports, storage.settings
        else:
            switch.name = f"ember-spine{number - RAILS - len(STORAGE) + 1:02d}"
    for links in (fabric.links, fabric.planned):
        for at in range(len(links)):
            if links.tier[at] == 1 and links.lower_port[at] in STORAGE:
                links.speed_mbps[at], links.lanes[at] = 200_000, 2
            if links.rail[at] >= RAILS:
                links.rail[at] = -1  # storage is on none
    return fabric


def _end(host: int, number: int) -> End:
    return End(host - 1, number)


def _with_fault(name: str, device: str, host: HostModel) -> HostModel:
    fault = all_faults()[name]
    place = next(one for one in places(host, fault.at) if one.name == device)
    return Injection(fault, place).changed(host)


def _retransmitting(host: HostModel) -> HostModel:
    _, device, packets = RETRANSMITS
    place = next(one for one in places(host, "rail") if one.name == device)
    some = counters("hw_counters", {"packet_seq_err": packets})(place)
    return counters("counters", {"port_xmit_packets": PACKETS, "port_rcv_packets": PACKETS})(
        place.on(some)
    )


def fabric_of(*, earlier: bool) -> Fabric:
    """The fabric as it was read, today or the day before."""
    fabric = healthy().copy()
    for host, (name, device) in FAULTS.items():
        if not (earlier and host in NEW_TODAY):
            fabric.host_work[host - 1] = (partial(_with_fault, name, device),)
    known = all_fabric_faults()
    known["rails_swapped"].change(fabric, Place(healthy(), _end(*SWAPPED)))
    if earlier:
        fabric.cut(healthy().by_end()[_end(*DOWN_BEFORE)])
    else:
        switch, number = NO_PFC
        struck = Place(healthy(), End(healthy().named(switch).number, number))
        known["switch_pfc_off"].change(fabric, struck)
        counted(group_drops_3=LOST)(fabric, Place(healthy(), struck.peer))
        fabric.host_work[RETRANSMITS[0] - 1] = (_retransmitting,)
    return fabric


def hosts_of(fabric: Fabric, numbers: Iterable[int]) -> list[HostModel]:
    """Models of the hosts with these numbers."""
    known = planned_places(healthy())
    return [host_model(fabric, number - 1, known) for number in numbers]
