"""Large fleets: machines that are alike in all that a rule looks at are judged once.

A fleet is many machines of few kinds. Most rules judge each machine by itself, and look neither at
what belongs to one machine alone (serials, addresses) nor at what moves (counters). For such a rule
machines with equal rows in its tables have equal verdicts: one of them, the example, is judged, and
stands for all. The derived table `likeness` tells which are equal; a rule that compares machines
says so in its header (`peers`), and is never folded.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb

from railwright.check.reasons import scope_reads
from railwright.check.rule import SHIPPED, Rule
from railwright.check.tables import SCOPES, hide
from railwright.model.alike import examples_of, find_kinds, number_kinds, words_behind
from railwright.model.derived.digest import hash_of
from railwright.model.derived.likeness import likened
from railwright.schema.table import intent_tables, tables
from railwright.store.duck import identifier, quote, read_sql, words

# Of `target`: the same for all machines that are folded, or applied after the verdict.
_OF_TARGET = ("target.target", "target.status", "target.out_of_service")
_MADE = re.compile(
    r"^create or replace \{kind\} (?:view |macro )?(\w+)(.*?);", re.DOTALL | re.MULTILINE
)


@cache
def _own_columns() -> frozenset[str]:
    """table.column of everything in which machines of one kind differ."""
    return frozenset(
        f"{table.name}.{column.name}"
        for table in tables().values()
        for column in table.columns
        if column.volatile or column.identity
    )


def mentioned(sql: str) -> set[str]:
    """Tables whose names stand in a query: a few too many, never one too few."""
    return set(words_behind(sql, _made()) & {*tables(), *intent_tables(), *SCOPES})


@cache
def _made() -> dict[str, frozenset[str]]:
    """Scopes and lookups, and the words of which they are made."""
    text = "".join(read_sql(__file__, name) for name in ("scope.sql", "lookups.sql"))
    return {name: words(body) for name, body in _MADE.findall(text)}


def _columns(rule: Rule) -> set[str]:
    """Everything that a rule reads: what its header names, which lint holds to its query."""
    found = set()
    for one in (*rule.needs, *rule.uses):
        found |= set(scope_reads().get(one, (one,)))
    for name in mentioned(rule.sql) & set(tables()):
        found |= {f"{name}.{key}" for key in tables()[name].key}
    return found


def folding_tables(rule: Rule) -> frozenset[str] | None:
    """The tables in which machines must be alike to be judged once; None = each is judged."""
    if rule.peers or rule.baseline or SHIPPED not in rule.path.parents:
        return None
    if rule.subject.key[0] != "target":
        return None
    columns = _columns(rule)
    if columns & _own_columns():
        return None
    if any(one.startswith("target.") and one not in _OF_TARGET for one in columns):
        return None
    per_machine = {name for name, table in intent_tables().items() if "target" in table.key}
    fixed = {*SCOPES, "target", *(set(intent_tables()) - per_machine)}
    needed = mentioned(rule.sql) - fixed
    if needed - {table.name for table in likened()} - per_machine:
        return None
    return frozenset(needed | {"gap"})


@dataclass(frozen=True)
class Folding:
    """The rules of a request that are folded, by the tables in which machines must be alike."""

    groups: tuple[frozenset[str], ...]
    place: dict[str, int]  # rule -> its group


def folding(rules: tuple[Rule, ...]) -> Folding:
    """Sort rules into groups."""
    groups: dict[frozenset[str], int] = {}
    place = {}
    for rule in rules:
        needed = folding_tables(rule)
        if needed is not None:
            place[rule.id] = groups.setdefault(needed, len(groups))
    return Folding(tuple(groups), place)


def alike_name(group: int) -> str:
    """The table that holds the examples of a group, each with the machines it stands for."""
    return f"alike_{group}"


def _of_intent(name: str) -> str:
    """What the site says of each machine, as one number."""
    said = [column for column in intent_tables()[name].column_types() if column != "target"]
    return (
        f"SELECT target, bit_xor({hash_of(said)}) AS {identifier(name)} "
        f"FROM {identifier(name)} GROUP BY target"
    )


def find_examples(database: duckdb.DuckDBPyConnection, groups: list[list[str]]) -> list[int]:
    """Make alike_<n>(example, members) for every group; gives those that are worth it."""
    names = sorted({name for group in groups for name in group})
    said = [_of_intent(name) for name in names if name in intent_tables()]
    number_kinds(database, [name for name in names if name in tables()], said)
    # A machine that was not read whole stands for itself alone.
    alone = "CASE WHEN status <> 'reached' THEN target END"
    return [
        number
        for number, group in enumerate(groups)
        if find_kinds(database, alike_name(number), [*map(identifier, group), alone])
    ]


def keep_examples(
    database: duckdb.DuckDBPyConnection, worth: list[int], groups: list[list[str]], facts: Path
) -> None:
    """Tables with the rows of the examples alone, in place of those of all machines."""
    names = {name for number in worth for name in groups[number] if name in tables()}
    chosen = examples_of(database, [alike_name(number) for number in worth])
    # Machines that did not answer are told by the gaps of all.
    for name in sorted((names | {"target"}) - {"gap"}):
        table = identifier(name)
        file = quote(str((facts / f"{name}.parquet").resolve()))
        kept = f"CREATE TABLE {table} AS FROM read_parquet({file}) WHERE target IN ({chosen})"
        hide(database, name)
        database.execute(kept)
