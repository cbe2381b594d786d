"""QoS: priorities, pause, congestion control."""

from lab.fleet.faults.change import card, parameters, settings, several
from lab.fleet.faults.fault import Fault, untouched
from lab.fleet.faults.firmware import AFTER_REBOOT
from lab.fleet.faults.place import Place, rails
from lab.fleet.model import HostModel, with_faults
from lab.fleet.port_model import USUAL_DSCP

LOSSLESS = ("hgx_h100", "socket_direct", "kubernetes_worker")
DATA_DSCP, CNP_DSCP, LOSSLESS_PRIORITY = 26, 48, 3
# While a port trusts VLAN priorities it shows no DSCP map, neither to the vendor's tool nor here.
BY_VLAN = {"qos.trust": "pcp", "qos.app_dscps": ()}
ONLY_DATA = tuple(priority == LOSSLESS_PRIORITY for priority in range(8))
ALL_BUT_DATA = tuple(not on for on in ONLY_DATA)


def mapped(dscp: int, priority: int) -> tuple[int, ...]:
    """The usual map with one code point elsewhere."""
    return (*USUAL_DSCP[:dscp], priority, *USUAL_DSCP[dscp + 1 :])


def _no_traffic_class(place: Place) -> HostModel:
    """Neither the driver of any rail nor a file of the host sets one."""
    values = {(nic.name, "qos.traffic_class"): 0 for nic in rails(place.host)}
    return settings({"NCCL_IB_TC": ""})(place.on(with_faults(place.host, values)))


FAULTS = (
    Fault(
        name="some_priorities_only",
        rule="cc-priorities-not-aligned",
        models=("kubernetes_worker",),
        at="rail",
        change=card({"firmware": "28.45.1200", "qos.ecn_rp": ONLY_DATA}),
        expects=("cc-priorities-not-aligned {port}",),
        implies=(
            "firmware-differs {nic}",
            "host-config-differs {host}",
        ),  # its peers run 28.43, with all eight on
    ),
    Fault(
        name="notifications_among_data",
        rule="cnp-in-paused-class",
        models=LOSSLESS,
        at="rail",
        change=card({"qos.dscp_priority": mapped(CNP_DSCP, LOSSLESS_PRIORITY)}),
        expects=("cnp-in-paused-class {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="sorted_by_vlan",
        rule="trust-pcp-untagged",
        models=("hgx_h100",),
        at="rail",
        change=card(BY_VLAN),
        site="observed",
        expects=("trust-pcp-untagged {port}",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="data_without_pfc",
        rule="data-dscp-lossy",
        models=("hgx_h100",),
        at="rail",
        change=card({"qos.dscp_priority": mapped(DATA_DSCP, 0)}),
        site="observed",
        expects=("data-dscp-lossy {port}",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="pause_beside_pfc",
        rule="host-global-pause",
        models=LOSSLESS,
        at="rail",
        change=card({"link.pause_rx": True, "link.pause_tx": True}),
        expects=("host-global-pause {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="half_of_ecn",
        rule="ecn-half-enabled",
        models=("hgx_h100",),
        at="rail",
        change=card({"qos.ecn_rp": (False,) * 8}),
        site="observed",
        expects=("ecn-half-enabled {port}",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="no_traffic_class",
        rule="default-tc-lossy",
        models=("kubernetes_worker",),  # no file of the host sets one either
        at="rail",
        change=card({"qos.traffic_class": 0}),
        expects=("default-tc-lossy {port}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="traffic_class_not_for_gpus",
        rule="tc-not-for-gpu",
        models=("hgx_h100",),
        at="host",
        change=settings({"NCCL_IB_TC": ""}),
        site="gpu_driven",
        expects=("tc-not-for-gpu {rails}",),
        severity="high",
    ),
    Fault(
        name="lost_at_reboot",
        rule="qos-lost-at-reboot",
        models=("hgx_h100",),
        at="rail",
        change=card({**BY_VLAN, "qos.pfc": (False,) * 8}),
        before=untouched,
        rebooted=True,
        site="observed",
        expects=("qos-lost-at-reboot {port}",),
        implies=("host-config-differs {host}",),
        hides=AFTER_REBOOT,
        # Without PFC no class is lossless, so no drop is one too many.
        excuses=(
            "trust-pcp-untagged {port}",
            "data-dscp-lossy {port}",
            "ecn-half-enabled {port}",
            "cnp-in-paused-class {port}",
            "nic-drops-lossless {port}",
        ),
        severity="low",
    ),
    Fault(
        name="some_priorities_only_by_firmware",
        rule="cc-priorities-not-aligned",
        models=("kubernetes_worker",),
        at="rail",
        change=several(
            card({"firmware": "28.45.1200"}), parameters({"ROCE_CC_PRIO_MASK_P1": ("8", "8")})
        ),
        expects=("cc-priorities-not-aligned {port}",),
        implies=("firmware-differs {nic}", "host-config-differs {host}"),
    ),
    Fault(
        name="only_reacts",
        rule="ecn-half-enabled",
        models=("hgx_h100",),
        at="rail",
        change=card({"qos.ecn_np": ALL_BUT_DATA}),
        site="observed",
        expects=("ecn-half-enabled {port}",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="lossy_traffic_class",
        rule="default-tc-lossy",
        models=("hgx_h100",),
        at="rail",
        change=card({"qos.traffic_class": 32}),  # DSCP 8, hence priority 1
        expects=("default-tc-lossy {port}",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="no_traffic_class_anywhere",
        rule="default-tc-lossy",
        models=("hgx_h100",),
        at="host",
        change=_no_traffic_class,
        expects=("default-tc-lossy {rails}",),
        implies=("host-config-differs {host}",),
        severity="high",
    ),
    Fault(
        name="pfc_lost_at_reboot",
        rule="qos-lost-at-reboot",
        models=("hgx_h100",),
        at="rail",
        change=card({"qos.pfc": (False,) * 8}),
        before=untouched,
        rebooted=True,
        expects=("qos-lost-at-reboot {port}",),
        implies=(
            "intent-pfc {port}",
            "data-dscp-lossy {port}",
            "default-tc-lossy {port}",
            "host-config-differs {host}",
        ),
        hides=AFTER_REBOOT,
        excuses=("ecn-half-enabled {port}",),
        # It was there before the boot; and what waits for a reset has waited through this one.
        clashes=("no_pfc", "wanted_parameter_waits", "no_reset_level"),
        severity="low",
    ),
)
