"""What a block of the overview is: a query that gives `target` and one text column per heading."""

from dataclasses import dataclass

from railwright.store.duck import read_sql


def query(name: str) -> str:
    """A query of the overview, from its file."""
    return read_sql(__file__, f"views/facts/{name}.sql")


@dataclass(frozen=True)
class Section:
    """One block of the overview."""

    title: str
    things: str  # the plural noun that is counted; '' = hosts themselves
    columns: tuple[str, ...]
    found_by: tuple[str, ...]  # without these probes nobody knows which things there are
    told_by: tuple[str, ...]  # these add to what is known about them
    query: str
    none: str = "none"  # what a host without such a thing is said to have
    each: bool = False  # group hosts by how many they have: a host that lost one then stands out
    before: str = ""  # made first
