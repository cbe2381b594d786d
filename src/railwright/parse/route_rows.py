"""Routes of a switch, of any system: table switch_route."""

import re

from railwright.parse.switch_rows import Rows

# The port that packets leave through and the address of the next hop, '' where there is none.
Hop = tuple[str, str]

PREFIX = re.compile(r"[0-9a-fA-F][0-9a-fA-F.:]{1,44}/[0-9]{1,3}|::/0", re.ASCII)
_PORT = re.compile(r"[A-Za-z][A-Za-z0-9_./@-]{0,60}", re.ASCII)
# A packet for one of these has arrived.
_OWN = re.compile(r"lo|lo[0-9]{1,4}|loopback[0-9]{1,4}|null0?|", re.IGNORECASE | re.ASCII)


def add_route(
    rows: Rows, vrf: str, prefix: str, protocol: str | None, hops: list[Hop] | None
) -> None:
    """One route. `hops` None: which way it goes was not told."""
    if hops is not None:
        hops = sorted({hop for hop in hops if not _OWN.fullmatch(hop[0])})
        if not all(_PORT.fullmatch(port) for port, _ in hops):
            hops = None
    rows.add(
        "switch_route",
        vrf=vrf,
        prefix=prefix,
        protocol=protocol.lower() if protocol else None,
        ports=None if hops is None else ",".join(port for port, _ in hops),
        next_hops=None if hops is None else ",".join(address for _, address in hops),
    )
