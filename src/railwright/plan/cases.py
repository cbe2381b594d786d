"""The cases beside a setting: facts in, commands and undo out.

    given:                                  rows that every case starts from, as beside a rule
      netdev_qos: [{netdev: ens1, pfc_mask: 0}]
    priority 3 is wanted:                   a case: rows, or single columns that it sets
      set: {site.pfc_mask: 8}
      answered: [dcb_pfc]                   the probes that answered; without it all of them
      change:                               what comes of every subject: change, leave (it is as
        - subject: a:ens1                   wanted), undecided (nobody says) or refused
          now: none
          wanted: "3"
          steps: ["dcb pfc set dev ens1 prio-pfc all:off 3:on"]
          undo: ["dcb pfc set dev ens1 prio-pfc all:off"]
      refused: [{subject: a:ens2, why: its value was not read}]

Steps are written as `text_of` writes them.
"""

import json
import shlex
from dataclasses import dataclass
from typing import Any

import duckdb

from railwright.check.alike import mentioned
from railwright.check.cases import Rows, facts_of, probes_of, read_cases, with_defaults
from railwright.check.tables import SCOPES
from railwright.check.trial import filled
from railwright.errors import RuleError
from railwright.plan.changes import Change, State, changes
from railwright.settings.setting import Setting, Step

Said = dict[str, dict[str, Any]]  # subject -> what is said of it


@dataclass(frozen=True)
class Case:
    """Facts, and what they must lead to."""

    name: str
    rows: Rows
    expected: Said


def text_of(step: Step) -> str:
    """A step in one line: a command as a shell takes it; what goes into a file; a patch as JSON."""
    if step.kind == "argv":
        return shlex.join(step.argv)
    if step.kind == "file":
        return f"{step.file} < {step.text or step.line or 'as it was'}"
    return json.dumps(list(step.patch)) if step.kind == "patch" else "; ".join(step.lines)


def load_cases(setting: Setting) -> list[Case]:
    """All cases of a setting."""
    shared, cases = read_cases(setting.cases_path)
    return [_case(setting, name, {**shared, **body}) for name, body in cases.items()]


def _case(setting: Setting, name: str, body: dict[str, Any]) -> Case:
    where = f"{setting.cases_path.name}: {name}"
    expected: Said = {}
    for state in State:
        for one in body.pop(state.value, []):
            told = {"subject": one} if isinstance(one, str) else dict(one)
            subject = str(told.pop("subject"))
            expected[subject] = {"state": state.value, **told}
    if not expected:
        raise RuleError(f"case {where!r} expects nothing")
    every = {write.probe for write in setting.writes} | probes_of(setting.tables())
    answered = body.pop("answered", every)
    return Case(name, with_defaults(facts_of(where, body), answered), expected)


def told(change: Change) -> dict[str, Any]:
    """Everything that a case may say of a subject."""
    return {
        "state": change.state.value,
        "now": change.now,
        "wanted": change.wanted,
        "why": change.why,
        "steps": [text_of(one) for one in change.steps],
        "undo": [text_of(one) for one in change.undo],
    }


def scopes_of(setting: Setting) -> list[str]:
    """The scopes that its SELECT has to do with: to fill one takes longer than to read it."""
    words = mentioned(setting.sql)
    return [name for name in SCOPES if name in words]


def wrong_in(database: duckdb.DuckDBPyConnection, setting: Setting, case: Case) -> list[str]:
    """How what comes of a case differs from what it says, in a database of `trial_database()`."""
    with filled(database, case.rows, scopes_of(setting)):
        found = {one.subject: told(one) for one in changes(setting, database)}
    wrong = [
        f"{case.name}: nothing is said of {subject}, which is {found[subject]}"
        for subject in sorted(found.keys() - case.expected.keys())
    ]
    for subject, expected in case.expected.items():
        has = found.get(subject, {"state": "no row"})
        wrong += [
            f"{case.name}: {key} of {subject} is {has.get(key)!r}, should be {value!r}"
            for key, value in expected.items()
            if has.get(key) != value
        ]
    return wrong
