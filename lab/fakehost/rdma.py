"""/sys/class/infiniband and /sys/class/net, as mlx5 and the kernel's network core show them."""

from lab.fakehost.model import HostModel, Netdev, Nic
from lab.fakehost.tree import Folder, up

# GID slots that are written: four in use, the rest empty. mlx5 has 256; they cost 750 files a port.
GID_SLOTS = 8
EMPTY_GID = "0000:0000:0000:0000:0000:0000:0000:0000\n"

# Names as on a ConnectX-7 (captures/sysfs-infiniband/gpud-h100, and for RoCE the sample of
# `rdma statistic`); all stand still but the traffic.
COUNTERS = (
    *("VL15_dropped", "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery"),
    *("local_link_integrity_errors", "multicast_rcv_packets", "multicast_xmit_packets"),
    *("port_rcv_constraint_errors", "port_rcv_data", "port_rcv_errors", "port_rcv_packets"),
    *("port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors"),
    *("port_xmit_constraint_errors", "port_xmit_data", "port_xmit_discards", "port_xmit_packets"),
    *("port_xmit_wait", "symbol_error", "unicast_rcv_packets", "unicast_xmit_packets"),
)
HW_COUNTERS = (
    *("duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "np_cnp_sent"),
    *("np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence", "packet_seq_err"),
    *("req_cqe_error", "req_cqe_flush_error", "req_remote_access_errors"),
    *("req_remote_invalid_request", "req_rnr_retries_exceeded", "req_transport_retries_exceeded"),
    *("resp_cqe_error", "resp_cqe_flush_error", "resp_local_length_error"),
    *("resp_remote_access_errors", "rnr_nak_retry_err", "roce_adp_retrans", "roce_adp_retrans_to"),
    *("roce_slow_restart", "roce_slow_restart_cnps", "roce_slow_restart_trans", "rp_cnp_handled"),
    *("rp_cnp_ignored", "rx_atomic_requests", "rx_dct_connect", "rx_icrc_encapsulated"),
    *("rx_read_requests", "rx_write_requests"),
)
TRAFFIC = frozenset(
    {
        *("port_rcv_data", "port_rcv_packets", "port_xmit_data", "port_xmit_packets"),
        *("unicast_rcv_packets", "unicast_xmit_packets", "rx_write_requests"),
    }
)


def write_network(sys: Folder, host: HostModel, paths: dict[str, str]) -> None:
    """Every RDMA device and every network device."""
    rdma_links, net_links = {}, {}
    for nic in host.nics:
        path = f"{paths[nic.address]}/infiniband/{nic.name}"
        _write_device(sys, nic, path, host.number)
        rdma_links[nic.name] = f"../../{path}"
    for netdev in (*host.nics, *host.netdevs):
        below = paths[netdev.address] if netdev.address else "devices/virtual"
        path = f"{below}/net/{netdev.netdev}"
        _write_netdev(sys, netdev, path)
        net_links[netdev.netdev] = f"../../{path}"
    sys.write("class/infiniband", {}, rdma_links)
    sys.write("class/net", {}, net_links)


def _write_device(sys: Folder, nic: Nic, path: str, number: int) -> None:
    files = {
        "node_guid": f"{nic.guid}\n",
        "sys_image_guid": f"{nic.image_guid}\n",
        "fw_ver": f"{nic.firmware}\n",
        "hca_type": f"{nic.chip}\n",
        "board_id": f"{nic.psid}\n",
        "node_type": "1: CA\n",
    }
    links = {"device": f"../../../{nic.address}", "subsystem": f"{up(path)}class/infiniband"}
    sys.write(path, files, links)
    port = f"{path}/ports/1"
    sys.write(port, _port_files(nic))
    _write_gids(sys, nic, port)
    base = number * 7_000_003 + nic.index * 1_000_003
    for folder, names in (("counters", COUNTERS), ("hw_counters", HW_COUNTERS)):
        values = {
            name: f"{base * (place + 9)}\n" if name in TRAFFIC else "0\n"
            for place, name in enumerate(names)
        }
        if folder == "hw_counters":
            values["lifespan"] = "12\n"
        sys.write(f"{port}/{folder}", values)


def _port_files(nic: Nic) -> dict[str, str]:
    return {
        "state": "4: ACTIVE\n" if nic.up else "1: DOWN\n",
        "phys_state": "5: LinkUp\n" if nic.up else "3: Disabled\n",
        # mlx5 prints 40 Gb/s for an Ethernet port without a link.
        "rate": f"{nic.rate}\n" if nic.up else "40 Gb/sec (4X QDR)\n",
        "link_layer": "Ethernet\n",
        "lid": "0x0\n",
        "sm_lid": "0x0\n",
        "lid_mask_count": "0\n",
        "cap_mask": "0x00010000\n",
    }


def _link_local(mac: str) -> str:
    """The GID that the kernel makes of a MAC address."""
    part = mac.split(":")
    first = f"{int(part[0], 16) ^ 0x02:02x}"
    return f"fe80:0000:0000:0000:{first}{part[1]}:{part[2]}ff:fe{part[3]}:{part[4]}{part[5]}\n"


def _write_gids(sys: Folder, nic: Nic, port: str) -> None:
    """Each address twice: as RoCE v1 and v2. An empty slot has no attributes that can be read."""
    a, b, c, d = nic.address_v4
    mapped = f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}\n"
    local = _link_local(nic.mac)
    used = (local, local, mapped, mapped)
    gids = {str(slot): EMPTY_GID for slot in range(GID_SLOTS)}
    gids |= {str(slot): gid for slot, gid in enumerate(used)}
    kinds = ("IB/RoCE v1\n", "RoCE v2\n")
    sys.write(f"{port}/gids", gids)
    sys.write(f"{port}/gid_attrs/types", {str(slot): kinds[slot % 2] for slot in range(4)})
    sys.write(f"{port}/gid_attrs/ndevs", {str(slot): f"{nic.netdev}\n" for slot in range(4)})


def _write_netdev(sys: Folder, netdev: Netdev, path: str) -> None:
    loopback = not netdev.address
    files = {
        "address": f"{netdev.mac}\n",
        "mtu": f"{netdev.mtu}\n",
        # The loopback has no link to speak of: the kernel says unknown.
        "operstate": "unknown\n" if loopback else "up\n" if netdev.up else "down\n",
        "carrier": f"{int(netdev.up)}\n",
        "ifindex": f"{netdev.index}\n",
        "type": "772\n" if loopback else "1\n",
        "dev_port": "0\n",
        "carrier_changes": "0\n" if loopback else "2\n" if netdev.up else "3\n",
        "flags": "0x9\n" if loopback else "0x1003\n",
        "tx_queue_len": "1000\n",
    }
    links = {"subsystem": f"{up(path)}class/net"}
    if not loopback:
        files["speed"] = f"{netdev.speed if netdev.up else -1}\n"
        files["duplex"] = "full\n" if netdev.up else "unknown\n"
        links["device"] = f"../../../{netdev.address}"
    if netdev.port_name:
        files["phys_port_name"] = f"{netdev.port_name}\n"
    sys.write(path, files, links)
