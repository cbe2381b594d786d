"""The `Module Info` section of mlxlink: what is plugged into a port's cage."""

import math
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from lab.fleet.model import Nic
from lab.fleet.port_model import Lane, Optic
from lab.fleet.render.ethtool_module import CMIS, HEAT, in_use, without_signal

NONE = "N/A"
# Gb/s per lane of each form factor.
FORM_LANE = {"OSFP": 100, "QSFP112": 100, "QSFP56": 50, "QSFP28": 25}
# A reading of nothing: what the tool makes of 0 mW.
DARK_DBM = -40.0
# What only a module with CMIS tells.
ONLY_CMIS = ("media_ratio", "host_ratio", "path_state", "state", "media_code")

Rows = Iterable[tuple[str, str]]


def commas(values: Iterable[object]) -> str:
    """The tool's lists."""
    return ",".join(map(str, values))


def decibels(power: float) -> float:
    """dBm of milliwatts."""
    return 10 * math.log10(power) if power > 0 else DARK_DBM


def _media_ratio(lane: Lane) -> float:
    """About 0.78 dB of signal-to-noise ratio for each dB that is received."""
    if lane.snr_media_db is not None:
        return lane.snr_media_db
    return max(0.0, 23.3 + 0.78 * decibels(lane.rx_mw))


def _host_ratio(lane: Lane) -> float:
    return lane.snr_host_db if lane.snr_host_db is not None else 24.0 + lane.bias_ma / 7


def _readings(optic: Optic, lanes: tuple[Lane, ...]) -> Rows:
    if not lanes:
        names = ("Temperature [C]", "Voltage [mV]", "Bias Current [mA]")
        powers = ("Rx Power Current [dBm]", "Tx Power Current [dBm]")
        return tuple((name, NONE) for name in (*names, *powers))
    bias = commas(f"{lane.bias_ma:.3f}" for lane in lanes)
    received = commas(f"{decibels(lane.rx_mw):.3f}" for lane in lanes)
    sent = commas(f"{decibels(lane.tx_mw):.3f}" for lane in lanes)
    return (
        ("Temperature [C]", f"{optic.temperature_c:.0f} [-5..75]"),
        ("Voltage [mV]", f"{optic.voltage_v * 1000:.1f} [3000..3600]"),
        ("Bias Current [mA]", f"{bias} [2..12]"),
        ("Rx Power Current [dBm]", f"{received} [-7..6]"),
        ("Tx Power Current [dBm]", f"{sent} [-5..6]"),
    )


@lru_cache(maxsize=2)
def _template(managed: bool) -> tuple[tuple[str, str], ...]:
    """Key and value of each row; modules without CMIS have two keys that are shorter."""
    text = (Path(__file__).parent / "mlxlink_module.txt").read_text("utf-8")
    rows = (line.split(" = ", 1) for line in text.splitlines() if not line.startswith("#"))
    short = () if managed else (",25g", " (Pre)")
    return tuple((_without(key, short), value) for key, value in rows)


def _without(text: str, parts: tuple[str, ...]) -> str:
    for part in parts:
        text = text.replace(part, "")
    return text


def _kind_words(optic: Optic, lanes: int) -> dict[str, str]:
    """What depends on the kind of module alone."""
    speed = (optic.lane_gbps or FORM_LANE.get(optic.form, 100)) * lanes
    if optic.kind == "copper":
        return {
            "compliance": f"{speed}GBASE-CR{lanes}",
            "technology": "Copper cable, passive, unequalized",
            "cable": "Passive copper cable",
            "attenuation": commas(optic.attenuation_db[: 4 if optic.form in CMIS else 3]),
            "distance": f"{optic.length_m:g}",
        }
    short = optic.wavelength_nm < 1000
    name = f"{speed}GBASE-{'SR' if short else 'DR'}{lanes}"
    separable = "Optical Module (separated)"
    return {
        "compliance": name,
        "technology": "850 nm VCSEL" if short else "1310 nm EML",
        "cable": "Active cable (active copper / optics)" if optic.length_m else separable,
        "distance": f"{optic.length_m or optic.reach_om4_m:g}",
        "wavelength": str(optic.wavelength_nm),
        "tolerance": "10.0nm",
        "firmware": optic.firmware,
        "max_power": f"{optic.max_power_w:.1f} W",
        "media_code": f"{name}_(Clause_167)" if short else name,
    }


class _Words(dict[str, str]):
    """What is not said is N/A."""

    def __missing__(self, key: str) -> str:
        return NONE


def _module_words(optic: Optic, lanes: int, lit: tuple[Lane, ...]) -> _Words:
    year, month, day = optic.manufactured[:2], optic.manufactured[2:4], optic.manufactured[4:6]
    words = _Words(
        identifier=optic.form,
        organisation={"NVIDIA": "Nvidia", "Mellanox": "Mellanox"}.get(optic.vendor, "Other"),
        vendor=optic.vendor,
        part_number=optic.part_number,
        serial=optic.serial,
        revision=optic.revision,
        power_class=f"{optic.max_power_w:.1f}",
        breakout=optic.breakout,
        date=f"{day}_{month}_{year}",
        monitoring="Yes" if lit else "No",
        ones=commas("1" * lanes),
        zeros=commas("0" * lanes),
        lost=commas("0" * lanes),
    )
    words |= _kind_words(optic, lanes)
    if lit:
        words |= {
            "clock": commas(["ON"] * lanes),
            "media_ratio": commas(f"{_media_ratio(lane):.2f}" for lane in lit),
            "host_ratio": commas(f"{_host_ratio(lane):.2f}" for lane in lit),
            "path_state": commas(["DPActivated"] * lanes),
            "state": "Ready state",
            "lost": commas(int(without_signal(lane)) for lane in lit),
        }
        if optic.temperature_c > HEAT[0]:
            words["alarm"] = "High Temperature"
    if optic.form in CMIS:
        words["host_code"] = "400GAUI-4-S_C2M_(Annex_120G)"
    else:
        for name in ONLY_CMIS:
            words.pop(name, None)
    return words


def module_rows(nic: Nic) -> Rows:
    """Passive copper has no readings, an empty cage has nothing."""
    optic, lanes = nic.optic, nic.link.lanes
    if optic.kind == "none":
        return (*_readings(optic, ()), *((key, NONE) for key, _ in _template(False)))
    lit = tuple(filter(in_use, optic.lanes))[:lanes] if optic.kind == "optical" else ()
    words = _module_words(optic, lanes, lit)
    rest = ((key, value.format_map(words)) for key, value in _template(optic.form in CMIS))
    return (*_readings(optic, lit), *rest)
