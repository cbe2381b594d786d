"""A Kubernetes Node object as JSON: what `kubectl get node NAME -o json` prints.

No probe reads it on the host; it comes from the cluster's own interface, one object per answer.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, Value, text_of, whole_number
from railwright.parse.json_text import json_object

_INFO = {
    "kubelet_version": "kubeletVersion",
    "kernel_version": "kernelVersion",
    "os_image": "osImage",
    "container_runtime": "containerRuntimeVersion",
    "architecture": "architecture",
    "boot_id": "bootID",
}
# nvidia.com/gpu.count, network.nvidia.com/operator.mofed.wait,
# feature.node.kubernetes.io/{rdma.available,network-sriov.capable,pci-15b3.present}.
_LABEL = re.compile(
    r"(?:[a-z0-9.-]{0,200}\.)?nvidia\.com/.{1,63}|(?:[a-z0-9.-]{1,253}/)?(?:rdma|network|pci-15b3)"
    r"[A-Za-z0-9._-]{0,63}",
    re.ASCII,
)
_LONGEST = 253  # of a label or a resource: Kubernetes allows no more for the part before the slash


def _object(node: object) -> dict[str, object]:
    return node if isinstance(node, dict) else {}


def _text(value: object) -> str | None:
    """A JSON text as the store can hold it (an escape may have made half a surrogate pair)."""
    return text_of(value.encode("utf-8", "replace")) if isinstance(value, str) else None


def _ready(status: dict[str, object]) -> str | None:
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, list) else ():
        if _object(condition).get("type") == "Ready":
            return _text(_object(condition).get("status"))
    return None


def _unschedulable(document: dict[str, object]) -> bool | None:
    """The interface leaves out what is false, but never the whole spec."""
    spec = document.get("spec")
    return spec.get("unschedulable") is True if isinstance(spec, dict) else None


def _count(quantity: str | None) -> int | None:
    """A quantity that is a plain number: 8 devices, not 1055763096Ki or 250m."""
    is_plain = quantity is not None and quantity.isascii() and quantity.isdecimal()
    return whole_number(quantity, BIGINT_BITS) if is_plain else None


def _resources(status: dict[str, object]) -> Iterator[Row]:
    capacity, allocatable = _object(status.get("capacity")), _object(status.get("allocatable"))
    for name in sorted({*capacity, *allocatable}):
        has, gives = _text(capacity.get(name)), _text(allocatable.get(name))
        values: dict[str, Value] = {
            "name": _text(name),
            "capacity": has,
            "capacity_count": _count(has),
            "allocatable": gives,
            "allocatable_count": _count(gives),
        }
        if len(name) <= _LONGEST:
            yield Row("kubernetes_resource", values)


def _labels(labels: dict[str, object]) -> Iterator[Row]:
    for name in sorted(labels):
        if _LABEL.fullmatch(name):
            values: dict[str, Value] = {"name": _text(name), "value": _text(labels[name])}
            yield Row("kubernetes_label", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one object per answer)
    """Tables kubernetes_node, kubernetes_resource and kubernetes_label."""
    if not data.strip():
        return
    document = json_object(text_of(data))
    if document.get("kind") != "Node":
        raise NotUnderstoodError(f"a {_text(document.get('kind')) or 'thing'}, not one Node"[:200])
    metadata, status = _object(document.get("metadata")), _object(document.get("status"))
    info = _object(status.get("nodeInfo"))
    name = _text(metadata.get("name"))
    if not name:
        raise NotUnderstoodError("a Node without a name")
    values: dict[str, Value] = {
        "node": name,
        **{column: _text(info.get(key)) for column, key in _INFO.items()},
        "unschedulable": _unschedulable(document),
        "ready": _ready(status),
    }
    yield Row("kubernetes_node", values)
    yield from _resources(status)
    yield from _labels(_object(metadata.get("labels")))
