"""`rdma` of iproute2: links, devices, counters, namespaces.

Layout as release 6.1 prints it: held to the samples, and to that release over a made-up kernel.
"""

import json
from collections.abc import Iterator

from lab.fleet.model import HostModel, Nic, is_mlx5, netdev_is_here, rdma_is_here
from lab.fleet.rdma import IRDMA_COUNTERS
from lab.fleet.render.base import Said
from lab.fleet.render.verbs import state_of, visible

# In the order in which mlx5 registers them.
COUNTERS = (
    *("rx_write_requests", "rx_read_requests", "rx_atomic_requests", "rx_dct_connect"),
    *("out_of_buffer", "out_of_sequence", "duplicate_request", "rnr_nak_retry_err"),
    *("packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err", "resp_local_length_error"),
    *("resp_cqe_error", "req_cqe_error", "req_remote_invalid_request", "req_remote_access_errors"),
    *("resp_remote_access_errors", "resp_cqe_flush_error", "req_cqe_flush_error"),
    *("req_transport_retries_exceeded", "req_rnr_retries_exceeded", "roce_adp_retrans"),
    *("roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps"),
    *("roce_slow_restart_trans", "rp_cnp_ignored", "rp_cnp_handled", "np_ecn_marked_roce_packets"),
    *("np_cnp_sent", "rx_icrc_encapsulated"),
)
# Ports of an InfiniBand fabric have no CNPs (seen on eight ConnectX-7).
_ONLY_ROCE = frozenset(
    ("rp_cnp_ignored", "rp_cnp_handled", "np_ecn_marked_roce_packets", "np_cnp_sent")
)

Row = dict[str, str | int]


def _json(rows: list[Row]) -> str:
    return json.dumps(rows, separators=(",", ":")) + "\n"


def links(host: HostModel) -> list[Row]:
    """`rdma link`: the index is that of the RDMA device."""
    return [_link(number, nic) for number, nic in enumerate(host.nics) if rdma_is_here(host, nic)]


def _link(number: int, nic: Nic) -> Row:
    state = state_of(nic)
    row: Row = {"ifindex": number, "ifname": nic.name, "port": 1}
    if nic.link_layer == "InfiniBand":
        prefix = nic.gids[0].gid[:19] if nic.gids else "fe80:0000:0000:0000"
        row |= {"subnet_prefix": prefix, "lid": nic.lid, "sm_lid": nic.sm_lid, "lmc": 0}
    row |= {"state": state.rdma, "physical_state": state.physical_rdma}
    # Neither IPoIB nor an interface in another namespace is named.
    if nic.link_layer == "Ethernet" and netdev_is_here(nic):
        row |= {"netdev": nic.netdev, "netdev_index": nic.index}
    return row


def links_text(host: HostModel) -> str:
    """`rdma link show` without -j."""
    lines = []
    for row in links(host):
        shown = {name: value for name, value in row.items() if name not in _NOT_IN_TEXT}
        lines.append(f"link {row['ifname']}/{row['port']} {_pairs(shown)} \n")
    return "".join(lines)


_NOT_IN_TEXT = ("ifindex", "ifname", "port", "netdev_index")


def _pairs(row: Row) -> str:
    return " ".join(f"{name} {value}" for name, value in row.items())


def devices(host: HostModel) -> list[Row]:
    """`rdma dev`."""
    return [
        {
            "ifindex": number,
            "ifname": nic.name,
            "node_type": "ca",
            "fw": nic.firmware,
            "node_guid": nic.guid,
            "sys_image_guid": nic.image_guid,
        }
        for number, nic in enumerate(host.nics)
        if rdma_is_here(host, nic)
    ]


def devices_text(host: HostModel) -> str:
    """`rdma dev show` without -j."""
    lines = []
    for row in devices(host):
        number, name = row.pop("ifindex"), row.pop("ifname")
        lines.append(f"{number}: {name}: {_pairs(row)} \n")
    return "".join(lines)


def statistics(host: HostModel) -> list[Row]:
    """`rdma statistic`: the counters of a link beside its name."""
    rows = []
    for nic in visible(host):
        row: Row = {"ifname": nic.name, "port": 1}
        for name in COUNTERS if is_mlx5(nic) else IRDMA_COUNTERS:
            if nic.link_layer == "Ethernet" or name not in _ONLY_ROCE:
                row[name] = nic.hw_counters.get(name, 0)
        rows.append(row)
    return rows


def statistics_text(host: HostModel) -> str:
    """`rdma statistic show` without -j."""
    lines = []
    for row in statistics(host):
        name, port = row.pop("ifname"), row.pop("port")
        lines.append(f"link {name}/{port} {_pairs(row)} \n")
    return "".join(lines)


def system_text(host: HostModel) -> str:
    """`rdma system show`: -j changes nothing, release 6.1 opens no JSON for this command."""
    return f"netns {host.rdma_namespaces} copy-on-fork on\n"


def commands(host: HostModel) -> Iterator[Said]:
    """All four, with -j."""
    yield Said("rdma -j link show", _json(links(host)))
    yield Said("rdma -j dev show", _json(devices(host)))
    yield Said("rdma -j statistic show", _json(statistics(host)))
    yield Said("rdma -j system show", system_text(host))
