"""`railwright hardware`: rows of the hardware data."""

from collections.abc import Iterable
from dataclasses import fields

from railwright.design.names import nearest
from railwright.errors import UsageError
from railwright.hardware.data import NOT_DOCUMENTED, NotDocumented, Row, sources
from railwright.hardware.parts import catalogue
from railwright.report.screen import Screen, in_phrases, padded, widths, wrapped

_NOT_VALUES = ("name", "source", "judged", "note")
# Column: what a person calls it, and its unit.
LABELS = {
    "gbps": ("rate", "Gb/s"),
    "lane_gbps": ("lane rates", "Gb/s"),
    "ethernet_gbps": ("Ethernet", "Gb/s"),
    "infiniband": ("InfiniBand", ""),
    "psid": ("PSID", ""),
    "gts": ("lane", "GT/s"),
    "gbytes": ("one way", "GB/s"),
    "from_model": ("from CPU model", ""),
    "pcie_generation": ("PCIe generation", ""),
    "pcie_width": ("PCIe lanes", ""),
    "second": ("second interface", ""),
    "second_width": ("second lanes", ""),
    "fec": ("error correction", ""),
    "fec_required": ("correction required", ""),
    "power_w": ("power", "W"),
    "module_w": ("cage feeds", "W"),
    "switch_w": ("draws at switch", "W"),
    "adapter_w": ("draws at adapter", "W"),
    "watts": ("draws", "W"),
    "reach_m": ("reach", "m"),
    "airflow_lfm": ("airflow", "LFM"),
}


def shown(value: object) -> str:
    """A value as a person reads it."""
    if isinstance(value, NotDocumented):
        return str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(shown(one) for one in value) if value else "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def values(row: Row) -> list[tuple[str, str, bool]]:
    """Each column's name, its value, and whether that is judgement."""
    found = []
    for field in fields(row):
        if field.name in _NOT_VALUES:
            continue
        value = getattr(row, field.name)
        label, unit = LABELS.get(field.name, (field.name.replace("_", " "), ""))
        has_unit = unit and value not in ((), NOT_DOCUMENTED)
        text = f"{shown(value)} {unit}" if has_unit else shown(value)
        found.append((label, text, field.name in row.judged))
    return found


def where(keys: Iterable[str]) -> list[str]:
    """The sources in full: each address once, with all places in it."""
    places: dict[str, list[str]] = {}
    for one in keys:
        key, _, place = one.partition(":")
        known = places.setdefault(key, [])
        known += [text for text in place.strip().split(", ") if text and text not in known]
    return [
        f"{key}: {sources()[key]}" + (f": {', '.join(found)}" if found else "")
        for key, found in places.items()
    ]


def print_kinds(screen: Screen) -> None:
    """All names by kind."""
    for kind, rows in catalogue().items():
        screen.heading(kind, f"  ({len(rows)})")
        for line in wrapped(screen, in_phrases(", ".join(rows)), 2):
            screen.line(line)


def print_hardware(screen: Screen, name: str) -> None:
    """A part, or all parts of a kind."""
    kinds = catalogue()
    if name in kinds:
        for number, row in enumerate(kinds[name].values()):
            if number:
                screen.line()
            _print_row(screen, name, row)
        return
    found = [
        (kind, row)
        for kind, rows in kinds.items()
        for row in rows.values()
        if row.name.upper() == name.upper() or getattr(row, "psid", "") == name.upper()
    ]
    if not found:
        every = {one: one for rows in kinds.values() for one in rows} | {one: one for one in kinds}
        near = nearest(name, every)
        raise UsageError(
            f"Nothing is known of {name}",
            do=f"Did you mean {' or '.join(near)}?" if near else "railwright hardware lists all.",
        )
    for kind, row in found:
        _print_row(screen, kind, row)


def _print_row(screen: Screen, kind: str, row: Row) -> None:
    screen.heading(row.name, f"  ({kind})")
    cells = [(name, text, "judgement" if judged else "") for name, text, judged in values(row)]
    shape = widths(cells)
    for cell in cells:
        screen.line("  " + padded(cell, shape), "yellow" if "not documented" in cell[1] else "")
    if row.note:
        for line in wrapped(screen, row.note, 2):
            screen.line(line)
    for text in where(row.source):
        for line in wrapped(screen, text, 2):
            screen.line(line, "dim")
