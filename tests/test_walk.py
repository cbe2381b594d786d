"""Where packets go: against an independent walk over every single path of small random fabrics."""

import ipaddress
import random
from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import Any

import duckdb
import pytest

from railwright.fabric.ends import End, find_ends
from railwright.fabric.walk import BY_ROUTES, BY_TOPOLOGY, walk_between
from railwright.schema.table import tables
from railwright.store.duck import identifier

Links = dict[tuple[str, str], tuple[str, str]]  # (machine, port) -> (machine, port)
Routes = dict[str, list[tuple[str, list[str]]]]  # switch -> prefix and ports

A, B = ("gpu1", "ens1"), ("gpu2", "ens1")
ADDRESS = "10.1.2.3"


def find_end(database: duckdb.DuckDBPyConnection, text: str) -> End:
    (end,) = find_ends(database, text)
    return end


def database_with(
    links: Links, routes: Routes, address: str = ADDRESS
) -> duckdb.DuckDBPyConnection:
    rows: dict[str, list[dict[str, Any]]] = {
        "target": [{"target": name} for name in {end[0] for end in links}],
        "link_end": [
            {
                "target": target,
                "port": port,
                "kind": _kind(target),
                "device": "mlx5_0" if _kind(target) == "host" else "",
                "peer": peer,
                "peer_port": peer_port,
                "peer_kind": _kind(peer),
                "is_up": True,
            }
            for (target, port), (peer, peer_port) in links.items()
        ],
        "switch_route": [
            {"target": s, "vrf": "default", "prefix": prefix, "ports": ",".join(ports)}
            for s, entries in routes.items()
            for prefix, ports in entries
        ],
        "address": [
            {"target": "gpu2", "netdev": "ens1", "family": "inet", "address": address, "scope": "global"}
        ]
        if address
        else [],
        "switch_port": [],
    }  # fmt: skip
    database = _empty_database()
    for name, entries in rows.items():
        database.execute(f"DELETE FROM {name}")
        if entries:
            kinds = {n: tables()[name].column_types()[n] for n in entries[0]}
            picked = ", ".join(f"unnest(?::{kind}[])" for kind in kinds.values())
            values = [[row[n] for row in entries] for n in kinds]
            database.execute(f"INSERT INTO {name} ({', '.join(kinds)}) SELECT {picked}", values)
    return database


@cache
def _empty_database() -> duckdb.DuckDBPyConnection:
    """One for all: making tables takes longer than walking."""
    database = duckdb.connect()
    for name in ("target", "link_end", "switch_route", "address", "netdev", "port", "switch_port"):
        kinds = tables()[name].column_types()
        columns = ", ".join(f"{identifier(n)} {kind}" for n, kind in kinds.items())
        database.execute(f"CREATE TABLE {name} ({columns})")
    return database


def _kind(name: str) -> str:
    return "host" if name.startswith("gpu") else "switch"


def join(links: Links, a: tuple[str, str], b: tuple[str, str]) -> None:
    links[a], links[b] = b, a


def random_fabric(dice: random.Random) -> tuple[Links, list[list[str]]]:
    """Two to three tiers; not every cable is there."""
    tiers = [
        [f"leaf{n}" for n in range(dice.randint(2, 4))],
        [f"spine{n}" for n in range(dice.randint(1, 4))],
    ]
    if dice.random() < 0.4:
        tiers.append([f"core{n}" for n in range(dice.randint(1, 3))])
    links: Links = {}
    for lower, upper in pairwise(tiers):
        for below in lower:
            for above in upper:
                for cable in range(dice.choice((0, 1, 1, 1, 2))):
                    join(links, (below, f"{above}-{cable}"), (above, f"{below}-{cable}"))
    join(links, A, (tiers[0][0], "down1"))
    join(links, B, (dice.choice(tiers[0]), "down2"))
    return links, tiers


def random_routes(dice: random.Random, links: Links, tiers: list[list[str]]) -> Routes:
    """Some longer and some shorter prefixes; some switch without one that fits, some that point astray."""
    routes: Routes = {}
    for switch in {s for tier in tiers for s in tier}:
        ports = sorted(port for target, port in links if target == switch)
        if not ports or dice.random() < 0.03:
            continue
        own = [p for p in ports if links[switch, p] == B]
        level = next(n for n, tier in enumerate(tiers) if switch in tier)
        up = [
            p for p in ports if level + 1 < len(tiers) and links[switch, p][0] in tiers[level + 1]
        ]
        down = [p for p in ports if level and links[switch, p][0] in tiers[level - 1]]
        best = own or (up if level == 0 or (level == 1 and len(tiers) == 3 and dice.random() < 0.5) else down)  # fmt: skip
        best = best or ports
        chosen = sorted(dice.sample(best, dice.randint(1, len(best))))
        entries = [("10.1.2.0/24", chosen), ("0.0.0.0/0", [dice.choice(ports)])]
        entries += [("10.1.0.0/16", [dice.choice(ports)]), ("10.9.0.0/16", ports)]
        dice.shuffle(entries)
        if dice.random() < 0.05:
            entries = [entry for entry in entries if entry[0] == "10.9.0.0/16"]
        routes[switch] = entries
    return routes


def every_path(links: Links, routes: Routes) -> list[list[tuple[str, str, str]]]:
    """Every single path as (switch, port in, port out), one packet at a time; '' = it ends there."""
    found = []

    def follow(at: tuple[str, str], path: list[tuple[str, str, str]], seen: set[str]) -> None:
        switch, entry = at
        fitting = [
            (ipaddress.ip_network(prefix), ports)
            for prefix, ports in routes[switch]
            if ipaddress.ip_address(ADDRESS) in ipaddress.ip_network(prefix)
        ]
        if not fitting:
            found.append([*path, (switch, entry, "")])
            return
        _, ports = max(fitting, key=lambda pair: pair[0].prefixlen)
        for port in ports:
            peer = links[switch, port]
            step = [*path, (switch, entry, port)]
            if _kind(peer[0]) == "host" or peer[0] in seen | {switch}:
                found.append(step)
            else:
                follow(peer, step, seen | {switch})

    follow(links[A], [], set())
    return found


def levels_of(
    paths: list[list[tuple[str, str, str]]],
) -> list[dict[str, tuple[set[str], set[str]]]]:
    """The same as sets per level: what the walk must give without going every path."""
    levels: list[dict[str, tuple[set[str], set[str]]]] = []
    for path in paths:
        for depth, (switch, entry, out) in enumerate(path):
            while len(levels) <= depth:
                levels.append(defaultdict(lambda: (set(), set())))
            levels[depth][switch][0].add(entry)
            if out:
                levels[depth][switch][1].add(out)
    return levels


def walked(database: duckdb.DuckDBPyConnection) -> list[dict[str, tuple[set[str], set[str]]]]:
    walk = walk_between(database, find_end(database, "gpu1"), find_end(database, "gpu2"))
    return [
        {stop.switch: (set(stop.entries), set(stop.exits)) for stop in level}
        for level in walk.levels
    ]


def revisits(paths: list[list[tuple[str, str, str]]]) -> bool:
    """Whether some switch is met at two depths: then there is a loop or a detour, tested apart."""
    depths: dict[str, set[int]] = defaultdict(set)
    for path in paths:
        for depth, (switch, _, _) in enumerate(path):
            depths[switch].add(depth)
    return any(len(at) > 1 for at in depths.values())


def test_the_walk_by_routes_equals_every_single_path() -> None:
    compared = loops = lost = 0
    for seed in range(120):
        dice = random.Random(seed)
        links, tiers = random_fabric(dice)
        routes = random_routes(dice, links, tiers)
        if set(links[A][0]) and any(s not in routes for s in {t for t, _ in links if _kind(t) == "switch"}):  # fmt: skip
            continue  # a switch without routes is walked by its cables: the next test
        paths = every_path(links, routes)
        database = database_with(links, routes)
        if revisits(paths):
            walk = walk_between(database, find_end(database, "gpu1"), find_end(database, "gpu2"))
            said = [stop.lost for level in walk.levels for stop in level if stop.is_broken]
            assert any("a loop" in words for words in said), seed
            loops += 1
            continue
        assert walked(database) == levels_of(paths), seed
        compared += 1
        lost += any(path[-1][2] == "" for path in paths)
    # What was drawn holds enough of each kind.
    assert compared > 25
    assert loops > 5
    assert lost > 1


def shortest_paths(links: Links) -> list[list[tuple[str, str, str]]]:
    """All ways from leaf to leaf that have the fewest switches, tried one by one by length."""
    begin, aim = links[A], links[B]
    if begin[0] == aim[0]:
        return [[(begin[0], begin[1], aim[1])]]
    ways: list[list[tuple[str, str, str]]] = [[(begin[0], begin[1], "")]]
    for _ in range(8):
        longer = []
        done = []
        for way in ways:
            switch, entry, _ = way[-1]
            for (target, port), (peer, peer_port) in links.items():
                if target != switch or _kind(peer) == "host" or peer in {s for s, _, _ in way}:
                    continue
                step = [*way[:-1], (switch, entry, port)]
                if peer == aim[0]:
                    done.append([*step, (peer, peer_port, aim[1])])
                else:
                    longer.append([*step, (peer, peer_port, "")])
        if done:
            return done
        ways = longer
    return []


def test_the_walk_by_cables_equals_every_shortest_path() -> None:
    compared = 0
    for seed in range(60):
        links, _ = random_fabric(random.Random(1000 + seed))
        paths = shortest_paths(links)
        database = database_with(links, {})
        walk = walk_between(database, find_end(database, "gpu1"), find_end(database, "gpu2"))
        if not paths:
            assert walk.levels[0][0].lost == "no way from here to the destination is known"
            continue
        assert walked(database) == levels_of(paths), seed
        assert walk.by == {BY_TOPOLOGY}
        compared += 1
    assert compared > 30


def small() -> tuple[Links, Routes]:
    """gpu1 - leaf1 - spine1 - leaf2 - gpu2."""
    links: Links = {}
    join(links, A, ("leaf1", "d"))
    join(links, B, ("leaf2", "d"))
    join(links, ("leaf1", "u"), ("spine1", "1"))
    join(links, ("leaf2", "u"), ("spine1", "2"))
    to = "10.1.2.0/24"
    return links, {"leaf1": [(to, ["u"])], "spine1": [(to, ["2"])], "leaf2": [(to, ["Vlan10"])]}


def walk(links: Links, routes: Routes, **more: str) -> Any:
    database = database_with(links, routes, **more)
    return walk_between(
        database, find_end(database, "gpu1:mlx5_0"), find_end(database, "gpu2:ens1")
    )


def test_a_network_behind_a_vlan_is_left_by_the_destinations_cable() -> None:
    found = walk(*small())
    assert [stop.exits for level in found.levels for stop in level] == [{"u"}, {"2"}, {"d"}]
    assert found.by == {BY_ROUTES}
    assert not any(stop.lost for level in found.levels for stop in level)


def test_an_address_that_was_not_read_leaves_the_cables() -> None:
    assert walk(*small(), address="").by == {BY_TOPOLOGY}


def test_a_switch_without_routes_among_others_is_said() -> None:
    links, routes = small()
    del routes["spine1"]
    assert [level[0].by for level in walk(links, routes).levels] == [
        BY_ROUTES,
        BY_TOPOLOGY,
        BY_ROUTES,
    ]


def test_a_longer_prefix_of_another_table_counts() -> None:
    links, routes = small()
    join(links, ("leaf1", "x"), ("spine9", "1"))
    routes["leaf1"].append(("10.1.2.0/30", ["x"]))
    routes["spine9"] = []
    assert walk(links, routes).levels[0][0].exits == {"x"}


@pytest.mark.parametrize(
    ("switch", "entries", "level", "words", "is_broken"),
    [
        ("spine1", [("10.9.0.0/16", ["2"])], 1, "no route to 10.1.2.3", True),
        ("spine1", [("10.1.2.0/24", [""])], 1, "the route to 10.1.2.3 ends here", True),
        ("spine1", [("10.1.2.0/24", ["1"])], 1, "1 leads back to leaf1: a loop", True),
        ("leaf1", [("10.1.2.0/24", ["Vlan7"])], 0, "goes out through Vlan7, where no link is known", False),
        ("leaf1", [("10.1.2.0/24", ["d"])], 0, "d leads to gpu1:ens1", True),
    ],
)  # fmt: skip
def test_where_packets_are_lost(
    switch: str, entries: list[Any], level: int, words: str, is_broken: bool
) -> None:
    links, routes = small()
    routes[switch] = entries
    stop = walk(links, routes).levels[level][0]
    assert (stop.lost, stop.is_broken) == (words, is_broken)


def test_ports_of_a_bundle() -> None:
    links, routes = small()
    routes["leaf1"] = [("10.1.2.0/24", ["PortChannel1"])]
    database = database_with(links, routes)
    database.execute(
        "INSERT INTO switch_port (target, port, vlan_mode) VALUES ('leaf1', 'u', 'PortChannel1')"
    )
    found = walk_between(database, find_end(database, "gpu1"), find_end(database, "gpu2"))
    assert found.levels[0][0].exits == {"u"}


def test_a_destination_of_the_other_family() -> None:
    links, routes = small()
    to = "2001:db8:1::/64"
    routes = {
        "leaf1": [("::/0", ["d"]), (to, ["u"])],
        "spine1": [(to, ["2"])],
        "leaf2": [(to, ["d"])],
    }
    found = walk(links, routes, address="2001:db8:1::7")
    assert [stop.exits for level in found.levels for stop in level] == [{"u"}, {"2"}, {"d"}]
