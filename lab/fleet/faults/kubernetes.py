"""Kubernetes: virtual functions without an identity, devices that a node does not offer."""

from dataclasses import replace

from lab.fleet.faults.change import card, host
from lab.fleet.faults.fault import Fault
from lab.fleet.faults.place import Place, above
from lab.fleet.model import Function, HostModel, with_faults
from lab.fleet.platform import INFINIBAND, MELLANOX

NO_GUID = "0000:0000:0000:0000"


def _virtual_function(place: Place) -> HostModel:
    """The card has made a virtual function to which nobody gave a GUID."""
    nic = place.card
    own = f"{nic.address[:-1]}1"
    virtual = Function(
        own, MELLANOX, 0x101C, INFINIBAND, "endpoint", "mlx5_core", subsystem=(MELLANOX, 0x0006),
        generation=0, width=0, ats=False, virtual=True, physical=nic.address,
    )  # fmt: skip
    port = above(place.host, nic.address)[0]
    made = with_faults(
        place.host,
        {
            (port.address, "below"): (
                replace(port.below[0], virtual_functions=8, made_functions=1),
                virtual,
            )
        },
    )
    twin = replace(
        nic, netdev=f"{nic.netdev}v0", address=own, name="mlx5_20", guid=NO_GUID, index=40,
        mac="00:00:10:29:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:00:00", chip="MT4124",
        up=False, lid=0, gids=(), addresses=(), counters={}, hw_counters={}, statistics={},
        firmware_access=False,
    )  # fmt: skip
    return replace(made, nics=(*made.nics, twin))


FAULTS = (
    Fault(
        name="virtual_function_without_guid",
        rule="vf-without-guid",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=_virtual_function,
        expects=("vf-without-guid {host}:mlx5_20",),
        severity="high",
    ),
    Fault(
        name="ethernet_virtual_function_without_guid",
        rule="vf-without-guid",
        models=("two_socket_4x400g",),
        at="virtual",
        change=card({"guid": NO_GUID}),
        expects=("vf-without-guid {device}",),
        severity="medium",
    ),
    Fault(
        name="devices_withheld",
        rule="k8s-rdma-resource-short",
        models=("kubernetes_worker",),
        at="host",
        change=host({"withheld": {"nvidia.com/hostdev": 2}}),
        expects=("k8s-rdma-resource-short {host}",),
        severity="medium",
    ),
)
