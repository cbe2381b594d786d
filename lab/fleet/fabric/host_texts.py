"""What tells the hosts of a fabric apart, as texts in one order: to write one host's facts as
another's. Cheaper than a whole model of every host by three orders."""

from collections.abc import Iterator

from lab.fleet import identity
from lab.fleet.fabric.hearing import neighbor, netdev
from lab.fleet.fabric.hosts import Places
from lab.fleet.fabric.model import End, Fabric
from lab.fleet.fabric.routes import gateway, host_address
from lab.fleet.identity import (
    EMBER,
    address_text,
    guid,
    link_local,
    link_local_gid,
    mac_text,
    mapped_gid,
)
from lab.fleet.model import Neighbor
from lab.fleet.switches import management_switch, storage_leaf

_GPUS = 8
_STORAGE_PLACES = (8, 9)
_STORAGE_NETDEVS = ("enp132s0f0np0", "enp132s0f1np1")
LLDP_COLUMNS = (
    *("chassis_id", "system_name", "system_description"),
    *("port_id", "port_description", "management_addresses"),
)


def _of_mac(address: int) -> list[str]:
    text, name = mac_text(address), guid(address)
    plain = f"{address:012x}"
    return [
        text, text.upper(), plain, plain.upper(), name, name.replace(":", ""),
        name.replace(":", "").upper(), link_local(text), link_local_gid(text),
    ]  # fmt: skip


def _of_address(address: tuple[int, int, int, int]) -> list[str]:
    text = address_text(address)
    return [text, f"{text}/31", mapped_gid(address)]


def identities(fabric: Fabric, host: int, places: Places) -> list[str]:
    """Of one host; the same order for all of a fabric."""
    number = host + fabric.first_number
    found = [fabric.host_name(host), identity.boot_id(EMBER, number)]
    found.append(identity.root_uuid(EMBER, number))
    for port in range(fabric.host_ports):
        rail, plane = divmod(port, fabric.planes)
        mac, place = identity.mac(EMBER, number, rail), places[End(host, port)]
        found += _of_mac(mac + 8 * plane)
        found += [*_of_address(host_address(place)), address_text(gateway(place))]
        found += [identity.card_serial(EMBER, number, rail), identity.card_uid(mac, rail)]
        found.append(identity.optic_serial(EMBER, number, rail))
    for place_number in _STORAGE_PLACES if fabric.planes == 1 else ():
        mac = identity.mac(EMBER, number, place_number)
        address = identity.rail_address(EMBER, number, place_number)
        found += [*_of_mac(mac), *_of_address(address), f"{address_text((*address[:3], 0))}/24"]
        found += [identity.card_serial(EMBER, number, 8), identity.card_uid(mac, 8)]
        found.append(identity.cable_serial(EMBER, number, place_number))
    found += _of_mac(identity.management_mac(EMBER, number))
    found.append(address_text(identity.management_address(EMBER, number)))
    for gpu in range(_GPUS):
        found += [identity.gpu_serial(EMBER, number, gpu), identity.gpu_uuid(EMBER, number, gpu)]
    return found


def _of_others(fabric: Fabric, host: int) -> Iterator[Neighbor]:
    """Storage leaves and the management switch, which are no part of the fabric."""
    number = host + fabric.first_number
    if fabric.planes == 1:
        yield from (storage_leaf(EMBER, number, port) for port in (0, 1))
    yield management_switch(EMBER, number)


def lldp(fabric: Fabric, host: int) -> list[str | None]:
    """What a host hears on each of `netdevs`, in the order of LLDP_COLUMNS."""
    found: list[str | None] = []
    for port in range(fabric.host_ports):
        heard = fabric.heard(End(host, port))
        if not heard:
            found += [None] * len(LLDP_COLUMNS)
            continue
        one = neighbor(fabric, heard[0])
        # The probe keeps what names the system: of SONiC not its kernel.
        description = one.description.partition(" - Distribution")[0]
        is_cumulus = one.description.startswith("Cumulus")
        more = f",{link_local(one.chassis)}" if is_cumulus else ""
        found += [one.chassis, one.system, description or None, one.port_id,
                  one.port_description or None, f"{one.management}{more}"]  # fmt: skip
    for other in _of_others(fabric, host):
        # Their port descriptions are free text, which the probe drops.
        found += [other.chassis, other.system, other.description, other.port, None,
                  f"{other.management},{other.management_v6}"]  # fmt: skip
    return found


def netdevs(fabric: Fabric) -> list[str]:
    """Of a host's ports: those of the fabric in their order, storage, management."""
    planes = fabric.planes
    found = [netdev(*divmod(port, planes), planes) for port in range(fabric.host_ports)]
    return [*found, *(_STORAGE_NETDEVS if planes == 1 else ()), "eno1"]
