"""The truth about ports as mlxlink shows them: link, errors, and the module in the cage."""

import math
import re

from lab.fleet.model import HostModel, Nic
from lab.fleet.port_model import Lane, Optic
from lab.fleet.truth_module import CMIS_FORMS, TOO_HOT_C, is_dark, is_used
from lab.fleet.truth_places import Row, Rows, Tables, opened_nics

# Gb/s per lane of a card's generation and of a module's form.
CARD_LANE = {"ConnectX6": 50, "ConnectX7": 100}
FORM_LANE = {"OSFP": 100, "QSFP112": 100, "QSFP56": 50, "QSFP28": 25}
INFINIBAND_LANE = {"SDR": 2.5, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0}
# Speeds in the tool's order: name, Gb/s, Gb/s per lane.
SPEEDS = (
    *(("400G_4X", 400, 100), ("400G_8X", 400, 50), ("200G_2X", 200, 100), ("200G_4X", 200, 50)),
    *(("100G_1X", 100, 100), ("100G_2X", 100, 50), ("100G_4X", 100, 25), ("50G_1X", 50, 50)),
    *(("50G_2X", 50, 25), ("40G", 40, 10), ("25G", 25, 25), ("10G", 10, 10)),
)
INFINIBAND_SPEEDS = ("NDR", "HDR", "EDR", "FDR", "SDR")
# Error correction as printed, and by its code.
FEC = {
    "RS 100": ("Interleaved_Standard_RS-FEC - (544,514)", "RS(544,514)"),
    "RS 50": ("Standard_RS-FEC - (544,514)", "RS(544,514)"),
    "RS 25": ("Standard RS-FEC - RS(528,514)", "RS(528,514)"),
    "LLRS 50": ("Ethernet_Consortium_LL_50G_RS_FEC- (272,257+1)", "RS(272,257+1)"),
    "NDR": ("Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)", "RS(272,257+1)"),
    "HDR": ("Standard LL RS-FEC - RS(271,257)", "RS(271,257)"),
    "Off": ("No FEC", "none"),
}
COUNTED = (
    *("since_clear_min", "effective_errors", "effective_ber", "raw_errors", "raw_ber"),
    *("symbol_errors", "symbol_ber", "link_down_counter", "link_recovery_counter"),
)
# The module's own limits: (lower, upper).
LIMITS = {"temperature": (-5.0, 75.0), "voltage": (3000.0, 3600.0)}
LANE_LIMITS = {"rx_power": (-7.0, 6.0), "tx_power": (-5.0, 6.0), "bias": (2.0, 12.0)}
DARK_DBM = -40.0


def tables(host: HostModel) -> Tables:
    """mlxlink_port, mlxlink_lane."""
    nics = opened_nics(host)
    return {
        "mlxlink_port": [_port(host, pci, nic) for pci, nic in nics.items()],
        "mlxlink_lane": [row for pci, nic in nics.items() for row in _lanes(host, pci, nic)],
    }


def _release(host: HostModel) -> tuple[int, ...]:
    return tuple(map(int, host.firmware_tools.split("-")[0].split(".")[:2]))


# ---- the link


def _generation(nic: Nic) -> str:
    """HDR of `200 Gb/sec (4X HDR)`."""
    found = re.search(r"X (\w+)\)", nic.rate)
    if found is None:
        raise ValueError(f"no rate of a port: {nic.rate}")
    return found[1]


def _state(nic: Nic) -> Row:
    infiniband = nic.link_layer == "InfiniBand"
    if nic.up:
        words = ("Active", "LinkUp", 0, "", "No issue was observed")
    elif nic.link.closed:
        why = "The port is closed by command. Check that the interface is enabled"
        words = ("Disable", "Disabled", 1, "PHY FW", why)
    else:
        searching = "Polling" if infiniband else "ETH_AN_FSM_ENABLE"
        empty = nic.optic.kind == "none"
        group = (1024, "MNG FW", "Cable is unplugged")
        partner = (2, "PHY FW", "Auto-negotiation no partner detected")
        words = ("Polling", searching, *(group if empty else partner))
    names = ("state", "physical_state", "status_opcode", "group_opcode", "recommendation")
    return dict(zip(names, words, strict=True))


def _speed(nic: Nic) -> Row:
    """Nothing of it is known without a link."""
    if not nic.up:
        return {
            "speed_text": "",
            "speed_gbps": None,
            "width": None,
            "fec_text": "",
            "fec": "",
        }
    gigabits, lanes = nic.speed // 1000, nic.link.lanes
    if nic.link_layer == "InfiniBand":
        name = _generation(nic)
        text, rate = f"IB-{name}", INFINIBAND_LANE[name] * lanes
        fec = FEC[name]
    else:
        text, rate = f"{gigabits}G", float(gigabits)
        # 200G has the plain code also where it runs over two lanes of 100G.
        lane = 50 if gigabits == 200 else gigabits // lanes
        active = nic.link.fec_active
        fec = FEC[active if active == "Off" else f"{active} {lane}"]
    return {
        "speed_text": text,
        "speed_gbps": rate,
        "width": lanes,
        "fec_text": fec[0],
        "fec": fec[1],
    }


def _card_gigabits(nic: Nic) -> int:
    """The fastest Ethernet speed that the card's description names."""
    return max(int(speed) for speed in re.findall(r"(\d+)GbE", nic.description))


def _able(nic: Nic) -> str:
    """Speeds of the card; 40G and 10G are a matter of the fastest cards."""
    if nic.link_layer == "InfiniBand":
        return ",".join(INFINIBAND_SPEEDS[INFINIBAND_SPEEDS.index(_generation(nic)) :])
    most, lane = _card_gigabits(nic), CARD_LANE[nic.family]
    names = [name for name, whole, each in SPEEDS if whole <= most and each <= lane]
    return ",".join(name for name in names if most >= 400 or name not in ("40G", "10G"))


def _cable(nic: Nic) -> str:
    """Light goes through a module at its lanes' own rate only, copper takes slower ones too."""
    optic, lanes = nic.optic, nic.link.lanes
    if optic.kind == "none":
        return ""
    if nic.link_layer == "InfiniBand":
        return _able(nic)
    own = FORM_LANE[optic.form]
    copper = {100: ("100G_2X", "100G_4X"), 50: ("100G_4X", "50G_2X", "25G"), 25: ("40G", "10G")}
    also = copper[own] if optic.kind == "copper" else ()
    return ",".join(
        name
        for name, whole, each in SPEEDS
        if whole <= own * lanes and ((each == own and name != "400G_8X") or name in also)
    )


def _negotiation(nic: Nic) -> Row:
    if nic.link.autonegotiation:
        return {"autonegotiation": True, "autonegotiation_text": "ON"}
    gigabits = nic.speed // 1000
    lane = gigabits // nic.link.lanes
    forced = next(n for n, whole, each in SPEEDS if (whole, each) == (gigabits, lane))
    return {"autonegotiation": False, "autonegotiation_text": f"FORCE - {forced}"}


# ---- errors


def _ratio(rate: tuple[int, int]) -> float:
    """15E-255 is how the firmware says zero."""
    return 0.0 if rate == (15, 255) else float(f"{rate[0]}e-{rate[1]}")


def _counted(nic: Nic) -> Row:
    link = nic.link
    if not nic.up:
        return dict.fromkeys(COUNTED)
    infiniband = nic.link_layer == "InfiniBand"
    return {
        "since_clear_min": round(link.minutes_since_clear, 1),
        "effective_errors": link.effective_errors,
        "effective_ber": _ratio(link.effective_ber),
        "raw_errors": sum(link.raw_errors[: link.lanes]),
        "raw_ber": _ratio(link.raw_ber),
        "symbol_errors": link.symbol_errors if infiniband else None,
        "symbol_ber": _ratio(link.symbol_ber) if infiniband else None,
        "link_down_counter": link.link_down,
        "link_recovery_counter": link.link_recoveries,
    }


def _lane_rates(host: HostModel, nic: Nic) -> list[float | None]:
    """From ConnectX-7 and release 4.28 of the tool on: one digit, shared out by the errors."""
    link = nic.link
    if not nic.up or CARD_LANE[nic.family] < 100 or _release(host) < (4, 28):
        return [None] * link.lanes
    if link.lane_ber:
        return [_ratio(rate) for rate in link.lane_ber]
    errors = link.raw_errors[: link.lanes]
    mean = sum(errors) / len(errors) or 1
    return [float(f"{_ratio(link.raw_ber) * count / mean:.0e}") for count in errors]


# ---- the module


def _module(nic: Nic) -> Row:
    """What it says about itself; nothing where the cage is empty."""
    optic, lanes = nic.optic, nic.link.lanes
    if optic.kind == "none":
        return _empty_cage()
    copper = optic.kind == "copper"
    short = optic.wavelength_nm < 1000
    gigabits = FORM_LANE[optic.form] * lanes
    standard = f"{gigabits}GBASE-{'CR' if copper else 'SR' if short else 'DR'}{lanes}"
    light = "850 nm VCSEL" if short else "1310 nm EML"
    cmis = optic.form in CMIS_FORMS
    hot = bool(_lit(nic)) and optic.temperature_c > TOO_HOT_C
    media = f"{standard}_(Clause_167)" if short else standard
    year, month, day = (optic.manufactured[at : at + 2] for at in (0, 2, 4))
    return {
        "module_identifier": optic.form,
        "module_compliance": standard,
        "cable_technology": "Copper cable, passive, unequalized" if copper else light,
        "cable_type": _cable_type(optic),
        "vendor": optic.vendor,
        "part_number": optic.part_number,
        "serial_number": optic.serial,
        "revision": optic.revision,
        "wavelength_nm": None if copper else float(optic.wavelength_nm),
        "length_m": float(optic.length_m or (0 if copper else optic.reach_om4_m)),
        "module_firmware_version": "" if copper else optic.firmware,
        "digital_diagnostics": bool(_lit(nic)),
        "power_class": f"{optic.max_power_w:.1f} W max",
        "max_power_w": None if copper else optic.max_power_w,
        "los_alarm": "High Temperature" if hot else "",
        "cable_breakout": optic.breakout,
        "module_state": "Ready state" if cmis and _lit(nic) else "",
        "manufacturing_date": f"{day}_{month}_{year}",
        "host_compliance": "400GAUI-4-S_C2M_(Annex_120G)" if cmis else "",
        "media_compliance": media if cmis and not copper else "",
        "module_firmware_fault": False,
        "datapath_firmware_fault": False,
    }


def _cable_type(optic: Optic) -> str:
    if optic.kind == "copper":
        return "Passive copper cable"
    whole = "Active cable (active copper / optics)"
    return whole if optic.length_m else "Optical Module (separated)"


def _empty_cage() -> Row:
    texts = """
        module_identifier module_compliance cable_technology cable_type vendor part_number
        serial_number revision module_firmware_version power_class los_alarm cable_breakout
        module_state manufacturing_date host_compliance media_compliance
    """
    numbers = """
        wavelength_nm length_m max_power_w digital_diagnostics module_firmware_fault
        datapath_firmware_fault
    """
    return {**dict.fromkeys(texts.split(), ""), **dict.fromkeys(numbers.split())}


def _readings(nic: Nic) -> Row:
    """Whole degrees; limits stand beside what was read."""
    monitored = bool(_lit(nic))
    row: Row = {"monitored": monitored}
    for name, unit, value in (
        ("temperature", "c", float(round(nic.optic.temperature_c))),
        ("voltage", "mv", round(nic.optic.voltage_v * 1000, 1)),
    ):
        low, high = LIMITS[name]
        row[f"{name}_{unit}"] = value if monitored else None
        row[f"{name}_low_{unit}"] = low if monitored else None
        row[f"{name}_high_{unit}"] = high if monitored else None
    return row


def _port(host: HostModel, pci: str, nic: Nic) -> Row:
    silent = nic.link.closed and not nic.up
    return {
        "pci": pci,
        **_state(nic),
        "test_mode": False,
        **_speed(nic),
        "loopback": "" if silent else "No Loopback",
        **_negotiation(nic),
        "enabled_speeds": _able(nic),
        "cable_speeds": _cable(nic),
        "firmware_version": nic.firmware,
        "tool": "mft",
        "tool_version": host.firmware_tools,
        **_counted(nic),
        **_module(nic),
        **_readings(nic),
    }


# ---- lanes


def _lit(nic: Nic) -> tuple[Lane, ...]:
    """Lanes with readings: of optics only, as many as the link has."""
    if nic.optic.kind != "optical":
        return ()
    return tuple(lane for lane in nic.optic.lanes if is_used(lane))[: nic.link.lanes]


def _decibels(milliwatts: float) -> float:
    return round(10 * math.log10(milliwatts), 3) if milliwatts > 0 else DARK_DBM


def _lane_readings(lane: Lane | None, cmis: bool) -> Row:
    """Power and current with their limits; only CMIS has signal-to-noise ratios and states."""
    row: Row = {}
    values = (
        ("rx_power", "dbm", _decibels(lane.rx_mw) if lane else None),
        ("tx_power", "dbm", _decibels(lane.tx_mw) if lane else None),
        ("bias", "ma", round(lane.bias_ma, 3) if lane else None),
    )
    for name, unit, value in values:
        low, high = LANE_LIMITS[name]
        row[f"{name}_{unit}"] = value
        row[f"{name}_low_{unit}"] = low if lane else None
        row[f"{name}_high_{unit}"] = high if lane else None
    ratios = (lane.snr_media_db, lane.snr_host_db) if lane and cmis else (None, None)
    row["snr_media_db"], row["snr_host_db"] = ratios
    row["datapath_state"] = "DPActivated" if lane and cmis else None
    return row


def _lanes(host: HostModel, pci: str, nic: Nic) -> Rows:
    """A lane has a row where its module or its counters say something."""
    optic, link = nic.optic, nic.link
    lit, rates = _lit(nic), _lane_rates(host, nic)
    if optic.kind == "none" and not nic.up:
        return []
    rows: Rows = []
    for place in range(link.lanes):
        lane = lit[place] if place < len(lit) else None
        plugged = optic.kind != "none"
        fine = False if plugged else None
        lost = bool(lane and is_dark(lane)) if plugged else None
        rows.append(
            {
                "pci": pci,
                "lane": place + 1,
                **_lane_readings(lane, optic.form in CMIS_FORMS),
                "raw_errors": link.raw_errors[place] if nic.up else None,
                "raw_ber": rates[place],
                "rx_output_valid": True if plugged else None,
                "tx_fault": fine,
                "tx_loss_of_signal": fine,
                "tx_loss_of_lock": fine,
                "rx_loss_of_signal": lost,
                "rx_loss_of_lock": lost,
                "tx_equalizer_fault": fine,
            }
        )
    return rows
