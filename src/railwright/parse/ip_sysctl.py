"""Probe `ip_sysctl`: ARP and reverse-path settings of each network interface.

Files:  /proc/sys/net/ipv4/conf/*/{arp_announce,arp_filter,arp_ignore,rp_filter,accept_local}

`all` and `default` are folders like those of the interfaces, and rows like theirs.
"""

from collections.abc import Iterator

from railwright.parse.base import INTEGER_BITS, NotUnderstoodError, Row, whole_number
from railwright.parse.files import read_files

_FOLDER = "/proc/sys/net/ipv4/conf/"


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table ip_sysctl."""
    files = read_files(data)
    rows = []
    for path in files:
        netdev, _, name = path.removeprefix(_FOLDER).partition("/")
        if path.startswith(_FOLDER) and netdev and name and "/" not in name:
            value = whole_number(files.text(path), lowest=-(2**INTEGER_BITS))
            rows.append(Row("ip_sysctl", {"netdev": netdev, "name": name, "value": value}))
    if data and not rows:
        raise NotUnderstoodError(f"no setting below {_FOLDER}")
    yield from rows
