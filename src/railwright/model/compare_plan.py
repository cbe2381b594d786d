"""What is held against what, and which change is the cause of which, as data: compare.toml."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from railwright.model.derived.digest import compared, digested
from railwright.schema.table import Table
from railwright.store.duck import identifier
from railwright.toml import load_toml

# Columns that name a thing of a host, which `named` knows by its PCI address.
_NAMED = {"device": "device", "netdev": "netdev", "member": "netdev", "a": "gpu", "gpu": "gpu"}
_THINGS = (*_NAMED, "pci", "port", "handle")


@dataclass(frozen=True)
class Fact:
    """One fact that several tables tell, and what follows from a change of it."""

    name: str
    tells: tuple[str, ...]
    explains: frozenset[str] = frozenset()
    explains_host: frozenset[str] = frozenset()
    explains_unknown: frozenset[str] = frozenset()

    def covers(self, name: str, table: str, *, is_known: bool) -> bool:
        """Whether a change of this fact is the cause of one of that fact or table."""
        covered = self.explains if is_known else self.explains | self.explains_unknown
        return self.name != name and not covered.isdisjoint(("*", name, table))


@cache
def _data() -> dict[str, Any]:
    file = Path(__file__).with_name("compare.toml")
    return load_toml(file.read_text("utf-8"), file.name)


@cache
def facts() -> dict[str, Fact]:
    """By name, in the order of the file: the first of them lead."""
    return {
        one["name"]: Fact(
            one["name"],
            tuple(one["tells"]),
            frozenset(one.get("explains", ())),
            frozenset(one.get("explains_host", ())),
            frozenset(one.get("explains_unknown", ())),
        )
        for one in _data()["fact"]
    }


@cache
def _told_by() -> dict[str, tuple[str, int]]:
    """Column or table -> the fact that it tells, and how well."""
    found: dict[str, tuple[str, int]] = {}
    for fact in facts().values():
        for rank, pattern in enumerate(fact.tells):
            found.setdefault(pattern, (fact.name, rank))
    return found


def fact_of(table: str, column: str, what: str) -> tuple[str, int]:
    """The fact that a change is about, and how well the column tells it.

    A column of a table with one row per thing is a fact by its name: several probes read it.
    """
    told = _told_by()
    for pattern in (f"{table}.{column}", f"{table}.*") if column else (table,):
        if pattern in told:
            return told[pattern]
    if what or not column:
        return f"{table} {what}".rstrip(), 0
    return f"={column}", 0


def left_out() -> dict[str, str]:
    """Tables and columns that are not compared, with the reason."""
    found: dict[str, str] = _data()["left_out"]
    return found


def of_the_reading() -> list[str]:
    """Probes that say how a host was read, not what it is."""
    found: list[str] = _data()["of_the_reading"]
    return found


def compared_tables() -> list[Table]:
    """Those that probes fill, without what is left out."""
    return [table for table in digested() if table.name not in left_out()]


@dataclass(frozen=True)
class Plan:
    """How the rows of a table are told apart, and what of them is compared."""

    table: Table
    thing: str  # column; '' = the machine itself
    other: str
    rest: tuple[str, ...]  # of the key, behind the thing
    columns: tuple[str, ...]
    spoken: dict[str, str]  # column -> SQL

    @property
    def kind(self) -> str:
        """By which kind of name `named` knows the thing; '' = it does not."""
        if self.table.machines == "switch":
            return ""
        return "netdev" if self.thing == "name" else _NAMED.get(self.thing, "")

    def thing_sql(self) -> str:
        """The thing as its own table writes it."""
        if not self.thing:
            return "''"
        column = f"t.{identifier(self.thing)}"
        return f"replace({column}, 'pci/', '')" if self.thing == "handle" else column


def plan_of(table: Table) -> Plan:
    """From the table's own key, where the file says nothing else."""
    data = _data()
    first = table.key[1] if len(table.key) > 1 else ""
    thing = data["thing"].get(table.name, first if first in _THINGS else "")
    other = data["other"].get(table.name, "")
    key = data["key"].get(table.name, table.key[1:])
    told_apart = {*table.key, *key, thing, other, "probe"}
    spoken = {
        name.partition(".")[2]: sql
        for name, sql in data["spoken"].items()
        if name.startswith(f"{table.name}.")
    }
    return Plan(
        table,
        thing,
        other,
        tuple(name for name in key if name not in (thing, other, "probe")),
        tuple(
            name
            for name in compared(table)
            if (
                name not in told_apart or (name in table.key and name not in key and _is_said(name))
            )
            and name != thing
            and f"{table.name}.{name}" not in left_out()
        ),
        spoken,
    )


def _is_said(name: str) -> bool:
    """What is part of a table's own key, and still a value: not a place, number or name."""
    return name in ("chassis_id", "port_id")
