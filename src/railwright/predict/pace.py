"""How fast a job over all hosts can be: a collective is as slow as its slowest compute port."""

from dataclasses import dataclass
from typing import NamedTuple

import duckdb

from railwright.store.duck import read_sql

# What stands behind the numbers, in words.
BASIS = "calculated from PCIe, port rate and MTU of the compute ports; not measured"
_PACE = read_sql(__file__, "pace.sql")
_STEPS = "SELECT without, gbps, hosts, slowest, limited_by, targets FROM pace_step ORDER BY gbps"
_OPEN = "SELECT target FROM host_pace WHERE is_open ORDER BY target"


class Step(NamedTuple):
    """The pace that is left without the hosts that are slower."""

    without: int
    gbps: float
    hosts: int  # that have just this pace
    slowest: str  # a port, or the host where one of its ports is missing
    limited_by: str
    targets: list[str]


@dataclass(frozen=True)
class Pace:
    """Of all hosts that are not out of service and have, or may have, compute ports."""

    steps: list[Step]
    unknown: list[str]  # hosts of which something is not known: they may be slower still

    @property
    def hosts(self) -> int:
        """How many have a pace."""
        return sum(step.hosts for step in self.steps)


def pace(database: duckdb.DuckDBPyConnection) -> Pace:
    """Over the tables of `make_ceilings`."""
    database.execute(_PACE)
    steps = [Step._make(row) for row in database.execute(_STEPS).fetchall()]
    return Pace(steps, [name for (name,) in database.execute(_OPEN).fetchall()])
