"""`railwright links`: every link, its ends and in what they differ."""

import json
from collections.abc import Iterator

from railwright.fabric.links import Counts, Link
from railwright.nodes import fold
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, number_of, padded, widths, wrapped

MOST_LINKS = 40  # on a terminal; a pipe gets all
FORMAT = "railwright-links-1"


def print_counts(screen: Screen, name: str, counts: Counts, strangers: list[str]) -> None:
    """How many there are, before any of them."""
    screen.heading(f"Snapshot {name}", f": {number_of(counts.links, 'link')}")
    if not counts.links:
        screen.line("No end of a link hears a neighbour.", "yellow")
        do = "Links are told by LLDP: lldpd on hosts (probe lldpctl), and switches that were read."
        screen.line(do, "yellow")
        return
    screen.line(
        f"  {counts.host:,} to hosts, {counts.fabric:,} between switches, "
        f"{counts.stranger:,} to machines that were not read"
    )
    screen.line(f"  {counts.told_by_both:,} told by both ends, {counts.trouble:,} doubtful")
    odd = counts.differ or counts.down or counts.unplanned
    screen.line(
        f"  {counts.differ:,} whose ends differ, {counts.down:,} down, "
        f"{counts.unplanned:,} unlike the plan",
        "red" if odd else "",
    )
    if strangers:
        said = "devices of the plan that were not read: "
        for line in wrapped(screen, said + plain(fold(strangers)), 2):
            screen.line(line, "yellow")


def print_links(screen: Screen, found: Iterator[Link]) -> None:
    """The links themselves; on a terminal the first of them."""
    rows: list[tuple[str, ...]] = []
    left = 0
    for one in found:
        if screen.is_terminal and len(rows) >= MOST_LINKS:
            left += 1
            continue
        speed = f"{one.speed_mbps // 1000}G" if one.speed_mbps else "?"
        cells = (plain(one.a), plain(one.b), f"tier {one.tiers}", speed, plain(one.odd))
        rows.append(cells)
        if not screen.is_terminal:
            screen.line("  ".join(cells))
            rows.clear()
    if rows:
        columns = widths(rows)
        screen.line()
        for row in rows:
            screen.line(cut(screen, padded(row, columns)), "red" if row[4] else "")
    if left:
        screen.line(f"and {left:,} more: railwright links | cat", "dim")


def links_json(name: str, counts: Counts, strangers: list[str], found: Iterator[Link]) -> str:
    """The same for programs."""
    rows = [one._asdict() for one in found]
    whole = {"format": FORMAT, "snapshot": name, "counts": counts._asdict()}
    return json.dumps({**whole, "planned_but_not_read": strangers, "links": rows}, indent=1)
