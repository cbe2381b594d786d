"""Links: down, slow, falling, dirty, hot, and the bonds that are made of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lab.fleet.faults.address import without_address
from lab.fleet.faults.change import card, counters, message, several
from lab.fleet.faults.fault import Change, Fault, untouched
from lab.fleet.faults.place import Place
from lab.fleet.model import HostModel, with_faults

RAILS = ("hgx_h100", "two_socket_4x400g", "kubernetes_worker")
INFINIBAND = ("hgx_a100_infiniband", "passthrough_vm")
# Nothing runs over a port that is not active: what it could do does not matter.
NOT_ACTIVE = (
    *("rdma-mtu-small {port}", "rdma-mtu-differs {port}", "gid-index-unusable {port}"),
    *(
        "intent-port-rate {port}",
        "port-slower-than-peers {port}",
        "fec-off {port}",
        "link-ber-high {port}",
    ),
)

# Besides, a port without an address that counts as unused: it has no role in anything.
BARE = (
    *NOT_ACTIVE,
    *(
        "address-twice {port}",
        "gid-not-routable {port}",
        "arp-flux {port}",
        "rp-filter-strict {port}",
    ),
    *(
        "rdma-retransmissions {port}",
        "rdma-damaged-packets {port}",
        "nic-drops-lossless {port}",
        "fec-uncorrectable {port}",
    ),
    *(
        "nic-pause-storm {port}",
        "link-went-down {port}",
        "link-flapping {port}",
        "module-hot {port}",
    ),
    *(
        "data-dscp-lossy {port}",
        "host-global-pause {port}",
        "ecn-half-enabled {port}",
        "default-tc-lossy {port}",
        "cc-priorities-not-aligned {port}",
    ),
    *(
        "cnp-in-paused-class {port}",
        "vf-mtu-above-port {port}",
        "numa-node-unknown {nic}",
        "acs-redirect {nic}",
        "ats-on-bare-metal {nic}",
    ),
    *(
        "pcie-link-downtrained {nic}",
        "pcie-link-narrow {nic}",
        "pcie-below-port-rate {nic}",
        "pcie-payload-small {nic}",
        "pcie-capped-by-firmware {nic}",
    ),
    *(
        "nic-fatal-error {nic}",
        "nic-fatal-error-recovered {nic}",
        "nic-commands-fail {nic}",
        "firmware-differs {nic}",
        "firmware-update-not-active {nic}",
    ),
    *("intent-mtu {port}", "intent-trust {port}", "intent-pfc {port}", "intent-ecn {port}"),
    *("intent-cnp-dscp {port}", "intent-cnp-priority {port}", "intent-data-dscp {port}"),
    *("intent-programmable-cc {port}", "firmware-parameter-pending {nic}"),
)


def _fell(times: int) -> Change:
    """The port's own count, as ethtool and mlxlink both tell it."""

    def change(place: Place) -> HostModel:
        down = place.card.link.link_down + times
        return with_faults(place.host, {(place.card.name, "link.link_down"): down})

    return change


def cage(values: Mapping[str, Any]) -> Change:
    """Fields of every function behind one module: both legs of a card, and its virtual ones."""

    def change(place: Place) -> HostModel:
        serial = place.card.optic.serial
        names = [nic.name for nic in place.host.nics if nic.optic.serial == serial]
        faults = {(name, field): value for name in names for field, value in values.items()}
        return with_faults(place.host, faults)

    return change


def without_everything(place: Place) -> HostModel:
    """Switched off and without an address: it looks as if nobody used it."""
    return card({"up": False, "link.closed": True})(place.on(without_address(place)))


def _in_turns(place: Place) -> HostModel:
    bonds = tuple(replace(bond, mode="balance-rr 0") for bond in place.host.bonds)
    return replace(place.host, bonds=bonds)


def _half_a_bond(place: Place) -> HostModel:
    bond = place.host.bonds[0]
    half = place.card.speed
    return with_faults(place.host, {(bond.members[1], "up"): False, (bond.netdev, "speed"): half})


def _flat_hash(place: Place) -> HostModel:
    bonds = tuple(replace(bond, hash_policy="layer2 0") for bond in place.host.bonds)
    return replace(place.host, bonds=bonds)


FAULTS = (
    Fault(
        name="card_hot",
        rule="nic-hot",
        models=RAILS + INFINIBAND,
        at="rail",
        change=message(
            "mlx5_core {pci}: temp_warn:189:(pid 0): High temperature on sensors with bit set "
            "0x0 0x1"
        ),
        expects=("nic-hot {nic}",),
    ),
    Fault(
        name="module_refused",
        rule="module-error",
        models=RAILS + INFINIBAND,
        at="rail",
        change=message(
            "mlx5_core {pci}: Port module event[error]: module 0, Cable error, High Temperature"
        ),
        expects=("module-error {nic}",),
        severity="high",
    ),
    Fault(
        name="port_down",
        rule="port-down",
        models=(*RAILS, *INFINIBAND),
        at="rail",
        change=card({"up": False}),
        expects=("port-down {port}",),
        excuses=(*NOT_ACTIVE, "subnet-manager-missing {port}"),
    ),
    Fault(
        name="slower_than_peers",
        rule="port-slower-than-peers",
        models=("hgx_h100",),
        at="rail",
        change=card({"rate": "200 Gb/sec (4X HDR)", "speed": 200_000}),
        site="observed",
        expects=("port-slower-than-peers {port}",),
        severity="high",
    ),
    Fault(
        name="no_error_correction",
        rule="fec-off",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=card({"link.fec_active": "Off", "link.fec_configured": ("Off",)}),
        expects=("fec-off {port}",),
    ),
    Fault(
        name="errors_left",
        rule="link-ber-high",
        models=RAILS,
        at="rail",
        change=card({"link.effective_errors": 41, "link.effective_ber": (2, 12)}),
        expects=("link-ber-high {port}",),
    ),
    Fault(
        name="errors_left_on_infiniband",
        rule="link-ber-high",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"link.symbol_errors": 12, "link.symbol_ber": (4, 13)}),
        expects=("link-ber-high {port}",),
    ),
    Fault(
        name="fell_once",
        rule="link-went-down",
        models=RAILS,
        at="rail",
        change=several(
            _fell(1),
            message(
                "[ 5000.100000] mlx5_core {pci} {netdev}: Link down",
                "[ 5002.300000] mlx5_core {pci} {netdev}: Link up",
            ),
        ),
        before=untouched,
        expects=("link-went-down {port}",),
    ),
    Fault(
        name="fell_once_on_infiniband",
        rule="link-went-down",
        models=INFINIBAND,
        at="rail",
        change=counters("counters", {"link_downed": 1}),
        before=untouched,
        expects=("link-went-down {port}",),
        hides=("link-flapping {port}",),  # the kernel's log does not say for how long
        clashes=("falls_often_on_infiniband",),  # often is enough
    ),
    Fault(
        name="falls_often",
        rule="link-flapping",
        models=RAILS,
        at="rail",
        change=_fell(5),
        before=untouched,
        expects=("link-flapping {port}",),
        implies=("link-went-down {port}",),
    ),
    Fault(
        name="infiniband_errors",
        rule="infiniband-errors",
        models=INFINIBAND,
        at="rail",
        change=counters("counters", {"port_rcv_errors": 50_000}),  # 14 a second
        before=untouched,
        expects=("infiniband-errors {port}",),
    ),
    Fault(
        name="correction_fails",
        rule="fec-uncorrectable",
        models=RAILS,
        at="rail",
        change=card({"link.effective_errors": 1_000}),
        before=untouched,
        expects=("fec-uncorrectable {port}",),
        # While a link trains it makes errors: a window in which it fell says nothing.
        clashes=("fell_once", "falls_often", "fell_for_good", "away_for_long"),
    ),
    Fault(
        name="half_a_bond",
        rule="bond-member-down",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=_half_a_bond,
        expects=("bond-member-down {port}",),
        implies=("link-missing {nic}",),
    ),
    Fault(
        name="bond_of_one_flow",
        rule="bond-unfit-for-roce",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=_flat_hash,
        expects=("bond-unfit-for-roce {port}",),
    ),
    Fault(
        name="module_hot",
        rule="module-hot",
        models=("hgx_h100", "two_socket_4x400g", "kubernetes_worker", "hgx_a100_infiniband"),
        at="rail",
        change=card({"optic.temperature_c": 82.5}),
        expects=("module-hot {port}",),
    ),
    Fault(
        name="no_subnet_manager",
        rule="subnet-manager-missing",
        models=INFINIBAND,
        at="rail",
        change=card({"sm_lid": 0, "lid": 0}),
        expects=("subnet-manager-missing {port}",),
        excuses=NOT_ACTIVE,
    ),
    Fault(
        name="legs_down",
        rule="port-down",
        models=("socket_direct",),
        at="rail",
        change=cage({"up": False}),
        expects=("port-down {rails}",),
        excuses=tuple(text.replace("{port}", "{rails}") for text in NOT_ACTIVE),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="fell_for_good",
        rule="port-down",
        models=RAILS,
        at="rail",
        change=several(
            card({"up": False}), _fell(1), message("mlx5_core {pci} {netdev}: Link down")
        ),
        before=untouched,
        expects=("port-down {port}",),
        implies=("link-went-down {port}",),
        hides=("link-flapping {port}",),  # how long it lasts is known when it is over
        clashes=("fell_once", "falls_often", "away_for_long"),  # often is enough
        excuses=(*NOT_ACTIVE, "subnet-manager-missing {port}"),
    ),
    Fault(
        name="looks_unused",
        rule="port-down",
        models=("kubernetes_worker",),
        at="rail",
        change=without_everything,
        expects=("port-down {port}",),
        implies=("gid-not-routable {port}",),
        excuses=tuple(one for one in BARE if one != "gid-not-routable {port}"),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="looks_unused_without_switches",
        rule="port-down",
        models=("two_socket_4x400g",),
        at="rail",
        change=without_everything,
        expects=("port-down {port}",),
        excuses=BARE,
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="errors_left_on_both_legs",
        rule="link-ber-high",
        models=("socket_direct",),
        at="rail",
        change=cage({"link.effective_errors": 41, "link.effective_ber": (2, 12)}),
        expects=("link-ber-high {rails}",),
    ),
    Fault(
        name="away_for_long",
        rule="link-flapping",
        models=RAILS,
        at="rail",
        change=several(
            _fell(1),
            message(
                "[ 5000.100000] mlx5_core {pci} {netdev}: Link down",
                "[ 5045.300000] mlx5_core {pci} {netdev}: Link up",
            ),
        ),
        before=untouched,
        expects=("link-flapping {port}",),
        implies=("link-went-down {port}",),
    ),
    Fault(
        name="falls_often_on_infiniband",
        rule="link-flapping",
        models=INFINIBAND,
        at="rail",
        change=several(counters("counters", {"link_downed": 3}), _fell(3)),
        before=untouched,
        expects=("link-flapping {port}",),
        implies=("link-went-down {port}",),
    ),
    Fault(
        name="symbol_errors",
        rule="infiniband-errors",
        models=INFINIBAND,
        at="rail",
        change=counters("counters", {"symbol_error": 200}),  # an hour may have 7 at HDR, 14 at NDR
        before=untouched,
        expects=("infiniband-errors {port}",),
    ),
    Fault(
        name="correction_fails_on_both_legs",
        rule="fec-uncorrectable",
        models=("socket_direct",),
        at="rail",
        change=cage({"link.effective_errors": 1_000}),
        before=untouched,
        expects=("fec-uncorrectable {rails}",),
    ),
    Fault(
        name="bond_in_turns",
        rule="bond-unfit-for-roce",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=_in_turns,
        expects=("bond-unfit-for-roce {port}",),
        severity="medium",
    ),
    Fault(
        name="module_hot_of_both_legs",
        rule="module-hot",
        models=("socket_direct",),
        at="rail",
        change=cage({"optic.temperature_c": 82.5}),
        expects=("module-hot {rails}",),
    ),
)
