"""Who a healthy host is: its addresses and serial numbers, apart from those of the other sites."""

from typing import NamedTuple

from lab.fleet import identity
from lab.fleet.identity import Site

V4 = tuple[int, int, int, int]
# MAC prefixes of the vendor's and a second octet that no other site has.
_PREFIXES, _OCTET, _SITE = (0x9C0591, 0xC470BD), 165, 6
HOSTS_OF_A_KIND = 250  # a network of theirs has no room for more


class Who(NamedTuple):
    """Host `number` of one kind."""

    model: str
    kind: int  # the place of the model among all
    number: int

    @property
    def site(self) -> Site:
        """Each kind is a site, named like it; all share one room of numbers."""
        return Site(self.model.replace("_", "-"), _SITE, _PREFIXES, _OCTET)

    @property
    def own(self) -> int:
        """The number that no other healthy host of any kind has."""
        if not 1 <= self.number <= HOSTS_OF_A_KIND:
            raise ValueError(f"hosts are numbered 1 to {HOSTS_OF_A_KIND}, not {self.number}")
        return 1000 * self.kind + self.number

    @property
    def name(self) -> str:
        """dell-xe9680-h1001."""
        return self.site.host(self.own)

    def mac(self, place: int, port: int = 0) -> int:
        """Of a port of the card in this place."""
        return identity.mac(self.site, self.own, place) + port

    def address(self, network: int) -> V4:
        """In one of the fabric's networks."""
        return 10, _OCTET + self.kind, network, self.number

    def management(self) -> V4:
        """By which people come."""
        return identity.management_address(self.site, self.own)

    def advertised(self, rail: int) -> str:
        """The prefix that the leaf of a rail advertises: RFC 3849 has room for documents."""
        return f"2001:db8:{self.kind:x}:{rail + 1:x}"
