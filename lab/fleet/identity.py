"""What tells hosts apart: addresses, serial numbers, GUIDs.

Unique over all sites, hosts and ports for host numbers 1 to LARGEST. Host 1 of the site `ember` has
the numbers of the project's samples.
"""

from typing import NamedTuple

LARGEST = 131_071
PLACES = 16  # ports of a host that can have an identity of their own
HOSTS_PER_SUBNET = 250

# Hosts of `ember` below this number have addresses below 5c:25:73:a0, as in the samples.
_FIRST_HOSTS = 4096
# Letters of a card's serial number, in the order in which they are used up.
_LETTERS = "XYZTRSKABCDEFGHJLMNPQUVW"
_HOSTS_PER_LETTER = 600
_FIBRE, _COPPER = 0x0A118, 0x0C019


class Site(NamedTuple):
    """A place with hosts of one kind."""

    name: str
    number: int
    # MAC prefixes that the vendor owns, one per 65,536 hosts; no two sites share one.
    prefixes: tuple[int, int]
    octet: int  # rails have 10.octet.x.y and 20 further octets
    host_letter: str = "h"

    def host(self, number: int) -> str:
        """ember-h001."""
        return f"{self.name}-{self.host_letter}{number:03d}"


EMBER = Site("ember", 0, (0x946DAE, 0xA088C2), 21)
BASALT = Site("basalt", 1, (0xB83FD2, 0xE8EBD3), 45)
GARNET = Site("garnet", 2, (0x1070FD, 0x043F72), 69, "n")
SLATE = Site("slate", 3, (0x0C42A1, 0x1C34DA), 93, "n")
OPAL = Site("opal", 4, (0x08C0EB, 0xB8CEF6), 117, "w")
MIST = Site("mist", 5, (0x98039B, 0x506B4B), 141, "vm")


def checked(number: int) -> int:
    """The host's number, refused where identities would repeat."""
    if not 1 <= number <= LARGEST:
        raise ValueError(f"hosts are numbered 1 to {LARGEST}, not {number}")
    return number


# ---- MAC addresses and what is made of them


def mac(site: Site, number: int, place: int) -> int:
    """The first of 16 addresses of a port."""
    if site is EMBER and number < _FIRST_HOSTS:
        return 0x5C2573A00000 + number * 0x100 + place * 0x10
    return site.prefixes[number >> 16] << 24 | (number & 0xFFFF) * 0x100 + place * 0x10


def management_mac(site: Site, number: int) -> int:
    """Of the management port."""
    return 0x5C2573B00000 + site.number * (LARGEST + 1) + number


def mac_text(address: int) -> str:
    """5c:25:73:a0:01:00."""
    return ":".join(f"{address >> shift & 0xFF:02x}" for shift in range(40, -1, -8))


def guid(address: int) -> str:
    """The card's GUID as the kernel prints it: prefix, 03 00, the rest."""
    whole = (address >> 24) << 40 | 0x03 << 32 | (address & 0xFFFFFF)
    return ":".join(f"{whole >> shift & 0xFFFF:04x}" for shift in (48, 32, 16, 0))


def ipoib_address(port_guid: str) -> str:
    """The 20 bytes of an IPoIB netdev: flags and QP number, the default GID."""
    digits = port_guid.replace(":", "")
    tail = ":".join(digits[at : at + 2] for at in range(0, 16, 2))
    return f"00:00:10:29:fe:80:00:00:00:00:00:00:{tail}"


def interface_id(text: str) -> tuple[int, int, int, int]:
    """The last four groups of the link-local address: of a MAC, or of an IPoIB address' GUID."""
    parts = [int(part, 16) for part in text.split(":")[-8:]]
    if len(parts) == 6:
        parts[3:3] = [0xFF, 0xFE]
    parts[0] ^= 0x02
    a, b, c, d, e, f, g, h = parts
    return a << 8 | b, c << 8 | d, e << 8 | f, g << 8 | h


def link_local(text: str) -> str:
    """fe80::5e25:73ff:fea0:100, as tools shorten it; our groups are never all zero."""
    return "fe80::" + ":".join(f"{part:x}" for part in interface_id(text))


def link_local_gid(text: str) -> str:
    """fe80:0000:0000:0000:5e25:73ff:fea0:0100."""
    return "fe80:0000:0000:0000:" + ":".join(f"{part:04x}" for part in interface_id(text))


def mapped_gid(address: tuple[int, int, int, int]) -> str:
    """An IPv4 address as a GID."""
    a, b, c, d = address
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


# ---- IPv4


def rail_address(site: Site, number: int, place: int) -> tuple[int, int, int, int]:
    """10.21.rail.host for the first 250 hosts; 25 such blocks fill a second octet."""
    block, host = divmod(number - 1, HOSTS_PER_SUBNET)
    return 10, site.octet + block // 25, place + 10 * (block % 25), host + 1


def management_address(site: Site, number: int) -> tuple[int, int, int, int]:
    """192.0.2.11 is host 1 of ember in the samples; most others are in 10.192.0.0/10."""
    if site is EMBER and number <= 200:
        return 192, 0, 2, 10 + number
    whole = site.number * (LARGEST + 1) + number
    return 10, 192 + (whole >> 16), whole >> 8 & 0xFF, whole & 0xFF


def management_network(address: tuple[int, int, int, int]) -> tuple[str, int, str]:
    """Network, prefix length and gateway of a management address."""
    if address[0] == 10:
        return "10.192.0.0", 10, "10.255.255.254"
    return "192.0.2.0", 24, "192.0.2.254"


def address_text(address: tuple[int, int, int, int]) -> str:
    """10.21.0.1."""
    return ".".join(map(str, address))


# ---- serial numbers


def _week(year: int, week: int, back: int) -> str:
    """2448, `back` weeks earlier."""
    weeks = year * 52 + week - 1 - back
    return f"{weeks // 52:02d}{weeks % 52 + 1:02d}"


def card_serial(site: Site, number: int, place: int) -> str:
    """MT2448X01011: the second card of host 1; two digits say the place, three the host."""
    block, inside = divmod(number, _HOSTS_PER_LETTER)
    weeks, letter = divmod(block, len(_LETTERS))
    hundred, host = divmod(inside, 100)
    week = _week(24, 48, site.number * 10 + weeks)
    lead = place + PLACES * hundred
    return f"MT{week}{_LETTERS[letter]}{lead:02d}{host * 10 + place % 10:03d}"


def card_uid(address: int, place: int) -> str:
    """The long serial number of a card; it ends in its MAC address."""
    return f"7be1{0x1E003 + place * 0xA001:08x}2c95ef118000{address:012x}"


def optic_serial(site: Site, number: int, place: int) -> str:
    """MT2445FT0A118."""
    value = _FIBRE + (number - 1) * PLACES + place
    return f"MT{_week(24, 45, site.number * 3 + (value >> 20))}FT{value & 0xFFFFF:05X}"


def cable_serial(site: Site, number: int, place: int) -> str:
    """MT2438VB0C019 is the first copper cable of host 1, in place 8."""
    value = _COPPER + (number - 1) * PLACES + (place - 8) % PLACES
    return f"MT{_week(24, 38, site.number * 3 + (value >> 20))}VB{value & 0xFFFFF:05X}"


def gpu_serial(site: Site, number: int, place: int) -> str:
    """1654024001733."""
    ours = place * 10_000 + (number - 1) * 100_000
    return str(1_654_024_001_733 + ours + site.number * 20_000_000_000)


def gpu_uuid(site: Site, number: int, place: int) -> str:
    """GPU-5e0b1f00-27c4-4d1e-9a3b-6f20c08d4e11."""
    tail = f"{place}{0xC08D4E11 + number - 1:08x}"
    return f"GPU-5e0b1f{place}{site.number:x}-27c4-4d1e-9a3b-6f2{tail}"


def boot_id(site: Site, number: int) -> str:
    """Of the running system."""
    return f"5f0c3d1e-7a2b-4c4d-8e9f-{site.number:04x}{number:08x}"


def root_uuid(site: Site, number: int) -> str:
    """Of the root file system, as the kernel's command line has it."""
    tail = 0x0D1E5A7B9C21 + number - 1 + (site.number << 40)
    return f"3f0c8f5e-5f31-4c6d-9f2e-{tail:012x}"
