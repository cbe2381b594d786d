"""`railwright links`: every link, its ends and what is found there."""

import json
from collections.abc import Iterator
from itertools import islice

from railwright.check.links import Counts, Link
from railwright.fabric.infiniband import NOT_COLLECTED
from railwright.nodes import fold
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, number_of, padded, widths, wrapped
from railwright.report.status import exit_status
from railwright.store.snapshot import Snapshot

MOST_LINKS = 40  # on a terminal; a pipe gets all
MOST_ALIGNED = 10_000  # a pipe gets more as they come
_BY_LLDP = "Links are told by LLDP: lldpd on hosts (probe lldpctl), and switches that were read."
FORMAT = "railwright-links-2"


def links_status(counts: Counts, snapshot: Snapshot) -> int:
    """Of all links, whichever are shown; 3 also where none is known, or none of some ports."""
    unknown = counts.with_unknown > 0 or counts.links == 0 or counts.infiniband > 0
    return exit_status(found=counts.with_findings > 0, unknown=unknown, snapshot=snapshot)


def print_counts(screen: Screen, name: str, counts: Counts, strangers: list[str]) -> None:
    """How many there are, before any of them."""
    screen.heading(f"Snapshot {name}", f": {number_of(counts.links, 'link')}")
    if not counts.links:
        _print_infiniband(screen, counts)
        if counts.ends or not counts.infiniband:
            screen.line("No end of a link has an LLDP neighbor.", "yellow")
            screen.line(_BY_LLDP, "yellow")
        return
    screen.line(
        f"  {counts.host:,} to hosts, {counts.fabric:,} between switches, "
        f"{counts.stranger:,} to machines that were not read"
    )
    screen.line(
        f"  {counts.told_by_both:,} confirmed by both link partners, {counts.doubtful:,} "
        f"contradictory, {counts.down:,} down"
    )
    if counts.half:
        said = f"{number_of(counts.half, 'port')} without a known link partner"
        screen.line(f"  {said}", "yellow")
    screen.line(f"  {counts.with_findings:,} with findings", "red" if counts.with_findings else "")
    if counts.with_unknown:
        said = f"  {counts.with_unknown:,} inconclusive: railwright check says why"
        screen.line(said, "yellow")
    _print_infiniband(screen, counts)
    if strangers:
        said = "devices of the plan that were not read: "
        for line in wrapped(screen, said + plain(fold(strangers)), 2):
            screen.line(line, "yellow")


def _print_infiniband(screen: Screen, counts: Counts) -> None:
    """Ports that are part of no link here."""
    if not counts.infiniband:
        return
    said = (
        f"{number_of(counts.infiniband, 'InfiniBand port')}: link partners unknown, because "
        f"{NOT_COLLECTED}. "
        "For state, rate and LIDs of two of them: railwright path HOST:DEVICE HOST:DEVICE"
    )
    for line in wrapped(screen, said, 2):
        screen.line(line, "yellow")


def _said(one: Link) -> str:
    """What is odd about a link, in words."""
    found = [f"{each.rule} at {each.at}: {each.said}" for each in one.found]
    facts = [
        *(["down"] if one.is_down else []),
        *([one.trouble] if one.trouble else []),
        *(["link partner not read"] if one.is_unread and one.is_unknown else []),
    ]
    return "; ".join([*facts, *found])


_TITLE = ("port", "link partner", "tier", "speed", "")


def _cells(one: Link) -> tuple[str, ...]:
    speed = f"{one.speed_mbps // 1000}G" if one.speed_mbps else "?"
    return plain(one.a), plain(one.b or "?"), one.tiers, speed, plain(_said(one))


def print_links(screen: Screen, found: Iterator[Link]) -> None:
    """The links themselves; on a terminal the first of them, in a pipe all."""
    most = MOST_LINKS if screen.is_terminal else MOST_ALIGNED
    first = list(islice(found, most))
    if not first:
        return
    rows = [_TITLE, *map(_cells, first)]
    columns = widths(row[:-1] for row in rows)
    screen.line()
    for place, row in enumerate(rows):
        line = f"{padded(row[:-1], columns)}  {row[-1]}".rstrip()
        style = "dim" if not place else "red" if row[-1] else ""
        if screen.is_terminal and len(line) > screen.width and row[-1]:
            screen.line(cut(screen, padded(row[:-1], columns).rstrip()), style)
            for part in wrapped(screen, row[-1], 4):
                screen.line(part, style)
        else:
            screen.line(cut(screen, line), style)
    left = 0
    for one in found:
        if screen.is_terminal:
            left += 1
        else:
            screen.line("  ".join(_cells(one)).rstrip())
    if left:
        screen.line(f"and {left:,} more: railwright links | cat", "dim")


def links_json(
    name: str, status: int, counts: Counts, strangers: list[str], found: Iterator[Link]
) -> str:
    """The same for programs."""
    rows = [{**one._asdict(), "found": [each._asdict() for each in one.found]} for one in found]
    whole = {
        "format": FORMAT,
        "snapshot": name,
        "exit_status": status,
        "counts": counts._asdict(),
    }
    return json.dumps({**whole, "planned_but_not_read": strangers, "links": rows}, indent=1)
