"""Counters of a healthy port: those of the samples, scaled so that no two neighbors are alike."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

_STEPS = 401  # different ports; hosts beyond share their mappings

# ethtool -S of mlx5_0 of host 1: the values of the sample "roce healthy" that are not zero.
_STATISTICS = {
    "rx_packets": 1_288_341,
    "rx_bytes": 902_211_830,
    "tx_packets": 1_190_223,
    "tx_bytes": 811_203_371,
    "ch_events": 220_113,
    "ch_poll": 231_002,
    "ch_arm": 219_008,
    "rx_vport_unicast_packets": 1_280_011,
    "rx_vport_unicast_bytes": 901_883_040,
    "tx_vport_unicast_packets": 1_189_907,
    "tx_vport_unicast_bytes": 811_180_112,
    "rx_vport_rdma_unicast_packets": 98_811_234_102,
    "rx_vport_rdma_unicast_bytes": 410_214_822_118_233,
    "tx_vport_rdma_unicast_packets": 97_220_114_870,
    "tx_vport_rdma_unicast_bytes": 403_991_020_034_811,
    "tx_packets_phy": 97_221_305_093,
    "rx_packets_phy": 98_812_522_443,
    "tx_bytes_phy": 404_380_711_223_341,
    "rx_bytes_phy": 410_611_302_240_021,
    "rx_64_bytes_phy": 8_120_034,
    "rx_65_to_127_bytes_phy": 2_910_022_341,
    "rx_2048_to_4095_bytes_phy": 112_034,
    "rx_4096_to_8191_bytes_phy": 95_894_268_034,
    "rx_corrected_bits_phy": 48_811_200_341,
    "rx_err_lane_0_phy": 9_120_331,
    "rx_err_lane_1_phy": 8_811_204,
    "rx_err_lane_2_phy": 10_233_118,
    "rx_err_lane_3_phy": 9_600_142,
    "rx_prio0_bytes": 902_211_830,
    "rx_prio0_packets": 1_288_341,
    "tx_prio0_bytes": 811_203_371,
    "tx_prio0_packets": 1_190_223,
    "rx_prio3_bytes": 410_610_398_871_002,
    "rx_prio3_packets": 98_811_234_102,
    "tx_prio3_bytes": 404_379_900_019_970,
    "tx_prio3_packets": 97_219_000_112,
    "rx_prio6_bytes": 62_720_768,
    "rx_prio6_packets": 980_012,
    "tx_prio6_bytes": 71_344_512,
    "tx_prio6_packets": 1_114_758,
    "rx_prio3_pause": 1204,
    "rx_prio3_pause_duration": 8801,
    "tx_prio3_pause": 12,
    "tx_prio3_pause_duration": 41,
    "rx_prio3_pause_transition": 602,
}
# rdma statistic of the same port.
_HW_COUNTERS = {
    "rx_write_requests": 8_811_230_441,
    "rx_read_requests": 201,
    "resp_cqe_flush_error": 512,
    "req_cqe_flush_error": 512,
    "rp_cnp_handled": 15_307,
    "np_ecn_marked_roce_packets": 18_822,
    "np_cnp_sent": 18_822,
}
# What only RoCE counts; InfiniBand ports have no priorities and no CNPs.
_ONLY_ROCE = ("rp_cnp_handled", "np_ecn_marked_roce_packets", "np_cnp_sent")


class Traffic(NamedTuple):
    """The three sets of counters of a port; what is not named stands at zero."""

    statistics: Mapping[str, int]
    counters: Mapping[str, int]
    hw_counters: Mapping[str, int]


def roce_traffic(number: int, place: int) -> Traffic:
    """Of an Ethernet port; place 0 of host 1 has the numbers of the samples."""
    return _scaled(((number - 1) * 11 + place * 7) % _STEPS, roce=True)


def infiniband_traffic(number: int, place: int) -> Traffic:
    """Of an InfiniBand port; `ethtool -S` of IPoIB counts little."""
    return _scaled(((number - 1) * 11 + place * 7) % _STEPS, roce=False)


@lru_cache(maxsize=2 * _STEPS)
def _scaled(step: int, *, roce: bool) -> Traffic:
    scale = 1000 + step
    statistics = {name: value * scale // 1000 for name, value in _STATISTICS.items()}
    hardware = {
        name: value * scale // 1000
        for name, value in _HW_COUNTERS.items()
        if roce or name not in _ONLY_ROCE
    }
    counters = {}
    for direction, name in (("rx", "rcv"), ("tx", "xmit")):
        packets = statistics[f"{direction}_vport_rdma_unicast_packets"]
        # In units of four bytes, as InfiniBand counts.
        counters[f"port_{name}_data"] = statistics[f"{direction}_vport_rdma_unicast_bytes"] // 4
        counters[f"port_{name}_packets"] = packets
        counters[f"unicast_{name}_packets"] = packets
    if not roce:
        names = ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")
        statistics = {name: statistics[name] for name in names}
    return Traffic(
        MappingProxyType(statistics), MappingProxyType(counters), MappingProxyType(hardware)
    )
