"""Fabrics of the lab: they can be built, their links agree, their routes lead where they should."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address, ip_network

import pytest
from conftest import SHARED

from lab.fleet.fabric import SHAPES, End, Fabric, Route, Routing, Shape, build
from lab.fleet.fabric.headroom import Wire, headroom
from lab.fleet.fabric.plan import cabling, oversubscription, site
from lab.fleet.fabric.routes import host_address, planned_places, text
from lab.fleet.faults.switch_fault import (
    CASES,
    FabricInjection,
    all_fabric_faults,
    changed,
    places,
)

ORACLE = SHARED / "oracles" / "spectrum_headroom.csv"


@pytest.mark.parametrize("name", SHAPES)
def test_no_switch_has_more_than_its_model(name: str) -> None:
    fabric = build(SHAPES[name])
    for switch in fabric.switches:
        lanes = [lane for port in switch.ports for lane in port.lanes]
        assert len(lanes) == len(set(lanes)) <= switch.model.all_lanes, switch.name
        assert max(lanes) < switch.model.all_lanes
        for port, setting in zip(switch.ports, switch.settings, strict=True):
            carries = port.width * switch.model.lane_gbps * 1000
            assert setting.speed_mbps <= carries, f"{switch.name}:{port.name}"
            assert setting.lanes == port.width


@pytest.mark.parametrize("name", SHAPES)
def test_every_port_has_one_cable_and_both_ends_agree(name: str) -> None:
    fabric = build(SHAPES[name])
    links = fabric.links
    ends = Counter([*zip(links.lower, links.lower_port, strict=True),
                    *zip(links.upper, links.upper_port, strict=True)])  # fmt: skip
    assert set(ends.values()) == {1}
    hosts = [end for end in ends if fabric.is_host(end[0])]
    assert len(hosts) == fabric.hosts * fabric.rails * fabric.planes
    for at in range(0, len(links), max(1, len(links) // 500)):
        lower = End(links.lower[at], links.lower_port[at])
        upper = End(links.upper[at], links.upper_port[at])
        assert fabric.other_end(lower) == upper
        assert fabric.other_end(upper) == lower
        for end in (lower, upper):
            if not fabric.is_host(end.machine):
                setting = fabric.switch(end.machine).settings[end.port]
                assert (setting.speed_mbps, setting.lanes) == (
                    links.speed_mbps[at],
                    links.lanes[at],
                )
                assert setting.cable_m >= links.metres[at]


@pytest.mark.parametrize("name", ["pods", "planes", "smallest"])
def test_rails_and_planes_stay_apart_below_the_spines(name: str) -> None:
    fabric = build(SHAPES[name])
    met: dict[int, set[tuple[int, int]]] = {}
    links = fabric.links
    for at in range(len(links)):
        if links.tier[at] == 1:
            port = divmod(links.lower_port[at], fabric.planes)
            met.setdefault(links.upper[at], set()).add(port)
            assert port == (links.rail[at], links.plane[at])
    assert {len(ports) for ports in met.values()} == {1}
    above = {(links.upper[at], links.plane[at]) for at in range(len(links)) if links.tier[at] == 2}
    assert len(above) == len({switch for switch, _ in above})


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 66 cages, SN5600 has 64"):
        build(Shape(66, hosts_per_leaf=66, uplinks=66, spines=1))
    with pytest.raises(ValueError, match="has no ports of 400000"):
        build(Shape(2, leaf_systems=("onyx",)))
    with pytest.raises(ValueError, match="cannot be spread"):
        build(Shape(2, uplinks=8, spines=3))
    with pytest.raises(ValueError, match="onyx does not run on SN5600"):
        build(replace(SHAPES["smallest"], leaf_systems=("onyx",), models={"onyx": "SN5600"}))


@pytest.mark.shared
def test_headroom_is_the_oracles() -> None:
    with ORACLE.open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["small_packet_percent"], row["lossless_mtu"]) == ("100", "1024")
            and row["asic_generation"] != "6"
        ]
    assert len(rows) == 800
    for row in rows:
        wire = Wire(int(row["port_speed_mbps"]), int(row["lanes"]), float(row["cable_m"]))
        shared = row["shared_headroom_pool"] == "1"
        found = headroom(int(row["asic_generation"]), wire, int(row["port_mtu"]), shared=shared)
        expected = (int(row["xon_bytes"]), int(row["xoff_bytes"]), int(row["size_bytes"]))
        assert found == expected, row


# ---- routes, walked by hand


def best(routes: list[Route], address: str) -> Route:
    """The longest prefix."""
    wanted = ip_address(address)
    fitting = [route for route in routes if wanted in ip_network(route.prefix)]
    return max(fitting, key=lambda route: ip_network(route.prefix).prefixlen)


def arrivals(fabric: Fabric, routing: Routing, start: End, address: str) -> Iterator[list[str]]:
    """Every way that a packet may take, machine by machine."""
    first = fabric.other_end(start)
    assert first is not None
    waiting = [(first.machine, [fabric.name(start.machine)])]
    while waiting:
        machine, way = waiting.pop()
        way = [*way, fabric.name(machine)]
        assert len(way) < 9, f"goes in circles: {way}"
        if fabric.is_host(machine):
            yield way
            continue
        route = best(routing.of(fabric.switch(machine)), address)
        for port in route.ports:
            there = fabric.other_end(End(machine, port))
            assert there is not None
            waiting.append((there.machine, way))


@pytest.mark.parametrize("name", ["smallest", "mixed", "onyx", "pods", "planes", "fat_tree"])
def test_packets_arrive_whatever_way_they_take(name: str) -> None:
    fabric = build(SHAPES[name])
    routing, known = Routing(fabric), planned_places(fabric)
    last = fabric.hosts - 1
    ports = fabric.host_ports
    pairs = [(End(0, 0), End(last, 0)), (End(last, ports - 1), End(0, ports - 1)),
             (End(0, 0), End(1, fabric.planes))]  # fmt: skip
    for start, end in pairs:
        ways = list(arrivals(fabric, routing, start, text(host_address(known[end]))))
        assert {way[-1] for way in ways} == {fabric.host_name(end.machine)}
        assert len({len(way) for way in ways}) == 1, "not of equal length"
        assert len(ways) > 1 or len(ways[0]) == 3


def test_ways_over_the_spines_are_as_many_as_there_are_links() -> None:
    fabric = build(SHAPES["mixed"])
    routing, known = Routing(fabric), planned_places(fabric)
    address = text(host_address(known[End(7, 0)]))
    ways = list(arrivals(fabric, routing, End(0, 0), address))
    assert sorted(way[2] for way in ways) == [f"spine{number:03d}" for number in range(1, 5)]
    assert {way[3] for way in ways} == {"leaf009"}  # the second group of hosts, rail 0


def test_addresses_are_those_of_the_plan() -> None:
    fabric = build(SHAPES["smallest"])
    known = planned_places(fabric)
    assert text(host_address(known[End(0, 0)])) == "10.16.0.0"
    assert text(host_address(known[End(1, 0)])) == "10.16.0.2"
    assert text(host_address(known[End(1, 1)])) == "10.16.1.2"
    leaf = Routing(fabric).of(fabric.switches[0])
    assert [route.prefix for route in leaf] == ["10.16.0.0/31", "10.16.0.2/31", "0.0.0.0/0"]
    assert [route.ports for route in leaf] == [(0,), (1,), (2, 3)]
    spine = Routing(fabric).of(fabric.switches[2])
    assert spine[1] == Route("10.16.1.0/24", "bgp", (1,), ("100.64.0.10",))


# ---- plan and site


def test_the_plan_names_every_cable() -> None:
    fabric = build(SHAPES["smallest"])
    rows = list(csv.DictReader(io.StringIO(cabling(fabric))))
    assert len(rows) == 8
    assert rows[3] == {
        "a_device": "gpu002", "a_port": "enp41s0np0", "b_device": "leaf002", "b_port": "Ethernet4",
        "length_m": "3", "rail": "1", "plane": "0",
    }  # fmt: skip
    assert rows[4] | {"rail": ""} == {
        "a_device": "leaf001", "a_port": "Ethernet8", "b_device": "spine001", "b_port": "Ethernet0",
        "length_m": "30", "rail": "", "plane": "0",
    }  # fmt: skip
    assert 'cabling = "cabling.csv"' in site(fabric)
    assert "cabling" not in site(fabric, "observed")
    assert oversubscription(build(SHAPES["rails_10000"])) == 4.0


# ---- faults


def injections(fabric: Fabric) -> Iterator[tuple[str, FabricInjection]]:
    """Each fault at the first place of each kind."""
    for name, fault in all_fabric_faults().items():
        for at in fault.at:
            place = next(places(fabric, fault, at), None)
            if place is not None and not (name == "planes_swapped" and fabric.planes == 1):
                yield at, FabricInjection(fault, place)


def state(fabric: Fabric) -> tuple[object, ...]:
    switches = [(switch.settings, switch.egress_pool_bytes) for switch in fabric.switches]
    links = vars(fabric.links)
    return (switches, {name: list(column) for name, column in links.items()}, fabric.hearing,
            fabric.routes, {host: len(work) for host, work in fabric.host_work.items()})  # fmt: skip


def test_every_fault_changes_something_and_the_fabric_stays_as_it_is() -> None:
    met = set()
    for name in ("mixed", "onyx", "planes"):
        fabric = build(SHAPES[name])
        before = state(fabric)
        for at, one in injections(fabric):
            met.add((one.fault.name, at))
            struck = changed(fabric, [one])
            assert state(struck) != before, f"{one.fault.name} at {at}"
            for case in CASES:
                for rule, subject in one.allowed(case):
                    assert rule
                    assert "{" not in subject
        assert state(fabric) == before
    assert met == {(fault.name, at) for fault in all_fabric_faults().values() for at in fault.at}


def test_declared_subjects_are_those_of_the_place() -> None:
    fabric = build(SHAPES["mixed"])
    faults = all_fabric_faults()
    off = faults["switch_pfc_off"]
    down = FabricInjection(off, next(places(fabric, off, "leaf_down")))
    assert down.expected() == {("switch-pfc-mismatch", "leaf001:Ethernet0")}
    assert down.expected("by_cohort") == {("link-lossless-differs", "leaf001:Ethernet0")}
    assert down.expected("by_nobody") == {
        ("link-lossless-differs", "leaf001:Ethernet0"), ("link-lossless-differs", "gpu001:enp24s0np0")
    }  # fmt: skip
    rails = faults["rails_swapped"]
    swap = FabricInjection(rails, next(places(fabric, rails, "host")))
    assert swap.expected() == {
        ("cable-wrong-rail", "gpu001:enp24s0np0"),
        ("cable-wrong-rail", "gpu001:enp41s0np0"),
    }
    host = faults["host_pfc_off"]
    assert FabricInjection(host, next(places(fabric, host, "host"))).allowed() == {
        ("intent-pfc", "gpu001:mlx5_0/1"), ("host-config-differs", "gpu001")
    }  # fmt: skip
    lost = faults["data_in_best_effort"]
    whole = FabricInjection(lost, next(places(fabric, lost, "spine")))
    assert len(whole.expected()) == 16
    assert ("switch-data-class", "spine001:Ethernet0") in whole.expected()


def test_bounced_packets_make_a_circle_of_four_links() -> None:
    fabric = build(SHAPES["mixed"])
    fault = all_fabric_faults()["packets_bounce"]
    struck = changed(fabric, [FabricInjection(fault, next(places(fabric, fault, "spine")))])
    routing = Routing(struck)
    target = "10.16.2.1"  # below the third leaf
    first, twin = struck.named("spine001"), struck.named("spine002")
    through = {}
    for spine in (first, twin):
        (port,) = best(routing.of(spine), target).ports
        there = struck.other_end(End(spine.number, port))
        assert there is not None
        through[spine.name] = struck.name(there.machine)
    assert through == {"spine001": "leaf002", "spine002": "leaf001"}
    one = FabricInjection(fault, next(places(fabric, fault, "spine")))
    assert one.expected() == {
        ("pfc-deadlock-possible", "leaf001"),
        ("pfc-deadlock-possible", "leaf002"),
    }
    for leaf in ("leaf001", "leaf002"):  # and up again, to both spines among others
        up = best(routing.of(struck.named(leaf)), target)
        assert up.prefix == "0.0.0.0/0"
        assert len(up.ports) == 4
