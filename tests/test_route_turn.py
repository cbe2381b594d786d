"""Turns and circles in the routes of a fabric, from tables written by hand."""

import random
from itertools import pairwise

import duckdb
import pytest

from railwright.model.circles import Sent, circles, way_round
from railwright.model.derive import queries_of
from railwright.model.derived import route_turn

Links = list[tuple[str, str, str, str]]  # switch, its port, the other switch, whether lossless
Routes = list[tuple[str, str, str]]  # switch, prefix, ports

TIERS = {"leaf1": 1, "leaf2": 1, "spine1": 2, "spine2": 2}
# Every leaf is at every spine, by the port that is named like the other one.
FABRIC = [(a, b, b, "8") for a in TIERS for b in TIERS if TIERS[a] != TIERS[b]]
# Packets go up, then down.
SOUND: Routes = [
    ("leaf1", "10.1.0.0/24", "swp1"),
    ("leaf1", "10.2.0.0/24", "spine1,spine2"),
    ("leaf2", "10.2.0.0/24", "swp1"),
    ("leaf2", "10.1.0.0/24", "spine1,spine2"),
    *((spine, f"10.{n}.0.0/24", f"leaf{n}") for spine in ("spine1", "spine2") for n in (1, 2)),
]


def turns(
    routes: Routes,
    links: Links | None = None,
    tiers: dict[str, int | None] | None = None,
) -> dict[str, tuple[int | None, str | None, str | None]]:
    with duckdb.connect() as database:
        database.execute("CREATE TABLE target (target VARCHAR, kind VARCHAR, started TIMESTAMP)")
        database.execute("CREATE TABLE switch_place (target VARCHAR, tier INTEGER)")
        database.execute(
            "CREATE TABLE link_end (target VARCHAR, port VARCHAR, kind VARCHAR, peer VARCHAR, "
            "peer_kind VARCHAR, pfc_mask INTEGER)"
        )
        database.execute(
            "CREATE TABLE switch_route (target VARCHAR, vrf VARCHAR, prefix VARCHAR, ports VARCHAR)"
        )
        for name, tier in (tiers or TIERS).items():
            database.execute("INSERT INTO target VALUES (?, 'switch', NULL)", [name])
            database.execute("INSERT INTO switch_place VALUES (?, ?)", [name, tier])
        for name, port, peer, mask in links or FABRIC:
            database.execute(
                "INSERT INTO link_end VALUES (?, ?, 'switch', ?, 'switch', ?)",
                [name, port, peer, int(mask)],
            )
        for name, prefix, ports in routes:
            database.execute(
                "INSERT INTO switch_route VALUES (?, 'default', ?, ?)", [name, prefix, ports]
            )
        route_turn.prepare(database)
        (query,) = queries_of("route_turn")
        found = database.execute(query).fetchall()
    return {name: (count, example, circle) for name, _, count, example, circle in found}


def test_up_and_then_down_has_no_turn() -> None:
    assert turns(SOUND) == dict.fromkeys(TIERS, (0, "", ""))


def changed(routes: Routes, *others: tuple[str, str, str]) -> Routes:
    new = {(switch, prefix): ports for switch, prefix, ports in [*routes, *others]}
    return [(switch, prefix, ports) for (switch, prefix), ports in new.items()]


def test_two_turns_close_a_circle() -> None:
    """spine1 reaches leaf2 through leaf1 and spine2, and spine2 leaf1 through leaf2 and spine1.

    So packets wait: leaf1 > spine2 > leaf2 > spine1 > leaf1.
    """
    routes = changed(
        SOUND,
        ("spine1", "10.2.0.0/24", "leaf1"),
        ("leaf1", "10.2.0.0/24", "spine2"),
        ("spine2", "10.1.0.0/24", "leaf2"),
        ("leaf2", "10.1.0.0/24", "spine1"),
    )
    assert turns(routes) == {
        "leaf1": (
            1,
            "spine1 > leaf1 > spine2 for 10.2.0.0/24",
            "leaf1 > spine2 > leaf2 > spine1 > leaf1",
        ),
        "leaf2": (
            1,
            "spine2 > leaf2 > spine1 for 10.1.0.0/24",
            "leaf2 > spine1 > leaf1 > spine2 > leaf2",
        ),
        "spine1": (0, "", ""),
        "spine2": (0, "", ""),
    }


def test_one_turn_alone_closes_none() -> None:
    routes = changed(SOUND, ("spine1", "10.2.0.0/24", "leaf1"), ("leaf1", "10.2.0.0/24", "spine2"))
    found = turns(routes)
    assert found["leaf1"] == (1, "spine1 > leaf1 > spine2 for 10.2.0.0/24", "")
    assert found["leaf2"] == (0, "", "")


def test_a_routing_loop_is_a_circle_of_two() -> None:
    routes = changed(SOUND, ("spine1", "10.2.0.0/24", "leaf1"))
    assert turns(routes)["leaf1"] == (
        2,
        "spine1 > leaf1 > spine1 for 10.2.0.0/24",
        "leaf1 > spine1 > leaf1",
    )


def test_a_default_route_counts_for_what_has_no_other() -> None:
    """leaf1 lost the route to leaf2 and sends it up by its default."""
    routes = [one for one in SOUND if one[:2] != ("leaf1", "10.2.0.0/24")]
    routes = changed(routes, ("leaf1", "0.0.0.0/0", "spine2"), ("spine1", "10.2.0.0/24", "leaf1"))
    assert turns(routes)["leaf1"][:2] == (1, "spine1 > leaf1 > spine2 for 10.2.0.0/24")


def test_a_default_route_does_not_count_for_parts_that_are_there() -> None:
    """spine1 knows leaf1 by a sum of its subnets, which leaf1 has one by one."""
    routes = [one for one in SOUND if one[1] != "10.1.0.0/24"]
    routes = changed(
        routes,
        ("leaf1", "10.1.0.0/25", "swp1"),
        ("leaf1", "0.0.0.0/0", "spine1,spine2"),
        ("spine1", "10.1.0.0/24", "leaf1"),
        ("spine2", "10.1.0.0/24", "leaf1"),
        ("leaf2", "10.1.0.0/24", "spine1,spine2"),
    )
    assert turns(routes)["leaf1"] == (0, "", "")


def test_lossy_ports_wait_for_nobody() -> None:
    routes = changed(SOUND, ("spine1", "10.2.0.0/24", "leaf1"), ("leaf1", "10.2.0.0/24", "spine2"))
    links = [
        (a, port, b, "0" if (a, b) == ("leaf1", "spine2") else "8") for a, port, b, _ in FABRIC
    ]
    assert turns(routes, links)["leaf1"] == (0, "", "")


@pytest.mark.parametrize("missing", ["leaf1", "spine1"])
def test_routes_that_were_not_read_leave_it_open(missing: str) -> None:
    found = turns([one for one in SOUND if one[0] != missing])
    assert found["leaf1"] == (None, None, None)
    assert found["spine2"] == (0, "", "")


def test_a_tier_that_is_not_known_leaves_it_open() -> None:
    found = turns(SOUND, tiers={**TIERS, "spine2": None})
    assert found["leaf1"] == found["spine2"] == (None, None, None)


def waits(sent: Sent) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Every wait written down: what the search never does."""
    return {
        (a, b): {(b, c) for c in sent.get(b, {}) if sent[b][c] & sent[a][b]}
        for a in sent
        for b in sent[a]
    }


def reached(graph: dict[tuple[str, str], set[tuple[str, str]]], start: tuple[str, str]) -> set:
    found: set[tuple[str, str]] = set()
    waiting = list(graph[start])
    while waiting:
        link = waiting.pop()
        if link not in found:
            found.add(link)
            waiting += graph[link]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_circles_are_those_of_a_search_over_all_waits(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"s{number}" for number in range(chance.randint(2, 7))]
    sent: Sent = {
        a: {
            b: chance.getrandbits(3) & chance.getrandbits(3)
            for b in names
            if a != b and chance.random() < 0.5
        }
        for a in names
    }
    graph = waits(sent)
    within = {link: reached(graph, link) for link in graph}
    expected = {
        frozenset(other for other in within[link] if link in within[other])
        for link in graph
        if link in within[link]
    }
    found = circles(sent)
    assert {frozenset(one) for one in found} == expected
    for members in found:
        start, end = min(members), max(members)
        way = way_round(sent, members, start, end)
        steps = list(pairwise(way))
        assert (steps[0], steps[-1]) == (start, end)
        assert all(after in graph[before] for before, after in pairwise(steps))
