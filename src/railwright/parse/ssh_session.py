"""`SSH_CONNECTION=CLIENT PORT SERVER PORT`, as sshd sets it for a session (OpenSSH session.c)."""

import ipaddress
import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, text_of, whole_number

_NAME = "SSH_CONNECTION="
_FIELDS = 4
_HIGHEST_PORT = 65535
_ZONE = re.compile(r"[A-Za-z0-9_.-]{1,15}", re.ASCII)


def _address(text: str) -> tuple[str, str]:
    """(address, zone), an IPv4 address as such even if it is mapped into IPv6."""
    plain, percent, zone = text.partition("%")
    try:
        found = ipaddress.ip_address(plain)
    except ValueError as error:
        raise NotUnderstoodError("not an address") from error
    if percent and (found.version == 4 or _ZONE.fullmatch(zone) is None):
        raise NotUnderstoodError("not a zone of an address")
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found), zone


def _port(text: str) -> int:
    port = whole_number(text)
    if port is None or not 0 < port <= _HIGHEST_PORT:
        raise NotUnderstoodError("not a port")
    return port


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table ssh_session."""
    lines = [line for line in text_of(data).split("\n") if line.strip()]
    if len(lines) != 1 or not lines[0].startswith(_NAME):
        raise NotUnderstoodError("not one line SSH_CONNECTION=")
    words = lines[0][len(_NAME) :].strip("\"'").split(" ")
    if len(words) != _FIELDS:
        raise NotUnderstoodError("not two addresses with their ports")
    client, zone = _address(words[0])
    yield Row(
        "ssh_session",
        {
            "client": client,
            "zone": zone,
            "client_port": _port(words[1]),
            "server": _address(words[2])[0],
            "server_port": _port(words[3]),
        },
    )
