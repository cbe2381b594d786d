"""What `railwright facts` tells: who was asked, what is unknown, the groups of every section."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.report.machines import Machines
from railwright.report.section import Section, query
from railwright.report.sections import SECTIONS

_TARGETS = query("targets")
_UNREACHED = query("unreached")
_UNANSWERED = query("unanswered")
_NOT_KNOWN = query("not_known")


class Targets(NamedTuple):
    """The denominator."""

    everyone: list[str]
    reached: int
    incomplete: int
    missed: int
    out_of_service: int


class Unanswered(NamedTuple):
    """Machines that did not answer in one way, as a whole or to some probes."""

    answer: str
    said: str
    different: int  # how many reasons there are, of which one is told
    names: list[str]


class Group(NamedTuple):
    """Hosts that have the same, and how many things."""

    cells: tuple[str | None, ...]
    things: int  # how many; per host where the section says so
    hosts: tuple[str, ...]


class Told(NamedTuple):
    """A section's groups, and why it is not all: reason -> hosts."""

    section: Section
    groups: list[Group]
    gaps: dict[str, tuple[str, ...]]


def asked(database: duckdb.DuckDBPyConnection, kind: str) -> Targets:
    """The machines of a kind, host or switch, by what became of them."""
    found = database.execute(_TARGETS, {"kind": kind}).fetchone()
    assert found is not None  # noqa: S101 (an aggregate always has a row)
    return Targets(found[0] or [], *found[1:])


def unanswered(database: duckdb.DuckDBPyConnection) -> list[Unanswered]:
    """Machines that were not reached; then probes that were not answered by those that were."""
    return [
        Unanswered(answer, said or "", different, names)
        for text in (_UNREACHED, _UNANSWERED)
        for answer, said, different, names in database.execute(text).fetchall()
    ]


def told_sections(database: duckdb.DuckDBPyConnection, targets: Targets) -> Iterator[Told]:
    """Every section in its order; without hosts none."""
    machines = Machines(database, len(targets.everyone))
    for section in SECTIONS if targets.everyone else ():
        machines.ask(section)
        names = shown_table(database, section)
        groups = _groups(database, section, names, machines)
        gaps = _gaps(database, section, machines)
        without = gaps.pop("", ())
        if without:
            groups.append(Group((section.none, *[""] * (len(names) - 1)), 0, without))
        yield Told(section, groups, gaps)


def shown_table(database: duckdb.DuckDBPyConnection, section: Section) -> list[str]:
    """`shown`: target, the section's columns as c0, c1 ..., and how many things are like that.

    `has_holes` is true where something of such a thing was not read.
    """
    names = [f"c{place}" for place in range(len(section.columns))]
    holes = " OR ".join(f"{name} IS NULL" for name in names)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE shown AS SELECT *, {holes} AS has_holes, count(*) AS n "
        f"FROM ({section.query}) AS things(target, {', '.join(names)}) "
        "SEMI JOIN machine USING (target) GROUP BY ALL"
    )
    return names


# Hosts of a group by their examples, with what tells two sets of hosts apart.
_HOSTS = "list(target), row(sum(len(members)), bit_xor(members_key))"


def _groups(
    database: duckdb.DuckDBPyConnection, section: Section, names: list[str], machines: Machines
) -> list[Group]:
    """What is known first, the largest group first."""
    columns = ", ".join(names)
    by = f"{columns}, n" if section.each else columns
    things = "sum(n * len(members))::BIGINT"
    found = database.execute(
        f"SELECT {columns}, {'n' if section.each else things}, {_HOSTS} "
        f"FROM shown JOIN machine USING (target) GROUP BY {by}, has_holes "
        f"ORDER BY has_holes, {things} DESC, {by}"
    ).fetchall()
    return [Group(row[: len(names)], row[-3], machines.names(*row[-2:])) for row in found]


def _gaps(
    database: duckdb.DuckDBPyConnection, section: Section, machines: Machines
) -> dict[str, tuple[str, ...]]:
    """Why not everything is known -> hosts; '' -> hosts that have no such thing, which is known."""
    probes = {"finders": list(section.found_by), "tellers": list(section.told_by)}
    found = database.execute(_NOT_KNOWN, probes).fetchall()
    return {why: machines.names(*hosts) for why, *hosts in found}
