"""What is planned with between the sockets of a host."""

from dataclasses import dataclass

from railwright.hardware.data import Row, load_rows


@dataclass(frozen=True, kw_only=True)
class Interconnect(Row):
    """Of the CPUs of one maker from a model number on."""

    vendor: str  # as lscpu prints it
    from_model: int
    gbytes: float  # GB/s, one direction


def interconnects() -> list[Interconnect]:
    """The newest of each maker first."""
    rows = load_rows(Interconnect, "interconnects.toml").values()
    return sorted(rows, key=lambda row: (row.vendor, -row.from_model))
