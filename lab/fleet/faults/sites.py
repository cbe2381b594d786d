"""The site file of each model's fleet: what an operator of such hosts would write.

Some sites want hosts that differ from the models: `host_of` prepares them.
"""

from collections.abc import Callable
from dataclasses import replace

from lab.fleet import MODELS
from lab.fleet.faults.place import rails
from lab.fleet.model import HostModel

_CLASS = """
[[class]]
name = "{name}"
compute_nics = {compute_nics}
gpus = {gpus}
port_rate_gbps = {port_rate_gbps}
numa_nodes = {numa_nodes}
"""
_LOSSLESS = """
mtu = 9000
rdma_netns_mode = "shared"
"""
_HGX = _CLASS.format(name="hgx", compute_nics=8, gpus=8, port_rate_gbps=400, numa_nodes=2)
# Named by the operator: then findings are not capped. The other sites leave it to be inferred.
_HGX_ROLES = """
[[role]]
role = "compute"
devices = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"]
[[role]]
role = "storage"
devices = ["mlx5_8", "mlx5_9"]
"""
_HGX_FABRIC = _LOSSLESS + 'max_read_request = 4096\ndcbx_owner = "host"\n'
_HGX_CARDS = """
[[nic]]
psid = "MT_0000000838"
firmware = "28.43.2026"
parameters = { PCI_WR_ORDERING = "per_mkey(0)", ROCE_CC_PRIO_MASK_P1 = 255 }
"""
_MISSPELT = """
[[nic]]
psid = "MT_0000001015"
parameters = { SRIOV_ENABLE = true }
"""

# model -> variant -> (profile, lines of [fabric], the rest)
SITES: dict[str, dict[str, tuple[str, str, str]]] = {
    "hgx_h100": {
        "usual": ("roce-lossless", _HGX_FABRIC, _HGX + _HGX_ROLES + _HGX_CARDS),
        "misspelt": (
            "roce-lossless",
            _HGX_FABRIC,
            _HGX + _HGX_ROLES + _HGX_CARDS + _MISSPELT,
        ),
        # No word on the fabric or on rates: only what contradicts itself or its peers is found.
        "observed": ("observe", "", _HGX_ROLES),
        # Jobs whose GPUs drive the NIC, over a fabric that sends packets on several paths.
        "gpu_driven": (
            "roce-lossless",
            _HGX_FABRIC + "ibgda = true\nadaptive_routing = true\n",
            _HGX + _HGX_ROLES + _HGX_CARDS,
        ),
    },
    "hgx_a100_infiniband": {
        "usual": (
            "infiniband",
            "",
            _CLASS.format(
                name="a100", compute_nics=8, gpus=8, port_rate_gbps=200, numa_nodes=8
            ),
        ),
    },
    "two_socket_4x400g": {
        "usual": (
            "observe",
            "",
            _CLASS.format(
                name="worker", compute_nics=4, gpus=4, port_rate_gbps=400, numa_nodes=2
            ),
        ),
    },
    "socket_direct": {
        "usual": (
            "roce-lossless",
            _LOSSLESS,
            _CLASS.format(name="leg", compute_nics=1, gpus=4, port_rate_gbps=200, numa_nodes=2),
        ),
    },
    "kubernetes_worker": {"usual": ("roce-lossless", "mtu = 9000\n", _HGX)},
    "passthrough_vm": {
        "usual": (
            "infiniband",
            "",
            _CLASS.format(name="vm", compute_nics=8, gpus=8, port_rate_gbps=400, numa_nodes=2),
        ),
    },
}  # fmt: skip


def site_text(model: str, variant: str = "usual") -> str:
    """The file."""
    profile, fabric, rest = SITES[model][variant]
    return f'profile = "{profile}"\n[fabric]\n{fabric}{rest}'


def _adaptive(host: HostModel) -> HostModel:
    """The firmware is prepared for packets that take several paths."""
    on = {"ROCE_ADAPTIVE_ROUTING_EN": ("True(1)", "True(1)")}
    names = {nic.name for nic in rails(host)}
    nics = tuple(
        replace(nic, parameters={**nic.parameters, **on}) if nic.name in names else nic
        for nic in host.nics
    )
    return replace(host, nics=nics)


_PREPARED: dict[str, Callable[[HostModel], HostModel]] = {"gpu_driven": _adaptive}


def host_of(model: str, number: int, variant: str = "usual") -> HostModel:
    """A healthy host of such a site."""
    host = MODELS[model](number)
    return _PREPARED[variant](host) if variant in _PREPARED else host
