"""InfiniBand ports: what a host knows of them. Their switches and routes are not collected."""

from typing import NamedTuple

import duckdb

from railwright.store.duck import read_sql

INFINIBAND = "InfiniBand"
# LLDP is a protocol of Ethernet; what is in an InfiniBand subnet its subnet manager knows.
NOT_COLLECTED = "InfiniBand has no LLDP, and ibnetdiscover is not collected"
_ENDS = read_sql(__file__, "infiniband_end.sql")
_PORT = read_sql(__file__, "infiniband_port.sql")
_COUNT = read_sql(__file__, "infiniband_count.sql")


class Known(NamedTuple):
    """What a host knows of one port; None = not read."""

    state: str | None = None
    physical_state: str | None = None
    rate: str | None = None
    lid: int | None = None
    sm_lid: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """As the tools of InfiniBand say it."""
        state = self.state or "state not read"
        return (
            f"{state}, {self.physical_state}" if self.physical_state else state,
            self.rate or "rate not read",
            f"LID {_number(self.lid)}",
            f"SM LID {_number(self.sm_lid)}",
        )


def _number(value: int | None) -> str:
    return "not read" if value is None else str(value)


def ports_of(database: duckdb.DuckDBPyConnection, target: str) -> list[tuple[str, int, str]]:
    """Device, port and network device of each InfiniBand port of a host."""
    return database.execute(_ENDS, {"target": target}).fetchall()


def known_of(database: duckdb.DuckDBPyConnection, target: str, device: str, port: int) -> Known:
    """State, rate and LIDs of one port."""
    asked = {"target": target, "device": device, "port": port}
    row = database.execute(_PORT, asked).fetchone()
    return Known(*row) if row else Known()


def count_ports(database: duckdb.DuckDBPyConnection) -> int:
    """InfiniBand ports for compute or storage, or of unknown role."""
    (count,) = database.execute(_COUNT).fetchone() or (0,)
    return int(count)


def not_followed(source: Known, destination: Known) -> str:
    """Why there are no hops, and which command shows them."""
    said = "InfiniBand subnets are not followed hop by hop: ibnetdiscover is not collected"
    if source.lid and destination.lid:
        said += f"; as root, ibtracert {source.lid} {destination.lid} shows the hops"
    return said
