"""Table `route_turn`: packets that come down to a switch and go up again.

In a fabric whose routes all go up and then down no circle of paused buffers can close. Only a
switch that sends packets up (or aside) which came from above (or the side) can close one. Such
turns are looked for first, which is cheap; only where there are any, circles are.
"""

from collections.abc import Iterator

import duckdb

from railwright.model.circles import Link, Sent, circles, way_round
from railwright.model.routes_as_bits import Routes, read_routes

MOST_WAYS = 20  # circles that are written out; with more of them the routing as a whole is wrong
Row = tuple[str, int | None, str | None, str | None]


def queries() -> list[str]:
    """What `prepare` has found; a switch whose own answers are missing has nothing to be told."""
    columns = "t.target, t.started AS read_at, f.turns, f.example, f.circle"
    return [f"SELECT {columns} FROM found_turn AS f INNER JOIN target AS t ON t.target = f.target"]


# What the rows rest on: told to whoever asks why something is unknown.
READS = ("switch_route", "link_end", "switch_place")


def prepare(database: duckdb.DuckDBPyConnection) -> None:
    """Make the table that the query above reads."""
    database.execute(
        "CREATE OR REPLACE TEMP TABLE found_turn "
        "(target VARCHAR, turns INTEGER, example VARCHAR, circle VARCHAR)"
    )
    rows = list(_rows(read_routes(database)))
    for at in range(0, len(rows), 500):
        part = rows[at : at + 500]
        marks = ", ".join("(?, ?, ?, ?)" for _ in part)
        database.execute(
            f"INSERT INTO found_turn VALUES {marks}", [value for row in part for value in row]
        )


def _not_below(routes: Routes, switch: str) -> list[str] | None:
    """The neighbors above or at the side of a switch; None where one of them was not read."""
    tier = routes.tiers[switch]
    around = {one: routes.tiers[one] for one in routes.around.get(switch, ())}
    if tier is None or switch not in routes.held or None in around.values():
        return None
    found = sorted(one for one, other in around.items() if other is not None and other >= tier)
    return found if all(one in routes.held for one in found) else None


def _turns(routes: Routes, switch: str, others: list[str]) -> Iterator[tuple[Link, Link, int]]:
    """(link that packets come by, link that they leave by, their prefixes)."""
    leaving = routes.sent.get(switch, {})
    upwards = 0
    for other in others:
        upwards |= leaving.get(other, 0)
    for source in others:
        coming = routes.sent[source].get(switch, 0)
        if coming & upwards:
            for target in others:
                both = coming & leaving.get(target, 0)
                if both:
                    yield (source, switch), (switch, target), both


def _rows(routes: Routes) -> Iterator[Row]:
    found = {}
    for switch in routes.tiers:
        others = _not_below(routes, switch)
        found[switch] = None if others is None else list(_turns(routes, switch, others))
    ways = _Ways(routes.sent) if any(found.values()) else None
    for switch, turns in found.items():
        if turns is None:
            yield switch, None, None, None
        elif not turns or ways is None:
            yield switch, 0, "", ""
        else:
            (source, _), (_, target), prefixes = turns[0]
            example = f"{source} > {switch} > {target} for {routes.one_of(prefixes)}"
            yield switch, len(turns), example, ways.through(turns)


class _Ways:
    """The circles of a fabric, and a way round each of the first few."""

    def __init__(self, sent: Sent) -> None:
        self._sent = sent
        self._circle = {link: members for members in circles(sent) for link in members}
        self._told = 0

    def through(self, turns: list[tuple[Link, Link, int]]) -> str:
        """The circle that one of the turns is part of; '' = none is."""
        for before, after, _ in turns:
            members = self._circle.get(before)
            if members is not None and after in members:
                self._told += 1
                if self._told > MOST_WAYS:
                    return f"{len(members)} links"
                return " > ".join(way_round(self._sent, members, after, before))
        return ""
