"""What an error of a GPU in the kernel's log asks for."""

from dataclasses import dataclass
from typing import Literal

from railwright.hardware.data import Row, load_rows


@dataclass(frozen=True, kw_only=True)
class GpuError(Row):
    """One number of NVIDIA's catalogue of Xid errors; `name` is the number."""

    words: str
    need: Literal["reboot", "repair", "reset", "watch"]

    def __post_init__(self) -> None:
        if not self.name.isdecimal() or "'" in self.words:
            raise ValueError(f"{self.name}: a number, and words without quotes")


def gpu_errors() -> list[GpuError]:
    """By their numbers."""
    rows = load_rows(GpuError, "gpu_errors.toml").values()
    return sorted(rows, key=lambda row: int(row.name))


def macros() -> str:
    """gpu_error_need(xid) and gpu_error_words(xid): NULL for a number that is not listed."""
    made = []
    for name in ("need", "words"):
        cases = " ".join(
            f"WHEN {int(row.name)} THEN '{getattr(row, name)}'" for row in gpu_errors()
        )
        made.append(f"CREATE OR REPLACE MACRO gpu_error_{name}(xid) AS CASE xid {cases} END")
    return ";\n".join(made)
