"""A fabric of two hosts, two leaves and two spines, written by hand: rows of the tables that probes fill.

gpu1 and gpu2 have two NICs each: rail 0 goes to leaf1, rail 1 to leaf2; both leaves go to both spines.
leaf1 is SONiC, leaf2 Cumulus, spine1 EOS, spine2 Onyx. Data has DSCP 26 and class 3, CNP DSCP 48 and class 6.
"""

from collections.abc import Callable, Iterable
from typing import Any

import duckdb

from lab.harness.by_hand import answers, target
from railwright.model.derive import prepare, queries_of
from railwright.schema.table import tables
from railwright.store.duck import identifier

Rows = dict[str, list[dict[str, Any]]]

HOSTS, LEAVES, SPINES = ("gpu1", "gpu2"), ("leaf1", "leaf2"), ("spine1", "spine2")
SYSTEMS = {"leaf1": "sonic", "leaf2": "cumulus", "spine1": "eos", "spine2": "onyx"}
HOST_PROBES = (
    "pci",
    "infiniband",
    "netdev",
    "ip_address",
    "ip_route",
    "lldpctl",
    "mlnx_qos",
    "ecn",
)
PROBES = {"sonic": "sonic_show", "cumulus": "nvue_show", "eos": "eos_show", "onyx": "onyx_show"}
# switch -> neighbor -> its port there. SONiC's ports have aliases: etp1a is Ethernet0.
PORTS = {
    "leaf1": {"gpu1": "Ethernet0", "gpu2": "Ethernet4", "spine1": "Ethernet8", "spine2": "Ethernet12"},
    "leaf2": {"gpu1": "swp1s0", "gpu2": "swp1s1", "spine1": "swp2s0", "spine2": "swp2s1"},
    "spine1": {"leaf1": "Ethernet1/1", "leaf2": "Ethernet2/1"},
    "spine2": {"leaf1": "Eth1/1", "leaf2": "Eth1/2"},
}  # fmt: skip
ALIASES = {"Ethernet0": "etp1a", "Ethernet4": "etp1b", "Ethernet8": "etp2a", "Ethernet12": "etp2b"}
# Of each rail a network, of each host an address in it.
NETWORKS = ("10.8.0", "10.8.1")


def _mac(host: str, rail: int) -> str:
    return f"5c:25:73:a0:0{host[-1]}:0{rail}"


def usual_class(dscp: int) -> int:
    """Eight DSCP values per class, as every preset has it: 26 is in class 3, 48 in class 6."""
    return dscp // 8


def host_rows(name: str) -> Rows:
    """A host with two NICs, a GPU beside each."""
    own = {"target": name}
    link = {"link_speed_gts": 32.0, "link_width": 16, "link_speed_max_gts": 32.0}
    rows: Rows = {
        "target": [target(name, kind="host")],
        "host": [{**own, "hostname": f"{name}.example.net"}],
        "cpu": [{**own, "hypervisor": ""}],
        "probe_result": answers(name, *HOST_PROBES),
    }
    for rail in (0, 1):
        root, nic, gpu = f"0000:1{rail}:01.0", f"0000:1{rail}:10.0", f"0000:1{rail}:11.0"
        netdev, leaf = f"ens{rail + 1}", LEAVES[rail]
        below = {**own, **link, "link_width_max": 16, "physical_function": "", "numa_node": 0, "root_bus": f"0000:1{rail}"}  # fmt: skip
        add: Rows = {
            "pci_function": [
                {**below, "pci": root, "parent": "", "vendor": "8086", "class": "060400", "driver": "pcieport"},
                {**below, "pci": nic, "parent": root, "vendor": "15b3", "class": "020000", "driver": "mlx5_core"},
                {**below, "pci": gpu, "parent": root, "vendor": "10de", "class": "030200", "driver": "nvidia"},
            ],
            "pci_config": [{**own, "pci": pci, "max_payload": 256} for pci in (root, nic)],
            "rdma_device": [{**own, "device": f"mlx5_{rail}", "pci": nic, "psid": "P", "sys_image_guid": f"{name}-{rail}"}],
            "rdma_port": [{**own, "device": f"mlx5_{rail}", "port": 1, "netdev": netdev, "link_layer": "Ethernet", "state": "ACTIVE", "rate_gbps": 400.0}],
            "netdev": [{**own, "name": netdev, "pci": nic, "kind": "physical", "mac": _mac(name, rail), "mtu": 9000, "operstate": "up", "carrier": True, "flags": "0x1003", "port_name": "", "dev_port": 0, "master": ""}],
            "ethtool_link": [{**own, "netdev": netdev, "speed_mbps": 400000, "lanes": 4, "auto_negotiation": False, "link_detected": True}],
            "netdev_fec": [{**own, "netdev": netdev, "configured": "RS", "active": "RS"}],
            "netdev_pause": [{**own, "netdev": netdev, "autonegotiate": False, "rx": False, "tx": False}],
            "transceiver": [{**own, "netdev": netdev, "cable_length_m": 3.0}],
            "qos_port": [{**own, "netdev": netdev, "trust": "dscp"}],
            "qos_priority": [{**own, "netdev": netdev, "priority": p, "pfc_enabled": p == 3} for p in range(8)],
            "qos_dscp": [{**own, "netdev": netdev, "dscp": d, "priority": usual_class(d)} for d in range(64)],
            "ecn_parameter": [{**own, "netdev": netdev, "role": "np", "name": n, "value": v} for n, v in (("cnp_dscp", "48"), ("cnp_802p_prio", "6"))],
            "address": [{**own, "netdev": netdev, "family": "inet", "address": f"{NETWORKS[rail]}.{name[-1]}", "place": 0, "prefix_length": 26, "scope": "global"}],
            "lldp_neighbor": [heard_by_host(name, netdev, leaf, PORTS[leaf][name])],
        }  # fmt: skip
        for table, more in add.items():
            rows.setdefault(table, []).extend(more)
    return rows


def heard_by_host(name: str, netdev: str, switch: str, port: str) -> dict[str, Any]:
    """What the switches send: SONiC the alias as id, the others the port's name."""
    said = {"port_id": ALIASES[port], "port_id_type": "local", "port_description": port} if port in ALIASES else {"port_id": port, "port_id_type": "ifname", "port_description": ""}  # fmt: skip
    return {"target": name, "netdev": netdev, "rid": "1", "chassis_id": f"48:b0:2d:00:00:0{switch[-1]}", "system_name": f"{switch}.example.net", **said}  # fmt: skip


def heard_by_switch(name: str, port: str, peer: str) -> dict[str, Any]:
    """Hosts send the MAC address of the port, switches their names."""
    row = {"target": name, "port": port, "place": 0, "probe": PROBES[SYSTEMS[name]], "system_name": peer}  # fmt: skip
    if peer in HOSTS:
        rail = LEAVES.index(name)
        return {**row, "port_id": _mac(peer, rail), "port_description": f"ens{rail + 1}"}
    other = PORTS[peer][name]
    alias = ALIASES.get(other)
    return {**row, "port_id": alias or other, "port_description": other if alias else ""}


def _ports(name: str, probe: str) -> list[dict[str, Any]]:
    up = {"admin_up": True, "is_up": True, "speed_mbps": 400000, "fec_active": "rs", "mtu": 9216}
    return [
        {"target": name, "probe": probe, "port": port, "alias": ALIASES.get(port), **up}
        for port in PORTS[name].values()
    ]


def sonic_rows(name: str) -> Rows:
    """Ports as shown; everything else as configured."""
    own = {"target": name, "probe": "sonic_config_db"}
    ports = list(PORTS[name].values())
    marks = {"ecn_enabled": True, "red_enabled": True, "ecn_minimum_bytes": 150000, "ecn_maximum_bytes": 1500000, "ecn_probability_percent": 5}  # fmt: skip
    none = {"wred_profile": "", "ecn_enabled": False, "red_enabled": False}
    return {
        "switch": [{**own, "system": "sonic", "hostname": name}],
        "switch_port": _ports(name, "sonic_show") + [{**own, "port": p, "alias": ALIASES[p], "admin_up": True, "speed_mbps": 400000, "lanes": 4, "fec_configured": "rs", "mtu": 9100, "autonegotiation": False, "cable_length_m": 5.0, "cable_length_kind": "configured"} for p in ports],
        "switch_port_qos": [{**own, "port": p, "trust": "dscp", "dscp_map": "AZURE", "traffic_class_map": "AZURE", "class_group_map": "AZURE", "pfc_mode": "on", "pfc_priorities": "3", "watchdog": True, "watchdog_priorities": "3"} for p in ports],
        "switch_pfc": [{**own, "port": p, "priority": c, "enabled": c == 3} for p in ports for c in range(8)],
        "switch_dscp": [{**own, "map": "AZURE", "dscp": d, "traffic_class": usual_class(d)} for d in range(64)],
        "switch_class_queue": [{**own, "map": "AZURE", "traffic_class": c, "queue": c} for c in range(8)],
        "switch_class_group": [{**own, "map": "AZURE", "traffic_class": c, "priority_group": 3 if c == 3 else 0} for c in range(8)],
        "switch_priority_group": [{**own, "port": p, "priority_group": g, "profile": "lossless" if g else "lossy", "is_lossless": g == 3, "headroom_bytes": 230400 if g else None} for p in ports for g in (0, 3)],
        "switch_buffer_profile": [{**own, "profile": "lossless", "pool": "ingress", "xoff_bytes": 230400, "static_threshold_bytes": 500000}],
        "switch_buffer_pool": [{**own, "pool": "ingress", "direction": "ingress", "xoff_bytes": 0}],
        "switch_queue": [{**own, "port": p, "queue": 3, "scheduler": "dwrr", "weight": 50, "wred_profile": "roce", **marks} for p in ports] + [{**own, "port": p, "queue": 6, "scheduler": "strict", "weight": 0, **none} for p in ports],
        "switch_route": [_route(name, "sonic_route", rail) for rail in (0, 1)],
    }  # fmt: skip


def cumulus_rows(name: str) -> Rows:
    """One setting for all ports."""
    own = {"target": name, "probe": "nvue_show", "port": ""}
    return {
        "switch": [{**own, "system": "cumulus", "roce_mode": "lossless"}],
        "switch_port": _ports(name, "nvue_show"),
        "switch_port_qos": [{**own, "trust": "both", "pfc_mode": "on", "pfc_priorities": "3", "pfc_cable_length_m": 100.0}, *({**own, "port": p, "watchdog": True} for p in PORTS[name].values())],
        "switch_pfc": [{**own, "priority": c, "enabled": c == 3} for c in range(8)],
        "switch_dscp": [{**own, "map": "", "dscp": d, "priority": usual_class(d)} for d in range(64)],
        "switch_priority_queue": [{**own, "map": "", "priority": c, "queue": c if c in (3, 6) else 0} for c in range(8)],
        "switch_buffer_pool": [{**own, "pool": "lossy-default-ingress", "direction": "ingress", "priorities": "0,1,2,4,5,6,7"}, {**own, "pool": "roce-reserved-ingress", "direction": "ingress", "priorities": "3"}],
        "switch_queue": [{**own, "queue": q, "scheduler": "strict" if q == 6 else "dwrr", "weight": 0 if q == 6 else 50, "ecn_enabled": q == 3, "ecn_minimum_bytes": 150000 if q == 3 else None, "ecn_maximum_bytes": 1500000 if q == 3 else None} for q in (0, 3, 6)],
        "switch_route": [_route(name, "nvue_route", rail) for rail in (0, 1)],
    }  # fmt: skip


def eos_rows(name: str) -> Rows:
    """EOS tells neither headroom nor, in these commands, thresholds."""
    own = {"target": name, "probe": "eos_show"}
    ports = list(PORTS[name].values())
    return {
        "switch": [{**own, "system": "eos", "hostname": name}],
        "switch_port": _ports(name, "eos_show"),
        "switch_port_qos": [{**own, "port": p, "trust": "dscp", "pfc_mode": "on", "pfc_priorities": "3", "watchdog": True} for p in ports],
        "switch_pfc": [{**own, "port": p, "priority": c, "enabled": c == 3, "is_operational": c == 3} for p in ports for c in range(8)],
        "switch_dscp": [{**own, "map": "", "dscp": d, "traffic_class": usual_class(d)} for d in range(64)],
        "switch_class_queue": [{**own, "map": "", "traffic_class": c, "queue": c} for c in range(8)],
        "switch_queue": [{**own, "port": p, "queue": q, "ecn_enabled": q == 3, "scheduler": "strict" if q == 6 else "dwrr"} for p in ports for q in range(8)],
        "switch_route": [_route(name, "eos_route", rail) for rail in (0, 1)],
    }  # fmt: skip


def onyx_rows(name: str) -> Rows:
    """A port's maps have the port's name."""
    own = {"target": name, "probe": "onyx_show"}
    ports = list(PORTS[name].values())
    return {
        "switch": [{**own, "system": "onyx", "hostname": name, "roce_mode": "lossless"}],
        "switch_port": _ports(name, "onyx_show"),
        "switch_port_qos": [{**own, "port": "", "trust": "dscp", "pfc_mode": "on", "pfc_priorities": "3"}, *({**own, "port": p, "dscp_map": p, "priority_queue_map": p, "watchdog": True} for p in ports)],
        "switch_pfc": [{**own, "port": "", "priority": c, "enabled": c == 3} for c in range(8)],
        "switch_dscp": [{**own, "map": p, "dscp": d, "priority": usual_class(d)} for p in ports for d in range(64)],
        "switch_priority_queue": [{**own, "map": p, "priority": c, "queue": c} for p in ports for c in range(8)],
        "switch_buffer_pool": [{**own, "pool": "lossless", "kind": "lossless", "priorities": "3"}, {**own, "pool": "lossy", "kind": "lossy", "priorities": "0,1,2,4,5,6,7"}],
        "switch_queue": [{**own, "port": p, "queue": q, "ecn_enabled": q == 3, "red_enabled": False, "scheduler": "strict" if q == 6 else "wrr"} for p in ports for q in range(8)],
        "switch_route": [_route(name, "onyx_route", rail) for rail in (0, 1)],
    }  # fmt: skip


def _route(name: str, probe: str, rail: int) -> dict[str, Any]:
    """A leaf reaches the network of its own rail directly, that of the other through both spines."""
    row = {"target": name, "probe": probe, "vrf": "default", "prefix": f"{NETWORKS[rail]}.0/26"}
    if name in SPINES:
        return {**row, "protocol": "bgp", "ports": PORTS[name][LEAVES[rail]], "next_hops": "192.0.2.1"}  # fmt: skip
    if LEAVES.index(name) == rail:
        return {**row, "protocol": "connected", "ports": "Vlan10", "next_hops": ""}
    ports = ",".join(PORTS[name][spine] for spine in SPINES)
    return {**row, "protocol": "bgp", "ports": ports, "next_hops": "192.0.2.1,192.0.2.3"}


_RENDER: dict[str, Callable[[str], Rows]] = {
    "sonic": sonic_rows,
    "cumulus": cumulus_rows,
    "eos": eos_rows,
    "onyx": onyx_rows,
}


def switch_rows(name: str) -> Rows:
    probe = PROBES[SYSTEMS[name]]
    rows = _RENDER[SYSTEMS[name]](name)
    rows["target"] = [target(name, kind="switch")]
    rows["probe_result"] = [{**answers(name, probe)[0], "instance": "show lldp neighbors"}]
    rows["switch_neighbor"] = [heard_by_switch(name, p, peer) for peer, p in PORTS[name].items()]
    return rows


def fabric() -> Rows:
    """All rows; tests change some and make a snapshot of them."""
    rows: Rows = {}
    for part in (*map(host_rows, HOSTS), *map(switch_rows, (*LEAVES, *SPINES))):
        for table, more in part.items():
            rows.setdefault(table, []).extend(more)
    return rows


def change(rows: Rows, table: str, where: dict[str, Any], **values: Any) -> Rows:
    """The rows of a table that are so, changed; at least one must be."""
    found = 0
    for row in rows[table]:
        if all(row.get(key) == value for key, value in where.items()):
            row.update(values)
            found += 1
    assert found, f"no row of {table} is {where}"
    return rows


def drop(rows: Rows, table: str, **where: Any) -> Rows:
    """Without the rows that are so; at least one must be."""
    left = [row for row in rows[table] if not all(row.get(k) == v for k, v in where.items())]
    assert len(left) < len(rows[table]), f"no row of {table} is {where}"
    rows[table] = left
    return rows


# What links are made of, in order. All other derived tables would take most of a test's time.
ROLES = ("card_function", "gpu", "pcie_path", "pcie_endpoint", "gpu_nic", "host_kind", "netdev_link", "netdev_stack", "slot", "port_sign", "card", "host_class", "port")  # fmt: skip
_DERIVED = (*ROLES, "netdev_qos", "port_class", "own_end", "adjacency", "switch_place", "link_end")


def database_of(rows: Rows, derived: Iterable[str] = _DERIVED) -> duckdb.DuckDBPyConnection:
    """The rows, and the derived tables about links, in memory."""
    database = duckdb.connect()
    for name, table in tables().items():
        kinds = table.column_types()
        if table.fed_by != "derived":
            columns = ", ".join(f"{identifier(n)} {kind}" for n, kind in kinds.items())
            database.execute(f"CREATE TABLE {identifier(name)} ({columns})")
        if name in rows:
            picked = ", ".join(f"unnest(?::{kind}[])" for kind in kinds.values())
            values = [[row.get(column) for row in rows[name]] for column in kinds]
            database.execute(f"INSERT INTO {identifier(name)} SELECT {picked}", values)
    for name in derived:
        cast = ", ".join(f"{identifier(n)}::{k} AS {identifier(n)}" for n, k in tables()[name].column_types().items())  # fmt: skip
        prepare(database, name)
        database.execute(f"CREATE TABLE {name} AS SELECT {cast} FROM ({queries_of(name)[0]})")
    return database
