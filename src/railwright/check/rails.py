"""Compute ports on a leaf that is not theirs, as the rules about rails and planes find them."""

from typing import NamedTuple

from railwright.check.findings import Findings
from railwright.check.places import aside
from railwright.check.rule import Rule, shipped
from railwright.store.duck import read_sql

# By the plan and its rails and planes, by the pattern that most hosts have; the last one tells
# where the ends contradict each other, which leaves the leaf open.
_RULES = (
    *("cable-wrong-rail", "cable-wrong-plane", "cable-unlike-plan"),
    *("cable-unlike-peers", "neighbors-disagree"),
)
_MISPLACED = read_sql(__file__, "misplaced.sql")
_UNDECIDED = read_sql(__file__, "undecided.sql")


class Misplaced(NamedTuple):
    """A port that a rule has found on another leaf than its own."""

    rule: str
    port: str
    leaf: str
    leaf_port: str
    rail: int
    plane: int
    said: str


def rules_of_rails() -> dict[str, Rule]:
    """The rules that know where a compute port belongs."""
    return {name: shipped()[name] for name in _RULES}


def make_rail_rules(findings: Findings) -> None:
    """The table rail_rule: those of the rules above that were run; a check runs others too."""
    run = [name for name in _RULES if name in findings.rules]
    findings.database.execute(
        "CREATE OR REPLACE TEMP TABLE rail_rule AS SELECT unnest(?::VARCHAR[]) AS rule", [run]
    )


def misplaced(findings: Findings) -> list[Misplaced]:
    """Each port with each rule that names it."""
    make_rail_rules(findings)
    rows = findings.database.execute(_MISPLACED).fetchall()
    return [
        Misplaced._make((rule, *place, _said(findings.rules[rule], place, *said)))
        for rule, place, *said in rows
    ]


def _said(
    rule: Rule, place: tuple[object, ...], observed: str, expected: str, detail: str | None
) -> str:
    leaf = ":".join(map(str, place[1:3]))  # with its port
    said, more = rule.said(observed, expected), aside(detail, leaf)
    return f"{said} ({more})" if more else said


class Undecided(NamedTuple):
    """Of how many nobody can tell where they belong."""

    ports: int
    hosts: int  # that were not read: how many ports they have is not known either


def undecided(findings: Findings) -> Undecided:
    """Rules that could not be run count as a port."""
    make_rail_rules(findings)
    ports, hosts = findings.database.execute(_UNDECIDED).fetchone() or (0, 0)
    stopped = [one for one in findings.stopped() if one.rule in _RULES]
    return Undecided(int(ports) + len(stopped), int(hosts))
