"""`railwright path` without ends: every hop of the fabric, in classes."""

import json
from typing import Any

from railwright.fabric.classes import Section, differing, is_read, of_classes, words
from railwright.fabric.infiniband import NOT_COLLECTED
from railwright.nodes import fold
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, in_phrases, number_of, wrapped
from railwright.report.status import exit_status
from railwright.store.snapshot import Snapshot

MOST_CLASSES = 8  # of one section on a terminal; a pipe gets all
FORMAT = "railwright-hops-2"
_FACING = {"down": "towards hosts", "up": "away from hosts", "side": "to the same tier"}
NO_SWITCH = (
    "No switch was read, so nothing is known about hops.",
    "railwright collect --switches reads them; docs/switches.md says which systems.",
)


def _title(section: Section) -> str:
    tier = "tier not known" if section.tier is None else f"Tier {section.tier}"
    facing = _FACING.get(section.facing or "", "direction not known")
    return f"{tier}, {facing}, {section.system or 'system not known'}"


def hops_status(found: list[Section], snapshot: Snapshot) -> int:
    """1 where rules find something; 3 where they cannot tell, or nothing was read."""
    classes = [one for section in found for one in section.classes]
    unknown = not classes or any(one.undecided or not is_read(one) for one in classes)
    found_any = any(one.faulty for one in classes)
    return exit_status(found=found_any, unknown=unknown, snapshot=snapshot)


def print_hops(screen: Screen, found: list[Section], name: str, infiniband: int) -> None:
    """The classes; of so many InfiniBand ports no switch is known."""
    classes = [one for section in found for one in section.classes]
    screen.heading(
        f"Snapshot {name}",
        f": {number_of(sum(s.ports for s in found), 'hop')} in "
        f"{number_of(len(classes), 'class', 'classes')}",
    )
    if not found:
        for line in NO_SWITCH:
            screen.line(line, "yellow")
    if infiniband:
        said = number_of(infiniband, "InfiniBand port")
        screen.line(f"{said}: no hops, because {NOT_COLLECTED}.", "yellow")
    for section in found:
        screen.line()
        _print_section(screen, section)


def _print_section(screen: Screen, section: Section) -> None:
    usual = section.classes[0]
    screen.heading(_title(section), f": {number_of(section.ports, 'port')}")
    most = MOST_CLASSES if screen.is_terminal else len(section.classes)
    for place, one in enumerate(section.classes[:most]):
        style = "red" if one.faulty else "" if is_read(one) else "yellow"
        said = differing(one, usual) if place else words(one)
        text = ", ".join(said or ["the same"])
        lines = wrapped(screen, in_phrases(plain(text)), 11)
        lines[0] = f"{one.ports:>9,}  {lines[0].strip()}"
        for more in () if place else of_classes(one):
            lines += wrapped(screen, in_phrases(plain(more)), 13)
        if one.faulty:
            lines += wrapped(screen, f"findings at {one.faulty:,}: {', '.join(one.rules)}", 13)
        for line in lines:
            screen.line(line, style)
        where = f"e.g. {one.example} of {fold(one.switches)}"
        screen.line(cut(screen, f"{' ' * 11}{plain(where)}"), "dim")
    if len(section.classes) > most:
        screen.line(f"{' ' * 11}and {len(section.classes) - most:,} more: railwright path | cat")


def classes_json(found: list[Section]) -> list[dict[str, Any]]:
    """Every class with what it does and what is found at its ports."""
    return [
        {
            "tier": section.tier,
            "facing": section.facing,
            "system": section.system,
            "ports": one.ports,
            "example": one.example,
            "switches": fold(one.switches),
            "does": [*words(one), *of_classes(one)],
            "differs": differing(one, section.classes[0]) if place else [],
            "with_findings": one.faulty,
            "with_unknown": one.undecided,
            "rules": one.rules,
        }
        for section in found
        for place, one in enumerate(section.classes)
    ]


def hops_json(found: list[Section], name: str, infiniband: int, status: int) -> str:
    """The same for programs."""
    rows = classes_json(found)
    whole = {"format": FORMAT, "snapshot": name, "exit_status": status}
    return json.dumps({**whole, "infiniband_ports": infiniband, "classes": rows}, indent=1)
