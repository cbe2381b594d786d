"""Parts that ports of several host models have in common: GIDs, optics, addresses, routes."""

from lab.fleet.identity import (
    Site,
    address_text,
    cable_serial,
    link_local,
    link_local_gid,
    mac_text,
    management_address,
    management_mac,
    management_network,
    mapped_gid,
    optic_serial,
)
from lab.fleet.model import Netdev, Nic
from lab.fleet.port_model import GidEntry, Lane, Link, Optic, Qos
from lab.fleet.switches import management_switch
from lab.fleet.system_model import Route, RoutingRule

# What the site's own settings are for many rails in one host: each answers for itself only.
RAIL_ARP = (("arp_announce", 2), ("arp_filter", 0), ("arp_ignore", 1), ("rp_filter", 2))
# InfiniBand has neither priorities nor a type of service.
INFINIBAND_QOS = Qos(default_tos=None, traffic_class=0, pfc=(False,) * 8)

RULES = (
    RoutingRule(0, "all", "local"),
    RoutingRule(32766, "all", "main"),
    RoutingRule(32767, "all", "default"),
)
_LANES = (
    Lane(1.3225, 1.5396, 7.416, 24.31, 25.12),
    Lane(1.2552, 1.5495, 7.380, 24.07, 25.60),
    Lane(1.3810, 1.4639, 7.402, 23.90, 24.98),
    Lane(1.2863, 1.4896, 7.448, 24.44, 25.33),
)


def link_400g(number: int, place: int) -> Link:
    """Four lanes that correct some errors and lose nothing; rail 0 of host 1 as in the samples."""
    more = ((number - 1) * 31 + place * 17) % 97 * 1013
    return Link(
        raw_errors=(904_771 + more, 1_187_230 + more, 642_208 + more, 2_017_944 + more),
        raw_ber=(7, 11),
        minutes_since_clear=1442.7 + (number - 1) % 50,
    )


def fibre(site: Site, number: int, place: int, form: str = "OSFP") -> Optic:
    """A 400G transceiver of the cage's form."""
    step = ((number - 1) * 7 + place) % 40
    return Optic(
        form=form,
        part_number="MMA4Z00-NS400" if form == "OSFP" else "MMA1Z00-NS400",
        serial=optic_serial(site, number, place),
        temperature_c=round(47.31 + step / 10, 2),
        voltage_v=3.2714,
        lanes=_LANES,
    )


def copper(site: Site, number: int, place: int) -> Optic:
    """A passive splitter cable of 200G per end."""
    return Optic(
        kind="copper",
        form="QSFP112",
        part_number="MCP7Y10-N002",
        serial=cable_serial(site, number, place),
        revision="A2",
        length_m=2.0,
        reach_om4_m=0,
        temperature_c=0.0,
        voltage_v=0.0,
        wavelength_nm=0,
        max_power_w=1.5,
        manufactured="240829",
        firmware="",
        breakout="Cable with 2 far-ends",
    )


def optic_200g(site: Site, number: int, place: int) -> Optic:
    """An active optical cable between HDR ports."""
    return Optic(
        form="QSFP56",
        part_number="MFS1S00-H010V",
        serial=optic_serial(site, number, place),
        revision="B2",
        length_m=10.0,
        reach_om4_m=0,
        temperature_c=round(44.2 + ((number - 1) * 7 + place) % 40 / 10, 2),
        voltage_v=3.2985,
        lanes=_LANES,
        max_power_w=5.0,
    )


def roce_gids(mac: str, address: tuple[int, int, int, int], netdev: str) -> tuple[GidEntry, ...]:
    """Each address twice, as RoCE v1 and v2; of bonded ports they are the bond's."""
    local, mapped = link_local_gid(mac), mapped_gid(address)
    return (
        GidEntry(0, local, "IB/RoCE v1", netdev),
        GidEntry(1, local, "RoCE v2", netdev),
        GidEntry(2, mapped, "IB/RoCE v1", netdev),
        GidEntry(3, mapped, "RoCE v2", netdev),
    )


def infiniband_gids(guid: str) -> tuple[GidEntry, ...]:
    """The port's own GID; the kernel names no netdev for it."""
    return (GidEntry(0, f"fe80:0000:0000:0000:{guid}", "IB/RoCE v1"),)


def addresses(mac: str, address: tuple[int, int, int, int], prefix: int = 24) -> tuple[str, ...]:
    """10.21.0.1/24 and the link-local address."""
    return f"{address_text(address)}/{prefix}", f"{link_local(mac)}/64"


def subnet(address: tuple[int, int, int, int]) -> str:
    """10.21.0.0/24."""
    return address_text((*address[:3], 0)) + "/24"


def rail_routes(
    nics: tuple[Nic, ...], first: int = 0
) -> tuple[tuple[Route, ...], tuple[RoutingRule, ...]]:
    """A table per rail: what leaves with a rail's address leaves through this rail."""
    routes, rules = [], []
    for rail, nic in enumerate(nics, first):
        source = address_text(nic.address_v4)
        gateway = address_text((*nic.address_v4[:3], 254))
        table = str(100 + rail)
        routes += [
            Route(subnet(nic.address_v4), nic.netdev, source=source),
            Route(
                subnet(nic.address_v4), nic.netdev, source=source, table=table, protocol="static"
            ),
            Route("default", nic.netdev, gateway=gateway, table=table, protocol="static"),
        ]
        rules.append(RoutingRule(32000 + rail, source, table))
    return tuple(routes), (RULES[0], *rules, *RULES[1:])


def connected_routes(nics: tuple[Nic, ...], upper: str = "") -> tuple[Route, ...]:
    """What the kernel itself adds for the address of each port, or of the bond above it."""
    return tuple(
        Route(subnet(nic.address_v4), upper or nic.netdev, source=address_text(nic.address_v4))
        for nic in nics
    )


def management_routes(netdev: str, address: tuple[int, int, int, int]) -> tuple[Route, ...]:
    """The way out of the fabric."""
    network, prefix, gateway = management_network(address)
    source = address_text(address)
    return (
        Route("default", netdev, gateway=gateway, source=source, protocol="static", metric=100),
        Route(f"{network}/{prefix}", netdev, source=source, metric=100),
    )


def management_port(
    site: Site, number: int, release: str, pci: str = "0000:03:00.0", index: int = 2
) -> Netdev:
    """The 10G port through which people come."""
    mac = mac_text(management_mac(site, number))
    address = management_address(site, number)
    _, prefix, _ = management_network(address)
    return Netdev(
        "eno1", pci, mac, index, neighbor=management_switch(site, number),
        addresses=addresses(mac, address, prefix), driver="ixgbe", driver_version=release,
    )  # fmt: skip


def loopback() -> Netdev:
    """Every host has one."""
    return Netdev("lo", "", "00:00:00:00:00:00", 1, mtu=65536, addresses=("127.0.0.1/8", "::1/128"))
