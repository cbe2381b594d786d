"""What a perfect reader must get of a switch's neighbors and routes, from the model alone.

Columns that a system does not tell are None.
"""

from collections.abc import Iterator
from typing import Any

from lab.fleet.fabric.hearing import heard_by
from lab.fleet.fabric.model import Fabric, Route, Switch

ROUTE_PROBES = {
    "sonic": "sonic_route",
    "cumulus": "nvue_route",
    "eos": "eos_route",
    "onyx": "onyx_route",
}
SHOW_PROBES = {
    "sonic": "sonic_show",
    "cumulus": "nvue_show",
    "eos": "eos_show",
    "onyx": "onyx_show",
}
# What `show` commands of a system leave out of switch_neighbor.
_NOT_SAID = {
    "sonic": ("chassis_id", "chassis_type", "port_id_type", "management_addresses", "ttl_s"),
    "cumulus": ("chassis_type",),
    "onyx": ("management_addresses", "ttl_s"),
    "eos": (),
}


def neighbors(fabric: Fabric, switch: Switch) -> Iterator[dict[str, Any]]:
    """Rows of switch_neighbor."""
    for number, port in enumerate(switch.ports):
        for place, one in enumerate(heard_by(fabric, switch, number)):
            row: dict[str, Any] = {
                "target": switch.name,
                "port": port.name,
                "place": place,
                "system_name": one.system,
                "chassis_id": one.chassis,
                "chassis_type": "mac",
                "port_id": one.port_id,
                "port_id_type": one.port_type,
                "port_description": one.port_description,
                "management_addresses": one.management,
                "ttl_s": 120,
            }
            yield row | dict.fromkeys(_NOT_SAID[switch.system])


def routes(switch: Switch, listed: list[Route]) -> Iterator[dict[str, Any]]:
    """Rows of switch_route: ports in the order of their names, next hops in that of ports."""
    for route in listed:
        hops = sorted(
            (switch.ports[port].name, hop)
            for port, hop in zip(route.ports, route.next_hops, strict=True)
        )
        yield {
            "target": switch.name,
            "vrf": "default",
            "prefix": route.prefix,
            "protocol": route.protocol,
            "ports": ",".join(name for name, _ in hops),
            "next_hops": ",".join(hop for _, hop in hops),
        }
