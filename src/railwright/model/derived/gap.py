"""Table `gap`: a million rows say ok, and what matters is the others."""

from railwright.schema.table import feeding_probes
from railwright.store.duck import quote, read_sql

_SELECT = read_sql(__file__, "gap_row.sql")


def system_of(probe: str) -> str:
    """The switch system that a probe asks, as SQL: eos of eos_route."""
    return f"split_part({probe}, '_', 1)"


def queries() -> list[str]:
    """The SELECT of the derived table, alone."""
    wanted = ", ".join(
        f"({quote(kind)}, {quote(probe)})"
        for kind in ("host", "switch")
        for probe in feeding_probes(kind)
    )
    return [
        _SELECT.format(wanted=wanted, asked_of=system_of("probe"), wanted_of=system_of("w.probe"))
    ]
