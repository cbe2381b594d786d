"""Counters that grow: all of these were at rest in the earlier snapshot, an hour before."""

from lab.fleet.faults.change import counters, several
from lab.fleet.faults.driver import ALL
from lab.fleet.faults.fault import Fault, untouched

ETHERNET = ("hgx_h100", "two_socket_4x400g", "socket_direct", "kubernetes_worker")
LOSSLESS = ("hgx_h100", "socket_direct", "kubernetes_worker")

FAULTS = (
    Fault(
        name="sent_anew",
        rule="rdma-retransmissions",
        models=ALL,
        at="rail",
        # Five times a second, where its peers have none.
        change=counters("hw_counters", {"packet_seq_err": 18_000}),
        before=untouched,
        expects=("rdma-retransmissions {port}",),
        needs_peers=True,
    ),
    Fault(
        name="damaged",
        rule="rdma-damaged-packets",
        models=ETHERNET,
        at="rail",
        change=counters("hw_counters", {"rx_icrc_encapsulated": 3}),
        before=untouched,
        expects=("rdma-damaged-packets {port}",),
        severity="medium",
    ),
    Fault(
        name="damaged_often",
        rule="rdma-damaged-packets",
        models=ETHERNET,
        at="rail",
        change=counters("hw_counters", {"rx_icrc_encapsulated": 5_000}),
        before=untouched,
        expects=("rdma-damaged-packets {port}",),
    ),
    Fault(
        name="lossless_drops",
        rule="nic-drops-lossless",
        models=LOSSLESS,
        at="rail",
        change=counters("statistics", {"rx_prio3_discards": 500}),
        before=untouched,
        expects=("nic-drops-lossless {port}",),
    ),
    Fault(
        name="pause_storm",
        rule="nic-pause-storm",
        models=LOSSLESS,
        at="rail",
        change=counters(
            "statistics", {"tx_pause_storm_error_events": 2, "tx_pause_storm_warning_events": 2}
        ),
        before=untouched,
        expects=("nic-pause-storm {port}",),
    ),
    Fault(
        name="pause_storm_near",
        rule="nic-pause-storm",
        models=LOSSLESS,
        at="rail",
        change=counters("statistics", {"tx_pause_storm_warning_events": 3}),
        before=untouched,
        expects=("nic-pause-storm {port}",),
        severity="medium",
        clashes=("pause_storm",),  # which is worse
    ),
    Fault(
        name="connections_died",
        rule="rdma-retransmissions",
        models=ALL,
        at="rail",
        # One that gave up is enough; seven packets sent anew are not.
        change=counters(
            "hw_counters", {"local_ack_timeout_err": 7, "req_transport_retries_exceeded": 1}
        ),
        before=untouched,
        expects=("rdma-retransmissions {port}",),
    ),
    Fault(
        name="sent_anew_among_many",
        rule="rdma-retransmissions",
        models=ALL,
        at="rail",
        change=several(
            counters("hw_counters", {"local_ack_timeout_err": 36_000}),
            counters("counters", {"port_xmit_packets": 100_000_000}),
        ),
        before=untouched,
        expects=("rdma-retransmissions {port}",),
        needs_peers=True,
    ),
    Fault(
        name="damaged_at_storage",
        rule="rdma-damaged-packets",
        models=("hgx_h100", "hgx_a100_infiniband", "kubernetes_worker"),
        at="storage",
        change=counters("hw_counters", {"rx_icrc_encapsulated": 1}),
        before=untouched,
        expects=("rdma-damaged-packets {port}",),
        severity="medium",
    ),
    Fault(
        name="lossless_drops_for_want_of_buffer",
        rule="nic-drops-lossless",
        models=LOSSLESS,
        at="rail",
        change=counters("statistics", {"rx_prio3_buf_discard": 12}),
        before=untouched,
        expects=("nic-drops-lossless {port}",),
    ),
    Fault(
        name="lossless_drops_in_a_bond",
        rule="nic-drops-lossless",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=counters("statistics", {"rx_prio3_discards": 500}),
        before=untouched,
        expects=("nic-drops-lossless {port}",),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="pause_storm_without_pfc",
        rule="nic-pause-storm",
        models=("two_socket_4x400g",),
        at="rail",
        change=counters(
            "statistics", {"tx_pause_storm_error_events": 1, "tx_pause_storm_warning_events": 1}
        ),
        before=untouched,
        expects=("nic-pause-storm {port}",),
        severity="medium",  # the role is inferred
    ),
)
