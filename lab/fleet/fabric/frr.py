"""`show ip route json` of FRR, which SONiC and Cumulus have: an object by prefix.

Keys as zebra/zebra_vty.c prints them: prefix, protocol, vrfName, selected, installed, distance,
metric, and of each next hop fib, ip, afi, interfaceName, active; a connected one has no ip.
"""

import json
from typing import Any

from lab.fleet.fabric.model import Route, Switch

_DISTANCE = {"connected": 0, "bgp": 20}


def _hop(switch: Switch, port: int, address: str) -> dict[str, Any]:
    hop: dict[str, Any] = {"flags": 3, "fib": True}
    if address:
        hop |= {"ip": address, "afi": "ipv4"}
    else:
        hop["directlyConnected"] = True
    return {**hop, "interfaceIndex": port + 2, "interfaceName": switch.ports[port].name,
            "active": True, "weight": 1}  # fmt: skip


def route_json(switch: Switch, routes: list[Route]) -> str:
    """The whole table of the default VRF."""
    found = {}
    for route in routes:
        hops = [
            _hop(switch, port, address)
            for port, address in zip(route.ports, route.next_hops, strict=True)
        ]
        entry = {
            "prefix": route.prefix, "prefixLen": int(route.prefix.partition("/")[2]),
            "protocol": route.protocol, "vrfId": 0, "vrfName": "default", "selected": True,
            "destSelected": True, "distance": _DISTANCE[route.protocol], "metric": 0,
            "installed": True, "table": 254, "uptime": "5d03h44m", "nexthops": hops,
        }  # fmt: skip
        found[route.prefix] = [entry]
    return json.dumps(found, indent=2) + "\n"
