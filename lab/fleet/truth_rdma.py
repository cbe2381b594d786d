"""The truth about RDMA devices: sysfs, rdma-netlink, the verbs library and devlink."""

import ipaddress
import re
from typing import NamedTuple

from lab.fleet.model import HostModel, Nic, rdma_is_here
from lab.fleet.truth_counters import RDMA_COUNTERS, RDMA_HARDWARE, RDMA_HARDWARE_ROCE
from lab.fleet.truth_places import Row, Rows, Tables, placed, ports

# Gb/s per lane as libibverbs names the speeds, by the word in the kernel's rate.
LANE_GBPS = {"SDR": 2.5, "QDR": 10.0, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0}
CAPABILITIES = {"Ethernet": 0x00010000, "InfiniBand": 0xA651E848}
GID_TABLE = {"Ethernet": 255, "InfiniBand": 8}
# What every mlx5 device of the fleet answers to a verbs query.
VERBS_LIMITS: Row = {
    "transport": "InfiniBand",
    "vendor_id": "0x02c9",
    "hardware_version": "0x0",
    "port_count": 1,
    "max_mr_size": "0xffffffffffffffff",
    "page_size_cap": "0xfffffffffffff000",
    "completion_vectors": 63,
    "max_qp": 131_072,
    "max_qp_wr": 32_768,
    "max_sge": 30,
    "max_cq": 16_777_216,
    "max_cqe": 4_194_303,
    "max_mr": 16_777_216,
    "max_pd": 8_388_608,
    "max_qp_rd_atom": 16,
    "max_qp_init_rd_atom": 16,
    "max_srq": 8_388_608,
    "max_srq_wr": 32_767,
    "max_pkeys": 128,
    "local_ca_ack_delay": 16,
    "atomic_capability": "ATOMIC_HCA",
    "capability_flags": 0x25361C36,
}


class State(NamedTuple):
    """The state of a port: the logical one with its number, the physical one in two spellings."""

    logical: str
    code: int
    physical: str  # sysfs
    physical_tool: str  # rdma, ibv_devinfo


def state(nic: Nic) -> State:
    """InfiniBand that lacks a subnet manager has a link and goes no further than INIT.

    A cable without a partner polls; an Ethernet port without a link counts as disabled.
    """
    infiniband = nic.link_layer == "InfiniBand"
    if not nic.up:
        physical = ("Polling", "POLLING") if infiniband else ("Disabled", "DISABLED")
        return State("DOWN", 1, *physical)
    if infiniband and not nic.sm_lid:
        return State("INIT", 2, "LinkUp", "LINK_UP")
    return State("ACTIVE", 4, "LinkUp", "LINK_UP")


def rate(nic: Nic) -> str:
    """Without a link mlx5 says 40 Gb/s on Ethernet, and the slowest on InfiniBand."""
    if nic.up:
        return nic.rate
    return "40 Gb/sec (4X QDR)" if nic.link_layer == "Ethernet" else "10 Gb/sec (4X SDR)"


def lanes_and_speed(text: str) -> tuple[int, float]:
    """400 Gb/sec (4X NDR) -> 4, 100.0."""
    found = re.fullmatch(r"\d+ Gb/sec \((\d+)X (\w+)\)", text)
    if found is None:
        raise ValueError(f"no rate of a port: {text}")
    return int(found[1]), LANE_GBPS[found[2]]


def devices(host: HostModel) -> list[Nic]:
    """RDMA devices that the host's own namespaces have."""
    return [nic for nic in host.nics if rdma_is_here(host, nic)]


def tables(host: HostModel) -> Tables:
    """All tables of the RDMA stack."""
    nics = devices(host)
    return {
        "rdma_device": [_device(nic) for nic in nics],
        "rdma_port": [_port(nic) for nic in nics],
        "gid": [row for nic in nics for row in _gids(nic)],
        "pkey": [row for nic in nics for row in _pkeys(nic)],
        "rdma_node": _nodes(nics),
        "rdma_counter": [row for nic in nics for row in _counters(nic)],
        "rdma_dev": [_dev(host, nic) for nic in nics],
        "rdma_link": [_link(nic) for nic in nics],
        "rdma_statistic": [row for nic in nics for row in _statistic(nic)],
        "rdma_system": [{"netns_mode": host.rdma_namespaces, "copy_on_fork": True}],
        "verbs_device": [_verbs_device(nic) for nic in nics],
        "verbs_port": [_verbs_port(nic) for nic in nics],
        "verbs_gid": [row for nic in nics for row in _verbs_gids(nic)],
        **_devlink(host),
    }


# ---- sysfs


def _device(nic: Nic) -> Row:
    return {
        "device": nic.name,
        "pci": nic.address,
        "node_guid": nic.guid,
        "sys_image_guid": nic.image_guid,
        "firmware_version": nic.firmware,
        "hca_type": nic.chip,
        "psid": nic.psid,
        "node_type": "CA",
    }


def _port(nic: Nic) -> Row:
    now = state(nic)
    named = [entry.netdev for entry in nic.gids if entry.netdev and not nic.in_pod]
    lanes, speed = lanes_and_speed(rate(nic))
    return {
        "device": nic.name,
        "port": 1,
        "link_layer": nic.link_layer,
        "state": now.logical,
        "state_code": now.code,
        "physical_state": now.physical,
        "rate_gbps": lanes * speed,
        "rate_text": rate(nic),
        "lid": nic.lid,
        "sm_lid": nic.sm_lid,
        "lid_mask_count": 0,
        "capability_mask": CAPABILITIES[nic.link_layer],
        "netdev": named[0] if named else "",
    }


def _nodes(nics: list[Nic]) -> Rows:
    """One for all ports of a device; a second per port where there is InfiniBand."""
    verbs: Rows = [
        {"name": f"uverbs{number}", "kind": "uverbs", "device": nic.name, "port": 0}
        for number, nic in enumerate(nics)
    ]
    if not any(nic.link_layer == "InfiniBand" for nic in nics):
        return verbs
    return verbs + [
        {"name": f"umad{number}", "kind": "umad", "device": nic.name, "port": 1}
        for number, nic in enumerate(nic for nic in nics if nic.management_node)
    ]


def _gids(nic: Nic) -> Rows:
    return [
        {
            "device": nic.name,
            "port": 1,
            "index": entry.index,
            "gid": entry.gid,
            "type": entry.kind,
            "netdev": "" if nic.in_pod else entry.netdev,
        }
        for entry in nic.gids
    ]


def _pkeys(nic: Nic) -> Rows:
    """Slots in use; from 0x8000 on a key is a full member's."""
    return [
        {
            "device": nic.name,
            "port": 1,
            "index": index,
            "pkey": f"0x{key:04x}",
            "partition": key - 0x8000 if key >= 0x8000 else key,
            "membership": "full" if key >= 0x8000 else "limited",
        }
        for index, key in enumerate(nic.pkeys)
        if key
    ]


def _hardware_names(nic: Nic) -> tuple[str, ...]:
    """Congestion is counted where the port speaks RoCE."""
    more = RDMA_HARDWARE_ROCE if nic.link_layer == "Ethernet" else ()
    return (*RDMA_HARDWARE, *more)


def _counters(nic: Nic) -> Rows:
    kinds = {
        "counters": (RDMA_COUNTERS, nic.counters),
        "hw_counters": (_hardware_names(nic), nic.hw_counters),
    }
    return [
        {
            "device": nic.name,
            "port": 1,
            "kind": kind,
            "counter": name,
            "value": values.get(name, 0),
        }
        for kind, (names, values) in kinds.items()
        for name in names
    ]


# ---- rdma-netlink


def _dev(host: HostModel, nic: Nic) -> Row:
    """The kernel numbers devices as they come, whoever sees them later."""
    return {
        "device": nic.name,
        "index": host.nics.index(nic),
        "node_type": "ca",
        "firmware_version": nic.firmware,
        "node_guid": nic.guid,
        "sys_image_guid": nic.image_guid,
    }


def _link(nic: Nic) -> Row:
    """A bond's RDMA device names the port that carries it, its GIDs name the bond."""
    now = state(nic)
    infiniband = nic.link_layer == "InfiniBand"
    return {
        "device": nic.name,
        "port": 1,
        "state": now.logical,
        "physical_state": now.physical_tool,
        "netdev": "" if infiniband or nic.in_pod else nic.netdev,
        "lid": nic.lid if infiniband else None,
        "sm_lid": nic.sm_lid if infiniband else None,
        "lid_mask_count": 0 if infiniband else None,
        "subnet_prefix": "fe80:0000:0000:0000" if infiniband else None,
    }


def _statistic(nic: Nic) -> Rows:
    return [
        {"device": nic.name, "port": 1, "counter": name, "value": nic.hw_counters.get(name, 0)}
        for name in _hardware_names(nic)
    ]


# ---- verbs


def _verbs_device(nic: Nic) -> Row:
    return {
        "device": nic.name,
        "firmware_version": nic.firmware,
        "node_guid": nic.guid,
        "sys_image_guid": nic.image_guid,
        "psid": nic.psid,
        "vendor_part_id": int(nic.chip.removeprefix("MT")),
        **VERBS_LIMITS,
    }


def _verbs_port(nic: Nic) -> Row:
    now = state(nic)
    lanes, speed = lanes_and_speed(rate(nic))
    return {
        "device": nic.name,
        "port": 1,
        "state": f"PORT_{now.logical}",
        "state_code": now.code,
        "physical_state": now.physical_tool,
        "link_layer": nic.link_layer,
        "max_mtu": nic.max_mtu,
        "active_mtu": nic.active_mtu,
        "lid": nic.lid,
        "sm_lid": nic.sm_lid,
        "lid_mask_count": 0,
        "gid_table_length": GID_TABLE[nic.link_layer],
        "active_width": f"{lanes}X",
        "active_speed": f"{speed:.1f} Gbps",
        "lane_gbps": speed,
        "total_gbps": lanes * speed,
    }


def _verbs_gids(nic: Nic) -> Rows:
    """The kind is named on Ethernet only."""
    words = {"IB/RoCE v1": "RoCE v1", "RoCE v2": "RoCE v2"}
    return [
        {
            "device": nic.name,
            "port": 1,
            "index": entry.index,
            "gid": ipaddress.IPv6Address(entry.gid).exploded,
            "type": words[entry.kind] if nic.link_layer == "Ethernet" else None,
        }
        for entry in nic.gids
    ]


# ---- devlink


def _devlink(host: HostModel) -> Tables:
    """Every function that mlx5 drives; a virtual one tells its driver and no more."""
    spots = placed(host)
    found: Rows = []
    versions: Rows = []
    for nic in ports(host).values():
        silent = spots[nic.address].function.virtual
        handle = f"pci/{nic.address}"
        row: Row = {"handle": handle, "pci": nic.address, "driver": "mlx5_core"}
        row["serial_number"] = None if silent else nic.uid
        row["board_serial_number"] = None if silent else nic.serial
        found.append(row)
        stored = nic.flash.stored or nic.firmware
        told = [("fixed", "fw.psid", nic.psid)]
        for name in ("fw.version", "fw"):
            told += [("running", name, nic.firmware), ("stored", name, stored)]
        versions += [
            {"handle": handle, "kind": kind, "name": name, "version": version}
            for kind, name, version in ([] if silent else told)
        ]
    return {"devlink_device": found, "devlink_version": versions}
