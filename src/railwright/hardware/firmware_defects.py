"""Published defects of NIC firmware: for which versions, under which conditions."""

import re
from dataclasses import dataclass
from typing import Literal

from railwright.hardware.data import Row, load_rows

_VERSION = re.compile(r"\d{2}\.\d{1,4}\.\d{1,5}")


@dataclass(frozen=True, kw_only=True)
class FirmwareDefect(Row):
    """One defect; `name` begins with the vendor's number. An empty condition always holds."""

    first: str
    last: str
    severity: Literal["high", "medium", "low"]
    words: str
    cable: str = ""  # how the part number of the module or cable begins
    link_layer: Literal["", "Ethernet", "InfiniBand"] = ""
    optical: bool = False
    programmable: bool = False  # congestion control by a program

    def __post_init__(self) -> None:
        if not all(_VERSION.fullmatch(one) for one in (self.first, self.last)):
            raise ValueError(f"{self.name}: a version is of the form 28.38.1002")
        if any("'" in text for text in (self.name, self.words, self.cable)):
            raise ValueError(f"{self.name}: words without quotes")

    @property
    def number(self) -> str:
        """The vendor's number of it."""
        return self.name.partition(" ")[0]


def firmware_defects() -> list[FirmwareDefect]:
    """As they are listed."""
    return list(load_rows(FirmwareDefect, "firmware_defects.toml").values())


def macros() -> str:
    """firmware_number(version), NULL for what is no version; firmware_defects(): a list."""
    parts = " + ".join(
        f"try_cast(split_part(version, '.', {place}) AS BIGINT) * {weight}"
        for place, weight in ((1, 10_000_000_000), (2, 100_000), (3, 1))
    )
    columns = ("number", "severity", "words", "cable", "link_layer")
    rows = ", ".join(
        "{"
        + ", ".join(f"'{name}': '{getattr(one, name)}'" for name in columns)
        + f", 'optical': {one.optical}, 'programmable': {one.programmable}"
        + f", 'first': firmware_number('{one.first}'), 'last': firmware_number('{one.last}')}}"
        for one in firmware_defects()
    )
    return (
        f"CREATE OR REPLACE MACRO firmware_number(version) AS {parts};\n"
        f"CREATE OR REPLACE MACRO firmware_defects() AS [{rows}]"
    )
