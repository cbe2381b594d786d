"""An HGX H100 as a Kubernetes worker: pods have taken netdevs of its rails.

Odd hosts share RDMA devices between namespaces: all eight netdevs are gone, the RDMA devices are
still there. On even hosts an RDMA device belongs to one namespace: four rails are gone whole, only
their PCI functions remain.
"""

from dataclasses import replace

from lab.fleet import ports
from lab.fleet.ember import hgx_host
from lab.fleet.identity import OPAL
from lab.fleet.model import Faults, HostModel, Nic, with_faults

RAILS = 8


def in_pod(nic: Nic) -> Nic:
    """The kernel names no netdev for GIDs of a netdev in another namespace."""
    gids = tuple(replace(entry, netdev="") for entry in nic.gids)
    return replace(nic, in_pod=True, gids=gids)


def labels(host: HostModel) -> dict[str, str]:
    """What the node object says."""
    return {
        "beta.kubernetes.io/arch": "amd64",
        "feature.node.kubernetes.io/pci-15b3.present": "true",
        "feature.node.kubernetes.io/rdma.available": "true",
        "feature.node.kubernetes.io/rdma.capable": "true",
        "kubernetes.io/hostname": host.name,
        "node-role.kubernetes.io/worker": "",
        "nvidia.com/gpu.count": str(len(host.gpus)),
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "topology.kubernetes.io/zone": f"pod-{(host.number - 1) // 128 + 1:03d}",
    }


def kubernetes_worker(number: int, faults: Faults | None = None) -> HostModel:
    """Host `number` of the site `opal`."""
    host = hgx_host(OPAL, number)
    exclusive = number % 2 == 0
    taken = RAILS // 2 if exclusive else RAILS
    nics = tuple(in_pod(nic) if place < taken else nic for place, nic in enumerate(host.nics))
    routes, rules = ports.rail_routes(nics[taken:RAILS], taken)
    gone = {nic.netdev for nic in nics[:RAILS]}
    kept = tuple(route for route in host.routes if route.netdev not in gone)
    host = replace(
        host,
        nics=nics,
        routes=(*kept, *routes),
        rules=rules,
        rdma_namespaces="exclusive" if exclusive else "shared",
        labels=labels(host),
        firmware_tools="4.34.1-10",
        # The pods bring their own settings.
        kernel=replace(
            host.kernel,
            library_settings=(),
            daemons=("containerd.service", "kubelet.service"),
        ),
    )
    return with_faults(host, faults) if faults else host
