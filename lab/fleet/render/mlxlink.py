"""`mlxlink -d PCI -m -c`: link, module, error counters and rates of each port."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lab.fleet.model import HostModel, Nic
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_netdevs import card_speed, lane_gigabits, ports
from lab.fleet.render.mlxlink_module import FORM_LANE, NONE, Rows, commas, module_rows

# Version of the amBER collection by the release of the tools that has it, and later ones.
AMBER = (((4, 31), "4.9"), ((4, 29), "3.2"), ((4, 20), "2.22"))
# Bit, name, Gb/s, Gb/s per lane; listed by speed, so 40G comes before 25G though its bit is lower.
SPEEDS = (
    (16, "400G_4X", 400, 100),
    (15, "400G_8X", 400, 50),
    (13, "200G_2X", 200, 100),
    (12, "200G_4X", 200, 50),
    (11, "100G_1X", 100, 100),
    (10, "100G_2X", 100, 50),
    (9, "100G_4X", 100, 25),
    (8, "50G_1X", 50, 50),
    (7, "50G_2X", 50, 25),
    (5, "40G", 40, 10),
    (6, "25G", 25, 25),
    (4, "10G", 10, 10),
)
# The fastest cards still offer what a 200G card no longer does.
SLOW = frozenset({"40G", "10G"})
# Name and bit of InfiniBand's speeds.
INFINIBAND = (("XDR", 8), ("NDR", 7), ("HDR", 6), ("EDR", 5), ("FDR", 4), ("SDR", 0))
# What a module says it can carry, by kind and Gb/s per lane: optics only with lanes of their own
# speed, copper with slower ones too.
CABLE_SPEEDS = {
    ("optical", 100): ("400G_4X", "200G_2X", "100G_1X"),
    ("optical", 50): ("200G_4X", "100G_2X", "50G_1X"),
    ("optical", 25): ("100G_4X", "50G_2X", "25G"),
    ("copper", 100): ("400G_4X", "200G_2X", "100G_1X", "100G_2X", "100G_4X"),
    ("copper", 50): ("200G_4X", "100G_2X", "100G_4X", "50G_1X", "50G_2X", "25G"),
    ("copper", 25): ("100G_4X", "50G_2X", "40G", "25G", "10G"),
}
STANDARD = "Standard_RS-FEC - (544,514)"
# ethtool's word, Gb/s per lane -> the tool's words.
FEC = {
    ("RS", 100): "Interleaved_Standard_RS-FEC - (544,514)",
    ("RS", 50): STANDARD,
    ("RS", 25): "Standard RS-FEC - RS(528,514)",
    ("LLRS", 50): "Ethernet_Consortium_LL_50G_RS_FEC- (272,257+1)",
    ("LLRS", 25): "Standard LL RS-FEC - RS(271,257)",
    ("BaseR", 25): "Firecode FEC",
    ("BaseR", 10): "Firecode FEC",
}
INFINIBAND_FEC = {
    "XDR": "Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)",  # not seen: as NDR has it
    "NDR": "Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)",
    "HDR": "Standard LL RS-FEC - RS(271,257)",
    "EDR": "Standard LL RS-FEC - RS(271,257)",
}
ZERO_RATE = (15, 255)
WARNING = (
    "Warning: Cannot get module EEPROM information, module operation status is not "
    "'plugged and enabled'\n"
)


class Tool(NamedTuple):
    """One generation of the tool; where each begins is known only about."""

    words: Rows  # on itself
    width: int  # of the keys
    end: str  # behind each value of the first four sections
    lane_rates: bool


@lru_cache(maxsize=16)
def tool_of(release: str) -> Tool:
    """4.31.0-149 and the like."""
    major, minor = (int(part) for part in release.split(".")[:2])
    version = (major, minor)
    amber = next((word for since, word in AMBER if version >= since), "")
    name = release if version >= (4, 33) else f"mft {release}"
    words = ((("amBER Version", amber),) if amber else ()) + (("MFT Version", name),)
    newer = version >= (4, 28)
    return Tool(words, 35 if version > (4, 24) else 32, " " if newer else "", newer)


USUAL = tool_of("4.31.0-149")


def section(title: str, rows: Rows, tool: Tool = USUAL, end: str = "") -> str:
    """Blank line, title, underline, rows."""
    lines = "".join([f"{key:<{tool.width}}: {value}{end}\n" for key, value in rows])
    return f"\n{title}\n{'-' * len(title)}\n{lines}"


# ---- link


@lru_cache(maxsize=64)
def _ethernet_speeds(fastest: int, lane: int) -> str:
    chosen = [speed for speed in SPEEDS if speed[2] <= fastest and speed[3] <= lane]
    return _mask([s for s in chosen if fastest >= 400 or s[1] not in SLOW])


@lru_cache(maxsize=64)
def _cable_speeds(kind: str, form: str, lanes: int) -> str:
    if kind == "none":
        return "0x00000000 ()"
    rate = FORM_LANE.get(form, 100)
    names = CABLE_SPEEDS[kind, rate]
    return _mask([s for s in SPEEDS if s[1] in names and s[2] <= rate * lanes])


def _mask(chosen: list[tuple[int, str, int, int]]) -> str:
    return f"0x{sum(1 << speed[0] for speed in chosen):08x} ({commas(s[1] for s in chosen)})"


@lru_cache(maxsize=16)
def _infiniband_speeds(name: str) -> str:
    names = [speed[0] for speed in INFINIBAND]
    chosen = INFINIBAND[names.index(name) :] if name in names else INFINIBAND[1:]
    return f"0x{sum(1 << bit for _, bit in chosen):08x} ({commas(n for n, _ in chosen)})"


def infiniband_speed(nic: Nic) -> str:
    """HDR of `200 Gb/sec (4X HDR)`."""
    found = re.search(r"\(\d+X (\w+)\)", nic.rate)
    return found.group(1) if found else "SDR"


def _lane_rate(nic: Nic) -> int:
    """Gb/s of payload per lane."""
    return nic.speed // 1000 // max(nic.link.lanes, 1)


def _fec(nic: Nic) -> str:
    if nic.link_layer == "InfiniBand":
        return INFINIBAND_FEC.get(infiniband_speed(nic), "No FEC")
    if nic.speed == 200_000 and nic.link.fec_active == "RS":
        return STANDARD  # also with two lanes of 100G, where both codes are seen
    return FEC.get((nic.link.fec_active, _lane_rate(nic)), "No FEC")


def _state(nic: Nic) -> tuple[str, str, tuple[str, str, str]]:
    """State, physical state, troubleshooting."""
    infiniband = nic.link_layer == "InfiniBand"
    if nic.up:
        return "Active", "LinkUp", ("0", NONE, "No issue was observed")
    if nic.link.closed:
        words = "The port is closed by command. Check that the interface is enabled"
        return "Disable", "Disabled", ("1", "PHY FW", words)
    physical = "Polling" if infiniband else "ETH_AN_FSM_ENABLE"
    if nic.optic.kind == "none":
        return "Polling", physical, ("1024", "MNG FW", "Cable is unplugged")
    return "Polling", physical, ("2", "PHY FW", "Auto-negotiation no partner detected")


def _operational(nic: Nic) -> Rows:
    state, physical, _ = _state(nic)
    infiniband = nic.link_layer == "InfiniBand"
    speed = f"IB-{infiniband_speed(nic)}" if infiniband else f"{nic.speed // 1000}G"
    lanes = nic.link.lanes
    forced = next((s[1] for s in SPEEDS if s[2:] == (nic.speed // 1000, _lane_rate(nic))), "")
    return (
        ("State", state),
        ("Physical state", physical),
        ("Speed", speed if nic.up else NONE),
        ("Width", f"{lanes}x" if nic.up else NONE),
        ("FEC", _fec(nic) if nic.up else NONE),
        ("Loopback Mode", NONE if nic.link.closed and not nic.up else "No Loopback"),
        ("Auto Negotiation", "ON" if nic.link.autonegotiation else f"FORCE - {forced}"),
    )


def _supported(nic: Nic) -> Rows:
    optic = nic.optic
    if nic.link_layer == "InfiniBand":
        speeds = _infiniband_speeds(infiniband_speed(nic))
        cable = "0x00000000 ()" if optic.kind == "none" else speeds
        return (("Enabled Link Speed", speeds), ("Supported Cable Speed", cable))
    cable = _cable_speeds(optic.kind, optic.form, nic.link.lanes)
    enabled = _ethernet_speeds(card_speed(nic) // 1000, lane_gigabits(nic))
    return (("Enabled Link Speed (Ext.)", enabled), ("Supported Cable Speed (Ext.)", cable))


def link(nic: Nic, tool: Tool = USUAL) -> str:
    """The first four sections."""
    code, group, words = _state(nic)[2]
    trouble = (("Status Opcode", code), ("Group Opcode", group), ("Recommendation", words))
    sections = (
        ("Operational Info", _operational(nic)),
        ("Supported Info", _supported(nic)),
        ("Troubleshooting Info", trouble),
        ("Tool Information", (("Firmware Version", nic.firmware), *tool.words)),
    )
    return "".join(section(title, rows, tool, tool.end) for title, rows in sections)


def module(nic: Nic, tool: Tool = USUAL) -> str:
    """Module Info."""
    return section("Module Info", module_rows(nic), tool)


# ---- counters


def _rate(ber: tuple[int, int]) -> str:
    return f"{ber[0]}E-{ber[1]}"


def lane_rates(nic: Nic) -> list[tuple[int, int]]:
    """Bit error rates: as the model says, or the port's own shared out by the lanes' errors."""
    link = nic.link
    if link.lane_ber:
        return list(link.lane_ber)
    errors = link.raw_errors[: link.lanes]
    if link.raw_ber == ZERO_RATE:
        return [ZERO_RATE] * len(errors)
    whole = link.raw_ber[0] * 10.0 ** -link.raw_ber[1] * len(errors) / (sum(errors) or 1)
    return [_scientific(whole * count) for count in errors]


def _scientific(value: float) -> tuple[int, int]:
    """One digit and the exponent without its sign; zero is printed as 15E-255."""
    if value <= 0:
        return ZERO_RATE
    digit, exponent = f"{value:.0e}".split("e-")
    return int(digit), int(exponent)


def counters(nic: Nic, tool: Tool = USUAL) -> str:
    """Physical Counters and BER Info; without a link every value is N/A."""
    link = nic.link
    infiniband = nic.link_layer == "InfiniBand"
    shown = tool.lane_rates and lane_gigabits(nic) >= 100  # only chips from ConnectX-7 on
    per_lane = (("Raw Physical BER Per Lane", commas(map(_rate, lane_rates(nic)))),)
    downs = (
        ("Link Down Counter", str(link.link_down)),
        ("Link Error Recovery Counter", str(link.link_recoveries)),
    )
    symbols = (("Symbol Errors", str(link.symbol_errors)), ("Symbol BER", _rate(link.symbol_ber)))
    rows: Rows = (
        ("Time Since Last Clear [Min]", f"{link.minutes_since_clear:.1f}"),
        *(symbols if infiniband else ()),
        ("Effective Physical Errors", str(link.effective_errors)),
        ("Effective Physical BER", _rate(link.effective_ber)),
        ("Raw Physical Errors Per Lane", commas(link.raw_errors[: link.lanes])),
        *(() if infiniband else downs),
        *(per_lane if shown else ()),
        ("Raw Physical BER", _rate(link.raw_ber)),
        *(downs if infiniband else ()),
    )
    if not nic.up:
        rows = [(key, NONE) for key, _ in rows]
    return section("Physical Counters and BER Info", rows, tool)


def show(nic: Nic, tool: Tool = USUAL) -> str:
    """All that `-m -c` prints; a line with one blank goes before a warning."""
    gap = " \n" if nic.optic.kind == "none" else ""
    return link(nic, tool) + module(nic, tool) + gap + counters(nic, tool)


def _refused(command: str, address: str) -> Said:
    words = f'-E- Failed to open device: "{address}", No such file or directory\n'
    return Said(command, " \n \n", words, 1)


def commands(host: HostModel) -> Iterator[Said]:
    """One question to each function."""
    tool = tool_of(host.firmware_tools)
    for nic in ports(host):
        command = f"mlxlink -d {nic.address} -m -c"
        if not nic.firmware_access:
            yield _refused(command, nic.address)
            continue
        warning = WARNING if nic.optic.kind == "none" else ""
        yield Said(command, show(nic, tool), warning)
