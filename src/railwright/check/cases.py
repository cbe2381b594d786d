"""The cases beside a rule: tables in, verdicts out.

    given:                                  rows that every case starts from
      qos_port: [{netdev: ens1, trust: dscp}]
    trust as wanted:                        a case: rows that replace those of `given`, or
      set: {site.trust: dscp}               single columns of all rows of a table
      ok: [a:ens1]                          and the verdict of every subject
    trust not as wanted:
      set: {site.trust: pcp}
      fail: [{subject: a:ens1, observed: dscp, expected: pcp}]     or detail,
                                            severity, cost_gbps
      cure: {set: {qos_port.trust: pcp}}    what the remedy makes of the facts, as rows or columns:
                                            what failed is gone then, and nothing else fails
    a site that asks for more:
      parameters: {least_members: 8}        thresholds that the site sets otherwise
      ok: [a:ens1]

A row without `target` belongs to machine `a`. Machines are reached and their probes answered,
unless the case has rows of `target` or `probe_result`. A machine is a host, unless a row of
`link_end`, `switch` or `switch_place` says that it is a switch.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from railwright.check.rule import VERDICTS, Rule
from railwright.check.tables import all_tables
from railwright.errors import RuleError
from railwright.schema.table import intent_tables, tables

Rows = dict[str, list[dict[str, Any]]]
PARAMETERS = "parameters"  # among the rows of a case: one row, of no machine
# The same reader in C, eight times as fast, where PyYAML was built with it.
_READER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What a case may say of a subject.
TEXTS = (
    "observed",
    "expected",
    "detail",
    "severity",
    "cost_gbps",
    "unread_facts",
    "reason",
    "classes",
)


@dataclass(frozen=True)
class Case:
    """Tables and what they must lead to."""

    name: str
    rows: Rows
    expected: dict[str, str]  # subject -> verdict
    texts: dict[str, dict[str, str | None]] = field(default_factory=dict)  # observed, expected
    cured: Rows | None = None  # the same once what the rule asks to set is set


def _rows(case: str, table: str, given: object) -> list[dict[str, Any]]:
    name = table.removeprefix("before.")
    if name not in all_tables():
        raise RuleError(f"case {case!r}: unknown table {table!r}")
    rows = [given] if isinstance(given, dict) else given
    known = all_tables()[name].column_types()
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise RuleError(f"case {case!r}: {table} must be a list of rows")
    found = []
    for row in cast("list[dict[str, Any]]", rows):
        unknown = set(row) - set(known)
        if unknown:
            raise RuleError(
                f"case {case!r}: unknown column of {table}: {', '.join(sorted(unknown))}"
            )
        found.append({"target": "a", **row} if "target" in known else dict(row))
    return found


def _parameters(case: str, rule: Rule, given: object) -> dict[str, Any]:
    known = {one.name: one.default for one in rule.parameters}
    if not isinstance(given, dict) or not given:
        raise RuleError(f"case {case!r}: parameters must be a mapping of names to values")
    for name, value in given.items():
        if name not in known:
            raise RuleError(f"case {case!r}: unknown parameter {name!r} of {rule.id}")
        if isinstance(value, str) != isinstance(known[name], str) or value is None:
            raise RuleError(f"case {case!r}: {name} must have the same type as {known[name]!r}")
    return given


def _set(case: str, rows: Rows, changes: dict[str, Any]) -> None:
    for column, value in changes.items():
        table, _, name = column.rpartition(".")
        if table == "site" and table not in rows:
            rows[table] = [{}]
        if not rows.get(table):
            raise RuleError(f"case {case!r}: sets {column}, but {table} has no row")
        _rows(case, table, [{name: value}])
        for row in rows[table]:
            row[name] = value


def _expected(
    case: str, data: dict[str, Any]
) -> tuple[dict[str, str], dict[str, dict[str, str | None]]]:
    expected: dict[str, str] = {}
    texts: dict[str, dict[str, str | None]] = {}
    for verdict in VERDICTS:
        for one in data.pop(verdict, []):
            told = {"subject": one} if isinstance(one, str) else dict(one)
            subject = str(told.pop("subject"))
            if subject in expected:
                raise RuleError(f"case {case!r}: {subject} has more than one verdict")
            expected[subject] = verdict
            texts[subject] = {k: None if v is None else str(v) for k, v in told.items()}
    return expected, texts


def _switches(rows: Rows) -> set[str]:
    """The machines that a case speaks of as switches."""
    told = [row for row in rows.get("link_end", ()) if row.get("kind") == "switch"]
    told += [row for table in ("switch", "switch_place") for row in rows.get(table, ())]
    return {row["target"] for row in told}


def with_defaults(rows: Rows, probes: Iterable[str]) -> Rows:
    """Machines that were reached and answered these probes; a site that says nothing."""
    names = {row["target"] for table in rows.values() for row in table if "target" in row} or {"a"}
    reached = {"status": "reached", "out_of_service": ""}
    machines = rows.setdefault("target", [{"target": name, **reached} for name in sorted(names)])
    switches = _switches(rows)
    for row in machines:
        row.setdefault("kind", "switch" if row["target"] in switches else "host")
    if "probe_result" not in rows:
        rows["probe_result"] = [
            {"target": one["target"], "probe": probe, "instance": "", "status": "ok"}
            for one in rows["target"]
            for probe in sorted(set(probes) - {""})
        ]
    rows.setdefault("site", [{}])
    rows["site"][0].setdefault("profile", "observe")
    return rows


def probes_of(names: Iterable[str]) -> set[str]:
    """The probes that fill these tables."""
    return {probe for name in names if name in tables() for probe in tables()[name].probes}


def read_cases(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What all cases of a file start from, and the cases by name."""
    try:
        data = yaml.load(path.read_text("utf-8"), _READER)  # noqa: S506 (both are safe)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RuleError(f"{path} cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise RuleError(f"{path} must be a mapping of cases")
    shared = data.pop("given", {})
    return shared, {str(name): dict(body) for name, body in data.items()}


def load_cases(rule: Rule) -> list[Case]:
    """All cases of a rule."""
    shared, cases = read_cases(rule.cases_path)
    return [_case(rule, name, body, shared) for name, body in cases.items()]


def _case(rule: Rule, name: str, body: dict[str, Any], shared: dict[str, Any]) -> Case:
    case = f"{rule.cases_path.name}: {name}"
    expected, texts = _expected(case, body)
    cure = body.pop("cure", None)
    rows = _facts(rule, case, {**shared, **body})
    if cure is None:
        return Case(name, rows, expected, texts)
    if not isinstance(cure, dict) or "fail" not in expected.values():
        raise RuleError(f"case {case!r}: cure must be a mapping, in a case that has a failure")
    touched = {*cure, *(column.rpartition(".")[0] for column in cure.get("set", {}))} - {"set"}
    if touched & set(intent_tables()):
        raise RuleError(f"case {case!r}: cure may change facts of machines, not the intent")
    # Rows that the cure gives are as they are: what the case sets was set in those of before.
    changes = {k: v for k, v in body.get("set", {}).items() if k.rpartition(".")[0] not in cure}
    cured = {**shared, **body, **cure, "set": {**changes, **cure.get("set", {})}}
    return Case(name, rows, expected, texts, _facts(rule, case, cured))


def _facts(rule: Rule, case: str, given: dict[str, Any]) -> Rows:
    content = dict(given)
    asked = content.pop(PARAMETERS, None)
    rows = facts_of(case, content)
    if asked is not None:
        rows[PARAMETERS] = [_parameters(case, rule, asked)]
    return with_defaults(rows, {rule.subject.probe, *probes_of(rule.tables())})


def facts_of(case: str, given: dict[str, Any]) -> Rows:
    """The rows of a case, with the columns that it sets otherwise."""
    content = dict(given)
    changes = content.pop("set", {})
    rows = {table: _rows(case, table, one) for table, one in content.items()}
    _set(case, rows, changes)
    return rows


def not_shown(rule: Rule, cases: list[Case]) -> list[str]:
    """The verdicts and the grades that no case shows."""
    shown = {verdict for case in cases for verdict in case.expected.values()}
    said = {texts.get("severity") for case in cases for texts in case.texts.values()}
    missing = [verdict for verdict in VERDICTS if verdict not in shown]
    return missing + [grade for grade in rule.grades if grade not in said]
