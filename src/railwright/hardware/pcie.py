"""PCIe: what a lane of each generation carries, and how often it is acknowledged."""

from dataclasses import dataclass
from functools import cache

from railwright.hardware.data import Row, load_rows

PAYLOADS = (128, 256, 512, 1024, 2048, 4096)  # the largest payloads that a function may be set to
LEAST_PAYLOAD = PAYLOADS[0]  # every function can take it


@dataclass(frozen=True, kw_only=True)
class Generation(Row):
    """One generation."""

    gts: float  # per lane
    payload_bits: int
    line_bits: int

    @property
    def encoding(self) -> float:
        """The share of a lane that is left for packets."""
        return self.payload_bits / self.line_bits


@dataclass(frozen=True, kw_only=True)
class Acknowledgement(Row):
    """Bytes between two acknowledgements on a link, by its largest payload."""

    gts: float
    width: int
    bytes_128: int
    bytes_256: int
    bytes_512: int
    bytes_1024: int
    bytes_2048: int
    bytes_4096: int


@cache
def generations() -> dict[float, Generation]:
    """By GT/s."""
    rows = load_rows(Generation, "pcie_generations.toml")
    return {row.gts: row for row in rows.values()}


@cache
def acknowledgements() -> dict[tuple[float, int, int], int]:
    """Bytes between two of them, by GT/s, lanes and largest payload."""
    rows = load_rows(Acknowledgement, "pcie_acknowledgements.toml")
    return {
        (row.gts, row.width, payload): getattr(row, f"bytes_{payload}")
        for row in rows.values()
        for payload in PAYLOADS
    }


def link_words(gts: float, width: int) -> str:
    """Gen5 x16."""
    known = generations().get(gts)
    return f"{known.name.capitalize() if known else f'{gts:g} GT/s'} x{width}"
