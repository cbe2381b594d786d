"""Firmware: versions, and changes that wait."""

from lab.fleet.faults.change import card, parameters, several
from lab.fleet.faults.fault import Fault

# Counters compare within one boot only: what is judged by their rise is unknown after another one.
AFTER_REBOOT = (
    *(
        "rdma-retransmissions {rails}",
        "rdma-damaged-packets {ports}",
        "link-went-down {ports}",
        "link-flapping {ports}",
    ),
    *("nic-drops-lossless {ports}", "fec-uncorrectable {ports}", "nic-pause-storm {ports}"),
)
_ORDERING = {"PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)")}
_FUNCTIONS = {"NUM_OF_VFS": ("0", "16")}

FAULTS = (
    Fault(
        name="other_firmware",
        rule="firmware-differs",
        models=("kubernetes_worker",),
        at="rail",
        change=card({"firmware": "28.42.1000"}),
        expects=("firmware-differs {nic}",),
    ),
    Fault(
        name="other_firmware_of_connectx6",
        rule="firmware-differs",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"firmware": "20.38.1900"}),
        expects=("firmware-differs {nic}",),
    ),
    Fault(
        name="firmware_with_a_known_defect",
        rule="firmware-known-defect",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"firmware": "20.34.1002"}),
        expects=("firmware-known-defect {nic}",),
        implies=("firmware-differs {nic}",),
        severity="medium",
    ),
    Fault(
        name="wanted_parameter_waits",
        rule="firmware-parameter-pending",
        models=("hgx_h100",),
        at="rail",
        change=parameters(_ORDERING),
        expects=("firmware-parameter-pending {nic}",),
        implies=("host-config-differs {host}",),
        severity="medium",
    ),
    Fault(
        name="parameter_waits",
        rule="firmware-parameter-pending",
        models=("hgx_a100_infiniband", "two_socket_4x400g", "kubernetes_worker"),
        at="rail",
        change=parameters(_ORDERING),
        expects=("firmware-parameter-pending {nic}",),
        implies=("host-config-differs {host}",),
        severity="info",
    ),
    Fault(
        name="parameter_waits_after_reboot",
        rule="firmware-change-not-applied",
        models=("hgx_h100",),
        at="rail",
        change=parameters(_FUNCTIONS),
        rebooted=True,
        expects=("firmware-change-not-applied {nic}",),
        implies=("firmware-parameter-pending {nic}", "host-config-differs {host}"),
        hides=AFTER_REBOOT,
        # What waits on another card has waited through this boot as well.
        clashes=("wanted_parameter_waits", "no_reset_level"),
        severity="high",
    ),
    Fault(
        name="no_reset_level",
        rule="firmware-no-reset-level",
        models=("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "kubernetes_worker"),
        at="rail",
        change=several(
            parameters(_FUNCTIONS), card({"flash.reset_levels": (0,), "flash.reset_level": 0})
        ),
        expects=("firmware-no-reset-level {nic}",),
        implies=("firmware-parameter-pending {nic}", "host-config-differs {host}"),
    ),
    Fault(
        name="update_not_active",
        rule="firmware-update-not-active",
        models=("hgx_h100", "kubernetes_worker"),
        at="rail",
        change=card({"flash.stored": "28.44.1036"}),
        expects=("firmware-update-not-active {nic}",),
    ),
    Fault(
        name="update_not_active_of_connectx6",
        rule="firmware-update-not-active",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"flash.stored": "20.41.1000"}),
        expects=("firmware-update-not-active {nic}",),
    ),
)
