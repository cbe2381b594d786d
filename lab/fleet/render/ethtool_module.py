"""The transceiver's memory as `ethtool -m` prints it: CMIS modules, and older ones by SFF-8636."""

import math
from functools import lru_cache

from lab.fleet.model import Nic
from lab.fleet.port_model import Lane, Optic

# Below this a receiver says that it has no signal (-13 dBm); an alarm comes earlier.
NO_SIGNAL_MW = 0.05

# High alarm, low alarm, high warning, low warning.
Limits = tuple[float, float, float, float]
BIAS: Limits = (15.0, 2.0, 12.0, 3.0)  # mA
SENT: Limits = (3.9811, 0.1995, 2.5119, 0.3162)  # mW
HEAT: Limits = (75.0, -5.0, 70.0, 0.0)  # degrees Celsius
VOLTS: Limits = (3.5, 3.1, 3.465, 3.135)
RECEIVED: Limits = (3.9811, 0.1585, 2.5119, 0.2512)  # mW
KINDS = ("high alarm", "low alarm", "high warning", "low warning")

# Form -> identifier, connector of an optical one, lanes. OSFP has eight of them, lit or not.
CMIS = {
    "OSFP": ("0x19 (OSFP 8X Pluggable Transceiver)", "0x0c (MPO Parallel Optic)", 8),
    "QSFP112": ("0x1e (QSFP+ or later with CMIS)", "0x28 (MPO 1x12)", 4),
}
NO_CONNECTOR = "0x23 (No separable connector)"
# Vendor -> the organisation that its modules carry.
ORGANISATION = {"NVIDIA": "48:b0:2d", "Mellanox": "00:02:c9"}
# Watts up to which a class reaches (SFF-8636 revision 2.10); beyond these it is class 8.
CLASSES = (1.5, 2.0, 2.5, 3.5, 4.0, 4.5, 5.0)


def row(key: str, value: str) -> str:
    """One line."""
    return f"\t{key:<41} : {value}\n"


def power_class(watts: float) -> int:
    """The class of a module by the most it may take."""
    return next((n for n, limit in enumerate(CLASSES, 1) if watts <= limit), 8)


def milliwatts(power: float) -> str:
    """1.3225 mW / 1.21 dBm."""
    level = f"{10 * math.log10(power):.2f}" if power > 0 else "-inf"
    return f"{power:.4f} mW / {level} dBm"


def degrees(celsius: float) -> str:
    """47.31 degrees C / 117.16 degrees F."""
    return f"{celsius:.2f} degrees C / {celsius * 1.8 + 32:.2f} degrees F"


def in_use(lane: Lane) -> bool:
    """Whether a lane is wired at all: one that sends nothing and hears nothing is not."""
    return bool(lane.rx_mw or lane.tx_mw or lane.bias_ma)


def without_signal(lane: Lane) -> bool:
    """Whether the receiver of a lane says loss of signal."""
    return in_use(lane) and lane.rx_mw < NO_SIGNAL_MW


def _flags(value: float, limits: Limits) -> tuple[bool, ...]:
    high, low, high_warning, low_warning = limits
    return value > high, value < low, value > high_warning, value < low_warning


_OFF = (False,) * 4
_UNUSED = Lane(0.0, 0.0, 0.0)


def _channel_flags(
    channel: int, bias: tuple[bool, ...], sent: tuple[bool, ...], received: tuple[bool, ...]
) -> str:
    """The alarm rows of one channel; the blanks inside the names are the tool's own."""
    rows = []
    for name, place, flags in (
        ("Laser bias current", f"(Chan {channel})", bias),
        ("Laser tx power", f"(Channel {channel})", sent),
        ("Laser rx power", f"(Channel {channel})", received),
    ):
        for kind, flag in zip(KINDS, flags, strict=True):
            rows.append(row(f"{name} {kind:<12} {place}", "On" if flag else "Off"))
    return "".join(rows)


@lru_cache(maxsize=16)
def _quiet_channel(channel: int) -> str:
    return _channel_flags(channel, _OFF, _OFF, _OFF)


def _lane_flags(channel: int, lane: Lane) -> str:
    flags = (_flags(lane.bias_ma, BIAS), _flags(lane.tx_mw, SENT), _flags(lane.rx_mw, RECEIVED))
    if in_use(lane) and any(map(any, flags)):
        return _channel_flags(channel, *flags)
    return _quiet_channel(channel)


@lru_cache(maxsize=1)
def _thresholds() -> str:
    rows = []
    for name, limits, form in (
        ("Laser bias current", BIAS, lambda value: f"{value:.3f} mA"),
        ("Laser output power", SENT, milliwatts),
        ("Module temperature", HEAT, degrees),
        ("Module voltage", VOLTS, lambda value: f"{value:.4f} V"),
        ("Laser rx power", RECEIVED, milliwatts),
    ):
        for kind, limit in zip(KINDS, limits, strict=True):
            rows.append(row(f"{name} {kind} threshold", form(limit)))
    return "".join(rows)


def _module_flags(optic: Optic) -> str:
    rows = []
    for name, value, limits in (
        ("Module temperature", optic.temperature_c, HEAT),
        ("Module voltage", optic.voltage_v, VOLTS),
    ):
        for kind, flag in zip(KINDS, _flags(value, limits), strict=True):
            rows.append(row(f"{name} {kind}", "On" if flag else "Off"))
    return "".join(rows)


def _loss(optic: Optic) -> str:
    """None, or a word per lane, lit or not."""
    if not any(map(without_signal, optic.lanes)):
        return "None"
    count = CMIS[optic.form][2] if optic.form in CMIS else 4
    lanes = (*optic.lanes, *(_UNUSED,) * (count - len(optic.lanes)))
    return f"[ {' '.join('Yes' if without_signal(lane) else 'No' for lane in lanes)} ]"


def _vendor(optic: Optic) -> str:
    return (
        row("Vendor name", optic.vendor)
        + row("Vendor OUI", ORGANISATION.get(optic.vendor, "00:00:00"))
        + row("Vendor PN", optic.part_number)
        + row("Vendor rev", optic.revision)
        + row("Vendor SN", optic.serial)
        + row("Date code", optic.manufactured)
    )


# ---- CMIS


@lru_cache(maxsize=64)
def _cmis_head(form: str, kind: str, watts: float, length: float) -> str:
    copper = kind == "copper"
    identifier, connector, _lanes = CMIS[form]
    clock = "No" if copper else "Yes"
    return "".join(
        (
            row("Identifier", identifier),
            row("Power class", str(power_class(watts))),
            row("Max power", f"{watts:.2f}W"),
            row("Connector", NO_CONNECTOR if copper or length else connector),
            row("Cable assembly length", f"{length:.2f}m"),
            row("Tx CDR bypass control", "No"),
            row("Rx CDR bypass control", "No"),
            row("Tx CDR", clock),
            row("Rx CDR", clock),
        )
    )


@lru_cache(maxsize=64)
def _cmis_light(wavelength: int, reach: int) -> str:
    """Reach in kilometres belongs to single-mode fibre, reach in metres to multimode."""
    short = wavelength < 1000
    technology = "0x00 (850 nm VCSEL)" if short else "0x06 (1310 nm EML)"
    return "".join(
        (
            row("Transmitter technology", technology),
            row("Laser wavelength", f"{wavelength}.000nm"),
            row("Laser wavelength tolerance", "10.000nm"),
            row("Length (SMF)", "0.00km" if short else f"{reach / 1000:.2f}km"),
            row("Length (OM5)", "0m"),
            row("Length (OM4)", f"{reach if short else 0}m"),
            row("Length (OM3 50/125um)", f"{reach * 3 // 5 if short else 0}m"),
            row("Length (OM2 50/125um)", "0m"),
        )
    )


_CMIS_STATE = (
    row("Module State", "0x03 (ModuleReady)")
    + row("LowPwrAllowRequestHW", "Off")
    + row("LowPwrRequestSW", "Off")
)


def _cmis_copper(optic: Optic) -> str:
    places = ("5GHz", "7GHz", "12.9GHz", "25.8GHz")
    losses = "".join(
        row(f"Attenuation at {place}", f"{loss}db")
        for place, loss in zip(places, optic.attenuation_db, strict=True)
    )
    return (
        _cmis_head(optic.form, "copper", optic.max_power_w, optic.length_m)
        + row("Transmitter technology", "0x0a (Copper cable, unequalized)")
        + losses
        + _vendor(optic)
        + row("Revision compliance", "Rev. 4.0")
        + _CMIS_STATE
    )


def _lane_rows(optic: Optic, count: int, receiver: str) -> tuple[str, str]:
    """Readings of all lanes, kind by kind, and their flags, lane by lane."""
    lanes = (*optic.lanes, *(_UNUSED,) * (count - len(optic.lanes)))
    numbered = tuple(enumerate(lanes, 1))
    rows = [row(f"Laser tx bias current (Channel {n})", f"{a.bias_ma:.3f} mA") for n, a in numbered]
    rows += [
        row(f"Transmit avg optical power (Channel {n})", milliwatts(a.tx_mw)) for n, a in numbered
    ]
    rows += [row(f"{receiver}(Channel {n})", milliwatts(a.rx_mw)) for n, a in numbered]
    return "".join(rows), "".join([_lane_flags(n, a) for n, a in numbered])


def _cmis_readings(optic: Optic) -> str:
    readings, flags = _lane_rows(optic, CMIS[optic.form][2], "Rcvr signal avg optical power ")
    return (
        row("Module temperature", degrees(optic.temperature_c))
        + row("Module voltage", f"{optic.voltage_v:.4f} V")
        + readings
        + _module_flags(optic)
        + flags
        + _thresholds()
    )


def _cmis_optical(optic: Optic) -> str:
    loss = _loss(optic)
    return (
        _cmis_head(optic.form, "optical", optic.max_power_w, optic.length_m)
        + _cmis_light(optic.wavelength_nm, optic.reach_om4_m)
        + _vendor(optic)
        + row("Revision compliance", "Rev. 5.0")
        + row("Rx loss of signal", loss)
        + row("Tx loss of signal", "None")
        + row("Rx loss of lock", loss)
        + row("Tx loss of lock", "None")
        + row("Tx fault", "None")
        + _CMIS_STATE
        + (_cmis_readings(optic) if optic.lanes else "")
    )


# ---- SFF-8636: QSFP28 and QSFP56


@lru_cache(maxsize=64)
def _sff_head(kind: str, length: float, watts: float) -> str:
    copper = kind == "copper"
    number = power_class(watts)
    code, clock = (
        ("0x00", "No CDR in TX, No CDR in RX")
        if copper
        else ("0xcc", "CDR present in TX, CDR present in RX")
    )
    kind_of = "100G Base-CR4 or 25G Base-CR CA-L" if copper else "100G Base-SR4 or 25GBase-SR"
    words = "Extended identifier description"
    return "".join(
        (
            row("Identifier", "0x11 (QSFP28)"),
            row("Extended identifier", code),
            row(
                words, f"{CLASSES[number - 1] if number < 8 else watts:.1f}W max. Power consumption"
            ),
            row(words, clock),
            row(words, "High Power Class (> 3.5 W) not enabled"),
            row("Connector", NO_CONNECTOR if copper or length else "0x0c (MPO Parallel Optic)"),
            row("Transceiver codes", "0x80 0x00 0x00 0x00 0x00 0x00 0x00 0x00"),
            row("Transceiver type", f"100G Ethernet: {kind_of}"),
            row("Encoding", "0x05 (64B/66B)"),
            row("BR, Nominal", "25500Mbps"),
            row("Rate identifier", "0x00"),
            row("Length (SMF,km)", "0km"),
            row("Length (OM3 50um)", "0m" if copper else "70m"),
            row("Length (OM2 50um)", "0m"),
            row("Length (OM1 62.5um)", "0m"),
            row("Length (Copper or Active cable)", f"{math.ceil(length)}m"),
        )
    )


def _sff_readings(optic: Optic) -> str:
    """The receiver's name lacks a blank here, and the module's flags follow the lanes'."""
    readings, flags = _lane_rows(optic, 4, "Rcvr signal avg optical power")
    head = row("Alarm/warning flags implemented", "Yes")
    return head + readings + flags + _module_flags(optic) + _thresholds()


def _sff(optic: Optic) -> str:
    copper = optic.kind == "copper"
    technology = "0xa0 (Copper cable unequalized)" if copper else "0x00 (850 nm VCSEL)"
    text = _sff_head(optic.kind, optic.length_m, optic.max_power_w)
    text += row("Transmitter technology", technology)
    if copper:
        for place, loss in zip(("2.5", "5.0", "7.0", "12.9"), optic.attenuation_db, strict=True):
            text += row(f"Attenuation at {place}GHz", f"{loss}db")
    else:
        text += row("Laser wavelength", f"{optic.wavelength_nm}.000nm")
        text += row("Laser wavelength tolerance", "10.000nm")
    text += _vendor(optic) + row("Revision Compliance", "SFF-8636 Rev 2.5/2.6/2.7")
    if copper or not optic.lanes:  # a passive cable reads zero: that is no reading
        return text + row("Module temperature", degrees(0.0)) + row("Module voltage", "0.0000 V")
    text += row("Rx loss of signal", _loss(optic)) + row("Tx loss of signal", "None")
    text += row("Rx loss of lock", _loss(optic)) + row("Tx loss of lock", "None")
    text += row("Tx fault", "None") + row("Tx adaptive eq fault", "None")
    text += row("Module temperature", degrees(optic.temperature_c))
    text += row("Module voltage", f"{optic.voltage_v:.4f} V")
    return text + _sff_readings(optic)


# ---- SFF-8472: SFP28, of which only passive copper is in the fleet


def _sfp_copper(optic: Optic) -> str:
    return (
        row("Identifier", "0x03 (SFP)")
        + row("Extended identifier", "0x04 (GBIC/SFP defined by 2-wire interface ID)")
        + row("Connector", "0x21 (Copper pigtail)")
        + row("Transceiver codes", "0x01 0x00 0x00 0x00 0x00 0x04 0x00 0x00 0x0c")
        + row("Transceiver type", "Infiniband: 1X Copper Passive")
        + row("Transceiver type", "Extended: 25G Base-CR CA-S")
        + row("Encoding", "0x00 (unspecified)")
        + row("BR, Nominal", "25500MBd")
        + row("Rate identifier", "0x00 (unspecified)")
        + row("Length (SMF,km)", "0km")
        + row("Length (SMF)", "0m")
        + row("Length (50um)", "0m")
        + row("Length (62.5um)", "0m")
        + row("Length (Copper)", f"{math.ceil(optic.length_m)}m")
        + row("Length (OM3)", "0m")
        + row("Passive Cu cmplnce.", "0x01 (SFF-8431 appendix E) [SFF-8472 rev10.4 only]")
        + row("Vendor name", optic.vendor)
        + row("Vendor OUI", ORGANISATION.get(optic.vendor, "00:00:00"))
        + row("Vendor PN", optic.part_number)
        + row("Vendor rev", optic.revision)
        + row("Option values", "0x00 0x00")
        + row("BR margin, max", "0%")
        + row("BR margin, min", "0%")
        + row("Vendor SN", optic.serial)
        + row("Date code", optic.manufactured)
    )


def module(nic: Nic) -> str:
    """`ethtool -m NETDEV` where something is plugged in."""
    if nic.optic.form == "SFP28":
        return _sfp_copper(nic.optic)
    if nic.optic.form not in CMIS:
        return _sff(nic.optic)
    return _cmis_copper(nic.optic) if nic.optic.kind == "copper" else _cmis_optical(nic.optic)
