"""The truth about transceivers and cables as ethtool reads them from the module's memory."""

import math

from lab.fleet.model import HostModel, Nic
from lab.fleet.port_model import Lane, Optic
from lab.fleet.truth_places import Row, Rows, Tables, ethernet_ports

CMIS_FORMS = ("OSFP", "QSFP112")
# Form -> its number and name in SFF-8024, lanes of such a module. A QSFP56 cable still answers
# by SFF-8636, where it is a QSFP28.
FORMS = {
    "OSFP": (0x19, "OSFP 8X Pluggable Transceiver", 8),
    "QSFP112": (0x1E, "QSFP+ or later with CMIS", 4),
    "QSFP56": (0x11, "QSFP28", 4),
    "QSFP28": (0x11, "QSFP28", 4),
}
CONNECTORS = {"OSFP": "MPO Parallel Optic", "QSFP112": "MPO 1x12"}
# Watts up to which a power class goes; beyond all of them it is class 8.
POWER_CLASSES = (1.5, 2.0, 2.5, 3.5, 4.0, 4.5, 5.0)
# The limits that all modules of the fleet hold: high alarm, low alarm, high warning, low warning.
KINDS = ("high_alarm", "low_alarm", "high_warning", "low_warning")
TEMPERATURE = (75.0, -5.0, 70.0, 0.0)
VOLTAGE = (3.5, 3.1, 3.465, 3.135)
RX_POWER = (3.9811, 0.1585, 2.5119, 0.2512)
TX_POWER = (3.9811, 0.1995, 2.5119, 0.3162)
BIAS = (15.0, 2.0, 12.0, 3.0)
TOO_HOT_C = TEMPERATURE[0]
NO_SIGNAL_MW = 0.05  # below this a receiver says that it lost the signal

Limits = tuple[float, float, float, float]


def is_used(lane: Lane) -> bool:
    """Whether a lane is wired: it sends, or hears, or has a current."""
    return any((lane.rx_mw, lane.tx_mw, lane.bias_ma))


def is_dark(lane: Lane) -> bool:
    """Whether its receiver says that nothing comes in."""
    return is_used(lane) and lane.rx_mw < NO_SIGNAL_MW


def tables(host: HostModel) -> Tables:
    """transceiver, transceiver_lane."""
    nics = [nic for nic in ethernet_ports(host) if nic.optic.kind != "none"]
    return {
        "transceiver": [_transceiver(nic) for nic in nics],
        "transceiver_lane": [row for nic in nics for row in _lanes(nic)],
    }


def dbm(milliwatts: float) -> float | None:
    """As printed, to two digits; no light has no dBm."""
    return round(10 * math.log10(milliwatts), 2) if milliwatts > 0 else None


def _measures(optic: Optic) -> bool:
    return optic.kind == "optical" and bool(optic.lanes)


def _over(value: float, limits: Limits) -> dict[str, bool]:
    high, low, high_warning, low_warning = limits
    states = (value > high, value < low, value > high_warning, value < low_warning)
    return dict(zip(KINDS, states, strict=True))


def _named(what: dict[str, dict[str, bool]], ending: str) -> str:
    """`temperature high, voltage low` of the flags that are on."""
    return ",".join(
        f"{name} {kind.removesuffix(ending)}".rstrip("_").replace("_", " ")
        for name, flags in what.items()
        for kind, on in flags.items()
        if on and kind.endswith(ending)
    )


def _numbers(flags: list[bool]) -> str:
    return ",".join(str(place) for place, on in enumerate(flags, 1) if on)


# ---- the module as a whole


def _transceiver(nic: Nic) -> Row:
    optic = nic.optic
    cmis = optic.form in CMIS_FORMS
    copper = optic.kind == "copper"
    number, name, _ = FORMS[optic.form]
    separable = not copper and not optic.length_m
    return {
        "netdev": nic.netdev,
        "identifier_code": number,
        "identifier": name,
        "vendor": optic.vendor,
        "part_number": optic.part_number,
        "revision": optic.revision,
        "serial_number": optic.serial,
        "date_code": optic.manufactured,
        "connector": CONNECTORS.get(optic.form, "MPO Parallel Optic")
        if separable
        else "No separable connector",
        "technology": _technology(optic),
        "transceiver_types": None if cmis else _claims(copper),
        "cable_length_m": optic.length_m if cmis else float(math.ceil(optic.length_m)),
        "wavelength_nm": None if copper else float(optic.wavelength_nm),
        "power_class": _power_class(optic.max_power_w) if cmis else None,
        "max_power_w": optic.max_power_w if cmis else None,
        "module_state": "ModuleReady" if cmis else None,
        **_sensors(optic),
        **_flags(optic),
        **_limits(optic),
    }


def _technology(optic: Optic) -> str:
    if optic.kind == "copper":
        comma = "," if optic.form in CMIS_FORMS else ""  # the two standards differ in a comma
        return f"Copper cable{comma} unequalized"
    return "850 nm VCSEL" if optic.wavelength_nm < 1000 else "1310 nm EML"


def _claims(copper: bool) -> str:
    kind = "100G Base-CR4 or 25G Base-CR CA-L" if copper else "100G Base-SR4 or 25GBase-SR"
    return f"100G Ethernet: {kind}"


def _power_class(watts: float) -> int:
    return 1 + sum(watts > limit for limit in POWER_CLASSES)


def _sensors(optic: Optic) -> Row:
    """A module without sensors prints none by CMIS, and zeros by SFF-8636."""
    read = _measures(optic)
    none = None if optic.form in CMIS_FORMS else 0.0
    return {
        "temperature_c": round(optic.temperature_c, 2) if read else none,
        "voltage_v": round(optic.voltage_v, 4) if read else none,
        "rx_power_type": "average" if read else None,
    }


def _lane_flags(lane: Lane) -> dict[str, dict[str, bool]]:
    """Bias, sent and received power against the limits; a lane that is not wired raises none."""
    if not is_used(lane):
        return {}
    return {
        "bias": _over(lane.bias_ma, BIAS),
        "tx power": _over(lane.tx_mw, TX_POWER),
        "rx power": _over(lane.rx_mw, RX_POWER),
    }


def _flags(optic: Optic) -> Row:
    names = ("alarms", "warnings", "lanes_with_alarms", "lanes_with_warnings")
    losses = (
        *("rx_loss_of_signal_lanes", "tx_loss_of_signal_lanes", "rx_loss_of_lock_lanes"),
        *("tx_loss_of_lock_lanes", "tx_fault_lanes"),
    )
    row: Row = dict.fromkeys((*names, *losses))
    says = optic.kind == "optical" and (bool(optic.lanes) or optic.form in CMIS_FORMS)
    if says:
        dark = _numbers([is_dark(lane) for lane in optic.lanes])
        row |= dict.fromkeys(losses, "")
        row |= {"rx_loss_of_signal_lanes": dark, "rx_loss_of_lock_lanes": dark}
    if _measures(optic):
        whole = {
            "temperature": _over(optic.temperature_c, TEMPERATURE),
            "voltage": _over(optic.voltage_v, VOLTAGE),
        }
        lanes = [_lane_flags(lane) for lane in optic.lanes]
        # ethtool tests the wrong bit of a CMIS lane's flags: that none is on says nothing there.
        none = None if optic.form in CMIS_FORMS else ""
        for ending in ("alarm", "warning"):
            row[f"{ending}s"] = _named(whole, ending)
            having = _numbers([bool(_named(one, ending)) for one in lanes])
            row[f"lanes_with_{ending}s"] = having or none
    return row


def _limits(optic: Optic) -> Row:
    read = _measures(optic)
    row: Row = {}
    for name, unit, limits in (
        ("temperature", "c", TEMPERATURE),
        ("rx_power", "mw", RX_POWER),
        ("tx_power", "mw", TX_POWER),
        ("bias", "ma", BIAS),
    ):
        for kind, limit in zip(KINDS, limits, strict=True):
            row[f"{name}_{kind}_{unit}"] = limit if read else None
            if unit == "mw":
                row[f"{name}_{kind}_dbm"] = dbm(limit) if read else None
    return row


# ---- its lanes


def _lanes(nic: Nic) -> Rows:
    """As many as the form has, lit or not; none where nothing is measured."""
    optic = nic.optic
    if not _measures(optic):
        return []
    cmis = optic.form in CMIS_FORMS
    unused = Lane(0.0, 0.0, 0.0)
    rows: Rows = []
    for place in range(FORMS[optic.form][2]):
        lane = optic.lanes[place] if place < len(optic.lanes) else unused
        flags = _lane_flags(lane)
        none = None if cmis else ""  # see _flags
        rows.append(
            {
                "netdev": nic.netdev,
                "lane": place + 1,
                "rx_power_mw": round(lane.rx_mw, 4),
                "rx_power_dbm": dbm(lane.rx_mw),
                "tx_power_mw": round(lane.tx_mw, 4),
                "tx_power_dbm": dbm(lane.tx_mw),
                "bias_ma": round(lane.bias_ma, 3),
                "alarms": _named(flags, "alarm") or none,
                "warnings": _named(flags, "warning") or none,
                "rx_loss_of_signal": is_dark(lane),
                "tx_loss_of_signal": False,
                "rx_loss_of_lock": is_dark(lane),
                "tx_loss_of_lock": False,
                "tx_fault": False,
            }
        )
    return rows
