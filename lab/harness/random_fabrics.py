"""Small fabrics with faults drawn by chance: settings, cables, links, and what nobody has read."""

import random
from collections.abc import Callable
from typing import Any

from lab.harness.small_fabric import HOSTS, LEAVES, PORTS, SPINES, Rows, fabric

SWITCHES = (*LEAVES, *SPINES)
Fault = Callable[[Rows, random.Random], str]


def _some(rows: Rows, draw: random.Random, table: str, **where: Any) -> dict[str, Any] | None:
    """One row of a table by chance."""
    fit = [row for row in rows.get(table, []) if all(row.get(k) == v for k, v in where.items())]
    return draw.choice(fit) if fit else None


def _set(table: str, column: str, *values: Any, **where: Any) -> Fault:
    """Another value in one row, or nothing, as if it had not been read."""

    def change(rows: Rows, draw: random.Random) -> str:
        row = _some(rows, draw, table, **where)
        if row is None:
            return ""
        row[column] = draw.choice((*values, None))
        return f"{table}.{column} of {row['target']} is {row[column]}"

    return change


def _down(rows: Rows, draw: random.Random) -> str:
    """A cable is out: both ends see it."""
    host, rail = draw.choice(HOSTS), draw.randrange(2)
    leaf, netdev = LEAVES[rail], f"ens{rail + 1}"
    for row in rows["netdev"]:
        if (row["target"], row["name"]) == (host, netdev):
            row.update(operstate="down", carrier=False)
    for row in rows["ethtool_link"]:
        if (row["target"], row["netdev"]) == (host, netdev):
            row.update(link_detected=False, speed_mbps=None, lanes=None)
    for row in rows["rdma_port"]:
        if (row["target"], row["netdev"]) == (host, netdev):
            row.update(state="DOWN")
    for row in rows["switch_port"]:
        if (row["target"], row["port"]) == (leaf, PORTS[leaf][host]) and "is_up" in row:
            row.update(is_up=False)
    rows["lldp_neighbor"] = [
        r for r in rows["lldp_neighbor"] if (r["target"], r["netdev"]) != (host, netdev)
    ]
    rows["switch_neighbor"] = [
        r for r in rows["switch_neighbor"] if (r["target"], r["port"]) != (leaf, PORTS[leaf][host])
    ]
    return f"the cable of {host}:{netdev} is out"


def _swapped(rows: Rows, draw: random.Random) -> str:
    """The rails of one host are the wrong way round."""
    host = draw.choice(HOSTS)
    heard = [row for row in rows["lldp_neighbor"] if row["target"] == host]
    if len(heard) < 2:
        return ""
    heard[0]["netdev"], heard[1]["netdev"] = heard[1]["netdev"], heard[0]["netdev"]
    told = [row for row in rows["switch_neighbor"] if row["system_name"] == host]
    if len(told) == 2:
        for column in ("port_id", "port_description"):
            told[0][column], told[1][column] = told[1][column], told[0][column]
    return f"the cables of {host} are swapped"


def _silent(rows: Rows, draw: random.Random) -> str:
    name = draw.choice((*HOSTS, *SWITCHES))
    for table in rows.keys() - {"target"}:
        rows[table] = [row for row in rows[table] if row["target"] != name]
    for row in rows["target"]:
        if row["target"] == name:
            row["status"] = draw.choice(("silent", "timeout", "refused"))
    return f"{name} did not answer"


def _drained(rows: Rows, draw: random.Random) -> str:
    name = draw.choice(HOSTS)
    for row in rows["target"]:
        if row["target"] == name:
            row["out_of_service"] = "Slurm: drained"
    return f"{name} is out of service"


def _unread(rows: Rows, draw: random.Random) -> str:
    """A table that one machine's probe did not give."""
    name = draw.choice((*HOSTS, *SWITCHES))
    tables = sorted(t for t in rows if t not in ("target", "probe_result", "host", "switch"))
    table = draw.choice([t for t in tables if any(r["target"] == name for r in rows[t])] or tables)
    rows[table] = [row for row in rows[table] if row["target"] != name]
    return f"{table} of {name} was not read"


FAULTS: tuple[Fault, ...] = (
    _set("netdev", "mtu", 1500, 4200, 9216),
    _set("ethtool_link", "speed_mbps", 100_000, 200_000),
    _set("ethtool_link", "auto_negotiation", True),
    _set("netdev_fec", "active", "Off", "BaseR"),
    _set("rdma_port", "state", "DOWN", "INIT"),
    _set("rdma_port", "rate_gbps", 200.0, 40.0),
    _set("qos_port", "trust", "pcp"),
    _set("qos_priority", "pfc_enabled", True, False),
    _set("qos_priority", "pfc_enabled", False, priority=3),
    _set("qos_dscp", "priority", 0, 5, dscp=26),
    _set("ecn_parameter", "value", "0", "26"),
    _set("netdev_pause", "rx", True),
    _set("transceiver", "cable_length_m", 2.0, 40.0),
    _set("pci_function", "link_width", 8, 4, vendor="15b3"),
    _set("pci_function", "link_speed_gts", 16.0, vendor="15b3"),
    _set("address", "prefix_length", 24),
    _set("switch_port", "mtu", 1500, 4096, 9000),
    _set("switch_port", "speed_mbps", 100_000, 200_000),
    _set("switch_port", "fec_active", "none", "fc"),
    _set("switch_port", "is_up", False),
    _set("switch_port_qos", "trust", "pcp", "port"),
    _set("switch_port_qos", "watchdog", False),
    _set("switch_pfc", "enabled", True, False),
    _set("switch_pfc", "enabled", False, priority=3),
    _set("switch_dscp", "traffic_class", 0, 4, dscp=26),
    _set("switch_dscp", "priority", 0, 4, dscp=26),
    _set("switch_queue", "ecn_enabled", True, False),
    _set("switch_queue", "scheduler", "strict", "dwrr"),
    _set("switch_priority_group", "headroom_bytes", 10_000),
    _set("switch_class_queue", "queue", 0),
    _down,
    _swapped,
    _silent,
    _drained,
    _unread,
    _unread,
)


def random_fabric(seed: int) -> tuple[Rows, list[str]]:
    """The fabric of this number, and what was done to it."""
    draw = random.Random(seed)
    rows = fabric()
    done = [draw.choice(FAULTS)(rows, draw) for _ in range(draw.randint(1, 4))]
    return rows, [one for one in done if one]
