"""/sys/class/infiniband, /sys/class/net and RDMA-CM's configfs, as mlx5 and Linux show them."""

from collections.abc import Mapping

from lab.fleet.model import (
    HostModel,
    Netdev,
    Nic,
    carrier_changes,
    is_mlx5,
    netdev_is_here,
    rdma_is_here,
    rdma_is_up,
)
from lab.fleet.system_model import Bond
from lab.fleet.tree import Tree, up

# GID slots that are written where the table has more. mlx5 has 256 for RoCE, and 8 for InfiniBand;
# all of them cost 750 files a port.
GID_SLOTS = 8
EMPTY_GID = "0000:0000:0000:0000:0000:0000:0000:0000\n"
# On InfiniBand an unused slot still has the subnet's prefix.
EMPTY_INFINIBAND_GID = "fe80:0000:0000:0000:0000:0000:0000:0000\n"
PKEY_SLOTS = {"Ethernet": 1, "InfiniBand": 8}  # of 1 and 128
CAPABILITIES = {"Ethernet": "0x00010000\n", "InfiniBand": "0xa651e848\n"}

# Names as on a ConnectX-7 (captures/sysfs-infiniband/gpud-h100, and for RoCE the sample of
# `rdma statistic`); what a model does not name stands at zero.
COUNTERS = (
    *("VL15_dropped", "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery"),
    *("local_link_integrity_errors", "multicast_rcv_packets", "multicast_xmit_packets"),
    *("port_rcv_constraint_errors", "port_rcv_data", "port_rcv_errors", "port_rcv_packets"),
    *("port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors"),
    *("port_xmit_constraint_errors", "port_xmit_data", "port_xmit_discards", "port_xmit_packets"),
    *("port_xmit_wait", "symbol_error", "unicast_rcv_packets", "unicast_xmit_packets"),
)
HW_COUNTERS = (
    *("duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "out_of_buffer"),
    *("out_of_sequence", "packet_seq_err", "req_cqe_error", "req_cqe_flush_error"),
    *("req_remote_access_errors", "req_remote_invalid_request", "req_rnr_retries_exceeded"),
    *("req_transport_retries_exceeded", "resp_cqe_error", "resp_cqe_flush_error"),
    *("resp_local_length_error", "resp_remote_access_errors", "rnr_nak_retry_err"),
    *("roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps"),
    *("roce_slow_restart_trans", "rx_atomic_requests", "rx_dct_connect", "rx_icrc_encapsulated"),
    *("rx_read_requests", "rx_write_requests"),
)
# Linux drivers/infiniband/hw/mlx5/counters.c: only where the port has congestion control for RoCE.
CONGESTION_COUNTERS = (
    *("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored"),
)
# Linux drivers/infiniband/hw/irdma/verbs.c irdma_hw_stat_descs[], those of the second generation.
IRDMA_COUNTERS = (
    *("rxVlanErrors", "tcpRetransSegs", "tcpInOptErrors", "tcpInProtoErrors", "ip4InDiscards"),
    *("ip4InTruncs", "ip4OutNoRoutes", "ip4InOctets", "ip4InPkts", "ip4OutOctets", "ip4OutPkts"),
    *("iwInRdmaReads", "iwInRdmaSnds", "iwInRdmaWrites", "iwOutRdmaReads", "iwOutRdmaSnds"),
    *("iwOutRdmaWrites", "iwRdmaBnd", "iwRdmaInv", "RxUDP", "cnpHandled", "cnpIgnored", "cnpSent"),
    *("RxECNMrkd",),
)
LIFESPAN_MS = "12\n"  # how long the kernel gives the same answer

ARP_TYPES = {"Ethernet": "1\n", "InfiniBand": "32\n", "loopback": "772\n"}


def write_network(sys: Tree, host: HostModel, paths: dict[str, str]) -> None:
    """Every RDMA device and every network device of the host's own namespaces."""
    rdma_links, net_links = {}, {}
    for nic in host.nics:
        if rdma_is_here(host, nic):
            path = f"{paths[nic.address]}/infiniband/{nic.name}"
            _write_device(sys, host, nic, path)
            rdma_links[nic.name] = f"../../{path}"
    for netdev in (*host.nics, *host.netdevs):
        if netdev_is_here(netdev):
            below = paths[netdev.address] if netdev.address else "devices/virtual"
            path = f"{below}/net/{netdev.netdev}"
            master = any(bond.netdev == netdev.netdev for bond in host.bonds)
            _write_netdev(sys, netdev, path, master=master)
            net_links[netdev.netdev] = f"../../{path}"
    sys.write("class/infiniband", {}, rdma_links)
    _write_nodes(sys, [nic for nic in host.nics if rdma_is_here(host, nic)])
    sys.write("class/net", {}, net_links)
    for bond in host.bonds:
        _write_bond(sys, bond, host)
    if host.bonds:
        # A plain file among the interfaces' links: bonding puts it there.
        names = " ".join(bond.netdev for bond in host.bonds)
        sys.write("class/net", {"bonding_masters": f"{names}\n"})


# ---- RDMA devices


def _write_nodes(sys: Tree, nics: list[Nic]) -> None:
    """Character devices; hosts on Ethernet do not load the module for management packets."""
    sys.write("class/infiniband_verbs", {"abi_version": "6\n"})
    for number, nic in enumerate(nics):
        sys.write(f"class/infiniband_verbs/uverbs{number}", {"ibdev": f"{nic.name}\n"})
    managed = any(nic.link_layer == "InfiniBand" for nic in nics)
    with_node = [nic for nic in nics if managed and nic.management_node]
    for number, nic in enumerate(with_node):
        port = {"ibdev": f"{nic.name}\n", "port": "1\n"}
        sys.write(f"class/infiniband_mad/umad{number}", port)
        sys.write(f"class/infiniband_mad/issm{number}", port)


def _write_device(sys: Tree, host: HostModel, nic: Nic, path: str) -> None:
    files = {
        "node_guid": f"{nic.guid}\n",
        "sys_image_guid": f"{nic.image_guid}\n",
        "fw_ver": f"{nic.firmware}\n",
        "node_type": "1: CA\n",
    }
    if is_mlx5(nic):  # irdma of the kernel has neither
        files |= {"hca_type": f"{nic.chip}\n", "board_id": f"{nic.psid}\n"}
    links = {"device": f"../../../{nic.address}", "subsystem": f"{up(path)}class/infiniband"}
    sys.write(path, files, links)
    port = f"{path}/ports/1"
    sys.write(port, _port_files(nic))
    _write_gids(sys, nic, port)
    ethernet = nic.link_layer == "Ethernet"
    if not is_mlx5(nic):  # the kernel's own counters want management packets, which it has not
        sys.write(f"{port}/hw_counters", _values(IRDMA_COUNTERS, nic.hw_counters))
        return
    names = (*HW_COUNTERS, *CONGESTION_COUNTERS) if ethernet else HW_COUNTERS
    sys.write(f"{port}/counters", _values(COUNTERS, nic.counters))
    sys.write(f"{port}/hw_counters", _values(names, nic.hw_counters) | {"lifespan": LIFESPAN_MS})
    if ethernet:
        _write_service(sys, host, nic, path)


def _values(names: tuple[str, ...], known: Mapping[str, int]) -> dict[str, str]:
    return {name: f"{value}\n" for name, value in (dict.fromkeys(names, 0) | dict(known)).items()}


def _write_service(sys: Tree, host: HostModel, nic: Nic, path: str) -> None:
    """Type of service: RDMA-CM's default, and the traffic class of all queue pairs.

    The latter is a file of the vendor's driver package only (mlx5 main.c, traffic_class_show): it
    stays empty until somebody sets a class.
    """
    if nic.driver_version != host.kernel.release:
        value = nic.qos.traffic_class
        sys.write(f"{path}/tc/1", {"traffic_class": f"Global tclass={value}\n" if value else ""})
    if nic.qos.default_tos is not None:
        files = {
            "default_roce_tos": f"{nic.qos.default_tos}\n",
            "default_roce_mode": f"{nic.qos.default_mode}\n",
        }
        sys.write(f"kernel/config/rdma_cm/{nic.name}/ports/1", files)


def _down_rate(nic: Nic) -> str:
    """What mlx5 prints for a port without a link: 40 Gb/s on Ethernet, the slowest elsewhere."""
    return "40 Gb/sec (4X QDR)" if nic.link_layer == "Ethernet" else "10 Gb/sec (4X SDR)"


def _state(nic: Nic) -> str:
    """InfiniBand needs a subnet manager to go beyond INIT."""
    if not rdma_is_up(nic):
        return "1: DOWN\n"
    waiting = nic.link_layer == "InfiniBand" and not nic.sm_lid
    return "2: INIT\n" if waiting else "4: ACTIVE\n"


def _port_files(nic: Nic) -> dict[str, str]:
    infiniband = nic.link_layer == "InfiniBand"
    # A cable without a partner polls; an Ethernet port without a link counts as disabled.
    up_now = rdma_is_up(nic)
    physical = "5: LinkUp\n" if up_now else "2: Polling\n" if infiniband else "3: Disabled\n"
    return {
        "state": _state(nic),
        "phys_state": physical,
        "rate": f"{nic.rate if up_now else _down_rate(nic)}\n",
        "link_layer": f"{nic.link_layer}\n",
        "lid": f"{nic.lid:#x}\n",
        "sm_lid": f"{nic.sm_lid:#x}\n",
        "lid_mask_count": "0\n",
        "cap_mask": CAPABILITIES[nic.link_layer],
    }


def _write_gids(sys: Tree, nic: Nic, port: str) -> None:
    """An empty slot has no attributes that can be read.

    Where a GID has no netdev here, reading its name fails (EINVAL); a file on disk that fails so
    cannot be made, an empty one says the same.
    """
    empty = EMPTY_INFINIBAND_GID if nic.link_layer == "InfiniBand" else EMPTY_GID
    slots = max(GID_SLOTS, *(entry.index + 1 for entry in nic.gids)) if nic.gids else GID_SLOTS
    gids = {str(slot): empty for slot in range(slots)}
    gids |= {str(entry.index): f"{entry.gid}\n" for entry in nic.gids}
    types = {str(entry.index): f"{entry.kind}\n" for entry in nic.gids}
    netdevs = {
        str(entry.index): f"{entry.netdev}\n" if entry.netdev and netdev_is_here(nic) else ""
        for entry in nic.gids
    }
    sys.write(f"{port}/gids", gids)
    sys.write(f"{port}/gid_attrs/types", types)
    sys.write(f"{port}/gid_attrs/ndevs", netdevs)
    keys = dict(enumerate(nic.pkeys))
    count = max(PKEY_SLOTS[nic.link_layer], len(keys))
    sys.write(f"{port}/pkeys", {str(n): f"0x{keys.get(n, 0):04x}\n" for n in range(count)})


# ---- network devices


def _arp_type(netdev: Netdev) -> str:
    if netdev.netdev == "lo":
        return ARP_TYPES["loopback"]
    return ARP_TYPES[netdev.link_layer if isinstance(netdev, Nic) else "Ethernet"]


def _write_netdev(sys: Tree, netdev: Netdev, path: str, *, master: bool = False) -> None:
    loopback = netdev.netdev == "lo"
    bond = 0x400 if master else 0x800 if netdev.master else 0  # IFF_MASTER, IFF_SLAVE
    files = {
        "address": f"{netdev.mac}\n",
        "mtu": f"{netdev.mtu}\n",
        # The loopback has no link to speak of: the kernel says unknown.
        "operstate": "unknown\n" if loopback else "up\n" if netdev.up else "down\n",
        "carrier": f"{int(netdev.up)}\n",
        "ifindex": f"{netdev.index}\n",
        "type": _arp_type(netdev),
        "dev_port": "0\n",
        "carrier_changes": f"{carrier_changes(netdev)}\n",
        "flags": "0x9\n" if loopback else f"{0x1002 | netdev.enabled | bond:#x}\n",
        "tx_queue_len": "1000\n",
    }
    links = {"subsystem": f"{up(path)}class/net"}
    if not loopback:
        files["speed"] = f"{netdev.speed if netdev.up else -1}\n"
        files["duplex"] = "full\n" if netdev.up else "unknown\n"
    if netdev.lower:
        links[f"lower_{netdev.lower}"] = f"{up(path)}class/net/{netdev.lower}"
    if netdev.address:
        links["device"] = f"../../../{netdev.address}"
    if netdev.port_name:
        files["phys_port_name"] = f"{netdev.port_name}\n"
    if netdev.master:
        links["master"] = f"{up(path)}devices/virtual/net/{netdev.master}"
        links[f"upper_{netdev.master}"] = links["master"]
        sys.write(f"{path}/bonding_slave", _member_files(netdev))
    sys.write(path, files, links)


def _member_files(netdev: Netdev) -> dict[str, str]:
    return {
        "state": "active\n",
        "mii_status": "up\n" if netdev.up else "down\n",
        "ad_aggregator_id": "1\n",
        "link_failure_count": "0\n" if netdev.up else "1\n",
        "perm_hwaddr": f"{netdev.permanent_mac or netdev.mac}\n",
        "queue_id": "0\n",
    }


def _write_bond(sys: Tree, bond: Bond, host: HostModel) -> None:
    path = f"devices/virtual/net/{bond.netdev}"
    up_now = any(n.up for n in (*host.nics, *host.netdevs) if n.netdev in bond.members)
    files = {
        "mode": f"{bond.mode}\n",
        "slaves": " ".join(bond.members) + "\n",
        "active_slave": "\n",  # 802.3ad has none
        "xmit_hash_policy": f"{bond.hash_policy}\n",
        "lacp_rate": f"{bond.lacp_rate}\n",
        "miimon": f"{bond.miimon}\n",
        "mii_status": "up\n" if up_now else "down\n",
    }
    links = {f"lower_{name}": f"../../../../class/net/{name}" for name in bond.members}
    sys.write(f"{path}/bonding", files)
    sys.write(path, {}, links)
