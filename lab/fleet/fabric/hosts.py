"""The hosts of a fabric: HGX machines whose rails have the leaves and addresses of the fabric.

One plane: eight single-port cards, of which a fabric of fewer rails has the first; in a fabric of
ten, the ninth and tenth are the ports of the storage card. Two planes: cards with two ports, and no
storage card.
"""

from dataclasses import replace

from lab.fleet import identity, ports
from lab.fleet.ember import RAIL_BUSES, hgx_h100
from lab.fleet.fabric.hearing import host_mac, neighbor, netdev
from lab.fleet.fabric.model import End, Fabric
from lab.fleet.fabric.routes import gateway, host_address, planned_places
from lab.fleet.faults.change import without_function
from lab.fleet.identity import address_text, link_local, mac_text
from lab.fleet.model import Function, HostModel, Neighbor, Nic
from lab.fleet.platform import address
from lab.fleet.port_model import Link
from lab.fleet.ports import RULES
from lab.fleet.presets import host_preset
from lab.fleet.software import library_settings
from lab.fleet.system_model import Route, RoutingRule

Places = dict[End, tuple[int, int]]
_MANAGEMENT = "eno1"
_TWO_PORTS = "MT_0000000834"
_STORAGE_BUS = 0x84
_RATES = {
    (400_000, 4): "400 Gb/sec (4X NDR)",
    (200_000, 4): "200 Gb/sec (4X HDR)",
    (200_000, 2): "200 Gb/sec (2X NDR)",
}


def _neighbor(fabric: Fabric, end: End) -> Neighbor | None:
    heard = fabric.heard(end)
    if not heard:
        return None
    one = neighbor(fabric, heard[0])
    local = link_local(one.chassis) if one.chassis else ""
    is_cumulus = one.description.startswith("Cumulus")
    return Neighbor(
        one.system, one.chassis, one.description, one.management, one.port_id,
        one.port_description, local if is_cumulus else "",
    )  # fmt: skip


def _nic(fabric: Fabric, base: Nic, end: End, places: Places) -> Nic:
    """A port of the fabric, made of the rail's usual card."""
    rail, plane = divmod(end.port, fabric.planes)
    link = fabric.by_end().get(end)
    like = link or 0
    speed, lanes = fabric.links.speed_mbps[like], fabric.links.lanes[like]
    number = host_mac(fabric, end)
    mac, name = mac_text(number), netdev(rail, plane, fabric.planes)
    v4 = host_address(places[end])
    made = replace(
        base, netdev=name, mac=mac, mtu=fabric.host_mtu, speed=speed, rate=_RATES[speed, lanes],
        up=link is not None and fabric.links.up[link], neighbor=_neighbor(fabric, end),
        address_v4=v4, addresses=ports.addresses(mac, v4, 31), gids=ports.roce_gids(mac, v4, name),
        guid=identity.guid(number), name=f"mlx5_{end.port}", index=end.port + 4,
    )  # fmt: skip
    if fabric.planes > 1:
        made = replace(
            made, address=address(RAIL_BUSES[rail], 0, plane), port_name=f"p{plane}",
            psid=_TWO_PORTS, parameter_set=_TWO_PORTS, ports=2, part_number="MCX755106AS-HEA_Ax",
            link=Link(lanes=lanes, raw_errors=(51_288, 70_413), raw_ber=(1, 10)),
        )  # fmt: skip
    return made


def _routes(nics: list[Nic], places: Places, host: int) -> tuple[list[Route], list[RoutingRule]]:
    """A table per port: what leaves with a port's address leaves through it."""
    routes, rules = [], []
    for port, nic in enumerate(nics):
        source, table = address_text(nic.address_v4), str(100 + port)
        network = f"{source}/31"
        hop = address_text(gateway(places[End(host, port)]))
        routes += [
            Route(network, nic.netdev, source=source),
            Route(network, nic.netdev, source=source, table=table, protocol="static"),
            Route("default", nic.netdev, gateway=hop, table=table, protocol="static"),
        ]
        rules.append(RoutingRule(32000 + port, source, table))
    return routes, rules


def _second_functions(functions: tuple[Function, ...], rails: set[str]) -> tuple[Function, ...]:
    """Each card of a rail with its second function beside the first."""
    found: list[Function] = []
    for function in functions:
        found.append(replace(function, below=_second_functions(function.below, rails)))
        if function.address in rails:
            found.append(replace(function, address=f"{function.address[:-1]}1"))
    return tuple(found)


def _with_cards(fabric: Fabric, host: HostModel) -> HostModel:
    """PCI functions of the cards that the fabric's hosts have, and no others."""
    for rail in range(fabric.rails, len(RAIL_BUSES)):
        host = without_function(host, address(RAIL_BUSES[rail]))
    if fabric.planes == 1:
        return host
    for port in (0, 1):
        host = without_function(host, address(_STORAGE_BUS, 0, port))
    rails = {address(RAIL_BUSES[rail]) for rail in range(fabric.rails)}
    buses = tuple(
        replace(bus, functions=_second_functions(bus.functions, rails)) for bus in host.buses
    )
    return replace(host, buses=buses)


def host_model(fabric: Fabric, host: int, places: Places | None = None) -> HostModel:
    """A host by its number among machines; `places` where many are made."""
    known = places if places is not None else planned_places(fabric)
    base = hgx_h100(host + fabric.first_number)
    nics = [
        _nic(fabric, base.nics[port // fabric.planes], End(host, port), known)
        for port in range(fabric.host_ports)
    ]
    others = [nic for nic in base.nics[max(len(RAIL_BUSES), fabric.rails) :] if fabric.planes == 1]
    storage = {nic.netdev for nic in others}
    routes, rules = _routes(nics, known, host)
    compute = min(fabric.rails, len(RAIL_BUSES)) * fabric.planes
    kept = tuple(r for r in base.routes if r.netdev == _MANAGEMENT or r.netdev in storage)
    made = replace(
        base, name=fabric.host_name(host), nics=(*nics, *others),
        routes=(*kept[:2], *routes, *kept[2:]), rules=(RULES[0], *rules, *RULES[1:]),
        kernel=replace(base.kernel, library_settings=library_settings(compute)),
    )  # fmt: skip
    made = _with_cards(fabric, made)
    if fabric.host_preset:
        made = host_preset(fabric.host_preset).applied(made, fabric.host_ports)
    for work in fabric.host_work.get(host, ()):
        made = work(made)
    return made
