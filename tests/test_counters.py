"""counters.toml: complete for the rules, sound in itself, and right about widths.

Widths are checked by hand against the kernel: drivers/infiniband/core/sysfs.c (PORT_PMA_ATTR),
drivers/infiniband/hw/mlx5/counters.c, drivers/net/ethernet/mellanox/mlx5/core/en_stats.c.
"""

import re

import pytest
from conftest import SHARED

from railwright.errors import RailwrightError
from railwright.schema import counters as module
from railwright.schema.counters import (
    SOURCES,
    Counter,
    counter_names,
    counters,
    expand,
    standard_names,
)

ALL = list(counters().values())
NAMES = {counter.name for counter in ALL}

# What the rules compare, by the rule that does.
OF_RULES = {
    "link flapped": "link_downed link_down_events_phy",
    "InfiniBand errors": "symbol_error link_error_recovery port_rcv_errors port_xmit_discards",
    "a counter at its end": "local_link_integrity_errors excessive_buffer_overrun_errors"
    " port_xmit_constraint_errors port_rcv_constraint_errors VL15_dropped port_xmit_wait"
    " port_rcv_remote_physical_errors port_rcv_switch_relay_errors",
    "global pause": "rx_pause_ctrl_phy tx_pause_ctrl_phy rx_global_pause tx_global_pause",
    "pause without congestion": "tx_prio3_pause tx_prio3_pause_duration rx_prio3_pause",
    "the congestion loop": "np_ecn_marked_roce_packets np_cnp_sent rp_cnp_handled rp_cnp_ignored",
    "retransmission": "out_of_sequence packet_seq_err local_ack_timeout_err implied_nak_seq_err"
    " roce_adp_retrans req_transport_retries_exceeded"
    " completer_retry_err retry_exceeded_err sent_pkts",
    "bad checksum on the way": "rx_icrc_encapsulated",
    "a job without RDMA traffic": "port_xmit_packets port_xmit_data tx_bytes_phy"
    " tx_vport_rdma_unicast_bytes rx_vport_rdma_unicast_bytes",
    "drops in the lossless class": "rx_prio3_discards rx_prio3_buf_discard rx_discards_phy",
    "PCIe back-pressure": "outbound_pci_stalled_rd outbound_pci_stalled_wr"
    " outbound_pci_stalled_rd_events outbound_pci_stalled_wr_events outbound_pci_buffer_overflow",
    "errors behind FEC": "rx_pcs_symbol_err_phy rx_corrected_bits_phy rx_bits_phy",
    "pause storm": "tx_pause_storm_error_events tx_pause_storm_warning_events",
    "signal integrity of PCIe": "rx_pci_signal_integrity tx_pci_signal_integrity",
    "receiver too slow": "rx_out_of_buffer out_of_buffer rnr_nak_retry_err rx_steer_missed_packets",
    "MTU differs": "rx_oversize_pkts_phy tx_errors_phy",
    "hot module": "module_high_temp",
}

# (source, name): bits, at its end
BY_HAND = {
    ("counters", "local_link_integrity_errors"): (4, "saturates"),
    ("counters", "excessive_buffer_overrun_errors"): (4, "saturates"),
    ("counters", "link_downed"): (8, "saturates"),
    ("counters", "link_error_recovery"): (8, "saturates"),
    ("counters", "port_rcv_constraint_errors"): (8, "saturates"),
    ("counters", "symbol_error"): (16, "saturates"),
    ("counters", "port_xmit_discards"): (16, "saturates"),
    ("counters", "VL15_dropped"): (16, "saturates"),
    ("counters", "port_xmit_wait"): (32, "saturates"),
    ("counters", "port_xmit_data"): (64, "wraps"),
    ("counters", "multicast_rcv_packets"): (64, "wraps"),
    ("hw_counters", "out_of_sequence"): (32, "wraps"),
    ("hw_counters", "local_ack_timeout_err"): (32, "wraps"),
    ("hw_counters", "roce_adp_retrans"): (32, "wraps"),
    ("hw_counters", "np_cnp_sent"): (64, "wraps"),
    ("hw_counters", "rx_icrc_encapsulated"): (64, "wraps"),
    ("hw_counters", "retry_exceeded_err"): (64, "wraps"),
    ("ethtool", "rx_out_of_buffer"): (32, "wraps"),
    ("ethtool", "link_down_events_phy"): (32, "wraps"),
    ("ethtool", "rx_pci_signal_integrity"): (32, "wraps"),
    ("ethtool", "outbound_pci_buffer_overflow"): (64, "wraps"),
    ("ethtool", "rx_prio3_pause_duration"): (64, "wraps"),
    ("ethtool", "rx_pcs_symbol_err_phy"): (64, "wraps"),
}


@pytest.mark.parametrize("rule", OF_RULES)
def test_every_counter_of_the_rules_is_known(rule: str) -> None:
    assert set(OF_RULES[rule].split()) <= NAMES


@pytest.mark.parametrize("counter", ALL, ids=lambda counter: counter.name)
def test_a_counter_says_everything(counter: Counter) -> None:
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{1,62}", counter.name)
    assert counter.source in SOURCES
    for text in (counter.unit, counter.meaning, counter.document):
        assert text
        assert text == text.strip()
    assert not counter.meaning.endswith(".")
    assert counter.largest == 2**counter.bits - 1
    # Time stands in the name as it stands in the unit.
    assert ("_duration" in counter.name) == (counter.unit == "us")
    assert counter.name.endswith("_bytes") <= (counter.unit == "bytes")
    # Only InfiniBand's own small counters stay at their end.
    assert (counter.at_end == "saturates") == (counter.source == "counters" and counter.bits < 64)
    assert counter.kind == "counter" or counter.unit == "%"


@pytest.mark.parametrize("key", BY_HAND, ids=".".join)
def test_widths_by_hand(key: tuple[str, str]) -> None:
    assert (counters()[key].bits, counters()[key].at_end) == BY_HAND[key]


def test_templates_become_exact_names() -> None:
    assert expand("rx_prio{0-7}_pause") == [f"rx_prio{priority}_pause" for priority in range(8)]
    assert expand("rx_err_lane_{0-3}_phy")[-1] == "rx_err_lane_3_phy"
    assert expand("rx_packets") == ["rx_packets"]
    assert set(expand("tx_prio{0-7}_pause_duration")) <= counter_names("ethtool")
    assert "tx_prio8_pause" not in NAMES
    assert counters()["ethtool", "rx_prio3_pause"].template == "rx_prio{0-7}_pause"
    assert counters()["ethtool", "rx_packets"].template == ""
    assert not any("{" in name for name in NAMES)


def test_names_tell_a_counter_apart() -> None:
    # rdma_counter has device, port and counter as its key: no name may be in both folders.
    assert not counter_names("counters") & counter_names("hw_counters")
    assert "lifespan" not in NAMES  # a setting: how old a reading may be
    assert len({counter.template or counter.name for counter in ALL}) > 100
    assert standard_names()["eth-mac.FrameCheckSequenceErrors"] == "rx_crc_errors_phy"
    assert len(standard_names()) == sum(bool(counter.standard) for counter in ALL)


def test_what_is_good_and_bad_news() -> None:
    direction = {counter.name: counter.direction for counter in ALL}
    for name in ("symbol_error", "rx_discards_phy", "packet_seq_err", "rp_cnp_ignored"):
        assert direction[name] == "rising is bad"
    for name in ("port_xmit_data", "rx_bytes_phy", "tx_prio3_packets", "rx_write_requests"):
        assert direction[name] == "traffic"
    # Normal in a lossless network, on PAM4 lanes, at the end of a job.
    for name in ("rx_prio3_pause", "np_cnp_sent", "rx_corrected_bits_phy", "req_cqe_flush_error"):
        assert direction[name] == "information"


def test_judgement_is_marked() -> None:
    """No document says what happens to most counters at their end: that is said to be judgement."""
    judged = {(counter.source, counter.name) for counter in ALL if "at_end" in counter.judged}
    assert ("ethtool", "rx_packets_phy") in judged
    assert ("counters", "port_xmit_data") in judged
    assert ("counters", "symbol_error") not in judged
    assert ("hw_counters", "out_of_sequence") not in judged


@pytest.mark.parametrize(
    "wrong",
    [
        {"bits": 12},
        {"at_end": "stops"},
        {"direction": "up"},
        {"source": "sysfs"},
        {"judged": "at_end"},
        {"judged": ["meaning"]},
        {"colour": "red"},
    ],
    ids=str,
)
def test_a_mistake_in_the_file_is_named(wrong: dict[str, object]) -> None:
    good = {
        "source": "ethtool", "bits": 64, "at_end": "wraps", "kind": "counter", "unit": "packets",
        "direction": "traffic", "judged": [], "meaning": "packets", "document": "by hand",
    }  # fmt: skip
    assert module._counters("rx_packets", good)
    with pytest.raises(RailwrightError, match="counter rx_packets"):
        module._counters("rx_packets", good | wrong)


# Words of the rules that can only be counters.
SHAPE = re.compile(
    r"\b(?:[rt]x_\w+_phy|port_(?:rcv|xmit)_\w+|\w+_(?:seq_err|timeout_err|encapsulated)"
    r"|link_(?:downed|error_recovery|down_events_phy)|[nr]p_cnp_(?:sent|handled|ignored)"
    r"|symbol_error|roce_adp_retrans|out_of_sequence|tx_pause_storm_\w+|outbound_pci_\w+)\b"
)
# Words with a letter for the number.
NO_NAMES = {"rx_err_lane_N_phy"}


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared reference beside the repository")
@pytest.mark.parametrize("file", ["rules.md", "rules-review.md", "reference.md"])
def test_the_words_of_the_reference_are_known(file: str) -> None:
    words = set(SHAPE.findall((SHARED / "facts" / file).read_text("utf-8")))
    assert len(words) > 10
    assert words - NO_NAMES <= NAMES
