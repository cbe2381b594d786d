"""What would cut the way to a machine is never planned, whatever the options; what would not, is.

A host of two rails and a management port, written by hand. Its way in is built up in many ways: of
the management port alone (a sound site), or so that the first rail is part of it.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from lab.harness.small_fabric import _DERIVED, Rows, database_of, fabric
from railwright.check.tables import all_tables, make_lookups, make_macros, make_scopes
from railwright.plan.make import Plan, WayIn, mending, plan_in
from railwright.plan.paths import Limits
from railwright.store.duck import identifier

HOST = "gpu1"
CLIENT = "198.51.100.7"
ALL = Limits("aggressive", frozenset({"link", "reset", "reboot", "power-cycle", "firmware"}))
# What is to be changed on both rails: MTU (rebuilds the queues) and PFC (a link flap).
SETTINGS = {"intent-mtu": "netdev.mtu", "intent-pfc": "nic.pfc"}
ASKED = """
CREATE TABLE asked AS
SELECT
    rule, 'high' AS severity, 1 AS rank, p.target, p.target || ':' || p.device || '/1' AS subject,
    'port' AS kind, p.device, p.port, p.netdev, p.pci, NULL::VARCHAR AS switch_port,
    NULL::VARCHAR AS link_partner, NULL::DOUBLE AS cost_gbps
FROM port AS p CROSS JOIN unnest(['intent-mtu', 'intent-pfc']) AS r(rule)
"""

Way = Callable[[Rows, str], None]  # the rows, and the port that is to carry the way in


def netdev(name: str, **values: Any) -> dict[str, Any]:
    row = {"target": HOST, "name": name, "pci": "", "kind": "virtual", "mac": "", "mtu": 1500}
    more = {"operstate": "up", "carrier": True, "flags": "0x1003", "port_name": "", "dev_port": 0}
    return {**row, **more, "master": "", **values}


def address(on: str, text: str = "192.0.2.11") -> dict[str, Any]:
    row = {"target": HOST, "netdev": on, "family": "inet", "address": text, "place": 7}
    return {**row, "prefix_length": 24, "scope": "global"}


def default(on: str, table: str = "main") -> dict[str, Any]:
    row = {"target": HOST, "family": "inet", "routing_table": table, "destination": "default"}
    return {**row, "place": 0, "type": "unicast", "gateway": "192.0.2.1", "netdev": on}


def session(rows: Rows, on: str, server: str = "192.0.2.11", table: str = "main") -> None:
    rows["ssh_session"] = [
        {
            "target": HOST,
            "client": CLIENT,
            "client_port": 50022,
            "server": server,
            "server_port": 22,
        }
    ]
    rows["ssh_route"] = [
        {
            "target": HOST,
            "client": CLIENT,
            "source": server,
            "type": "unicast",
            "netdev": on,
            "gateway": "192.0.2.1",
            "routing_table": table,
        }
    ]


def link(name: str, lower: str) -> dict[str, Any]:
    return {"target": HOST, "netdev": name, "link": lower, "link_netnsid": -1}


def enslave(rows: Rows, port: str, master: str) -> None:
    for row in rows["netdev"]:
        if (row["target"], row["name"]) == (HOST, port):
            row["master"] = master


def plain(rows: Rows, port: str) -> None:
    rows["address"].append(address(port))
    rows["route"] = [default(port)]
    session(rows, port)


def only_the_session(rows: Rows, port: str) -> None:
    """The default route is elsewhere: the controller is in a network of its own."""
    rows["address"].append(address(port))
    rows["route"] = [default("eno1")]
    session(rows, port)


def only_the_address(rows: Rows, port: str) -> None:
    """It came in by one port and goes back by another."""
    rows["address"].append(address(port))
    rows["route"] = [default("eno1")]
    session(rows, "eno1")


def only_the_route_back(rows: Rows, port: str) -> None:
    rows["address"].append(address("eno1"))
    rows["route"] = [default("eno1")]
    session(rows, port, table="100")


def only_the_default_route(rows: Rows, port: str) -> None:
    """The session is from the same network; others come by the default route."""
    rows["address"].append(address("eno1"))
    rows["route"] = [default(port)]
    session(rows, "eno1")


def vlan(rows: Rows, port: str) -> None:
    name = f"{port}.100"
    rows["netdev"].append(netdev(name))
    rows.setdefault("ip_link", []).append(link(name, port))
    plain(rows, name)


def vlan_of_another_name(rows: Rows, port: str) -> None:
    rows["netdev"].append(netdev("mgmt"))
    rows.setdefault("ip_link", []).append(link("mgmt", port))
    plain(rows, "mgmt")


def bridge(rows: Rows, port: str) -> None:
    rows["netdev"].append(netdev("br0"))
    enslave(rows, port, "br0")
    plain(rows, "br0")


def vlan_on_a_bridge(rows: Rows, port: str) -> None:
    rows["netdev"] += [netdev("br0"), netdev("br0.7")]
    enslave(rows, port, "br0")
    rows.setdefault("ip_link", []).append(link("br0.7", "br0"))
    plain(rows, "br0.7")


def macvlan(rows: Rows, port: str) -> None:
    rows["netdev"].append(netdev("mac0"))
    rows.setdefault("ip_link", []).append(link("mac0", port))
    plain(rows, "mac0")


def bond_of_two(rows: Rows, port: str) -> None:
    """A bond of the port and a second management port."""
    rows["netdev"] += [netdev("bond9"), netdev("eno2", kind="physical", pci="0000:02:00.1")]
    rows["bond"] = [{"target": HOST, "netdev": "bond9"}]
    rows["bond_member"] = [
        {"target": HOST, "bond": "bond9", "member": one, "mii_status": "up"}
        for one in (port, "eno2")
    ]
    enslave(rows, port, "bond9")
    enslave(rows, "eno2", "bond9")
    plain(rows, "bond9")


def vrf(rows: Rows, port: str) -> None:
    rows["netdev"].append(netdev("mgmt-vrf"))
    enslave(rows, port, "mgmt-vrf")
    rows["address"].append(address(port))
    rows["route"] = [default(port, "1001")]
    session(rows, port, table="1001")


WAYS: tuple[Way, ...] = (
    *(plain, only_the_session, only_the_address, only_the_route_back, only_the_default_route),
    *(vlan, vlan_of_another_name, bridge, vlan_on_a_bridge, macvlan, bond_of_two, vrf),
)


def host(way: Way, port: str) -> Rows:
    """The fabric, with a management port, and the way in of gpu1 over this port."""
    rows = deepcopy(fabric())
    rows["netdev"].append(netdev("eno1", kind="physical", pci="0000:02:00.0", speed_mbps=10000))
    probes = {"ssh_session", "ssh_route", "ip_address", "ip_route", "netdev", "ip_link"}
    told = {(r["target"], r["probe"]) for r in rows["probe_result"]}
    rows["probe_result"] += [
        {"target": HOST, "probe": one, "instance": "", "status": "ok"}
        for one in sorted(probes)
        if (HOST, one) not in told
    ]
    way(rows, port)
    return rows


def planned(rows: Rows, **options: Any) -> Plan:
    """What is planned for both rails, whose MTU and PFC are wrong."""
    with database_of(rows, (*_DERIVED, "netdev_role")) as database:
        for name, table in all_tables().items():
            columns = ", ".join(
                f"{identifier(n)} {kind}" for n, kind in table.column_types().items()
            )
            database.execute(f"CREATE TABLE IF NOT EXISTS {identifier(name)} ({columns})")
        database.execute("INSERT INTO site BY NAME SELECT 4200 AS netdev_mtu, 16 AS pfc_mask")
        make_macros(database)
        make_scopes(database)
        make_lookups(database, with_before=False)
        database.execute(ASKED)
        return plan_in(database, mending(SETTINGS), ALL, **options)


def changed(plan: Plan) -> set[tuple[str, str]]:
    """(setting, network device) of gpu1 that the plan changes."""
    return {
        (group.setting.id, member.names["name"] or "")
        for group in plan.groups
        for member in group.members
        if HOST in member.targets
    }


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_what_carries_the_way_in_is_kept(way: Way) -> None:
    plan = planned(host(way, "ens1"))
    assert changed(plan) == {("netdev.mtu", "ens2"), ("nic.pfc", "ens2")}
    refused = {group.setting.id: group.why for group in plan.refused if HOST in group.targets}
    assert set(refused) == {"netdev.mtu", "nic.pfc"}
    assert all(why.startswith("it is on the way to the machine: ") for why in refused.values())


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_sound_site_is_changed(way: Way) -> None:
    plan = planned(host(way, "eno1"))
    rails = {(setting, rail) for setting in ("netdev.mtu", "nic.pfc") for rail in ("ens1", "ens2")}
    assert changed(plan) == rails


def test_rails_with_routes_of_their_own_are_changed() -> None:
    """Each rail has a table with a default route, chosen by the address: no way in."""
    rows = host(plain, "eno1")
    rows["route"] += [default("ens1", "101"), default("ens2", "102")]
    assert len(changed(planned(rows))) == 4


@pytest.mark.parametrize("probe", ["ssh_session", "ip_route", "ip_address", "netdev"])
def test_without_knowing_the_way_in_nothing_is_stopped(probe: str) -> None:
    rows = host(plain, "eno1")
    rows["probe_result"] = [
        {**r, "status": "timeout"} if (r["target"], r["probe"]) == (HOST, probe) else r
        for r in rows["probe_result"]
    ]
    plan = planned(rows)
    assert changed(plan) == set()
    assert {group.why for group in plan.refused if HOST in group.targets} == {
        "how the machine is reached is not known: collect it again"
    }


def test_a_host_that_was_not_read_over_ssh_goes_by_its_routes() -> None:
    rows = host(only_the_default_route, "ens1")
    del rows["ssh_session"], rows["ssh_route"]
    rows["probe_result"] = [
        {**r, "status": "absent"} if r["probe"] in ("ssh_session", "ssh_route") else r
        for r in rows["probe_result"]
    ]
    assert {name for _, name in changed(planned(rows))} == {"ens2"}


def test_the_site_may_give_up_an_interface_where_there_is_a_second_way() -> None:
    plan = planned(host(plain, "ens1"), ways_in=[WayIn(HOST, ["ens1"])])
    assert {name for _, name in changed(plan)} == {"ens1", "ens2"}


def test_a_second_way_alone_gives_up_nothing() -> None:
    plan = planned(host(plain, "ens1"), ways_in=[WayIn(HOST, [])])
    assert {name for _, name in changed(plan)} == {"ens2"}
