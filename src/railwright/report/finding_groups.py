"""The findings of a rule that say the same, and where they are: what `railwright check` prints."""

from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from railwright.check.findings import Findings
from railwright.check.places import Place, aside, place_words
from railwright.check.remedy import Subject, fix_of
from railwright.check.rule import Rule
from railwright.nodes import is_machine_name
from railwright.store.duck import read_sql

FEW = 3  # of so many that say the same each is named: two cables that are swapped
_GROUPS = read_sql(__file__, "views/check/groups.sql")


class Example(NamedTuple):
    """One of the findings of a group."""

    subject: str
    where: str  # its place in words
    aside: str  # what its detail adds
    fix: str  # the command that puts it right; '' = none without a choice


class Group(NamedTuple):
    """Findings of one rule that say the same."""

    severity: str
    observed: str | None
    expected: str | None
    subjects: int
    targets: list[str]
    examples: list[Example]

    def line(self, one: Example) -> str:
        """Where an example is, as far as the hosts that stand above do not say it."""
        is_said = one.subject in self.targets and (self.subjects == 1 or not one.aside)
        parts = [*([] if is_said else [one.where]), *([one.aside] if one.aside else [])]
        said = "; ".join(parts)
        return f"e.g. {said}" if said and self.subjects > len(self.examples) else said


_WIDE = len(Group._fields) - 1


def groups_of(findings: Findings, rule: Rule) -> list[Group]:
    """Its open findings, the worst first, then the most."""
    rows = findings.database.execute(_GROUPS, {"rule": rule.id, "few": FEW}).fetchall()
    same = groupby(rows, key=itemgetter(*range(_WIDE)))
    return [
        Group._make((*said, [_example(findings, rule, row[_WIDE:]) for row in found]))
        for said, found in same
    ]


def _example(findings: Findings, rule: Rule, row: tuple[str, ...]) -> Example:
    subject, expected, detail, target, kind, *names = row
    place = Place._make(names)
    where = place_words(target, subject, kind, place)
    fix = fix_of(rule.do, rule.fix, Subject(kind, place, expected, findings.never_touch))
    on = f"{fix}  # on {target}" if fix and is_machine_name(target) else ""
    return Example(subject, where, aside(detail, where), on)
