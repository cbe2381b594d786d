"""PCIe: links, slots and cards that are on the bus and give nothing."""

from lab.fleet.faults.change import (
    function,
    message,
    parameters,
    port_above,
    several,
    without_card,
)
from lab.fleet.faults.fault import Fault
from lab.fleet.faults.place import Place
from lab.fleet.model import HostModel

# Hosts whose links are read, and whose cards have a slot each.
SLOTS = ("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "kubernetes_worker")
# A host that misses a card is of another kind than its peers: too few to be compared in.
OTHER_KIND = (
    *("host-config-differs {host}", "nic-names-differ {host}", "driver-differs {host}"),
    *(
        "firmware-differs {cards}",
        "rdma-mtu-differs {rails}",
        "port-slower-than-peers {rails}",
        "gid-index-differs {rails}",
    ),
)
# What is asked of the card itself, and a card without a driver or firmware does not answer.
UNANSWERED = (
    *(
        "pcie-capped-by-firmware {nic}",
        "firmware-parameter-pending {nic}",
        "firmware-no-reset-level {nic}",
        "firmware-update-not-active {nic}",
    ),
    "intent-firmware {nic}",
    "intent-parameter {nic}:PCI_WR_ORDERING",
    "intent-parameter {nic}:ROCE_CC_PRIO_MASK_P1",
    "intent-parameter-name {nic}",
)
# Memory controller, other; ConnectX-7 in flash recovery is 15b3:0219 (pci.ids).
RECOVERY = {"device": 0x0219, "class_code": 0x058000, "driver": "", "virtual_functions": 0}


def _in_recovery(place: Place) -> HostModel:
    """The card has lost its firmware: another id, no driver, no tool that reaches it."""
    return without_card(place.on(function(RECOVERY)(place)))


def _small_slot(place: Place) -> HostModel:
    """The port over the card has eight lanes, so both ends do all that they can."""
    return several(port_above({"width_max": 8}), function({"width": 8}))(place)


def _without_driver(place: Place) -> HostModel:
    dead = several(
        function({"driver": ""}),
        message("mlx5_core {pci}: probe with driver mlx5_core failed with error -110"),
    )
    return without_card(place.on(dead(place)))


FAULTS = (
    Fault(
        name="transaction_lost",
        rule="pcie-uncorrected-errors",
        models=SLOTS,
        at="rail",
        change=message(
            "pcieport 0000:00:01.0: AER: Multiple Uncorrected (Non-Fatal) error received: {pci}"
        ),
        expects=("pcie-uncorrected-errors {host}",),
        severity="medium",
    ),
    Fault(
        name="narrow_link",
        rule="pcie-link-narrow",
        models=SLOTS,
        at="rail",
        change=function({"width": 8}),
        expects=("pcie-link-narrow {nic}",),
        implies=(
            "pcie-below-port-rate {nic}",
        ),  # 252 Gb/s at Gen5, 126 at Gen4: less than the port
        excuses=("pcie-payload-small {nic}",),  # payloads matter on full links only
    ),
    Fault(
        name="narrow_leg",
        rule="pcie-link-narrow",
        models=("socket_direct",),
        at="rail",
        change=function({"width": 8}),
        expects=("pcie-link-narrow {nic}",),
        # 63 and 126 Gb/s together, of which nine tenths are less than 200: of the card, hence both.
        implies=("pcie-below-port-rate {nics}",),
    ),
    Fault(
        name="slow_link",
        rule="pcie-link-downtrained",
        models=SLOTS,
        at="rail",
        change=function({"generation": 3}),
        expects=("pcie-link-downtrained {nic}",),
        implies=("pcie-below-port-rate {nic}",),  # 126 Gb/s
        excuses=("pcie-payload-small {nic}",),
    ),
    Fault(
        name="slow_switch",
        rule="pcie-link-downtrained",
        models=("hgx_h100", "kubernetes_worker"),
        at="rail",
        change=port_above({"generation": 3}, "upstream"),
        # Between the NIC and the GPU on the same switch nothing is slower.
        expects=("pcie-link-downtrained {nic}",),
    ),
    Fault(
        name="small_slot",
        rule="pcie-below-port-rate",
        models=SLOTS,
        at="rail",
        change=_small_slot,
        expects=("pcie-below-port-rate {nic}",),
        excuses=(
            "pcie-payload-small {nic}",
            "pcie-link-narrow {nic}",
        ),  # both ends do all that they can
    ),
    Fault(
        name="limited_by_firmware",
        rule="pcie-capped-by-firmware",
        models=("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "kubernetes_worker"),
        at="rail",
        # The tool's own words; the link comes up as the firmware was told.
        change=several(
            parameters(
                {
                    "PCI_BUS0_RESTRICT": ("True(1)", "True(1)"),
                    "PCI_BUS0_RESTRICT_SPEED": ("PCI_GEN_3(2)", "PCI_GEN_3(2)"),
                    "PCI_BUS0_RESTRICT_WIDTH": ("PCI_X16(4)", "PCI_X16(4)"),
                }
            ),
            function({"generation": 3}),
        ),
        expects=("pcie-capped-by-firmware {nic}",),
        implies=(
            "pcie-link-downtrained {nic}",
            "pcie-below-port-rate {nic}",
            "host-config-differs {host}",
        ),
        excuses=("pcie-payload-small {nic}",),
    ),
    Fault(
        name="flash_recovery",
        rule="nic-flash-recovery",
        models=("hgx_h100",),
        at="rail",
        change=_in_recovery,
        expects=("nic-flash-recovery {host}",),
        # One card and its GPU's way out are missed; the list of NCCL names a device that is gone.
        implies=(
            "part-missing {host}",
            "intent-compute-nics {host}",
            "gpu-without-near-nic {gpu}",
            "nccl-hca-missing {host}",
        ),
        excuses=(*OTHER_KIND, "* {nic}", "* {port}", "* {device}"),
        severity="blocker",
    ),
    Fault(
        name="dead_card",
        rule="nic-without-rdma",
        models=("hgx_h100",),
        at="rail",
        change=_without_driver,
        expects=("nic-without-rdma {nic}",),
        implies=(
            *(
                "rdma-device-missing {nic}",
                "link-missing {nic}",
                "nic-fatal-error {nic}",
                "intent-compute-nics {host}",
            ),
            "nccl-hca-missing {host}",
        ),
        hides=("pcie-below-port-rate {nic}", *UNANSWERED),
        excuses=(*OTHER_KIND, "* {port}", "* {device}"),
        # Then its devices could be a pod's, and nobody misses their values.
        clashes=("exclusive_namespaces",),
        severity="blocker",
    ),
    Fault(
        name="small_payload",
        rule="pcie-payload-small",
        models=SLOTS,
        at="rail",
        change=function({"max_payload": 128}),
        expects=("pcie-payload-small {nic}",),
    ),
)
