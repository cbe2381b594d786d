"""`lldpctl -f json0` and `-f json`: the neighbor of every port that has a link.

The shape of an interface is dumped once and filled in per port: fleets have hundreds of thousands.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from textwrap import indent
from typing import Any

from lab.fleet.model import HostModel, Netdev, netdev_is_here
from lab.fleet.render.base import Said

CAPABILITIES = [{"type": "Bridge", "enabled": True}, {"type": "Router", "enabled": True}]
# What stands around the interfaces, and how deep they are in it.
_AROUND = {
    "json0": ('{\n  "lldp": [\n    {\n      "interface": [\n', "\n      ]\n    }\n  ]\n}\n", 8),
    "json": ('{\n  "lldp": {\n    "interface": [\n', "\n    ]\n  }\n}\n", 6),
}
_NOTHING = {"json0": '{\n  "lldp": [\n    {\n    }\n  ]\n}\n', "json": '{\n  "lldp": {\n  }\n}\n'}


def heard(host: HostModel) -> list[Netdev]:
    """Ports with a neighbor; the daemon listens in the host's own namespace only."""
    return [
        netdev
        for netdev in (*host.nics, *host.netdevs)
        if netdev.up and netdev.neighbor is not None and netdev_is_here(netdev)
    ]


def _listed(addresses: list[str]) -> dict[str, Any]:
    """json0: lists and values everywhere."""
    chassis = {
        "id": [{"type": "mac", "value": "%(chassis)s"}],
        "name": [{"value": "%(system)s"}],
        "descr": [{"value": "%(description)s"}],
        "mgmt-ip": [{"value": address} for address in addresses],
        "capability": CAPABILITIES,
    }
    port = {
        "id": [{"type": "ifname", "value": "%(port)s"}],
        "descr": [{"value": "%(port_description)s"}],
        "ttl": [{"value": "120"}],
    }
    return {
        "name": "%(netdev)s",
        "via": "LLDP",
        "rid": "%(rid)s",
        "age": "%(age)s",
        "chassis": [chassis],
        "port": [port],
    }


def _plain(addresses: list[str]) -> dict[str, Any]:
    """json: what is single stands bare, and the chassis is named by its system."""
    chassis = {
        "id": {"type": "mac", "value": "%(chassis)s"},
        "descr": "%(description)s",
        "mgmt-ip": addresses[0] if len(addresses) == 1 else addresses,
        "capability": CAPABILITIES,
    }
    body = {
        "via": "LLDP",
        "rid": "%(rid)s",
        "age": "%(age)s",
        "chassis": {"%(system)s": chassis},
        "port": {
            "id": {"type": "ifname", "value": "%(port)s"},
            "descr": "%(port_description)s",
            "ttl": "120",
        },
    }
    return {"%(netdev)s": body}


@lru_cache(maxsize=8)
def _template(shape: str, version_6: bool) -> str:
    addresses = ["%(management)s", *(["%(management_v6)s"] if version_6 else [])]
    text = json.dumps(_listed(addresses) if shape == "json0" else _plain(addresses), indent=2)
    return indent(text, " " * _AROUND[shape][2])


def _interface(shape: str, number: int, chassis: int, netdev: Netdev) -> str:
    neighbor = netdev.neighbor
    assert neighbor is not None
    values = vars(neighbor) | {
        "netdev": netdev.netdev,
        "rid": str(chassis),
        "age": f"3 days, 04:11:{49 + number % 10}",
    }
    safe = {name: json.dumps(value)[1:-1] for name, value in values.items()}
    return _template(shape, bool(neighbor.management_v6)) % safe


def neighbors(host: HostModel, shape: str) -> str:
    """All of them, in the shape json0 or json; lldpd numbers the chassis, not the ports."""
    netdevs = heard(host)
    known = list(dict.fromkeys(netdev.neighbor.chassis for netdev in netdevs if netdev.neighbor))
    found = []
    for number, netdev in enumerate(netdevs, 1):
        chassis = known.index(netdev.neighbor.chassis) + 1 if netdev.neighbor else 0
        found.append(_interface(shape, number, chassis, netdev))
    if not found:
        return _NOTHING[shape]
    if shape == "json" and len(found) == 1:  # then it is no list
        alone = {"lldp": {"interface": json.loads(found[0])}}
        return json.dumps(alone, indent=2) + "\n"
    before, after, _ = _AROUND[shape]
    return before + ",\n".join(found) + after


def commands(host: HostModel) -> Iterator[Said]:
    """Both spellings."""
    for shape in ("json0", "json"):
        yield Said(f"lldpctl -f {shape}", neighbors(host, shape))
