"""Healthy hosts of real server models: what a check must have nothing to say about.

    HEALTHY["dell_xe9680"](1)          the first host of this model
    HEALTHY["dell_xe9680"].basis       capture: the machine's own output was seen; document: told

They are made from reference data about servers, never from what rules expect of a host. A model's
`source` says what is seen and what is drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lab.fleet.healthy.blackwell import dgx_b200, hgx_b300
from lab.fleet.healthy.dell import dell_xe9680, storage_r750
from lab.fleet.healthy.grace import gb200_tray
from lab.fleet.healthy.hgx import (
    hgx_h100_bonded,
    hgx_h100_e810,
    hgx_h100_slaac,
    kubernetes_moved,
)
from lab.fleet.healthy.oracle import mi300x, oci_h100
from lab.fleet.healthy.pcie import pcie_l40s
from lab.fleet.healthy.who import Who
from lab.fleet.model import Faults, HostModel, with_faults

__all__ = ["HEALTHY", "Healthy"]


@dataclass(frozen=True)
class Healthy:
    """A model: called with a number, it gives that host."""

    name: str
    kind: int
    build: Callable[[Who], HostModel]
    basis: str  # capture, document
    source: str

    def __call__(self, number: int, faults: Faults | None = None) -> HostModel:
        """Host `number`, with faults such as ("0000:1a:00.0", "width"): 8."""
        host = self.build(Who(self.name, self.kind, number))
        return with_faults(host, faults) if faults else host


# Build, basis, source. The order gives the hosts their numbers: a new one goes to the end.
_MODELS: tuple[tuple[Callable[[Who], HostModel], str, str], ...] = (
    (
        dell_xe9680, "capture",
        "captures/lspci/gpud-h100-host-vvv.txt: tree and part numbers; DMI, names, settings told",
    ),
    (
        hgx_h100_slaac, "document",
        "Juniper's validated design for AI data centres: rails by SLAAC, a default route each",
    ),
    (
        storage_r750, "document",
        "NVIDIA's test data of a PowerEdge R750: cards and names; DMI seen; slots drawn",
    ),
    (
        dgx_b200, "document",
        "DGX user guides and listings of users: buses, names, numbers; bus of the bridges drawn",
    ),
    (
        hgx_b300, "document",
        "topo -m of users, bus table of Oracle's tools, data sheet of the ConnectX-8; rest drawn",
    ),
    (
        mi300x, "document",
        "bus table and RDMA numbers of Oracle's tools, AMD's path of a GPU; front end drawn",
    ),
    (
        oci_h100, "document",
        "bus table, RDMA numbers and topology file of Oracle's tools; front end drawn",
    ),
    (
        kubernetes_moved, "document",
        "Linux drivers/infiniband/core: exclusive namespaces; layout of the site ember",
    ),
    (
        hgx_h100_bonded, "capture",
        "captures/sysfs-infiniband/gpud-h100/mlx5_bond_0 for the device; layout of the site ember",
    ),
    (
        gb200_tray, "document",
        "NVIDIA's north-south guide and test data: domains, names, parts, DMI",
    ),
    (
        pcie_l40s, "document", "DMI of a machine seen; slots drawn, no listing was found",
    ),
    (
        hgx_h100_e810, "capture",
        "captures/ethtool-S/ethq-ice.txt for the card; layout of the site ember",
    ),
)  # fmt: skip

HEALTHY: dict[str, Healthy] = {
    build.__name__: Healthy(build.__name__, kind, build, basis, source)
    for kind, (build, basis, source) in enumerate(_MODELS, 1)
}
