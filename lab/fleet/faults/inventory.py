"""Inventory: cards that are gone, and cards without their devices."""

from dataclasses import replace

from lab.fleet.faults.fault import Fault
from lab.fleet.faults.pcie import OTHER_KIND
from lab.fleet.faults.place import Place, front_end
from lab.fleet.lose_part import Part, lost
from lab.fleet.lose_port import down, rdma_missing
from lab.fleet.model import HostModel


def _card_gone(place: Place) -> HostModel:
    """Not even on the bus, nor are its virtual functions."""
    return lost(place.host, Part("nic", place.card.address.rpartition(".")[0]), "removed")


def _without_rdma(place: Place) -> HostModel:
    """RoCE is off for one card; its network device works."""
    return rdma_missing(place.host, place.card.name)


def _without_any_rdma(place: Place) -> HostModel:
    """mlx5_ib is not loaded: network devices, and no RDMA at all."""
    nics = tuple(replace(nic, without_rdma=True) for nic in place.host.nics)
    return replace(place.host, nics=nics)


def _front_end_down(place: Place) -> HostModel:
    """The cable of the port that has no RDMA; the host was read another way."""
    return down(place.host, front_end(place.host).netdev)


FAULTS = (
    Fault(
        name="card_off_the_bus",
        rule="part-missing",
        models=("two_socket_4x400g",),
        at="rail",
        change=_card_gone,
        expects=("part-missing {host}",),
        implies=("intent-compute-nics {host}",),
        excuses=(*OTHER_KIND, "* {nic}", "* {port}", "* {device}"),
        severity="blocker",
    ),
    Fault(
        name="rdma_off_for_one_card",
        rule="rdma-device-missing",
        models=("two_socket_4x400g",),
        at="rail",
        change=_without_rdma,
        expects=("rdma-device-missing {nic}",),
        implies=("intent-compute-nics {host}",),
        # What its ports are for, and how fast they are, nobody can tell without an RDMA device.
        hides=("pcie-capped-by-firmware {nic}", "pcie-below-port-rate {nic}"),
        excuses=(*OTHER_KIND, "* {port}", "* {device}"),
        # Then its device could be a pod's.
        clashes=("exclusive_namespaces",),
        severity="high",
    ),
    Fault(
        name="no_rdma_at_all",
        rule="compute-port-missing",
        models=("two_socket_4x400g",),
        at="host",
        change=_without_any_rdma,
        expects=("compute-port-missing {host}",),
        implies=("rdma-device-missing {nics}", "intent-compute-nics {host}"),
        hides=("pcie-capped-by-firmware {nics}", "pcie-below-port-rate {nics}"),
        excuses=(*OTHER_KIND, "* {rails}"),
        clashes=("exclusive_namespaces",),
        severity="high",
    ),
    Fault(
        name="front_end_link_lost",
        rule="link-missing",
        models=("hgx_h100", "two_socket_4x400g"),
        at="host",
        change=_front_end_down,
        expects=("link-missing {front_end}",),
        severity="medium",
    ),
)
