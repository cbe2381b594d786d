"""Ports of cards in a host: what one of them shows, by what it is for.

rail         RoCE, configured as the vendor's guides have it: 9000 bytes, DSCP, PFC on 3
infiniband   a port of an InfiniBand fabric with its IPoIB netdev
front_end    Ethernet as the factory made it: 1500 bytes, PCP, no flow control
"""

from dataclasses import dataclass, fields, replace

from lab.fleet import identity, ports
from lab.fleet.healthy.parts import Part
from lab.fleet.healthy.who import Who
from lab.fleet.model import Netdev, Nic
from lab.fleet.port_model import Firmware, Link, Optic, Qos
from lab.fleet.switches import leaf, storage_leaf
from lab.fleet.traffic import infiniband_traffic, roce_traffic

DRIVER = "24.10-1.1.4"  # the vendor's package, as on most such hosts
RATES = {
    (25, 1): "25 Gb/sec (1X EDR)",
    (100, 4): "100 Gb/sec (4X EDR)",
    (200, 2): "200 Gb/sec (2X NDR)",
    (400, 4): "400 Gb/sec (4X NDR)",
    (800, 4): "800 Gb/sec (4X XDR)",
}
# What mlx5 and its firmware start with: no code points, no flow control, classes 0 and 1 swapped
# (Linux en_dcbnl.c mlx5e_ets_init).
FACTORY = Qos(
    trust="pcp", pfc=(False,) * 8, buffer_bytes=(262_016, 0, 0, 0, 0, 0, 0, 0),
    priority_buffer=(0,) * 8, priority_class=(1, 0, 2, 3, 4, 5, 6, 7), cable_length_m=7,
    class_scheduler=("vendor",) * 8, class_bandwidth=(0,) * 8, default_tos=None, traffic_class=0,
    app_dscps=(),
)  # fmt: skip
_FLASH = Firmware(release_date="12.12.2024")
_COPPER = {
    "QSFP112": ("MCP7Y10-N002", "Cable with 2 far-ends"),
    "QSFP28": ("MCP1600-C003E30L", "Unspecified"),
    "SFP28": ("MCP2M00-A003", "Unspecified"),
}


@dataclass(frozen=True)
class Socket:
    """Where a port is and what it is called."""

    part: Part
    address: str
    name: str  # of the RDMA device
    netdev: str
    place: int  # of the card in its host, for its identity
    index: int  # of the netdev
    port: int = 0
    network: int | None = None  # None = that of the card's place


def _holder(who: Who, number: int) -> int:
    """In place of a host's number: two for each host, beyond those of any site of this room."""
    return 20_000 + who.own * 2 + number // 16


def optic(who: Who, at: Socket) -> Optic:
    """What is in the cage."""
    part, number = at.part, at.place * 2 + at.port
    if part.copper:
        order, breakout = _COPPER[part.form]
        found = ports.copper(who.site, who.own, 8 + number % 8)
        serial = identity.cable_serial(who.site, _holder(who, number), number % 16)
        return replace(
            found, form=part.form, part_number=order, breakout=breakout, length_m=3.0, serial=serial
        )
    found = ports.fibre(who.site, who.own, at.place)
    serial = identity.optic_serial(who.site, _holder(who, number), number % 16)
    found = replace(found, serial=serial, form=part.form)
    if part.gbps < 800:
        return found
    return replace(found, part_number="MMS4A20-XM800", lane_gbps=200, wavelength_nm=1310)


def link(who: Who, at: Socket) -> Link:
    """A link that corrects some errors and loses nothing; NRZ lanes have none to correct."""
    if at.part.gbps <= 100:
        return Link(lanes=at.part.lanes, raw_errors=(0,) * at.part.lanes)
    found = ports.link_400g(who.own, at.place)
    return replace(found, lanes=at.part.lanes, raw_errors=found.raw_errors[: at.part.lanes])


def _port(who: Who, at: Socket) -> Nic:
    """What all sorts of use have in common."""
    part, card = at.part, who.mac(at.place)
    mac = who.mac(at.place, at.port)
    product = part.description.replace(";", ",").rstrip(",")
    return Nic(
        at.netdev, at.address, identity.mac_text(mac), at.index, 9000, part.gbps * 1000,
        port_name=f"p{at.port}", driver=part.driver, driver_version=DRIVER, name=at.name,
        guid=identity.guid(mac), image_guid=identity.guid(card),
        rate=RATES[part.gbps, part.lanes], firmware=part.firmware, psid=part.psid, chip=part.chip,
        family=part.family, part_number=part.part_number, description=part.description,
        address_v4=who.address(at.place if at.network is None else at.network),
        serial=identity.card_serial(who.site, who.own, at.place), optic=optic(who, at),
        link=link(who, at), flash=_FLASH, ports=part.ports, order_number=part.order_number,
        product=product, uid=identity.card_uid(card, at.place), parameter_set=part.parameter_set,
        parameters=_link_types(part, "ETH(2)"),
    )  # fmt: skip


def _link_types(part: Part, word: str) -> dict[str, tuple[str, str]]:
    return {f"LINK_TYPE_P{port + 1}": (word, word) for port in range(part.ports)}


def rail(who: Who, at: Socket, rails: int = 8) -> Nic:
    """A port that carries collectives over RoCE."""
    nic = _port(who, at)
    traffic = roce_traffic(who.own, at.place)
    number = at.place if at.network is None else at.network
    return replace(
        nic, neighbor=leaf(who.site, who.own, number, rails),
        addresses=ports.addresses(nic.mac, nic.address_v4), arp=ports.RAIL_ARP,
        gids=ports.roce_gids(nic.mac, nic.address_v4, nic.netdev), counters=traffic.counters,
        hw_counters=traffic.hw_counters, statistics=traffic.statistics,
    )  # fmt: skip


def infiniband(who: Who, at: Socket, lid: int) -> Nic:
    """A port of an InfiniBand fabric; the subnet manager has LID 1."""
    nic = _port(who, at)
    traffic = infiniband_traffic(who.own, at.place)
    text = identity.ipoib_address(nic.guid)
    return replace(
        nic, mac=text, mtu=4092, driver="mlx5_core[ib_ipoib]", link_layer="InfiniBand", lid=lid,
        sm_lid=1, qos=ports.INFINIBAND_QOS, parameters=_link_types(at.part, "IB(1)"),
        addresses=ports.addresses(text, nic.address_v4), gids=ports.infiniband_gids(nic.guid),
        counters=traffic.counters, hw_counters=traffic.hw_counters, statistics=traffic.statistics,
    )  # fmt: skip


def front_end(who: Who, at: Socket, mtu: int = 1500) -> Nic:
    """A port to the rest of the data centre, left as the factory made it."""
    nic = _port(who, at)
    statistics = dict(list(roce_traffic(who.own, at.place).statistics.items())[:4])
    gids = ports.roce_gids(nic.mac, nic.address_v4, nic.netdev)
    uplink = at.place % 2 * 2 + at.port  # no two ports of a host are on one switch port
    return replace(
        nic, mtu=mtu, active_mtu=1024 if mtu < 2048 else 4096, qos=FACTORY,
        neighbor=storage_leaf(who.site, who.own, uplink), statistics=statistics,
        addresses=ports.addresses(nic.mac, nic.address_v4), gids=gids,
    )  # fmt: skip


def without_address(nic: Nic) -> Nic:
    """A port whose address is a VLAN's or a bond's: only the link-local one is left."""
    return replace(nic, addresses=nic.addresses[1:], gids=nic.gids[:2])


def unplugged(nic: Nic) -> Nic:
    """A port that nobody has put a cable into."""
    gids = nic.gids[:2] if nic.link_layer == "Ethernet" else nic.gids
    return replace(
        nic, up=False, addresses=(), neighbor=None, optic=Optic(kind="none"), gids=gids,
        counters={}, hw_counters={}, statistics={}, lid=0xFFFF if nic.lid else 0, sm_lid=0,
    )  # fmt: skip


def enslaved(nic: Nic, bond: str, mac: str) -> Nic:
    """A member of a bond: it has the bond's MAC address, and no address of its own."""
    permanent = "" if nic.mac == mac else nic.mac
    return replace(
        nic, master=bond, mac=mac, permanent_mac=permanent, addresses=(),
        gids=tuple(replace(entry, netdev=bond) for entry in nic.gids),
    )  # fmt: skip


def bond(name: str, first: Nic, index: int, members: int) -> Netdev:
    """The netdev of a bond, without an address."""
    return Netdev(
        name, "", first.mac, index, first.mtu, first.speed * members, driver="bonding",
        driver_version=first.driver_version, addresses=(f"{identity.link_local(first.mac)}/64",),
    )  # fmt: skip


def as_netdev(nic: Nic) -> Netdev:
    """The port alone: its RDMA device is the one of the other member of its bond."""
    return Netdev(**{item.name: getattr(nic, item.name) for item in fields(Netdev)})
