"""Link settings, driver, FEC and pause as ethtool prints them (release 6: `Lanes:`, reasons)."""

from functools import lru_cache

from lab.fleet.model import HostModel, Netdev, Nic, is_mlx5
from lab.fleet.render.ethtool_netdevs import PARAVIRTUAL, card_speed, driver_of, lane_gigabits

# Mode, speed in Mb/s, Gb/s per lane; in the order of the kernel's bits.
MODES = (
    ("25000baseCR/Full", 25_000, 25),
    ("25000baseSR/Full", 25_000, 25),
    ("50000baseCR/Full", 50_000, 50),
    ("100000baseCR4/Full", 100_000, 25),
    ("100000baseSR4/Full", 100_000, 25),
    ("100000baseCR2/Full", 100_000, 50),
    ("200000baseCR4/Full", 200_000, 50),
    ("200000baseSR4/Full", 200_000, 50),
    ("100000baseCR/Full", 100_000, 100),
    ("200000baseCR2/Full", 200_000, 100),
    ("200000baseSR2/Full", 200_000, 100),
    ("400000baseCR4/Full", 400_000, 100),
    ("400000baseSR4/Full", 400_000, 100),
)
# An X550: it can do 2.5 and 5 Gb/s but does not offer them unless told to.
TWISTED_PAIR = ("100baseT/Full", "1000baseT/Full", "10000baseT/Full")
TWISTED_PAIR_ALL = (*TWISTED_PAIR, "2500baseT/Full", "5000baseT/Full")
# What `--show-fec` calls a code -> how the link settings spell it: as the kernel does.
FEC_MODE = {"RS": "RS", "BaseR": "BASER", "LLRS": "LLRS", "Off": "None"}
NOTHING = "Not reported"
IPOIB = "[ib_ipoib]"


@lru_cache(maxsize=64)
def _listed(modes: tuple[str, ...]) -> str:
    """The first on the key's line, each further one on a line of its own."""
    return ("\n\t" + " " * 24).join(modes or (NOTHING,))


@lru_cache(maxsize=64)
def _card_modes(speed: int, lane: int) -> tuple[str, ...]:
    return tuple(name for name, mode, per_lane in MODES if mode <= speed and per_lane <= lane)


def _forced_mode(nic: Nic) -> str:
    lanes = str(nic.link.lanes) if nic.link.lanes > 1 else ""
    medium = "CR" if nic.optic.kind == "copper" else "SR"
    return f"{nic.speed}base{medium}{lanes}/Full"


def down_reason(nic: Nic) -> str:
    """What the driver adds to `Link detected: no`."""
    if nic.link.closed:
        return ""
    if nic.optic.kind == "none":
        return " (No cable)"
    return " (Autoneg, No partner detected)" if nic.link.autonegotiation else ""


def _ethernet(nic: Nic) -> str:
    copper = nic.optic.kind == "copper"
    supported = _card_modes(card_speed(nic), lane_gigabits(nic))
    advertised = supported if nic.link.autonegotiation else (_forced_mode(nic),)
    if nic.up:
        speed = f"\tSpeed: {nic.speed}Mb/s\n\tLanes: {nic.link.lanes}\n\tDuplex: Full\n"
    else:
        speed = "\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n"
    return (
        f"Settings for {nic.netdev}:\n"
        f"\tSupported ports: [ {'Backplane' if copper else 'FIBRE'} ]\n"
        f"\tSupported link modes:   {_listed(supported)}\n"
        "\tSupported pause frame use: Symmetric\n"
        "\tSupports auto-negotiation: Yes\n"
        "\tSupported FEC modes: None\t RS\n"
        f"\tAdvertised link modes:  {_listed(advertised)}\n"
        "\tAdvertised pause frame use: Symmetric\n"
        "\tAdvertised auto-negotiation: Yes\n"
        f"\tAdvertised FEC modes: {FEC_MODE[nic.link.fec_active]}\n"
        f"{speed}"
        f"\tAuto-negotiation: {'on' if nic.link.autonegotiation else 'off'}\n"
        f"\tPort: {'Direct Attach Copper' if copper else 'FIBRE'}\n"
        "\tPHYAD: 0\n"
        "\tTransceiver: internal\n"
        "\tSupports Wake-on: d\n"
        "\tWake-on: d\n"
        f"\tLink detected: {'yes' if nic.up else 'no' + down_reason(nic)}\n"
    )


# The drivers of IPoIB and of a virtual machine's card report next to nothing (mlx5
# ipoib/ethtool.c: speed, full duplex, port "other", no negotiation).
_LITTLE = """\
Settings for {netdev}:
\tSupported ports: [  ]
\tSupported link modes:   Not reported
\tSupported pause frame use: No
\tSupports auto-negotiation: No
\tSupported FEC modes: Not reported
\tAdvertised link modes:  Not reported
\tAdvertised pause frame use: No
\tAdvertised auto-negotiation: No
\tAdvertised FEC modes: Not reported
\tSpeed: {speed}
\tDuplex: {duplex}
\tAuto-negotiation: off
\tPort: Other
\tPHYAD: {address}
\tTransceiver: internal
\tLink detected: {link}
"""

_PLAIN = """\
Settings for {netdev}:
\tSupported ports: [ TP ]
\tSupported link modes:   {supported}
\tSupported pause frame use: Symmetric
\tSupports auto-negotiation: Yes
\tSupported FEC modes: Not reported
\tAdvertised link modes:  {advertised}
\tAdvertised pause frame use: Symmetric
\tAdvertised auto-negotiation: Yes
\tAdvertised FEC modes: Not reported
\tSpeed: {speed}
\tDuplex: {duplex}
\tAuto-negotiation: on
\tPort: Twisted Pair
\tPHYAD: 0
\tTransceiver: internal
\tMDI-X: Unknown
\tSupports Wake-on: umbg
\tWake-on: g
        Current message level: 0x00000007 (7)
                               drv probe link
\tLink detected: {link}
"""


def settings(host: HostModel, netdev: Netdev) -> str:
    """`ethtool NETDEV`."""
    words = {
        "netdev": netdev.netdev,
        "speed": f"{netdev.speed}Mb/s" if netdev.up else "Unknown!",
        "duplex": "Full" if netdev.up else "Unknown! (255)",
        "link": "yes" if netdev.up else "no",
    }
    if isinstance(netdev, Nic):
        if netdev.link_layer == "Ethernet":
            return _ethernet(netdev)
        return _LITTLE.format(address=255, **words)
    name = driver_of(host, netdev)
    if name in PARAVIRTUAL:
        if name == "virtio_net":  # it is not told how fast it is
            words |= {"speed": "Unknown!", "duplex": "Unknown! (255)"}
        return _LITTLE.format(address=0, **words)
    ten = netdev.speed >= 10_000
    supported = TWISTED_PAIR_ALL if ten else TWISTED_PAIR[:2]
    advertised = TWISTED_PAIR if ten else TWISTED_PAIR[:2]
    return _PLAIN.format(supported=_listed(supported), advertised=_listed(advertised), **words)


# ---- driver

_DRIVER = """\
driver: {driver}
version: {version}
firmware-version: {firmware}
expansion-rom-version: {rom}
bus-info: {address}
supports-statistics: yes
supports-test: {test}
supports-eeprom-access: {eeprom}
supports-register-dump: {registers}
supports-priv-flags: {flags}
"""


# As these drivers print it: NVM, EETrack, option ROM of Intel's; package and management of
# Broadcom's (captures ethtool-i; ice: Linux Documentation/networking/devlink/ice.rst).
FIRMWARE = {
    "ixgbe": "0x80001bd6, 1.3429.0",
    "ice": "4.40 0x8001c967 1.3534.0",
    "bnxt_en": "227.0.131.0/pkg 22.71.11.11",
    "tg3": "FFV22.71.3 bc 5720-v1.39",
}


def _channel(mac: str) -> str:
    """A channel of Hyper-V's bus, which Azure names by the MAC, over and over."""
    word = mac.replace(":", "")
    return f"{word[:8]}-{word[8:]}-{word[:4]}-{word[4:8]}-{word[8:]}{word[:8]}"


def driver(host: HostModel, netdev: Netdev) -> str:
    """`ethtool -i NETDEV`."""
    name = driver_of(host, netdev)
    version = netdev.driver_version or host.kernel.release
    if isinstance(netdev, Nic) and is_mlx5(netdev):
        ethernet = netdev.link_layer == "Ethernet"
        return _DRIVER.format(
            driver=name if ethernet else f"{name.removesuffix(IPOIB)}{IPOIB}",
            version=version, firmware=f"{netdev.firmware} ({netdev.psid})", rom="",
            address=netdev.address, test="yes" if ethernet else "no", eeprom="no", registers="no",
            flags="yes" if ethernet else "no",
        )  # fmt: skip
    if name in PARAVIRTUAL:
        virtio = name == "virtio_net"
        return _DRIVER.format(
            driver=name, version="1.0.0" if virtio else version, firmware="" if virtio else "N/A",
            rom="", address=netdev.address or _channel(netdev.mac), test="no", eeprom="no",
            registers="no", flags="no",
        )  # fmt: skip
    return _DRIVER.format(
        driver=name, version=version, firmware=FIRMWARE.get(name, FIRMWARE["ixgbe"]), rom="",
        address=netdev.address, test="yes", eeprom="yes", registers="yes", flags="yes",
    )  # fmt: skip


# ---- forward error correction, pause


def fec(nic: Nic) -> str:
    """`ethtool --show-fec NETDEV` of an Ethernet port; without a link no code is active."""
    configured = " ".join(nic.link.fec_configured) or "None"
    return (
        f"FEC parameters for {nic.netdev}:\n"
        f"Supported/Configured FEC encodings: {configured}\n"
        f"Active FEC encoding: {nic.link.fec_active if nic.up else 'None'}\n"
    )


def pause(netdev: Netdev) -> str:
    """`ethtool -a NETDEV`; ixgbe negotiates both directions unless told otherwise."""
    link = netdev.link if isinstance(netdev, Nic) else None
    states = (link.pause_autonegotiate, link.pause_rx, link.pause_tx) if link else (True,) * 3
    negotiate, receive, send = ("on" if state else "off" for state in states)
    return (
        f"Pause parameters for {netdev.netdev}:\n"
        f"Autonegotiate:\t{negotiate}\n"
        f"RX:\t\t{receive}\n"
        f"TX:\t\t{send}\n\n"
    )
