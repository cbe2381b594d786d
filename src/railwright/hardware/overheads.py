"""Bytes around the data, by what they belong to."""

from dataclasses import dataclass
from functools import cache

from railwright.hardware.data import Row, load_rows


@dataclass(frozen=True, kw_only=True)
class Overhead(Row):
    """A header, a check or a gap."""

    bytes: int


@cache
def overhead(*names: str) -> int:
    """The bytes of these together."""
    rows = load_rows(Overhead, "overheads.toml")
    return sum(rows[name].bytes for name in names)
