"""NUMA: devices without a node, machines that show no topology."""

from dataclasses import replace

from lab.fleet.faults.change import settings
from lab.fleet.faults.fault import Fault
from lab.fleet.faults.place import Place, above
from lab.fleet.model import HostModel


def _no_node(place: Place) -> HostModel:
    """The firmware's tables do not say to which node the card's root bus belongs."""
    top = above(place.host, place.card.address)[-1].address
    buses = tuple(
        replace(bus, numa=-1) if top in {function.address for function in bus.functions} else bus
        for bus in place.host.buses
    )
    return replace(place.host, buses=buses)


FAULTS = (
    Fault(
        name="no_node",
        rule="numa-node-unknown",
        # Hosts with a root bus for each card.
        models=("hgx_h100", "kubernetes_worker", "two_socket_4x400g", "socket_direct"),
        at="rail",
        change=_no_node,
        expects=("numa-node-unknown {nic}",),
        severity="medium",
    ),
    Fault(
        name="no_topology_file",
        rule="topology-flat",
        models=("passthrough_vm",),
        at="host",
        change=settings({"NCCL_TOPO_FILE": ""}),
        expects=("topology-flat {host}",),
        severity="high",
    ),
)
