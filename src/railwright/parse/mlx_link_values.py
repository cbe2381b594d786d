"""Values as mlxlink prints them: speeds, FEC, error rates, readings with limits, lane lists."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from railwright.parse.mlx_text import (
    INTEGER_BITS,
    NOT_AVAILABLE,
    cached_number,
    number,
    whole_number,
)

# "400G", "2.5G", "100M", "400G_4X"; releases of 2019 and before also "100GbE" and "BaseT1000M".
_ETHERNET = re.compile(
    r"(?:BaseTx?)?([0-9]{1,5}(?:\.[0-9]{1,3})?)([GM])(?:bE)?(?:_[0-9]{1,2}X)?", re.ASCII
)
# Gb/s of one lane, as the InfiniBand rates are counted (4 lanes of FDR are 56, of NDR 400).
_INFINIBAND_LANE = {
    "IB-SDR": 2.5,
    "IB-DDR": 5.0,
    "IB-QDR": 10.0,
    "IB-FDR10": 10.0,
    "IB-FDR": 14.0,
    "IB-EDR": 25.0,
    "IB-HDR": 50.0,
    "IB-NDR": 100.0,
    "IB-XDR": 200.0,
}
_WIDTH = re.compile(r"([0-9]{1,2})[xX]", re.ASCII)
_CODE = re.compile(r"\(([0-9]{1,4}), ?([0-9]{1,4}(?:\+[0-9])?)\)", re.ASCII)
_REED_SOLOMON = re.compile(r"(?<![A-Za-z])RS(?![A-Za-z])")
_OTHER_FEC = {
    "n/a": "",
    "no fec": "none",
    "firecode fec": "Firecode",
    "zero latency fec": "Zero latency",
}
_MASKED = re.compile(r"(0x[0-9a-fA-F]{1,16}) ?\((.*)\)", re.ASCII | re.DOTALL)
_GENERATION = re.compile(r"Gen ?([0-9])", re.ASCII)
_WATT = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,3})?) W(?: max)?", re.ASCII)
_VERSION = re.compile(r"[0-9]{1,4}\.[0-9][0-9A-Za-z.-]{0,40}", re.ASCII)
_FLAGS = {"1": True, "Yes": True, "ON": True, "0": False, "No": False, "OFF": False}
_ZERO_BER = "15E-255"  # all bits of coefficient and exponent set: no error was ever seen
_MOST_LANES = 16  # the widest port has 8; a longer list is something else

_Cell = TypeVar("_Cell")


class Reading(NamedTuple):
    """`47 [-5..75]` or `1.2,0.9 [-7..6]`: values and the limits that they share."""

    values: tuple[float | None, ...]
    low: float | None
    high: float | None


NO_READING = Reading((), None, None)


def width(text: str | None) -> int | None:
    """Lanes of `4x` or `16X`."""
    match = _WIDTH.fullmatch(text or "")
    return int(match[1]) if match else None


def speed_gbps(text: str | None, lanes: int | None) -> float | None:
    """Gb/s of the whole link. Ethernet prints the sum, InfiniBand the rate of each lane."""
    if text in _INFINIBAND_LANE:
        return _INFINIBAND_LANE[text] * lanes if lanes else None
    match = _ETHERNET.fullmatch(text or "")
    if not match:
        return None
    return float(match[1]) / (1000 if match[2] == "M" else 1)


@lru_cache(maxsize=256)
def fec(text: str | None) -> str | None:
    """One name per code: the tool has several for each, with the same numbers in parentheses."""
    if text is None:
        return None
    code = _CODE.search(text)
    if code and _REED_SOLOMON.search(text):
        return f"RS({code[1]},{code[2]})"
    plain = text.lower().replace("-", " ").replace("_", " ")
    return _OTHER_FEC.get(plain)


def error_rate(text: str | None) -> float | None:
    """A bit error rate; one below zero is none."""
    rate = 0.0 if text == _ZERO_BER else number(text)
    return rate if rate is not None and rate >= 0 else None


def masked(text: str | None) -> str | None:
    """The list of `0x12800 (400G_4X,200G_2X)`; '' if it is empty.

    A mask with bits that this release of the tool cannot name has an empty list too: that is not
    "none".
    """
    match = _MASKED.fullmatch(text or "")
    if not match:
        return None
    names = "" if match[2] == NOT_AVAILABLE else match[2].strip()
    return names if names or int(match[1], 16) == 0 else None


@lru_cache(maxsize=1024)
def reading(text: str | None) -> Reading:
    """Values with limits. Passive copper prints `0,0,0,0 [0..0]`: zeros that are no reading."""
    if text is None or text == NOT_AVAILABLE:
        return NO_READING
    head, _, tail = text.partition("[")
    low_text, _, high_text = tail.removesuffix("]").partition("..")
    low, high = cached_number(low_text.strip()), cached_number(high_text.strip())
    values = lane_list(head.strip(), cached_number)
    if not values or (low == 0 and high == 0 and not any(values)):
        return NO_READING
    if low == 0 and high == 0:
        return Reading(values, None, None)
    return Reading(values, low, high)


def lane_list(text: str | None, convert: Callable[[str], _Cell | None]) -> tuple[_Cell | None, ...]:
    """The values of a list with one value per lane; none for N/A."""
    if not text or text == NOT_AVAILABLE or text.count(",") >= _MOST_LANES:
        return ()
    return tuple(convert(part.strip()) for part in text.split(","))


def yes(text: str | None) -> bool | None:
    """A flag: some are printed as 1 and 0, some in words."""
    return _FLAGS.get(text) if text is not None else None


def autonegotiation(text: str | None) -> bool | None:
    """`ON`, or `FORCE - 100G_4X`: then the speed is set by hand."""
    return False if text and text.startswith("FORCE") else yes(text)


def watt(text: str | None) -> float | None:
    """`9.0 W` or `9.0 W max`."""
    match = _WATT.fullmatch(text or "")
    return float(match[1]) if match else None


def version(text: str | None) -> str | None:
    """The version of `mft 4.30.1-113`, or of `4.34.1-10`, as newer releases print it."""
    match = _VERSION.search(text or "")
    return match[0] if match else text


def active_and_enabled(text: str | None) -> tuple[str | None, str | None]:
    """The two parts of `16G-Gen 4 (32G-Gen 5)`."""
    if not text or not text.endswith(")") or " (" not in text:
        return None, None
    active, _, enabled = text.removesuffix(")").rpartition(" (")
    return active.strip(), enabled.strip()


def generation(text: str | None) -> int | None:
    """4 of `16G-Gen 4`, 6 of `32G PAM-4 Gen6`."""
    match = _GENERATION.search(text or "")
    return int(match[1]) if match else None


def small_number(text: str | None) -> int | None:
    """A number that an INTEGER column holds."""
    return whole_number(text, INTEGER_BITS)
