"""The truth about links as the drivers tell ethtool: settings, driver, FEC, pause."""

import re

from lab.fleet.model import HostModel, Netdev, Nic
from lab.fleet.truth_places import Row, Tables, asked_netdevs, ethernet_ports

# Modes that mlx5 knows, in the order of the kernel's bits, with Gb/s and Gb/s per lane.
MODES = {
    "25000baseCR": (25, 25),
    "25000baseSR": (25, 25),
    "50000baseCR": (50, 50),
    "100000baseCR4": (100, 25),
    "100000baseSR4": (100, 25),
    "100000baseCR2": (100, 50),
    "200000baseCR4": (200, 50),
    "200000baseSR4": (200, 50),
    "100000baseCR": (100, 100),
    "200000baseCR2": (200, 100),
    "200000baseSR2": (200, 100),
    "400000baseCR4": (400, 100),
    "400000baseSR4": (400, 100),
}
LANE_GBPS = {"ConnectX6": 50, "ConnectX7": 100}
# The management port is an X550: it can do the two odd speeds, but does not offer them.
TWISTED_PAIR = "100baseT/Full,1000baseT/Full,10000baseT/Full"
TWISTED_PAIR_MORE = f"{TWISTED_PAIR},2500baseT/Full,5000baseT/Full"
X550_FIRMWARE = "0x80001bd6, 1.3429.0"
# The word of --show-fec -> the word among the link's settings.
FEC_MODES = {"RS": "RS", "BaseR": "BASER", "LLRS": "LLRS", "Off": "None"}


def tables(host: HostModel) -> Tables:
    """ethtool_link, ethtool_driver, netdev_fec, netdev_pause."""
    asked = asked_netdevs(host)
    return {
        "ethtool_link": [_settings(netdev) for netdev in asked],
        "ethtool_driver": [_driver(netdev) for netdev in asked],
        "netdev_fec": [_fec(nic) for nic in ethernet_ports(host)],
        "netdev_pause": [_pause(netdev) for netdev in asked if not _is_infiniband(netdev)],
    }


def _is_infiniband(netdev: Netdev) -> bool:
    return isinstance(netdev, Nic) and netdev.link_layer == "InfiniBand"


def _settings(netdev: Netdev) -> Row:
    row: Row = {
        "netdev": netdev.netdev,
        "speed_mbps": netdev.speed if netdev.up else None,
        "lanes": None,
        "duplex": "Full" if netdev.up else "Unknown! (255)",
        "link_detected": netdev.up,
        "link_reason": None,
    }
    if not isinstance(netdev, Nic):
        return row | _twisted_pair()
    if _is_infiniband(netdev):
        return row | _ipoib()
    row["lanes"] = netdev.link.lanes if netdev.up else None
    return row | _card(netdev) | {"link_reason": _reason(netdev)}


def _reason(nic: Nic) -> str | None:
    """Why there is no link, where the driver says so."""
    if nic.up or nic.link.closed:
        return None
    if nic.optic.kind == "none":
        return "No cable"
    return "Autoneg, No partner detected" if nic.link.autonegotiation else None


def _card(nic: Nic) -> Row:
    copper = nic.optic.kind == "copper"
    gigabits = max(int(speed) for speed in re.findall(r"(\d+)GbE", nic.description))
    lane = LANE_GBPS[nic.family]
    modes = (n for n, (whole, each) in MODES.items() if whole <= gigabits and each <= lane)
    able = ",".join(f"{name}/Full" for name in modes)
    lanes = str(nic.link.lanes) if nic.link.lanes > 1 else ""
    forced = f"{nic.speed}base{'CR' if copper else 'SR'}{lanes}/Full"
    return {
        "auto_negotiation": nic.link.autonegotiation,
        "port": "Direct Attach Copper" if copper else "FIBRE",
        "supported_ports": "Backplane" if copper else "FIBRE",
        "supported_link_modes": able,
        "advertised_link_modes": able if nic.link.autonegotiation else forced,
        "supported_fec_modes": "None,RS",
        "advertised_fec_modes": FEC_MODES[nic.link.fec_active],
        "supports_auto_negotiation": True,
        "advertised_auto_negotiation": True,
        "advertised_pause": "Symmetric",
    }


def _twisted_pair() -> Row:
    return {
        "auto_negotiation": True,
        "port": "Twisted Pair",
        "supported_ports": "TP",
        "supported_link_modes": TWISTED_PAIR_MORE,
        "advertised_link_modes": TWISTED_PAIR,
        "supported_fec_modes": "",
        "advertised_fec_modes": "",
        "supports_auto_negotiation": True,
        "advertised_auto_negotiation": True,
        "advertised_pause": "Symmetric",
    }


def _ipoib() -> Row:
    """The driver of IP over InfiniBand reports next to nothing."""
    return {
        "auto_negotiation": False,
        "port": "Other",
        "supported_ports": "",
        "supported_link_modes": "",
        "advertised_link_modes": "",
        "supported_fec_modes": "",
        "advertised_fec_modes": "",
        "supports_auto_negotiation": False,
        "advertised_auto_negotiation": False,
        "advertised_pause": "No",
    }


def _driver(netdev: Netdev) -> Row:
    return {
        "netdev": netdev.netdev,
        "driver": netdev.driver,
        "driver_version": netdev.driver_version,
        "firmware_version": netdev.firmware if isinstance(netdev, Nic) else X550_FIRMWARE,
        "psid": netdev.psid if isinstance(netdev, Nic) else "",
        "expansion_rom_version": "",
        "pci": netdev.address,
    }


def _fec(nic: Nic) -> Row:
    """Without a link no code is active."""
    return {
        "netdev": nic.netdev,
        "configured": ",".join(nic.link.fec_configured),
        "active": nic.link.fec_active if nic.up else "None",
    }


def _pause(netdev: Netdev) -> Row:
    """The X550 negotiates both directions unless told otherwise."""
    link = netdev.link if isinstance(netdev, Nic) else None
    return {
        "netdev": netdev.netdev,
        "autonegotiate": link.pause_autonegotiate if link else True,
        "rx": link.pause_rx if link else True,
        "tx": link.pause_tx if link else True,
    }
