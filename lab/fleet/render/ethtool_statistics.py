"""`ethtool -S`: every counter of a driver, by the hundred, five blanks in front of each."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from zlib import crc32

from lab.fleet.model import HostModel, Netdev, Nic, is_mlx5
from lab.fleet.render.ethtool_module import HEAT
from lab.fleet.render.ethtool_netdevs import PARAVIRTUAL, driver_of

PRIORITIES = range(8)
PLAIN_QUEUES = 8
VIRTUAL_QUEUES = 4


@lru_cache(maxsize=1)
def _groups() -> dict[str, tuple[str, ...]]:
    text = (Path(__file__).parent / "ethtool_counters.txt").read_text("utf-8")
    groups: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            group = groups.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            group.append(line)
    return {name: tuple(names) for name, names in groups.items()}


def _each(group: str, numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(name.replace("{n}", str(n)) for n in numbers for name in _groups()[group])


@lru_cache(maxsize=64)
def counters(flow_control: tuple[bool, ...], global_pause: bool, channels: int) -> tuple[str, ...]:
    """The names that mlx5 lists on an Ethernet port.

    Pause counters exist for the priorities with flow control; the global ones without any, and
    where global pause is on as well.
    """
    groups = _groups()
    paused = [priority for priority in PRIORITIES if flow_control[priority]]
    return (
        *groups["port"],
        *_each("each priority", PRIORITIES),
        *_each("each priority with flow control", paused),
        *(groups["without flow control"] if global_pause or not paused else ()),
        *groups["storms and module"],
        *_each("each priority's buffer", PRIORITIES),
        *groups["offloads"],
        *_each("each channel", range(channels)),
        *_each("each receive ring", range(channels)),
        *_each("each send ring", range(channels)),
    )


@lru_cache(maxsize=64)
def _infiniband_counters(channels: int) -> tuple[str, ...]:
    """IPoIB shares the driver, without the groups of Ethernet alone (mlx5 ipoib/ipoib.c)."""
    without = {"rx_buffer_passed_thres_phy", *_groups()["offloads"]}
    without |= {name for name in counters((False,) * 8, True, 0) if "pause" in name}
    names = counters((False,) * 8, False, channels)
    return tuple(name for name in names if name not in without)


@lru_cache(maxsize=64)
def _known(channels: int) -> frozenset[str]:
    return frozenset(counters((True,) * 8, True, channels))


@lru_cache(maxsize=64)
def _zeros(names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, int]]:
    """All lines at zero, as most are, and the place of each name."""
    lines = tuple(f"     {name}: 0\n" for name in names)
    return lines, {name: place for place, name in enumerate(names)}


def _print(names: tuple[str, ...], values: Mapping[str, int]) -> str:
    """Values of counters that the driver does not list at present are left out."""
    zeros, places = _zeros(names)
    lines = list(zeros)
    for name, value in values.items():
        place = places.get(name)
        if value and place is not None:
            lines[place] = f"     {name}: {value}\n"
    return "NIC statistics:\n" + "".join(lines)


@lru_cache(maxsize=256)
def _ring_names(ring: str, count: int) -> tuple[str, ...]:
    return tuple(ring.replace("#", str(number)) for number in range(count))


def _shares(values: dict[str, int], total: str, ring: str, count: int) -> None:
    """Spread a total over rings, the first ones busier; what the model sets stays."""
    unit, rest = divmod(values.get(total, 0), count * (count + 1) // 2)
    for number, name in enumerate(_ring_names(ring, count)):
        if name not in values:
            values[name] = unit * (count - number) + (0 if number else rest)


_RINGS = (
    ("rx_packets", "rx#_packets"),
    ("rx_bytes", "rx#_bytes"),
    ("rx_csum_complete", "rx#_csum_complete"),
    ("tx_packets", "tx#_packets"),
    ("tx_bytes", "tx#_bytes"),
    ("tx_cqes", "tx#_cqes"),
    ("ch_events", "ch#_events"),
    ("ch_poll", "ch#_poll"),
    ("ch_arm", "ch#_arm"),
)


def _from_link(nic: Nic) -> dict[str, int]:
    """What follows from the state of the link and of the module, unless the model says more."""
    values = {f"rx_err_lane_{lane}_phy": count for lane, count in enumerate(nic.link.raw_errors)}
    values["rx_corrected_bits_phy"] = sum(nic.link.raw_errors)
    values["rx_pcs_symbol_err_phy"] = nic.link.effective_errors
    values["link_down_events_phy"] = nic.link.link_down
    values["module_high_temp"] = int(bool(nic.optic.lanes) and nic.optic.temperature_c > HEAT[0])
    return values


def _mlx5(nic: Nic) -> str:
    ethernet = nic.link_layer == "Ethernet"
    channels = nic.link.channels
    unknown = nic.statistics.keys() - _known(channels)
    if unknown:
        raise KeyError(f"mlx5 has no such counters: {', '.join(sorted(unknown))}")
    values = _from_link(nic) if ethernet else {}
    values |= nic.statistics
    for total, ring in _RINGS:
        _shares(values, total, ring, channels)
    if not ethernet:
        return _print(_infiniband_counters(channels), values)
    paused = nic.link.pause_rx or nic.link.pause_tx
    return _print(counters(nic.qos.pfc, paused, channels), values)


@lru_cache(maxsize=8)
def _plain_counters(driver: str) -> tuple[str, ...]:
    groups = _groups()
    if driver not in PARAVIRTUAL:
        driver = "ixgbe"  # every other card is taken for one of this driver
    queues = PLAIN_QUEUES if driver == "ixgbe" else VIRTUAL_QUEUES
    return (
        *groups.get(driver, ()),
        *(name for group in groups if group.startswith(f"each {driver} ")
          for name in _each(group, range(queues))),
    )  # fmt: skip


def _plain(driver: str, netdev: Netdev) -> str:
    seed = crc32(netdev.mac.encode())  # no two ports have the same address
    queues = VIRTUAL_QUEUES if driver in PARAVIRTUAL else PLAIN_QUEUES
    values: dict[str, int] = {"lsc_int": 2, "multicast": seed % 90_001, "broadcast": seed % 70_001}
    for way, packets in (("rx", 20_000_000 + seed % 900_001), ("tx", 9_000_000 + seed % 400_009)):
        for unit, total in (("packets", packets), ("bytes", packets * 530 + seed % 523)):
            values[f"{way}_{unit}"] = total
            values[f"{way}_{'pkts' if unit == 'packets' else unit}_nic"] = total
            _shares(values, f"{way}_{unit}", f"{way}_queue_#_{unit}", queues)
    return _print(_plain_counters(driver), values)


def statistics(host: HostModel, netdev: Netdev) -> str:
    """`ethtool -S NETDEV`."""
    if isinstance(netdev, Nic) and is_mlx5(netdev):
        return _mlx5(netdev)
    return _plain(driver_of(host, netdev), netdev)
