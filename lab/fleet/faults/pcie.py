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
    *("FLT-01 {host}", "FLT-05 {host}", "DRV-06 {host}"),
    *("FWC-01 {cards}", "MTU-02 {rails}", "LNK-02 {rails}", "ADR-03 {rails}"),
)
# What is asked of the card itself, and a card without a driver or firmware does not answer.
UNANSWERED = (
    *("N-09 {nic}", "FWC-03 {nic}", "FWC-05 {nic}", "FWC-08 {nic}"),
    "INTENT.firmware {nic}",
    "INTENT.parameter {nic}:PCI_WR_ORDERING",
    "INTENT.parameter {nic}:ROCE_CC_PRIO_MASK_P1",
    "INTENT.parameter_name {nic}",
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
        rule="PCI-12",
        models=SLOTS,
        at="rail",
        change=message(
            "pcieport 0000:00:01.0: AER: Multiple Uncorrected (Non-Fatal) error received: {pci}"
        ),
        expects=("PCI-12 {host}",),
        severity="medium",
    ),
    Fault(
        name="narrow_link",
        rule="PCI-02",
        models=SLOTS,
        at="rail",
        change=function({"width": 8}),
        expects=("PCI-02 {nic}",),
        implies=("PCI-03 {nic}",),  # 252 Gb/s at Gen5, 126 at Gen4: less than the port
        excuses=("N-08 {nic}",),  # payloads matter on full links only
    ),
    Fault(
        name="narrow_leg",
        rule="PCI-02",
        models=("socket_direct",),
        at="rail",
        change=function({"width": 8}),
        expects=("PCI-02 {nic}",),
        # 63 and 126 Gb/s together, of which nine tenths are less than 200: of the card, hence both.
        implies=("PCI-03 {nics}",),
    ),
    Fault(
        name="slow_link",
        rule="PCI-01",
        models=SLOTS,
        at="rail",
        change=function({"generation": 3}),
        expects=("PCI-01 {nic}",),
        implies=("PCI-03 {nic}",),  # 126 Gb/s
        excuses=("N-08 {nic}",),
    ),
    Fault(
        name="slow_switch",
        rule="PCI-01",
        models=("hgx_h100", "kubernetes_worker"),
        at="rail",
        change=port_above({"generation": 3}, "upstream"),
        # Between the NIC and the GPU on the same switch nothing is slower.
        expects=("PCI-01 {nic}",),
    ),
    Fault(
        name="small_slot",
        rule="PCI-03",
        models=SLOTS,
        at="rail",
        change=_small_slot,
        expects=("PCI-03 {nic}",),
        excuses=("N-08 {nic}", "PCI-02 {nic}"),  # both ends do all that they can
    ),
    Fault(
        name="limited_by_firmware",
        rule="N-09",
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
        expects=("N-09 {nic}",),
        implies=("PCI-01 {nic}", "PCI-03 {nic}", "FLT-01 {host}"),
        excuses=("N-08 {nic}",),
    ),
    Fault(
        name="flash_recovery",
        rule="N-10",
        models=("hgx_h100",),
        at="rail",
        change=_in_recovery,
        expects=("N-10 {host}",),
        # One card and its GPU's way out are missed; the list of NCCL names a device that is gone.
        implies=("INV-01 {host}", "INTENT.compute_nics {host}", "GDR-11 {gpu}", "NCC-01 {host}"),
        excuses=(*OTHER_KIND, "* {nic}", "* {port}", "* {device}"),
        severity="blocker",
    ),
    Fault(
        name="dead_card",
        rule="PCI-07",
        models=("hgx_h100",),
        at="rail",
        change=_without_driver,
        expects=("PCI-07 {nic}",),
        implies=(
            *("INV-02 {nic}", "INV-04 {nic}", "DRV-04 {nic}", "INTENT.compute_nics {host}"),
            "NCC-01 {host}",
        ),
        hides=("PCI-03 {nic}", *UNANSWERED),
        excuses=(*OTHER_KIND, "* {port}", "* {device}"),
        # Then its devices could be a pod's, and nobody misses their values.
        clashes=("exclusive_namespaces",),
        severity="blocker",
    ),
    Fault(
        name="small_payload",
        rule="N-08",
        models=SLOTS,
        at="rail",
        change=function({"max_payload": 128}),
        expects=("N-08 {nic}",),
    ),
)
