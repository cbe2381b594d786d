"""Intent: what is not as the site wants it."""

from dataclasses import replace

from lab.fleet.faults.change import card, function, host, parameters, without_card, without_function
from lab.fleet.faults.fault import Fault
from lab.fleet.faults.link import cage
from lab.fleet.faults.pcie import OTHER_KIND
from lab.fleet.faults.place import Place, rails
from lab.fleet.faults.qos import ALL_BUT_DATA, BY_VLAN, DATA_DSCP, LOSSLESS, mapped
from lab.fleet.model import HostModel, with_faults
from lab.fleet.system_model import MemoryNode


def _card_gone(place: Place) -> HostModel:
    """Not even on the bus."""
    return without_function(without_card(place), place.card.address)


def _gpu_gone(place: Place) -> HostModel:
    gone = place.processor.address
    kept = tuple(gpu for gpu in place.host.gpus if gpu.address != gone)
    return replace(without_function(place.host, gone), gpus=kept)


def _four_nodes(place: Place) -> HostModel:
    """Each socket split in two, as some BIOS settings do."""
    cpus = ("0-27,112-139", "56-83,168-195", "28-55,140-167", "84-111,196-223")
    memory = tuple(
        MemoryNode(number, cpus[number], 515_941, 400_113, distances)
        for number, distances in enumerate(
            ((10, 21, 12, 21), (21, 10, 21, 12), (12, 21, 10, 21), (21, 12, 21, 10))
        )
    )
    return replace(place.host, cpus=cpus, memory=memory)


def _all_slow(place: Place) -> HostModel:
    """All rails came up at half their rate: no port of the host differs from another."""
    half = {"rate": "200 Gb/sec (4X HDR)", "speed": 200_000}
    every = {(nic.name, name): value for nic in rails(place.host) for name, value in half.items()}
    return with_faults(place.host, every)


def _with_lldpad(place: Place) -> HostModel:
    """The service runs: it is one for all ports."""
    return with_faults(place.host, {(nic.name, "qos.lldpad"): True for nic in place.host.nics})


FAULTS = (
    Fault(
        name="not_adaptive",
        rule="INTENT.adaptive_routing",
        models=("hgx_h100",),
        at="rail",
        change=parameters({"ROCE_ADAPTIVE_ROUTING_EN": ("False(0)", "False(0)")}),
        site="gpu_driven",
        expects=("INTENT.adaptive_routing {port}",),
        implies=("FLT-01 {host}",),
        severity="high",
    ),
    Fault(
        name="other_cnp_dscp",
        rule="INTENT.cnp_dscp",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.cnp_dscp": 46}),  # priority 5, which nobody else has
        expects=("INTENT.cnp_dscp {port}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="other_cnp_priority",
        rule="INTENT.cnp_priority",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.cnp_priority": 5}),
        expects=("INTENT.cnp_priority {port}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="card_gone",
        rule="INTENT.compute_nics",
        models=("hgx_h100",),
        at="rail",
        change=_card_gone,
        expects=("INTENT.compute_nics {host}",),
        implies=("INV-01 {host}", "GDR-11 {gpu}", "NCC-01 {host}"),
        excuses=(*OTHER_KIND, "* {nic}", "* {port}", "* {device}"),
        severity="blocker",
    ),
    Fault(
        name="other_data_priority",
        rule="INTENT.data_dscp",
        models=("hgx_h100", "socket_direct"),
        at="rail",
        change=card({"qos.dscp_priority": mapped(DATA_DSCP, 0)}),
        expects=("INTENT.data_dscp {port}",),
        implies=("QOS-03 {port}", "QOS-07 {port}", "FLT-01 {host}"),
    ),
    Fault(
        name="firmware_sets_qos",
        rule="INTENT.dcbx_owner",
        models=("hgx_h100",),
        at="rail",
        change=card({"qos.dcbx": "firmware"}),
        expects=("INTENT.dcbx_owner {port}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="no_reaction",
        rule="INTENT.ecn",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.ecn_rp": ALL_BUT_DATA}),
        expects=("INTENT.ecn {port}",),
        implies=("QOS-05 {port}", "FLT-01 {host}"),
    ),
    Fault(
        name="unwanted_firmware",
        rule="INTENT.firmware",
        models=("hgx_h100",),
        at="rail",
        change=card({"firmware": "28.42.1000"}),
        expects=("INTENT.firmware {nic}",),
        implies=("FWC-01 {nic}",),
    ),
    Fault(
        name="gpu_gone",
        rule="INTENT.gpus",
        models=("hgx_h100",),
        at="gpu",
        change=_gpu_gone,
        expects=("INTENT.gpus {host}",),
        implies=("INV-01 {host}",),
        excuses=(*OTHER_KIND, "GDR-11 {gpus}"),
        clashes=("acs_redirect",),  # the way to a GPU that is gone is nobody's
        severity="high",
    ),
    Fault(
        name="small_reads",
        rule="INTENT.max_read_request",
        models=("hgx_h100",),
        at="rail",
        change=function({"read_request": 512}),
        expects=("INTENT.max_read_request {port}",),
        implies=("FLT-01 {host}",),
        severity="low",
    ),
    Fault(
        name="other_mtu",
        rule="INTENT.mtu",
        models=LOSSLESS,
        at="rail",
        change=card({"mtu": 4200}),  # still 4096 for RDMA
        expects=("INTENT.mtu {port}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="four_nodes",
        rule="INTENT.numa_nodes",
        models=("hgx_h100",),
        at="host",
        change=_four_nodes,
        expects=("INTENT.numa_nodes {host}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="unwanted_parameter",
        rule="INTENT.parameter",
        models=("hgx_h100",),
        at="rail",
        change=parameters({"PCI_WR_ORDERING": ("force_relax(1)", "force_relax(1)")}),
        expects=("INTENT.parameter {nic}:PCI_WR_ORDERING",),
        implies=("FLT-01 {host}",),
        severity="high",
    ),
    Fault(
        name="name_of_no_parameter",
        rule="INTENT.parameter_name",
        models=("hgx_h100",),
        at="rail",
        change=card(
            {"psid": "MT_0000001015"}
        ),  # the one card that the site has misspelt wishes for
        site="misspelt",
        expects=("INTENT.parameter_name {nic}",),
        excuses=(
            *OTHER_KIND,
            *("INTENT.firmware {nic}", "INTENT.parameter {nic}:PCI_WR_ORDERING"),
            *("INTENT.parameter {nic}:ROCE_CC_PRIO_MASK_P1", "FWC-03 {nic}"),
        ),
    ),
    Fault(
        name="no_pfc",
        rule="INTENT.pfc",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.pfc": (False,) * 8}),
        expects=("INTENT.pfc {port}",),
        implies=("QOS-03 {port}", "QOS-07 {port}", "FLT-01 {host}"),
        excuses=("QOS-05 {port}",),
    ),
    Fault(
        name="slow_port",
        rule="INTENT.port_rate",
        models=("hgx_h100", "kubernetes_worker", "two_socket_4x400g", "passthrough_vm"),
        at="rail",
        change=card({"rate": "200 Gb/sec (4X HDR)", "speed": 200_000}),
        expects=("INTENT.port_rate {port}",),
    ),
    Fault(
        name="programmable",
        rule="INTENT.programmable_cc",
        models=("hgx_h100", "kubernetes_worker"),
        at="rail",
        change=parameters({"USER_PROGRAMMABLE_CC": ("True(1)", "True(1)")}),
        expects=("INTENT.programmable_cc {port}",),
        implies=("FLT-01 {host}",),
        excuses=("QOS-05 {port}",),  # a program decides, not the switches of the driver
    ),
    Fault(
        name="exclusive_namespaces",
        rule="INTENT.rdma_netns_mode",
        models=("hgx_h100", "socket_direct"),
        at="host",
        change=host({"rdma_namespaces": "exclusive"}),
        expects=("INTENT.rdma_netns_mode {host}",),
        implies=("FLT-01 {host}",),
        excuses=("NCC-01 {host}", "NCC-09 {host}"),  # a device that is missed may be a pod's
        severity="high",
    ),
    Fault(
        name="trusts_vlan_tags",
        rule="INTENT.trust",
        models=LOSSLESS,
        at="rail",
        change=card(BY_VLAN),
        expects=("INTENT.trust {port}",),
        implies=("FLT-01 {host}",),
        # Without a DSCP map nobody can say which priority a code point has.
        excuses=("INTENT.data_dscp {port}", "QOS-03 {port}", "QOS-07 {port}", "N-03 {port}"),
    ),
    Fault(
        name="card_gone_of_connectx6",
        rule="INTENT.compute_nics",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=_card_gone,
        expects=("INTENT.compute_nics {host}",),
        # Its GPUs have the other NIC of their switch.
        implies=("INV-01 {host}", "NCC-01 {host}"),
        excuses=(*OTHER_KIND, "* {nic}", "* {port}", "* {device}"),
        severity="medium",  # the storage card might be meant for compute: nobody has named roles
    ),
    Fault(
        name="lldpad_sets_qos",
        rule="INTENT.dcbx_owner",
        models=("hgx_h100",),
        at="host",
        change=_with_lldpad,
        expects=("INTENT.dcbx_owner {rails}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="switch_sets_qos",
        rule="INTENT.dcbx_owner",
        models=("hgx_h100",),
        at="rail",
        change=parameters(
            {"LLDP_NB_DCBX_P1": ("True(1)",) * 2, "DCBX_WILLING_P1": ("True(1)",) * 2}
        ),
        expects=("INTENT.dcbx_owner {port}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="neither_half_of_ecn",
        rule="INTENT.ecn",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.ecn_rp": ALL_BUT_DATA, "qos.ecn_np": ALL_BUT_DATA}),
        expects=("INTENT.ecn {port}",),
        implies=("FLT-01 {host}",),
        clashes=("no_reaction",),  # both halves off are no half-open loop
    ),
    Fault(
        name="gpu_gone_of_two",
        rule="INTENT.gpus",
        models=("hgx_a100_infiniband", "two_socket_4x400g"),
        at="gpu",
        change=_gpu_gone,
        expects=("INTENT.gpus {host}",),
        implies=("INV-01 {host}",),
        excuses=(*OTHER_KIND, "GDR-11 {gpus}"),
        clashes=("acs_redirect",),  # the way to a GPU that is gone is nobody's
        severity="high",
    ),
    Fault(
        name="one_priority_more",
        rule="INTENT.pfc",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.pfc": tuple(priority in (3, 4) for priority in range(8))}),
        expects=("INTENT.pfc {port}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="slow_host",
        rule="INTENT.port_rate",
        models=("two_socket_4x400g", "hgx_h100"),
        at="host",
        change=_all_slow,
        expects=("INTENT.port_rate {rails}",),
    ),
    Fault(
        name="slow_legs",
        rule="INTENT.port_rate",
        models=("socket_direct",),
        at="rail",
        change=cage({"rate": "100 Gb/sec (4X EDR)", "speed": 100_000}),
        expects=("INTENT.port_rate {rails}",),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="slow_infiniband",
        rule="INTENT.port_rate",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"rate": "100 Gb/sec (4X EDR)", "speed": 100_000}),
        expects=("INTENT.port_rate {port}",),
        severity="medium",  # the role is inferred
    ),
)
