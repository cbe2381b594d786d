"""`mlnx_qos -i NETDEV`: trust, DSCP map, flow control, buffers and schedulers of a port."""

from collections.abc import Iterator
from functools import lru_cache

from lab.fleet.model import HostModel, Nic, is_mlx5
from lab.fleet.port_model import Qos
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_netdevs import physical

WARNING = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"
# What mlnx_qos prints, on standard output, where the driver has no DCB.
WITHOUT_DCB = (
    "Priority trust state is not supported on your system\n"
    "Buffers commands are not supported on your system\n"
    "Rate limit is not supported on your system!\n"
    "ETS features are not supported on your system\n"
)
POINTS_PER_LINE = 8


@lru_cache(maxsize=256)
def _dscp_map(priorities: tuple[int, ...]) -> str:
    """The newest entry of the kernel's table comes first, so code points fall."""
    lines = []
    for priority in range(8):
        points = [f"{dscp:02d}," for dscp in range(63, -1, -1) if priorities[dscp] == priority]
        for start in range(0, len(points), POINTS_PER_LINE):
            line = "".join(points[start : start + POINTS_PER_LINE])
            lines.append(f"\tprio:{priority} dscp:{line}\n")
    return "".join(lines)


def _buffers(qos: Qos) -> str:
    if not qos.buffer_bytes:
        return ""
    sizes = "".join(f"{size}," for size in qos.buffer_bytes)
    most = f"max_buffer_size={qos.buffer_max}" if qos.buffer_max else ""
    return f"Receive buffer size (bytes): {sizes}{most}\n"


def _classes(qos: Qos) -> str:
    """Only classes that a priority belongs to."""
    lines = []
    for number in sorted(set(qos.priority_class)):
        rate, scheduler = qos.class_rate_gbps[number], qos.class_scheduler[number]
        limit = f"{rate:.1f} Gbps" if rate else "unlimited"
        share = f", bw: {qos.class_bandwidth[number]}%" if scheduler == "ets" else ""
        lines.append(f"tc: {number} ratelimit: {limit}, tsa: {scheduler}{share}\n")
        lines += [
            f"\t priority:  {priority}\n"
            for priority, traffic_class in enumerate(qos.priority_class)
            if traffic_class == number
        ]
    return "".join(lines)


def show(qos: Qos) -> str:
    """The settings of one port."""
    mapping = ""
    if qos.trust == "dscp":
        mapping = "dscp2prio mapping:\n" + _dscp_map(qos.dscp_priority)
    buffer = ""
    if qos.buffer_bytes:
        buffer = "\tbuffer      " + "".join(f"{n}   " for n in qos.priority_buffer) + "\n"
    enabled = "".join(f"{int(on)}   " for on in qos.pfc)
    return (
        f"{WARNING if qos.lldpad else ''}"
        f"DCBX mode: {'OS' if qos.dcbx == 'os' else 'Firmware'} controlled\n"
        f"Priority trust state: {qos.trust}\n"
        f"{mapping}{_buffers(qos)}"
        f"Cable len: {qos.cable_length_m}\n"
        "PFC configuration:\n"
        "\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {enabled}\n"
        f"{buffer}{_classes(qos)}"
    )


def commands(host: HostModel) -> Iterator[Said]:
    """One question to each device; only Ethernet ports of RDMA cards have an answer."""
    for netdev in physical(host):
        command = f"mlnx_qos -i {netdev.netdev}"
        if isinstance(netdev, Nic) and netdev.link_layer == "Ethernet" and is_mlx5(netdev):
            yield Said(command, show(netdev.qos))
        else:
            yield Said(command, WITHOUT_DCB, code=1)
