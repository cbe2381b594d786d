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
        rule="intent-adaptive-routing",
        models=("hgx_h100",),
        at="rail",
        change=parameters({"ROCE_ADAPTIVE_ROUTING_EN": ("False(0)", "False(0)")}),
        site="gpu_driven",
        expects=("intent-adaptive-routing {port}",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="other_cnp_dscp",
        rule="intent-cnp-dscp",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.cnp_dscp": 46}),  # priority 5, which nobody else has
        expects=("intent-cnp-dscp {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="other_cnp_priority",
        rule="intent-cnp-priority",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.cnp_priority": 5}),
        expects=("intent-cnp-priority {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="card_gone",
        rule="intent-compute-nics",
        models=("hgx_h100",),
        at="rail",
        change=_card_gone,
        expects=("intent-compute-nics {host}",),
        implies=("part-missing {host}", "gpu-without-near-nic {gpu}", "nccl-hca-missing {host}"),
        excuses=(*OTHER_KIND, "* {nic}", "* {port}", "* {device}"),
        severity="blocker",
    ),
    Fault(
        name="other_data_priority",
        rule="intent-data-dscp",
        models=("hgx_h100", "socket_direct"),
        at="rail",
        change=card({"qos.dscp_priority": mapped(DATA_DSCP, 0)}),
        expects=("intent-data-dscp {port}",),
        implies=("data-dscp-lossy {port}", "default-tc-lossy {port}", "host-config-differs {host}"),
    ),
    Fault(
        name="firmware_sets_qos",
        rule="intent-dcbx-owner",
        models=("hgx_h100",),
        at="rail",
        change=card({"qos.dcbx": "firmware"}),
        expects=("intent-dcbx-owner {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="no_reaction",
        rule="intent-ecn",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.ecn_rp": ALL_BUT_DATA}),
        expects=("intent-ecn {port}",),
        implies=("ecn-half-enabled {port}", "host-config-differs {host}"),
    ),
    Fault(
        name="unwanted_firmware",
        rule="intent-firmware",
        models=("hgx_h100",),
        at="rail",
        change=card({"firmware": "28.42.1000"}),
        expects=("intent-firmware {nic}",),
        implies=("firmware-differs {nic}",),
    ),
    Fault(
        name="gpu_gone",
        rule="intent-gpus",
        models=("hgx_h100",),
        at="gpu",
        change=_gpu_gone,
        expects=("intent-gpus {host}",),
        implies=("part-missing {host}",),
        excuses=(*OTHER_KIND, "gpu-without-near-nic {gpus}"),
        clashes=("acs_redirect",),  # the way to a GPU that is gone is nobody's
        severity="high",
    ),
    Fault(
        name="small_reads",
        rule="intent-max-read-request",
        models=("hgx_h100",),
        at="rail",
        change=function({"read_request": 512}),
        expects=("intent-max-read-request {port}",),
        implies=("host-config-differs {host}",),
        severity="low",
    ),
    Fault(
        name="other_mtu",
        rule="intent-mtu",
        models=LOSSLESS,
        at="rail",
        change=card({"mtu": 4200}),  # still 4096 for RDMA
        expects=("intent-mtu {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="four_nodes",
        rule="intent-numa-nodes",
        models=("hgx_h100",),
        at="host",
        change=_four_nodes,
        expects=("intent-numa-nodes {host}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="unwanted_parameter",
        rule="intent-parameter",
        models=("hgx_h100",),
        at="rail",
        change=parameters({"PCI_WR_ORDERING": ("force_relax(1)", "force_relax(1)")}),
        expects=("intent-parameter {nic}:PCI_WR_ORDERING",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="name_of_no_parameter",
        rule="intent-parameter-name",
        models=("hgx_h100",),
        at="rail",
        change=card(
            {"psid": "MT_0000001015"}
        ),  # the one card that the site has misspelt wishes for
        site="misspelt",
        expects=("intent-parameter-name {nic}",),
        excuses=(
            *OTHER_KIND,
            *("intent-firmware {nic}", "intent-parameter {nic}:PCI_WR_ORDERING"),
            *("intent-parameter {nic}:ROCE_CC_PRIO_MASK_P1", "firmware-parameter-pending {nic}"),
        ),
    ),
    Fault(
        name="no_pfc",
        rule="intent-pfc",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.pfc": (False,) * 8}),
        expects=("intent-pfc {port}",),
        implies=("data-dscp-lossy {port}", "default-tc-lossy {port}", "host-config-differs {host}"),
        excuses=("ecn-half-enabled {port}",),
    ),
    Fault(
        name="slow_port",
        rule="intent-port-rate",
        models=("hgx_h100", "kubernetes_worker", "two_socket_4x400g", "passthrough_vm"),
        at="rail",
        change=card({"rate": "200 Gb/sec (4X HDR)", "speed": 200_000}),
        expects=("intent-port-rate {port}",),
    ),
    Fault(
        name="programmable",
        rule="intent-programmable-cc",
        models=("hgx_h100", "kubernetes_worker"),
        at="rail",
        change=parameters({"USER_PROGRAMMABLE_CC": ("True(1)", "True(1)")}),
        expects=("intent-programmable-cc {port}",),
        implies=("host-config-differs {host}",),
        excuses=("ecn-half-enabled {port}",),  # a program decides, not the switches of the driver
    ),
    Fault(
        name="exclusive_namespaces",
        rule="intent-rdma-netns-mode",
        models=("hgx_h100", "socket_direct"),
        at="host",
        change=host({"rdma_namespaces": "exclusive"}),
        expects=("intent-rdma-netns-mode {host}",),
        implies=("host-config-differs {host}",),
        excuses=(
            "nccl-hca-missing {host}",
            "ucx-device-missing {host}",
        ),  # a device that is missed may be a pod's
        severity="high",
    ),
    Fault(
        name="trusts_vlan_tags",
        rule="intent-trust",
        models=LOSSLESS,
        at="rail",
        change=card(BY_VLAN),
        expects=("intent-trust {port}",),
        implies=("host-config-differs {host}",),
        # Without a DSCP map nobody can say which priority a code point has.
        excuses=(
            "intent-data-dscp {port}",
            "data-dscp-lossy {port}",
            "default-tc-lossy {port}",
            "cnp-in-paused-class {port}",
        ),
    ),
    Fault(
        name="card_gone_of_connectx6",
        rule="intent-compute-nics",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=_card_gone,
        expects=("intent-compute-nics {host}",),
        # Its GPUs have the other NIC of their switch.
        implies=("part-missing {host}", "nccl-hca-missing {host}"),
        excuses=(*OTHER_KIND, "* {nic}", "* {port}", "* {device}"),
        severity="medium",  # the storage card might be meant for compute: nobody has named roles
    ),
    Fault(
        name="lldpad_sets_qos",
        rule="intent-dcbx-owner",
        models=("hgx_h100",),
        at="host",
        change=_with_lldpad,
        expects=("intent-dcbx-owner {rails}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="switch_sets_qos",
        rule="intent-dcbx-owner",
        models=("hgx_h100",),
        at="rail",
        change=parameters(
            {"LLDP_NB_DCBX_P1": ("True(1)",) * 2, "DCBX_WILLING_P1": ("True(1)",) * 2}
        ),
        expects=("intent-dcbx-owner {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="neither_half_of_ecn",
        rule="intent-ecn",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.ecn_rp": ALL_BUT_DATA, "qos.ecn_np": ALL_BUT_DATA}),
        expects=("intent-ecn {port}",),
        implies=("host-config-differs {host}",),
        clashes=("no_reaction",),  # both halves off are no half-open loop
    ),
    Fault(
        name="gpu_gone_of_two",
        rule="intent-gpus",
        models=("hgx_a100_infiniband", "two_socket_4x400g"),
        at="gpu",
        change=_gpu_gone,
        expects=("intent-gpus {host}",),
        implies=("part-missing {host}",),
        excuses=(*OTHER_KIND, "gpu-without-near-nic {gpus}"),
        clashes=("acs_redirect",),  # the way to a GPU that is gone is nobody's
        severity="high",
    ),
    Fault(
        name="one_priority_more",
        rule="intent-pfc",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.pfc": tuple(priority in (3, 4) for priority in range(8))}),
        expects=("intent-pfc {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="slow_host",
        rule="intent-port-rate",
        models=("two_socket_4x400g", "hgx_h100"),
        at="host",
        change=_all_slow,
        expects=("intent-port-rate {rails}",),
    ),
    Fault(
        name="slow_legs",
        rule="intent-port-rate",
        models=("socket_direct",),
        at="rail",
        change=cage({"rate": "100 Gb/sec (4X EDR)", "speed": 100_000}),
        expects=("intent-port-rate {rails}",),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="slow_infiniband",
        rule="intent-port-rate",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"rate": "100 Gb/sec (4X EDR)", "speed": 100_000}),
        expects=("intent-port-rate {port}",),
        severity="medium",  # the role is inferred
    ),
)
