"""The truth about network devices, addresses, routes and neighbors."""

import ipaddress
import re

from lab.fleet.model import HostModel, Neighbor, Netdev, Nic, netdev_is_here
from lab.fleet.system_model import Bond, Route
from lab.fleet.truth_places import Row, Rows, Tables, here

# ARPHRD numbers and rtnetlink's words.
LINK_TYPES = {"Ethernet": (1, "ether"), "InfiniBand": (32, "infiniband")}
LOOPBACK = (772, "loopback")
# Bits of the interface flags.
UP, BROADCAST, IS_LOOPBACK, MASTER, SLAVE, MULTICAST = 0x1, 0x2, 0x8, 0x400, 0x800, 0x1000
# What the filter of the probe lets through of a SONiC switch's description.
SONIC_END = " - Distribution"
ARP_NAMES = ("arp_announce", "arp_filter", "arp_ignore", "rp_filter", "accept_local")


def tables(host: HostModel) -> Tables:
    """All tables of rtnetlink, /sys/class/net, /proc/sys/net and lldpd."""
    shown = here(host)
    return {
        "netdev": [_netdev(host, netdev) for netdev in shown],
        "bond": [_bond(bond) for bond in host.bonds],
        "bond_member": [_member(host, bond, m) for bond in host.bonds for m in bond.members],
        "ip_link": [_link(host, netdev) for netdev in shown],
        "address": [row for netdev in shown for row in _addresses(netdev)],
        "route": _routes(host, shown),
        "ip_rule": _rules(host),
        "ip_sysctl": _sysctls(shown),
        "unresolved_neighbor": [
            {"netdev": netdev.netdev, "address": address, "state": state}
            for netdev in shown
            for address, state in netdev.unresolved
        ],
        "lldp_neighbor": _neighbors(host),
    }


def _is_loopback(netdev: Netdev) -> bool:
    return netdev.netdev == "lo"


def _is_bond(host: HostModel, netdev: Netdev) -> bool:
    return any(bond.netdev == netdev.netdev for bond in host.bonds)


def _link_type(netdev: Netdev) -> tuple[int, str]:
    if _is_loopback(netdev):
        return LOOPBACK
    return LINK_TYPES[netdev.link_layer if isinstance(netdev, Nic) else "Ethernet"]


# ---- /sys/class/net


def _flags(host: HostModel, netdev: Netdev) -> int:
    """Whether it is switched on has nothing to do with a carrier."""
    if _is_loopback(netdev):
        return UP | IS_LOOPBACK
    bond = MASTER if _is_bond(host, netdev) else SLAVE if netdev.master else 0
    return (UP if netdev.enabled else 0) | BROADCAST | MULTICAST | bond


def _netdev(host: HostModel, netdev: Netdev) -> Row:
    loopback = _is_loopback(netdev)
    usual = 0 if loopback else 2 if netdev.up else 3
    changes = usual if netdev.carrier_changes is None else netdev.carrier_changes
    return {
        "name": netdev.netdev,
        "pci": netdev.address,
        "kind": "physical" if netdev.address else "virtual",
        "mac": netdev.mac,
        "mtu": netdev.mtu,
        "operstate": "unknown" if loopback else "up" if netdev.up else "down",
        "carrier": netdev.up,
        "speed_mbps": netdev.speed if netdev.up and not loopback else None,
        "duplex": None if loopback else "full" if netdev.up else "unknown",
        "ifindex": netdev.index,
        "arp_type": _link_type(netdev)[0],
        "dev_port": 0,
        "port_name": netdev.port_name,
        "switch_id": "",
        "carrier_changes": changes,
        "flags": f"{_flags(host, netdev):#x}",
        "master": netdev.master,
    }


def _bond(bond: Bond) -> Row:
    mode, number = bond.mode.split()
    return {
        "netdev": bond.netdev,
        "mode": mode,
        "mode_number": int(number),
        "hash_policy": bond.hash_policy.split()[0],
        "lacp_rate": bond.lacp_rate.split()[0],
        "miimon_ms": bond.miimon,
        "active_member": "",  # 802.3ad uses all of them
    }


def _member(host: HostModel, bond: Bond, name: str) -> Row:
    netdev = next(n for n in (*host.nics, *host.netdevs) if n.netdev == name)
    return {
        "bond": bond.netdev,
        "member": name,
        "state": "active",
        "mii_status": "up" if netdev.up else "down",
        "aggregator": 1,
        "failures": 0 if netdev.up else 1,
    }


# ---- rtnetlink


def _link(host: HostModel, netdev: Netdev) -> Row:
    """What only passes packets on has no queues."""
    loopback, bond = _is_loopback(netdev), _is_bond(host, netdev)
    bits = _flags(host, netdev)
    names = {
        "NO-CARRIER": netdev.enabled and not netdev.up,
        "LOOPBACK": bits & IS_LOOPBACK,
        "BROADCAST": bits & BROADCAST,
        "MULTICAST": bits & MULTICAST,
        "MASTER": bits & MASTER,
        "SLAVE": bits & SLAVE,
        "UP": bits & UP,
        "LOWER_UP": netdev.up,
    }
    return {
        "netdev": netdev.netdev,
        "ifindex": netdev.index,
        "link_type": _link_type(netdev)[1],
        "mtu": netdev.mtu,
        "operstate": "UNKNOWN" if loopback else "UP" if netdev.up else "DOWN",
        "flags": ",".join(name for name, on in names.items() if on),
        "qdisc": "noqueue" if loopback or bond or netdev.lower else "mq",
        "master": netdev.master,
        "link": netdev.lower,
        "link_netnsid": -1,
        "other_names": "",
    }


def _addresses(netdev: Netdev) -> Rows:
    rows: Rows = []
    for text in netdev.addresses:
        interface = ipaddress.ip_interface(text)
        scope = "global"
        if interface.ip.is_loopback:
            scope = "host"
        elif interface.ip.is_link_local:
            scope = "link"
        rows.append(
            {
                "netdev": netdev.netdev,
                "family": "inet6" if interface.version == 6 else "inet",
                "address": str(interface.ip),
                "place": 0,
                "prefix_length": interface.network.prefixlen,
                "peer": "",
                "scope": scope,
                "label": netdev.netdev if interface.version == 4 else "",
                "flags": "",
            }
        )
    return rows


USUAL_ROUTE: Row = {
    "family": "inet",
    "routing_table": "main",
    "other": "",
    "type": "unicast",
    "gateway": "",
    "weight": 0,
    "source": "",
    "protocol": "kernel",
    "scope": "global",
    "metric": 0,
    "mtu": 0,
    "flags": "",
    "nexthop_id": 0,
}


def _set_route(route: Route, down: set[str]) -> Row:
    """One that the site or the kernel set; without a gateway it ends on the link."""
    return {
        **USUAL_ROUTE,
        "routing_table": route.table,
        "destination": route.destination,
        "gateway": route.gateway,
        "netdev": route.netdev,
        "source": route.source,
        "protocol": route.protocol,
        "scope": "global" if route.gateway else "link",
        "metric": route.metric,
        "flags": "linkdown" if route.netdev in down else "",
    }


def _own_routes(netdev: Netdev) -> Rows:
    """What the kernel keeps in the table `local` for an IPv4 address."""
    rows: Rows = []
    for text in netdev.addresses:
        interface = ipaddress.ip_interface(text)
        if interface.version == 6:
            continue
        common = {**USUAL_ROUTE, "routing_table": "local", "netdev": netdev.netdev}
        common["source"] = str(interface.ip)
        wanted = [("local", str(interface.ip), "host")]
        if interface.ip.is_loopback:
            wanted.append(("local", str(interface.network), "host"))
        # A link of two addresses has none (RFC 3021; Linux net/ipv4/fib_frontend.c fib_add_ifaddr).
        if interface.network.prefixlen < 31:
            wanted.append(("broadcast", str(interface.network.broadcast_address), "link"))
        rows += [
            {**common, "type": kind, "destination": to, "scope": scope}
            for kind, to, scope in wanted
        ]
    return rows


def _own_routes_v6(netdev: Netdev) -> Rows:
    """Only while there is a carrier: the link's prefix, the address, and multicast."""
    rows: Rows = []
    common = {**USUAL_ROUTE, "family": "inet6", "netdev": netdev.netdev}
    for text in netdev.addresses if netdev.up else ():
        interface = ipaddress.ip_interface(text)
        if interface.version == 4:
            continue
        local = {**common, "routing_table": "local"}
        rows.append({**local, "type": "local", "destination": str(interface.ip)})
        if not _is_loopback(netdev):
            link = {**common, "metric": 256}
            rows.append({**link, "destination": str(interface.network)})
            rows.append({**local, "type": "multicast", "destination": "ff00::/8", "metric": 256})
    return rows


def _prefix_length(row: Row) -> int:
    destination = str(row["destination"])
    if destination == "default":
        return 0
    _, _, length = destination.partition("/")
    return int(length or (128 if row["family"] == "inet6" else 32))


def _routes(host: HostModel, shown: list[Netdev]) -> Rows:
    """Ways to one destination are numbered in the order of the interfaces."""
    names = {netdev.netdev for netdev in shown}
    down = {netdev.netdev for netdev in shown if not netdev.up}
    rows = [_set_route(route, down) for route in host.routes if route.netdev in names]
    for netdev in shown:
        rows += _own_routes(netdev) + _own_routes_v6(netdev)
    places: dict[tuple[object, ...], int] = {}
    for row in rows:
        way = (row["family"], row["routing_table"], row["destination"])
        row["place"] = places.setdefault(way, 0)
        places[way] += 1
        row["prefix_length"] = _prefix_length(row)
    return rows


def _rules(host: HostModel) -> Rows:
    return [
        {
            "priority": rule.priority,
            "place": 0,
            "inverted": False,
            "source": rule.source,
            "destination": "all",
            "fwmark": "",
            "iif": "",
            "oif": "",
            "other": "",
            "action": "lookup",
            "routing_table": rule.table,
        }
        for rule in host.rules
    ]


def _sysctls(shown: list[Netdev]) -> Rows:
    """The fleet sets nothing for all interfaces at once, nor for new ones."""
    rows: Rows = []
    for name in ("all", "default"):
        rows += [{"netdev": name, "name": setting, "value": 0} for setting in ARP_NAMES]
    for netdev in shown:
        values = {"accept_local": 0, **dict(netdev.arp)}
        rows += [
            {"netdev": netdev.netdev, "name": setting, "value": values[setting]}
            for setting in ARP_NAMES
        ]
    return rows


# ---- LLDP


def heard(host: HostModel) -> dict[str, Neighbor]:
    """Netdev -> neighbor; lldpd hears on ports with a carrier, in its own namespace."""
    return {
        netdev.netdev: netdev.neighbor
        for netdev in (*host.nics, *host.netdevs)
        if netdev.up and netdev.neighbor and netdev_is_here(netdev)
    }


def is_port_name(text: str) -> bool:
    """The name of a port leaves the host, other words about it do not."""
    return re.fullmatch(r"[A-Za-z]+\d+", text) is not None


def _neighbors(host: HostModel) -> Rows:
    """The daemon numbers the chassis that it knows."""
    numbers: dict[str, int] = {}
    rows: Rows = []
    for place, (netdev, neighbor) in enumerate(heard(host).items(), 1):
        said = neighbor.port_description
        addresses = (neighbor.management, neighbor.management_v6)
        rows.append(
            {
                "netdev": netdev,
                "rid": str(numbers.setdefault(neighbor.chassis, len(numbers) + 1)),
                "chassis_id": neighbor.chassis,
                "chassis_id_type": "mac",
                "system_name": neighbor.system,
                "system_description": neighbor.description.split(SONIC_END)[0],
                "port_id": neighbor.port,
                "port_id_type": "ifname",
                "port_description": said if is_port_name(said) else None,
                "management_addresses": ",".join(filter(None, addresses)),
                "ttl_s": 120,
                "age_text": f"3 days, 04:11:{49 + place % 10}",
            }
        )
    return rows
