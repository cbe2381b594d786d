"""`railwright hardware`: rows of the hardware data."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from railwright import __version__
from railwright.design.names import nearest
from railwright.errors import UsageError
from railwright.hardware.data import NOT_DOCUMENTED, NotDocumented, Row, sources
from railwright.hardware.parts import catalogue
from railwright.report.screen import Screen, in_phrases, padded, widths, wrapped

FORMAT = "railwright-hardware-1"
_NOT_VALUES = ("name", "source", "judged", "note")
# Column: what a person calls it, and its unit.
LABELS = {
    "gbps": ("rate", "Gb/s"),
    "lane_gbps": ("lane rates", "Gb/s"),
    "rate_gbps": ("rate of the port", "Gb/s"),
    "seen_gbps": ("measured", "Gb/s"),
    "mtu": ("RDMA MTU", "bytes"),
    "width": ("PCIe lanes", ""),
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
    "most_gbps": ("all ports together", "Gb/s"),
    "unsure": ("perhaps", ""),
}
_SELDOM = ("most_gbps", "unsure")  # most rows have nothing to say there


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
        if field.name in _SELDOM and not value:
            text = ""
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


def _names(row: Row) -> list[object]:
    also = getattr(row, "also", "")
    return [row.name.upper(), getattr(row, "psid", ""), getattr(row, "called", ""), *also.split()]


def find_rows(name: str | None) -> list[tuple[str, Row]]:
    """A part, all parts of a kind, or all there are; each with its kind."""
    kinds = catalogue()
    every = [(kind, row) for kind, rows in kinds.items() for row in rows.values()]
    if name is None:
        return every
    wanted = name.upper()
    found = [(kind, row) for kind, row in every if kind.upper() == wanted] or [
        (kind, row) for kind, row in every if wanted in _names(row)
    ]
    family = [row.name for _, row in every if getattr(row, "family", "").upper() == wanted]
    if not found and family:
        raise UsageError(
            f"{name!r} is a family of {len(family)} adapters",
            do=f"Name one of them: {', '.join(family)}.",
        )
    if not found:
        near = nearest(name, dict.fromkeys([*(row.name for _, row in every), *kinds]))
        raise UsageError(
            f"unknown part {name!r}",
            do=f"Did you mean {' or '.join(near)}?" if near else "railwright hardware lists all.",
        )
    return found


def print_hardware(screen: Screen, found: list[tuple[str, Row]]) -> None:
    """Each row with its sources."""
    for number, (kind, row) in enumerate(found):
        if number:
            screen.line()
        _print_row(screen, kind, row)


def _value(value: object) -> Any:
    return str(value) if isinstance(value, NotDocumented) else value


def hardware_json(found: list[tuple[str, Row]]) -> str:
    """The same for programs; what is not documented is that word, never null or 0."""
    parts = [
        {
            "kind": kind,
            "name": row.name,
            "values": {
                field.name: _value(getattr(row, field.name))
                for field in fields(row)
                if field.name not in _NOT_VALUES
            },
            "judged": row.judged,
            "note": row.note,
            "sources": row.source,
        }
        for kind, row in found
    ]
    keys = sorted({key.partition(":")[0] for _, row in found for key in row.source})
    head = {"format": FORMAT, "railwright": __version__}
    told = {key: sources()[key] for key in keys}
    return json.dumps({**head, "sources": told, "parts": parts}, indent=1)


def _print_row(screen: Screen, kind: str, row: Row) -> None:
    screen.heading(row.name, f"  ({kind})")
    told = [value for value in values(row) if value[1]]  # few have a short name
    cells = [(name, text, "judgement" if judged else "") for name, text, judged in told]
    shape = widths(cells)
    for cell in cells:
        screen.line("  " + padded(cell, shape), "yellow" if "not documented" in cell[1] else "")
    if row.note:
        for line in wrapped(screen, row.note, 2):
            screen.line(line)
    for text in where(row.source):
        for line in wrapped(screen, text, 2):
            screen.line(line, "dim")
