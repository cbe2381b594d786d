"""`ethtool --show-fec NETDEV`: forward error correction, as text or JSON, old and new wording."""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, Value, text_of
from railwright.parse.ethtool_text import (
    agreed,
    json_list,
    one_per_netdev,
    refuse,
    values_by_netdev,
    whole_lines,
    whole_number,
)

_HEADING = re.compile(r"^[ \t]*FEC parameters for ([^\s:][^\s]{0,40}):[ \t]*$", re.MULTILINE)
# "Supported/Configured"; older releases say "Configured".
_LINE = re.compile(
    r"\s{0,40}(?:Supported/)?(Configured|Active) FEC encodings?:"
    r"((?:[ \t]{1,20}[A-Za-z][A-Za-z0-9_-]{0,20}){1,12})\s{0,40}"
)
_WHOLE_LINE = re.compile(r"Active FEC encodings?:[ \t]{1,20}(?:Auto|Off|None|RS|BaseR|LLRS)")
# Newer releases print the lanes behind the sum, older ones a line per lane below it; one release
# prints all sums on one line, for want of a newline.
_STATISTIC = re.compile(
    r"\b(corrected_blocks|uncorrectable_blocks|corrected_bits): ([0-9]{1,20})(?=\s|$)"
)
_STATISTICS = ("corrected_blocks", "uncorrectable_blocks", "corrected_bits")


def _text_values(body: str) -> dict[str, Value]:
    lines = whole_lines(body, _WHOLE_LINE)
    modes = ((m[1], ",".join(m[2].split())) for m in map(_LINE.fullmatch, lines) if m)
    numbers = (pair for line in lines for pair in _STATISTIC.findall(line))
    found = agreed((*modes, *numbers))
    return {
        "configured": found.get("Configured"),
        "active": found.get("Active"),
        **{name: whole_number(found.get(name)) for name in _STATISTICS},
    }


def _total(statistic: object) -> int | None:
    """The sum over all lanes: alone, or beside the lanes."""
    return whole_number(statistic.get("total") if isinstance(statistic, dict) else statistic)


def _json_values(entry: dict[str, object]) -> dict[str, Value]:
    statistics = entry.get("statistics")
    numbers = statistics if isinstance(statistics, dict) else {}
    return {
        "configured": json_list(entry.get("config")),
        "active": json_list(entry.get("active")),
        **{name: _total(numbers.get(name)) for name in _STATISTICS},
    }


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Table netdev_fec."""
    text = text_of(data)
    every = values_by_netdev(text, _HEADING, _text_values, _json_values)
    found = [
        (netdev, values)
        for netdev, values in every
        if values["configured"] is not None or values["active"] is not None
    ]
    if not found:
        refuse(text, "no FEC encoding")
    return one_per_netdev("netdev_fec", found, instance)
