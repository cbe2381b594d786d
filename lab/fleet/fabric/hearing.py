"""What neighbors say of themselves through LLDP, in the words of each system."""

from typing import NamedTuple

from lab.fleet import identity
from lab.fleet.ember import RAIL_BUSES
from lab.fleet.fabric.model import End, Fabric, Heard, Switch
from lab.fleet.identity import EMBER, address_text, mac_text

HOST_DESCRIPTION = "Ubuntu 22.04.5 LTS Linux 6.8.0-45-generic #45-Ubuntu SMP PREEMPT_DYNAMIC x86_64"
_DESCRIPTIONS = {
    "sonic": "SONiC Software Version: {release} - HwSku: {sku} - "
    "Distribution: Debian 12.8 - Kernel: 6.1.0-22-2-amd64",
    "cumulus": "Cumulus Linux version {release} running on Nvidia {model}",
    "eos": "Arista Networks EOS version {release} running on an Arista Networks {model}",
    "onyx": "Mellanox {model},MLNX-OS,SWv{release}",
}


class Neighbor(NamedTuple):
    """The message of an end."""

    system: str
    description: str
    chassis: str
    management: str
    port_id: str
    port_type: str  # mac, ifname, local
    port_description: str
    is_host: bool


def netdev(rail: int, plane: int, planes: int) -> str:
    """The network device of a host's fabric port; behind the rails are the storage card's."""
    if rail >= len(RAIL_BUSES):
        port = rail - len(RAIL_BUSES)
        return f"enp132s0f{port}np{port}"
    bus = RAIL_BUSES[rail]
    return f"enp{bus}s0np0" if planes == 1 else f"enp{bus}s0f{plane}np{plane}"


def host_mac(fabric: Fabric, end: End) -> int:
    """A port has room for 16 addresses: a second plane has the upper half."""
    rail, plane = divmod(end.port, fabric.planes)
    return identity.mac(EMBER, end.machine + fabric.first_number, rail) + 8 * plane


def system_description(switch: Switch) -> str:
    """What the switch calls itself."""
    model = f"M{switch.model.name}" if switch.system == "onyx" else switch.model.name
    words = {"sku": switch.model.sku, "model": model, "release": switch.release}
    return _DESCRIPTIONS[switch.system].format(**words)


def _host(fabric: Fabric, end: End) -> Neighbor:
    rail, plane = divmod(end.port, fabric.planes)
    management = identity.management_address(EMBER, end.machine + fabric.first_number)
    mac = mac_text(host_mac(fabric, end))
    chassis = mac_text(host_mac(fabric, End(end.machine, 0)))
    return Neighbor(
        fabric.host_name(end.machine), HOST_DESCRIPTION, chassis, address_text(management), mac,
        "mac", netdev(rail, plane, fabric.planes), True,
    )  # fmt: skip


def neighbor(fabric: Fabric, heard: Heard) -> Neighbor:
    """The message of whoever is heard."""
    if heard.machine < 0:
        return Neighbor(heard.system, "", heard.chassis, "", heard.port_id, "ifname", "", False)
    if fabric.is_host(heard.machine):
        return _host(fabric, End(heard.machine, heard.port))
    switch = fabric.switch(heard.machine)
    port = switch.ports[heard.port]
    kind = "local" if switch.system == "sonic" else "ifname"
    return Neighbor(
        switch.name, system_description(switch), switch.chassis, switch.management,
        port.announced, kind, port.description, False,
    )  # fmt: skip


def heard_by(fabric: Fabric, switch: Switch, port: int) -> list[Neighbor]:
    """Everybody whom a switch's port hears; nobody where it is down."""
    end = End(switch.number, port)
    if end not in fabric.hearing and not fabric.is_up(switch, port):
        return []
    return [neighbor(fabric, heard) for heard in fabric.heard(end)]
