"""What hosts hear through LLDP: the leaves of rails and storage, and the management switches."""

from dataclasses import replace

from lab.fleet.identity import EMBER, Site, link_local, mac_text
from lab.fleet.model import Neighbor

HOSTS_PER_POD = 128  # ports of a leaf that go to hosts
HOSTS_PER_RACK = 48  # ports of a management switch

# Where a kind of switch begins in its site's room of 16,384 numbers.
_LEAF, _STORAGE, _MANAGEMENT = 0, 8_400, 11_000
_ROOM = 16_384
_SONIC = (
    "SONiC Software Version: SONiC.202411.0 - HwSku: Mellanox-SN5600-V256 - "
    "Distribution: Debian 12.8 - Kernel: 6.1.0-22-2-amd64"
)


def _chassis(site: Site, kind: int, number: int) -> str:
    """A MAC of NVIDIA's own prefix; the samples know those of ember's first switches."""
    known = {_LEAF: 0x5C2573C00000, _STORAGE: 0x5C2573D00000}.get(kind)
    if site is EMBER and known and number < 4096:
        return mac_text(known + number * 0x100)
    return mac_text(0x48B02D000000 + (site.number * _ROOM + kind + number) * 0x40)


def _management(site: Site, kind: int, number: int) -> str:
    """198.51.100.x as in the samples, else from 198.18.0.0/15."""
    first, last = {_LEAF: (20, 16), _STORAGE: (40, 40), _MANAGEMENT: (200, 50)}[kind]
    if site is EMBER and number <= last:
        return f"198.51.100.{first + number}"
    whole = site.number * _ROOM + kind + number
    return f"198.{18 + (whole >> 16)}.{whole >> 8 & 0xFF}.{whole & 0xFF}"


def leaf(site: Site, number: int, rail: int, rails: int = 8) -> Neighbor:
    """A SONiC leaf per rail and pod; two hosts share a port that is split in two."""
    pod, place = divmod(number - 1, HOSTS_PER_POD)
    switch = rail + 1 + rails * pod
    return Neighbor(
        f"{site.name}-leaf{switch:02d}",
        _chassis(site, _LEAF, switch),
        _SONIC,
        _management(site, _LEAF, switch),
        f"etp{place // 2 + 1}{'ab'[place % 2]}",
        f"Ethernet{place * 4}",
    )


def _cumulus(site: Site, kind: int, switch: int, name: str, model: str) -> Neighbor:
    chassis = _chassis(site, kind, switch)
    return Neighbor(
        name,
        chassis,
        f"Cumulus Linux version 5.11.1 running on Nvidia {model}",
        _management(site, kind, switch),
        "",
        "",
        link_local(chassis),
    )


def storage_leaf(site: Site, number: int, port: int) -> Neighbor:
    """A Cumulus leaf per port of the storage card and pod."""
    pod, place = divmod(number - 1, HOSTS_PER_POD)
    switch = port + 1 + 2 * pod
    prefix = "cinder" if site is EMBER else f"{site.name}-storage"
    found = _cumulus(site, _STORAGE, switch, f"{prefix}-leaf{switch:02d}", "SN5600")
    # 64 cages; the second half of a pod has the other half of each.
    name = f"swp{place % 64 + 1}s{place // 64}"
    return replace(found, port=name, port_description=f"to {site.host(number)} storage")


def management_switch(site: Site, number: int) -> Neighbor:
    """The switch of the rack."""
    rack, place = divmod(number - 1, HOSTS_PER_RACK)
    found = _cumulus(site, _MANAGEMENT, rack + 1, f"{site.name}-oob{rack + 1:02d}", "SN2201")
    return replace(found, port=f"swp{place + 1}", port_description="management")
