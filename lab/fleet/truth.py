"""What a perfect reader must get of a host: the rows of every fact table, from its model alone.

    truth(host)        table -> rows, in the columns of the product's tables
    derived(host)      the same for tables that are worked out from others; only plain columns
    answers(host)      what becomes of each probe
    NOT_SEEN           columns and tables that no probe sees, and why

It is a second opinion: made from the models and from what each column is said to mean, never from
the text that a renderer prints and never with a parser's code. Key columns come as they are; a
column that cannot be seen on a host is left out of its rows. None says: asked for, and the table
says NULL then.
"""

from typing import NamedTuple

from lab.fleet import (
    truth_answers,
    truth_boot,
    truth_counters,
    truth_derived,
    truth_ethtool,
    truth_firmware,
    truth_gpu,
    truth_host,
    truth_log,
    truth_mlxlink,
    truth_module,
    truth_network,
    truth_pci,
    truth_qos,
    truth_rdma,
)
from lab.fleet.model import HostModel
from lab.fleet.truth_answers import Answer
from lab.fleet.truth_places import Tables

__all__ = ["EVERY_COLUMN", "NOT_SEEN", "NotSeen", "answers", "derived", "truth"]

_PARTS = (
    truth_pci,
    truth_gpu,
    truth_qos,
    truth_rdma,
    truth_counters,
    truth_firmware,
    truth_mlxlink,
    truth_module,
    truth_ethtool,
    truth_network,
    truth_host,
    truth_log,
    truth_boot,
)
EVERY_COLUMN = "*"


class NotSeen(NamedTuple):
    """A column, or every one of a table, that a model's hosts do not show."""

    table: str
    column: str  # EVERY_COLUMN = the table stays empty
    model: str  # 'all', or one of MODELS
    reason: str


def _columns(table: str, names: str, reason: str, model: str = "all") -> tuple[NotSeen, ...]:
    return tuple(NotSeen(table, name, model, reason) for name in names.split())


_GUEST = "a guest sees no frequency control"

NOT_SEEN: tuple[NotSeen, ...] = (
    *_columns("boot_kernel", "initramfs_is_older", "files of a fake host have no age of their own"),
    *_columns("ssh_route", EVERY_COLUMN, "tells how a host was read, not what it is"),
    *_columns("ssh_session", EVERY_COLUMN, "tells how a host was read, not what it is"),
    *_columns("dcb_pfc_priority", "requests indications", "asked without -s"),
    *_columns("ethtool_link", "link_down_events", "asked without -I"),
    *_columns(
        "ethtool_link",
        "partner_link_modes partner_fec_modes partner_auto_negotiation partner_pause",
        "no driver of the fleet tells what the other end offers",
    ),
    *_columns(
        "netdev_fec", "corrected_blocks uncorrectable_blocks corrected_bits", "asked without -I"
    ),
    *_columns(
        "netdev_pause", "rx_pause_frames tx_pause_frames tx_pause_storm_events", "asked without -I"
    ),
    *_columns("netdev_pause", "rx_negotiated tx_negotiated", "no port of the fleet prints them"),
    *_columns(
        "transceiver", "firmware_version", "the fleet's release of ethtool does not print it"
    ),
    *_columns("transceiver", "fault_cause", "no module of the fleet is in ModuleFault"),
    *_columns(
        "nic_firmware",
        "part_number description update_method life_cycle secure_boot",
        "only a full query prints it",
    ),
    *_columns(
        "nic_reset",
        "pending_firmware_version running_firmware_version pending_parameters required_action "
        "required_command required_level reasons",
        "`query` is asked, not `status`",
    ),
    *_columns("mlxlink_fec", EVERY_COLUMN, "asked without --show_fec"),
    *_columns("mlxlink_pcie", EVERY_COLUMN, "asked without --port_type PCIE"),
    *_columns("rdma_dev", "protocol", "iproute2 6.1 does not print it"),
    *_columns("kernel_message", "time", "dmesg prints seconds"),
    *_columns("cpu", "max_mhz min_mhz", _GUEST, "passthrough_vm"),
    *_columns("cpu_frequency", "max_khz hardware_max_khz turbo", _GUEST, "passthrough_vm"),
)


def truth(host: HostModel) -> Tables:
    """The rows of every table that a host's probes fill."""
    found: Tables = {}
    for part in _PARTS:
        more = part.tables(host)
        twice = found.keys() & more.keys()
        if twice:
            raise ValueError(f"two parts of the truth fill {', '.join(sorted(twice))}")
        found |= more
    return found


def derived(host: HostModel) -> Tables:
    """Rows of derived tables, in those columns that the model makes plain."""
    return truth_derived.tables(host)


def answers(host: HostModel) -> dict[tuple[str, str], Answer]:
    """(probe, instance) -> what becomes of it."""
    return truth_answers.answers(host)
