"""Why something is unknown: which probes would have told, and what became of them."""

import re
from collections.abc import Iterable
from functools import cache
from typing import cast

from railwright.check.rule import Rule
from railwright.check.tables import HERE
from railwright.intent.roles import site_port
from railwright.model import derive
from railwright.schema.table import tables
from railwright.store.duck import read_sql
from railwright.toml import load_toml

# Why a verdict is unknown, set in findings.sql; the rule says which facts it misses.
REASONS = {
    "not_reached": "the machine did not answer",
    "not_collected": "a probe that would have told failed, was refused or was not asked",
    "not_reported": "the switch's system does not report it (schema/systems)",
    "other_end_unread": "the machine at the other end of the link did not answer",
    "role_undecided": "what the port is for cannot be told, though all was read",
    "contradictory": "two sources of the machine contradict each other",
    "not_read": "every probe answered, and the value is in none of the answers",
}

_SCOPE = re.compile(r"create or replace \{kind\} (\w+) as(.*?);", re.DOTALL)
# Told from the text: planning every derived table would take longer than running all rules.
_READS = re.compile(r'\b(?:from|join)\s+"?([a-z_]+)', re.IGNORECASE)


@cache
def _tables_behind() -> dict[str, frozenset[str]]:
    """For every scope and derived table the tables that it is made of."""
    made = {
        name: " ".join(derive.queries_of(name))
        for name, table in tables().items()
        if table.fed_by == "derived"
    }
    scopes = site_port("{kind}") + read_sql(__file__, "scope.sql")
    made |= dict(_SCOPE.findall(scopes))
    known = {*tables(), *made}
    found = {name: set(_READS.findall(text)) & known for name, text in made.items()}
    for name, read in found.items():
        if name in tables():
            read |= set(derive.reads_of(name))
    rests = {name: tables()[name].rests_on for name in found if name in tables()}
    return {name: frozenset(rests.get(name) or read) for name, read in found.items()}


def _base_tables(name: str) -> set[str]:
    """The tables of probes below a scope or a derived table."""
    found: set[str] = set()
    waiting, seen = [name], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        behind = _tables_behind().get(one)
        if behind is None:
            found.add(one)
        else:
            waiting.extend(behind)
    return found


@cache
def scope_reads() -> dict[str, frozenset[str]]:
    """For every column of a scope the columns of tables that it is made of.

    Written down once: to ask the planner takes longer than to run most rules.
    """
    file = HERE / "scope_reads.toml"
    data = cast("dict[str, list[str]]", load_toml(file.read_text("utf-8"), file.name))
    return {name: frozenset(columns) for name, columns in data.items()}


def behind(needs: list[str]) -> list[str]:
    """The same needs in columns of tables."""
    found = [one for need in needs for one in sorted(scope_reads().get(need, (need,)))]
    return list(dict.fromkeys(found))


def _probes(names: set[str]) -> set[str]:
    base = {one for name in names for one in _base_tables(name)}
    return {probe for name in base if name in tables() for probe in tables()[name].probes}


def probes_behind(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Every probe that one of these tables comes from, in their order, with the tables."""
    found: dict[str, list[str]] = {}
    for name in names:
        for probe in sorted(_probes({name})):
            found.setdefault(probe, []).append(name)
    return {probe: tuple(tables) for probe, tables in found.items()}


def tables_of(rule: Rule) -> list[str]:
    """The tables of probes that its facts come from."""
    read = {name for one in rule.tables() for name in _base_tables(one)}
    return sorted(read & set(tables()))


def probes_of(rule: Rule) -> list[str]:
    """The probes whose answers a rule rests on."""
    return sorted(_probes(set(rule.tables())) | ({rule.subject.probe} - {""}))


def probes_beside(rule: Rule) -> list[str]:
    """The probes that it asks in some cases: where all it needs was read, the gap is there."""
    asked = [column for column, use in rule.uses.items() if use.purpose == "verdict"]
    read = {column.removeprefix("before.").partition(".")[0] for column in behind(asked)}
    return sorted(_probes(read) - set(probes_of(rule)))
