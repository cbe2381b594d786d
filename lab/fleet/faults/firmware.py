"""Firmware: versions, and changes that wait."""

from lab.fleet.faults.change import card, parameters, several
from lab.fleet.faults.fault import Fault

# Counters compare within one boot only: what is judged by their rise is unknown after another one.
AFTER_REBOOT = (
    *("CNT-01 {rails}", "CNT-02 {ports}", "LNK-05 {ports}", "LNK-06 {ports}"),
    *("N-04 {ports}", "N-06 {ports}", "N-07 {ports}"),
)
_ORDERING = {"PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)")}
_FUNCTIONS = {"NUM_OF_VFS": ("0", "16")}

FAULTS = (
    Fault(
        name="other_firmware",
        rule="FWC-01",
        models=("kubernetes_worker",),
        at="rail",
        change=card({"firmware": "28.42.1000"}),
        expects=("FWC-01 {nic}",),
    ),
    Fault(
        name="other_firmware_of_connectx6",
        rule="FWC-01",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"firmware": "20.38.1900"}),
        expects=("FWC-01 {nic}",),
    ),
    Fault(
        name="wanted_parameter_waits",
        rule="FWC-03",
        models=("hgx_h100",),
        at="rail",
        change=parameters(_ORDERING),
        expects=("FWC-03 {nic}",),
        implies=("FLT-01 {host}",),
        severity="medium",
    ),
    Fault(
        name="parameter_waits",
        rule="FWC-03",
        models=("hgx_a100_infiniband", "two_socket_4x400g", "kubernetes_worker"),
        at="rail",
        change=parameters(_ORDERING),
        expects=("FWC-03 {nic}",),
        implies=("FLT-01 {host}",),
        severity="info",
    ),
    Fault(
        name="parameter_waits_after_reboot",
        rule="FWC-04",
        models=("hgx_h100",),
        at="rail",
        change=parameters(_FUNCTIONS),
        rebooted=True,
        expects=("FWC-04 {nic}",),
        implies=("FWC-03 {nic}", "FLT-01 {host}"),
        hides=AFTER_REBOOT,
        # What waits on another card has waited through this boot as well.
        clashes=("wanted_parameter_waits", "no_reset_level"),
        severity="high",
    ),
    Fault(
        name="no_reset_level",
        rule="FWC-05",
        models=("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "kubernetes_worker"),
        at="rail",
        change=several(
            parameters(_FUNCTIONS), card({"flash.reset_levels": (0,), "flash.reset_level": 0})
        ),
        expects=("FWC-05 {nic}",),
        implies=("FWC-03 {nic}", "FLT-01 {host}"),
    ),
    Fault(
        name="update_not_active",
        rule="FWC-08",
        models=("hgx_h100", "kubernetes_worker"),
        at="rail",
        change=card({"flash.stored": "28.44.1036"}),
        expects=("FWC-08 {nic}",),
    ),
    Fault(
        name="update_not_active_of_connectx6",
        rule="FWC-08",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"flash.stored": "20.41.1000"}),
        expects=("FWC-08 {nic}",),
    ),
)
