"""What rules say of one machine, for a view of it: its findings, and which value each is about."""

from functools import cache
from typing import NamedTuple, cast

from railwright.check.facts_at import places_said, tokens
from railwright.check.findings import Findings
from railwright.check.tables import HERE
from railwright.check.things import names_in, things_of
from railwright.toml import load_toml


class Found(NamedTuple):
    """A finding at the machine."""

    rule: str
    title: str
    severity: str
    state: str  # open, implied, waived, out of service
    cause: str | None  # the rule whose finding explains it
    subject: str
    said: str
    detail: str | None
    names: frozenset[str]  # of the thing that it is about; none: the machine
    places: frozenset[str]  # what the verdict names


class OfMachine(NamedTuple):
    """All of them, and what could not be decided."""

    found: tuple[Found, ...]
    inconclusive: tuple[str, ...]  # rules
    not_run: tuple[str, ...]  # rules that could not be run to their end

    def is_marked(self, cell: str, *names: str | None) -> bool:
        """Whether a finding that stands is about this cell of this thing."""
        return any(
            _cell(one.rule) == cell and not one.names.isdisjoint(names)
            for one in self.found
            if one.state in ("open", "implied")
        )

    def is_named(self, cell: str, name: str) -> bool:
        """The same of what the verdict names: the bridge whose ACS decided."""
        stands = (one for one in self.found if one.state in ("open", "implied"))
        return any(_cell(one.rule) == cell and name in one.places for one in stands)


NOTHING = OfMachine((), (), ())


@cache
def _cells() -> dict[str, str]:
    file = HERE / "marks.toml"
    data = cast("dict[str, list[str]]", load_toml(file.read_text("utf-8"), file.name))
    return {rule: cell for cell, rules in data.items() for rule in rules}


def _cell(rule: str) -> str:
    return _cells().get(rule, "name")


def of_machine(findings: Findings, target: str) -> OfMachine:
    """From a check of everything: what a rule says may follow from another one's finding."""
    things = things_of(findings.database, target)
    rows = findings.database.execute(
        "SELECT rule, severity, state, cause, subject, observed, expected, detail, verdict "
        "FROM finding WHERE target = ? ORDER BY state <> 'open', state, rank, rule, subject",
        [target],
    ).fetchall()
    found, inconclusive = [], dict[str, None]()
    for rule, severity, state, cause, subject, observed, expected, detail, verdict in rows:
        if verdict == "unknown":
            inconclusive[rule] = None
            continue
        one = findings.rules[rule]
        names = names_in(things, subject.partition(":")[2])
        said = one.said(observed, expected)
        places = tokens(observed) | places_said(detail)
        found.append(
            Found(rule, one.title, severity, state, cause, subject, said, detail, names, places)
        )
    stopped = tuple(one.rule for one in findings.stopped())
    return OfMachine(tuple(found), tuple(sorted(inconclusive)), stopped)
