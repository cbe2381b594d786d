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
    *("MTU-01 {port}", "MTU-02 {port}", "ADR-02 {port}"),
    *("INTENT.port_rate {port}", "LNK-02 {port}", "LNK-03 {port}", "LNK-04 {port}"),
)

# Besides, a port without an address that counts as unused: it has no role in anything.
BARE = (
    *NOT_ACTIVE,
    *("N-24 {port}", "ADR-01 {port}", "ADR-04 {port}", "ADR-10 {port}"),
    *("CNT-01 {port}", "CNT-02 {port}", "N-04 {port}", "N-06 {port}"),
    *("N-07 {port}", "LNK-05 {port}", "LNK-06 {port}", "THM-01 {port}"),
    *("QOS-03 {port}", "QOS-04 {port}", "QOS-05 {port}", "QOS-07 {port}", "N-02 {port}"),
    *("N-03 {port}", "MTU-03 {port}", "NUM-01 {nic}", "GDR-01 {nic}", "GDR-05 {nic}"),
    *("PCI-01 {nic}", "PCI-02 {nic}", "PCI-03 {nic}", "N-08 {nic}", "N-09 {nic}"),
    *("DRV-04 {nic}", "DRV-08 {nic}", "DRV-09 {nic}", "FWC-01 {nic}", "FWC-08 {nic}"),
    *("INTENT.mtu {port}", "INTENT.trust {port}", "INTENT.pfc {port}", "INTENT.ecn {port}"),
    *("INTENT.cnp_dscp {port}", "INTENT.cnp_priority {port}", "INTENT.data_dscp {port}"),
    *("INTENT.programmable_cc {port}", "FWC-03 {nic}"),
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
        rule="THM-02",
        models=RAILS + INFINIBAND,
        at="rail",
        change=message(
            "mlx5_core {pci}: temp_warn:189:(pid 0): High temperature on sensors with bit set "
            "0x0 0x1"
        ),
        expects=("THM-02 {nic}",),
    ),
    Fault(
        name="module_refused",
        rule="LNK-12",
        models=RAILS + INFINIBAND,
        at="rail",
        change=message(
            "mlx5_core {pci}: Port module event[error]: module 0, Cable error, High Temperature"
        ),
        expects=("LNK-12 {nic}",),
        severity="high",
    ),
    Fault(
        name="port_down",
        rule="LNK-01",
        models=(*RAILS, *INFINIBAND),
        at="rail",
        change=card({"up": False}),
        expects=("LNK-01 {port}",),
        excuses=(*NOT_ACTIVE, "TOP-03 {port}"),
    ),
    Fault(
        name="slower_than_peers",
        rule="LNK-02",
        models=("hgx_h100",),
        at="rail",
        change=card({"rate": "200 Gb/sec (4X HDR)", "speed": 200_000}),
        site="observed",
        expects=("LNK-02 {port}",),
        severity="high",
    ),
    Fault(
        name="no_error_correction",
        rule="LNK-03",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=card({"link.fec_active": "Off", "link.fec_configured": ("Off",)}),
        expects=("LNK-03 {port}",),
    ),
    Fault(
        name="errors_left",
        rule="LNK-04",
        models=RAILS,
        at="rail",
        change=card({"link.effective_errors": 41, "link.effective_ber": (2, 12)}),
        expects=("LNK-04 {port}",),
    ),
    Fault(
        name="errors_left_on_infiniband",
        rule="LNK-04",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"link.symbol_errors": 12, "link.symbol_ber": (4, 13)}),
        expects=("LNK-04 {port}",),
    ),
    Fault(
        name="fell_once",
        rule="LNK-05",
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
        expects=("LNK-05 {port}",),
    ),
    Fault(
        name="fell_once_on_infiniband",
        rule="LNK-05",
        models=INFINIBAND,
        at="rail",
        change=counters("counters", {"link_downed": 1}),
        before=untouched,
        expects=("LNK-05 {port}",),
        hides=("LNK-06 {port}",),  # the kernel's log does not say for how long
        clashes=("falls_often_on_infiniband",),  # often is enough
    ),
    Fault(
        name="falls_often",
        rule="LNK-06",
        models=RAILS,
        at="rail",
        change=_fell(5),
        before=untouched,
        expects=("LNK-06 {port}",),
        implies=("LNK-05 {port}",),
    ),
    Fault(
        name="infiniband_errors",
        rule="LNK-07",
        models=INFINIBAND,
        at="rail",
        change=counters("counters", {"port_rcv_errors": 50_000}),  # 14 a second
        before=untouched,
        expects=("LNK-07 {port}",),
    ),
    Fault(
        name="correction_fails",
        rule="N-06",
        models=RAILS,
        at="rail",
        change=card({"link.effective_errors": 1_000}),
        before=untouched,
        expects=("N-06 {port}",),
        # While a link trains it makes errors: a window in which it fell says nothing.
        clashes=("fell_once", "falls_often", "fell_for_good", "away_for_long"),
    ),
    Fault(
        name="half_a_bond",
        rule="N-17",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=_half_a_bond,
        expects=("N-17 {port}",),
        implies=("INV-04 {nic}",),
    ),
    Fault(
        name="bond_of_one_flow",
        rule="N-26",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=_flat_hash,
        expects=("N-26 {port}",),
    ),
    Fault(
        name="module_hot",
        rule="THM-01",
        models=("hgx_h100", "two_socket_4x400g", "kubernetes_worker", "hgx_a100_infiniband"),
        at="rail",
        change=card({"optic.temperature_c": 82.5}),
        expects=("THM-01 {port}",),
    ),
    Fault(
        name="no_subnet_manager",
        rule="TOP-03",
        models=INFINIBAND,
        at="rail",
        change=card({"sm_lid": 0, "lid": 0}),
        expects=("TOP-03 {port}",),
        excuses=NOT_ACTIVE,
    ),
    Fault(
        name="legs_down",
        rule="LNK-01",
        models=("socket_direct",),
        at="rail",
        change=cage({"up": False}),
        expects=("LNK-01 {rails}",),
        excuses=tuple(text.replace("{port}", "{rails}") for text in NOT_ACTIVE),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="fell_for_good",
        rule="LNK-01",
        models=RAILS,
        at="rail",
        change=several(
            card({"up": False}), _fell(1), message("mlx5_core {pci} {netdev}: Link down")
        ),
        before=untouched,
        expects=("LNK-01 {port}",),
        implies=("LNK-05 {port}",),
        hides=("LNK-06 {port}",),  # how long it lasts is known when it is over
        clashes=("fell_once", "falls_often", "away_for_long"),  # often is enough
        excuses=(*NOT_ACTIVE, "TOP-03 {port}"),
    ),
    Fault(
        name="looks_unused",
        rule="LNK-01",
        models=("kubernetes_worker",),
        at="rail",
        change=without_everything,
        expects=("LNK-01 {port}",),
        implies=("ADR-01 {port}",),
        excuses=tuple(one for one in BARE if one != "ADR-01 {port}"),
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="looks_unused_without_switches",
        rule="LNK-01",
        models=("two_socket_4x400g",),
        at="rail",
        change=without_everything,
        expects=("LNK-01 {port}",),
        excuses=BARE,
        severity="medium",  # the role is inferred
    ),
    Fault(
        name="errors_left_on_both_legs",
        rule="LNK-04",
        models=("socket_direct",),
        at="rail",
        change=cage({"link.effective_errors": 41, "link.effective_ber": (2, 12)}),
        expects=("LNK-04 {rails}",),
    ),
    Fault(
        name="away_for_long",
        rule="LNK-06",
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
        expects=("LNK-06 {port}",),
        implies=("LNK-05 {port}",),
    ),
    Fault(
        name="falls_often_on_infiniband",
        rule="LNK-06",
        models=INFINIBAND,
        at="rail",
        change=several(counters("counters", {"link_downed": 3}), _fell(3)),
        before=untouched,
        expects=("LNK-06 {port}",),
        implies=("LNK-05 {port}",),
    ),
    Fault(
        name="symbol_errors",
        rule="LNK-07",
        models=INFINIBAND,
        at="rail",
        change=counters("counters", {"symbol_error": 200}),  # an hour may have 7 at HDR, 14 at NDR
        before=untouched,
        expects=("LNK-07 {port}",),
    ),
    Fault(
        name="correction_fails_on_both_legs",
        rule="N-06",
        models=("socket_direct",),
        at="rail",
        change=cage({"link.effective_errors": 1_000}),
        before=untouched,
        expects=("N-06 {rails}",),
    ),
    Fault(
        name="bond_in_turns",
        rule="N-26",
        models=("hgx_a100_infiniband",),
        at="storage",
        change=_in_turns,
        expects=("N-26 {port}",),
        severity="medium",
    ),
    Fault(
        name="module_hot_of_both_legs",
        rule="THM-01",
        models=("socket_direct",),
        at="rail",
        change=cage({"optic.temperature_c": 82.5}),
        expects=("THM-01 {rails}",),
    ),
)
