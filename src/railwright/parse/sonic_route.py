"""Routes of SONiC: `show ip route vrf all json` of FRR's vtysh."""

from collections.abc import Iterator

from railwright.parse.base import Row, text_of
from railwright.parse.frr_routes import read_routes
from railwright.parse.switch_rows import Rows


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (the routes say their table)
    """Table switch_route."""
    rows = Rows()
    read_routes(rows, text_of(data))
    return iter(rows)
