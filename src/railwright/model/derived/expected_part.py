"""Table `expected_part`: what most members of a class have in a slot.

At least four members, and so that it stays true even if all that were not read have something else.
What fewer have is listed too, with its votes: nobody may leave a class by what it lacks.
"""

from railwright.model.nearest_layout import FEWEST
from railwright.store.duck import read_sql

_SELECT = read_sql(__file__, "class_part.sql")
COUNTS = ("functions", "rdma_devices", "netdevs", "links")


def _most(column: str, enough: str) -> str:
    """The value that more than half have; NULL where there is no such value."""
    counts = f"histogram({column})"
    top = f"list_max(map_values({counts}))"
    value = f"map_keys({counts})[list_position(map_values({counts}), {top})]"
    return f"CASE WHEN 2 * {top} > {enough} THEN {value} END"


def select(members: str) -> str:
    """The same for any relation of target and class: the classes of a site file, too."""
    counted = ", ".join(f"{_most(name, 'any_value(s.members)')} AS {name}" for name in COUNTS)
    return _SELECT.format(members=members, counted=counted, fewest=FEWEST)


def queries() -> list[str]:
    """Of the classes that machines tell by themselves."""
    return [select("host_class")]
