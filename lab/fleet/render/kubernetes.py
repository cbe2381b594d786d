"""The Node object of a host, as `kubectl get node NAME -o json` prints it."""

from typing import Any

from lab.fleet.model import HostModel, netdev_is_here
from lab.fleet.render.cpu import cpu_count, nodes
from lab.fleet.render.nvidia_smi import product_of

KUBERNETES = "v1.30.6"
_SINCE = "2025-03-01T00:13:20Z"
_SEEN = "2025-03-04T09:12:50Z"
# From what each GPU can do: NVIDIA's GPU feature discovery has it from the driver.
_COMPUTE = {"Hopper": ("9", "0"), "Ampere": ("8", "0"), "Ada Lovelace": ("8", "9")}
_SYSTEMS = {"Ubu": "ubuntu", "Roc": "rocky", "Red": "rhcos"}
_DEPLOYED = (
    *("container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver"),
    *("gpu-feature-discovery", "node-status-exporter", "operator-validator"),
)
_CONDITIONS = (
    ("NetworkUnavailable", "False", "CalicoIsUp", "Calico is running on this node"),
    (
        *("MemoryPressure", "False", "KubeletHasSufficientMemory"),
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status. AppArmor enabled"),
)


def _labels(host: HostModel) -> dict[str, str]:
    feature = "feature.node.kubernetes.io"
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": host.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": host.server_model.replace(" ", "-"),
        f"{feature}/cpu-hardware_multithreading": str(host.cpu.threads_per_core > 1).lower(),
        f"{feature}/cpu-model.family": str(host.cpu.family),
        f"{feature}/cpu-model.id": str(host.cpu.model_number),
        f"{feature}/cpu-model.vendor_id": "Intel" if "Intel" in host.cpu.vendor else "AMD",
        f"{feature}/kernel-version.full": host.kernel.release,
        f"{feature}/memory-numa": str(len(nodes(host)) > 1).lower(),
        f"{feature}/system-os_release.ID": _SYSTEMS.get(host.operating_system[:3], "linux"),
    }
    if host.nics:
        labels |= {
            f"{feature}/pci-15b3.present": "true",
            f"{feature}/rdma.available": "true",
            f"{feature}/rdma.capable": "true",
            "network.nvidia.com/operator.mofed.wait": "false",
            "network.nvidia.com/operator.nic-configuration.wait": "false",
        }
    return labels | _gpu_labels(host) | dict(host.labels)


def _gpu_labels(host: HostModel) -> dict[str, str]:
    if not host.gpus:
        return {}
    name = host.gpus[0].product
    product = product_of(name)
    major, minor = _COMPUTE[product.architecture]
    driver = host.gpu_driver.split(".")
    return {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "nvidia.com/cuda.driver-version.full": host.gpu_driver,
        "nvidia.com/cuda.driver-version.major": driver[0],
        "nvidia.com/cuda.driver-version.minor": driver[1],
        "nvidia.com/gpu.compute.major": major,
        "nvidia.com/gpu.compute.minor": minor,
        "nvidia.com/gpu.count": str(len(host.gpus)),
        "nvidia.com/gpu.family": product.architecture.lower().replace(" ", "-"),
        "nvidia.com/gpu.machine": host.server_model.replace(" ", "-"),
        "nvidia.com/gpu.memory": str(product.memory_mib),
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": name.replace(" ", "-"),
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mig.strategy": "single",
        **{f"nvidia.com/gpu.deploy.{part}": "true" for part in _DEPLOYED},
    }


def _resources(host: HostModel) -> dict[str, str]:
    """What the device plugins offer: cards of their own for pods, or all cards to share."""
    found = {}
    if host.gpus:
        found["nvidia.com/gpu"] = str(len(host.gpus))
    moved = sum(nic.in_pod for nic in host.nics)
    if moved:
        found["nvidia.com/hostdev"] = str(moved)
    elif host.nics:
        found["rdma/rdma_shared_device_a"] = "63"
    return found


def _capacity(host: HostModel) -> tuple[dict[str, str], dict[str, str]]:
    """Capacity and what pods may have of it."""
    cpus = cpu_count(host.cpu)
    memory = sum(node.total_mb for node in nodes(host)) * 1024
    pages = int(dict(host.kernel.sysctls).get("vm.nr_hugepages", "0"))
    common = {
        "ephemeral-storage": "1843269236Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": f"{pages * 2}Mi" if pages else "0",
        "pods": "110",
        **_resources(host),
    }
    capacity = {"cpu": str(cpus), "memory": f"{memory}Ki", **common}
    offered = {name: str(int(common[name]) - count) for name, count in host.withheld.items()}
    rest = {
        "cpu": f"{cpus * 1000 - 2000}m",
        "memory": f"{memory - pages * 2048 - 4_194_304}Ki",
        **common,
        **offered,
        "ephemeral-storage": "1698756888923",
    }
    return dict(sorted(capacity.items())), dict(sorted(rest.items()))


def _addresses(host: HostModel) -> list[dict[str, str]]:
    found = []
    for netdev in host.netdevs:
        if netdev.netdev != "lo" and netdev_is_here(netdev):
            found += [text.partition("/")[0] for text in netdev.addresses if ":" not in text]
    addresses = [{"address": text, "type": "InternalIP"} for text in found[:1]]
    return [*addresses, {"address": host.name, "type": "Hostname"}]


def _condition(kind: str, status: str, reason: str, message: str) -> dict[str, str]:
    return {
        "lastHeartbeatTime": _SEEN,
        "lastTransitionTime": _SINCE,
        "message": message,
        "reason": reason,
        "status": status,
        "type": kind,
    }


def _status(host: HostModel, conditions: list[dict[str, str]], last: str) -> dict[str, Any]:
    capacity, allocatable = _capacity(host)
    return {
        "addresses": _addresses(host),
        "allocatable": allocatable,
        "capacity": capacity,
        "conditions": conditions,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": host.boot_id,
            "containerRuntimeVersion": "containerd://1.7.24",
            "kernelVersion": host.kernel.release,
            "kubeProxyVersion": KUBERNETES,
            "kubeletVersion": KUBERNETES,
            "machineID": f"9d8e7f6a5b4c4d3e8f1a{last}",
            "operatingSystem": "linux",
            "osImage": host.operating_system,
            "systemUUID": f"4c4c4544-0042-3510-8051-{last}",
        },
    }


def _taint(key: str, **more: str) -> dict[str, str]:
    return {"effect": "NoSchedule", "key": key, **more}


def node_object(
    host: HostModel, *, ready: bool = True, cordoned: bool = False, gpu_taint: bool = True
) -> dict[str, Any]:
    """A Node; not ready or cordoned where the caller says so."""
    taints = [_taint("nvidia.com/gpu", value="present")] if host.gpus and gpu_taint else []
    conditions = [_condition(*row) for row in _CONDITIONS]
    if not ready:
        stopped = ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
        conditions = [_condition(row[0], *stopped) for row in _CONDITIONS]
        taints.append(_taint("node.kubernetes.io/unreachable"))
    pods = f"10.{128 + (host.number >> 8) % 64}.{host.number & 0xFF}.0/24"
    spec: dict[str, Any] = {"podCIDR": pods, "podCIDRs": [pods]}
    if cordoned:
        spec["unschedulable"] = True
        taints.append(_taint("node.kubernetes.io/unschedulable"))
    if taints:
        spec["taints"] = taints
    last = host.boot_id.rpartition("-")[2]  # unique over all sites
    metadata = {
        "annotations": {
            "node.alpha.kubernetes.io/ttl": "0",
            "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        },
        "creationTimestamp": "2025-02-11T08:20:00Z",
        "labels": dict(sorted(_labels(host).items())),
        "name": host.name,
        "resourceVersion": "48811230",
        "uid": f"b1f2c3d4-0a1b-4c2d-8e3f-{last}",
    }
    status = _status(host, conditions, last)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }
