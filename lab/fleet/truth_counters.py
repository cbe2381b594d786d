"""The truth about counters: which ones a port of each kind has, and their values.

Names as in schema/counters.toml of the product: those that become facts. A counter that stands
here is printed, at zero where the model says nothing.
"""

from collections.abc import Iterable
from zlib import crc32

from lab.fleet.model import HostModel, Netdev, Nic
from lab.fleet.truth_places import Rows, Tables, asked_netdevs, words

PRIORITIES = range(8)

# /sys/class/infiniband/*/ports/*/counters
RDMA_COUNTERS = words(
    """
    VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery
    local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets
    port_rcv_constraint_errors port_rcv_data port_rcv_errors port_rcv_packets
    port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_xmit_constraint_errors
    port_xmit_data port_xmit_discards port_xmit_packets port_xmit_wait symbol_error
    unicast_rcv_packets unicast_xmit_packets
    """
)
# …/hw_counters, and those that only RoCE has
RDMA_HARDWARE = words(
    """
    duplicate_request implied_nak_seq_err local_ack_timeout_err out_of_buffer out_of_sequence
    packet_seq_err req_cqe_error req_cqe_flush_error req_remote_access_errors
    req_remote_invalid_request req_rnr_retries_exceeded req_transport_retries_exceeded
    resp_cqe_error resp_cqe_flush_error resp_local_length_error resp_remote_access_errors
    rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to roce_slow_restart
    roce_slow_restart_cnps roce_slow_restart_trans rx_atomic_requests rx_dct_connect
    rx_icrc_encapsulated rx_read_requests rx_write_requests
    """
)
RDMA_HARDWARE_ROCE = (
    *("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored"),
)

# ethtool -S of mlx5, both on Ethernet and on IPoIB
OF_EVERY_PORT = words(
    """
    rx_packets rx_bytes tx_packets tx_bytes rx_ecn_mark tx_queue_dropped tx_recover tx_cqe_err
    rx_wqe_err rx_oversize_pkts_sw_drop rx_buff_alloc_err rx_recover ch_eq_rearm rx_out_of_buffer
    rx_if_down_packets rx_steer_missed_packets rx_oversize_pkts_buffer rx_vport_unicast_packets
    rx_vport_unicast_bytes tx_vport_unicast_packets tx_vport_unicast_bytes
    rx_vport_rdma_unicast_packets rx_vport_rdma_unicast_bytes tx_vport_rdma_unicast_packets
    tx_vport_rdma_unicast_bytes rx_vport_rdma_multicast_packets rx_vport_rdma_multicast_bytes
    tx_vport_rdma_multicast_packets tx_vport_rdma_multicast_bytes tx_packets_phy rx_packets_phy
    rx_crc_errors_phy tx_bytes_phy rx_bytes_phy rx_in_range_len_errors_phy rx_out_of_range_len_phy
    rx_oversize_pkts_phy rx_symbol_err_phy rx_unsupported_op_phy rx_discards_phy tx_discards_phy
    tx_errors_phy rx_undersize_pkts_phy rx_fragments_phy rx_jabbers_phy link_down_events_phy
    rx_pcs_symbol_err_phy rx_corrected_bits_phy rx_err_lane_0_phy rx_err_lane_1_phy
    rx_err_lane_2_phy rx_err_lane_3_phy rx_pci_signal_integrity tx_pci_signal_integrity
    outbound_pci_stalled_rd outbound_pci_stalled_wr outbound_pci_stalled_rd_events
    outbound_pci_stalled_wr_events outbound_pci_buffer_overflow module_unplug module_bus_stuck
    module_high_temp module_bad_shorted
    """
)
OF_EVERY_PRIORITY = words(
    """
    rx_prio#_bytes rx_prio#_packets rx_prio#_discards tx_prio#_bytes tx_prio#_packets
    rx_prio#_buf_discard rx_prio#_cong_discard rx_prio#_marked
    """
)
# Pauses are a matter of Ethernet alone.
OF_ETHERNET = words(
    """
    rx_pause_ctrl_phy tx_pause_ctrl_phy rx_buffer_passed_thres_phy tx_pause_storm_warning_events
    tx_pause_storm_error_events
    """
)
OF_PAUSED_PRIORITY = words(
    """
    rx_prio#_pause rx_prio#_pause_duration tx_prio#_pause tx_prio#_pause_duration
    rx_prio#_pause_transition
    """
)
OF_GLOBAL_PAUSE = tuple(name.replace("prio#", "global") for name in OF_PAUSED_PRIORITY)
TOO_HOT_C = 75.0  # where the modules of the fleet raise their alarm


def tables(host: HostModel) -> Tables:
    """netdev_counter; what has no driver of the RDMA vendor shares four names with it."""
    rows: Rows = []
    for netdev in asked_netdevs(host):
        values = _card(netdev) if isinstance(netdev, Nic) else _plain(netdev)
        rows += [
            {"netdev": netdev.netdev, "counter": name, "value": value}
            for name, value in values.items()
        ]
    return {"netdev_counter": rows}


def _each(names: Iterable[str], priorities: Iterable[int]) -> list[str]:
    numbers = list(priorities)
    return [name.replace("#", str(number)) for name in names for number in numbers]


def _names(nic: Nic) -> list[str]:
    """A priority counts its pauses while it has flow control; without any, the port as a whole."""
    names = [*OF_EVERY_PORT, *_each(OF_EVERY_PRIORITY, PRIORITIES)]
    if nic.link_layer != "Ethernet":
        return names
    paused = [priority for priority in PRIORITIES if nic.qos.pfc[priority]]
    names += [*OF_ETHERNET, *_each(OF_PAUSED_PRIORITY, paused)]
    if not paused or nic.link.pause_rx or nic.link.pause_tx:
        names += OF_GLOBAL_PAUSE
    return names


def _card(nic: Nic) -> dict[str, int]:
    """What the model counts; else what follows from its link and its module."""
    follows: dict[str, int] = {}
    if nic.link_layer == "Ethernet":
        errors = nic.link.raw_errors
        follows = {f"rx_err_lane_{lane}_phy": count for lane, count in enumerate(errors)}
        follows["rx_corrected_bits_phy"] = sum(errors)
        follows["rx_pcs_symbol_err_phy"] = nic.link.effective_errors
        follows["link_down_events_phy"] = nic.link.link_down
        hot = bool(nic.optic.lanes) and nic.optic.temperature_c > TOO_HOT_C
        follows["module_high_temp"] = int(hot)
    known = {**follows, **nic.statistics}
    return {name: known.get(name, 0) for name in _names(nic)}


def _plain(netdev: Netdev) -> dict[str, int]:
    """Traffic of a management port, told apart by its MAC address; no model holds it."""
    seed = crc32(netdev.mac.encode())
    received, sent = 20_000_000 + seed % 900_001, 9_000_000 + seed % 400_009
    return {
        "rx_packets": received,
        "tx_packets": sent,
        "rx_bytes": received * 530 + seed % 523,
        "tx_bytes": sent * 530 + seed % 523,
    }
