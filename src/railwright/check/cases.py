"""The cases beside a rule: tables in, verdicts out; and what must never come out.

    given:                                  rows that every case starts from
      qos_port: [{netdev: ens1, trust: dscp}]
    trust as wanted:                        a case: rows that replace those of `given`, or
      set: {site.trust: dscp}               single columns of all rows of a table
      ok: [a:ens1]                          and the verdict of every subject
    trust not as wanted:
      set: {site.trust: pcp}
      fail: [{subject: a:ens1, observed: dscp, expected: pcp}]

A row without `target` belongs to machine `a`. Machines are reached and their probes answered,
unless the case has rows of `target` or `probe_result`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import duckdb
import yaml

from railwright.check.account import silent_targets, verdicts
from railwright.check.lint import columns_of, scope_columns, with_parameters
from railwright.check.rule import VERDICTS, Rule
from railwright.check.tables import SCOPES, all_tables
from railwright.errors import RuleError
from railwright.facts import derive
from railwright.facts.duck import identifier
from railwright.facts.schema import tables

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Case:
    """Tables and what they must lead to."""

    name: str
    rows: Rows
    expected: dict[str, str]  # subject -> verdict
    texts: dict[str, dict[str, str]] = field(default_factory=dict)  # subject -> observed, expected


@dataclass(frozen=True)
class Verdict:
    """What a rule said of one subject."""

    verdict: str
    texts: dict[str, str | None]


def _rows(case: str, table: str, given: object) -> list[dict[str, Any]]:
    name = table.removeprefix("before.")
    if name not in all_tables():
        raise RuleError(f"case {case!r}: there is no table {table}")
    rows = [given] if isinstance(given, dict) else given
    known = all_tables()[name].column_types()
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise RuleError(f"case {case!r}: {table} must be a list of rows")
    found = []
    for row in cast("list[dict[str, Any]]", rows):
        unknown = set(row) - set(known)
        if unknown:
            raise RuleError(f"case {case!r}: {table} has no column {', '.join(sorted(unknown))}")
        found.append({"target": "a", **row} if "target" in known else dict(row))
    return found


def _set(case: str, rows: Rows, changes: dict[str, Any]) -> None:
    for column, value in changes.items():
        table, _, name = column.rpartition(".")
        if table == "site" and table not in rows:
            rows[table] = [{}]
        if not rows.get(table):
            raise RuleError(f"case {case!r}: sets {column}, but there is no row of {table}")
        _rows(case, table, [{name: value}])
        for row in rows[table]:
            row[name] = value


def _expected(case: str, data: dict[str, Any]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    expected: dict[str, str] = {}
    texts: dict[str, dict[str, str]] = {}
    for verdict in VERDICTS:
        for one in data.pop(verdict, []):
            told = {"subject": one} if isinstance(one, str) else dict(one)
            subject = str(told.pop("subject"))
            if subject in expected:
                raise RuleError(f"case {case!r}: {subject} has two verdicts")
            expected[subject] = verdict
            texts[subject] = {key: str(value) for key, value in told.items()}
    return expected, texts


def _with_defaults(rule: Rule, rows: Rows) -> Rows:
    """Machines that were reached and answered; a site that says nothing."""
    names = {row["target"] for table in rows.values() for row in table if "target" in row} or {"a"}
    if "target" not in rows:
        rows["target"] = [
            {"target": name, "status": "reached", "out_of_service": ""} for name in sorted(names)
        ]
    if "probe_result" not in rows:
        needed = [tables()[name] for name in rule.tables() if name in tables()]
        probes = {rule.subject.probe, *(p for table in needed for p in table.probes)} - {""}
        rows["probe_result"] = [
            {"target": one["target"], "probe": probe, "instance": "", "status": "ok"}
            for one in rows["target"]
            for probe in sorted(probes)
        ]
    rows.setdefault("site", [{}])
    rows["site"][0].setdefault("profile", "observe")
    return rows


def load_cases(rule: Rule) -> list[Case]:
    """All cases of a rule."""
    path = rule.cases_path
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RuleError(f"{path} cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise RuleError(f"{path} must be a mapping of cases")
    shared = data.pop("given", {})
    found = []
    for name, body in data.items():
        case = f"{path.name}: {name}"
        content = dict(body)
        expected, texts = _expected(case, content)
        changes = content.pop("set", {})
        rows = {table: _rows(case, table, one) for table, one in {**shared, **content}.items()}
        _set(case, rows, changes)
        found.append(Case(str(name), _with_defaults(rule, rows), expected, texts))
    return found


@contextmanager
def filled(database: duckdb.DuckDBPyConnection, rows: Rows) -> Iterator[None]:
    """A database with these rows, and without them afterwards."""
    database.execute("BEGIN")
    try:
        for table, content in rows.items():
            name = ".".join(identifier(part) for part in table.split("."))
            for row in content:
                columns = ", ".join(map(identifier, row))
                marks = ", ".join("?" * len(row))
                database.execute(
                    f"INSERT INTO {name} ({columns}) VALUES ({marks})", list(row.values())
                )
        for query in derive.queries_of("gap"):
            database.execute(f"INSERT INTO gap BY NAME ({query})")
        yield
    finally:
        database.execute("ROLLBACK")


def judge(database: duckdb.DuckDBPyConnection, rule: Rule) -> dict[str, Verdict]:
    """What the rule says of every subject in the database as it is."""
    query = with_parameters(rule.sql, rule.parameters)
    each = verdicts(rule, query, columns_of(database, query), each=True)
    found = database.execute(
        f"SELECT subject, verdict, observed, expected, detail, subjects FROM ({each})"
    ).fetchall()
    if rule.subject.probe:
        found += database.execute(
            f"SELECT subject, verdict, observed, expected, detail, 1 FROM ({silent_targets(rule)})"
        ).fetchall()
    told: dict[str, Verdict] = {}
    for subject, verdict, *texts, count in found:
        if subject in told or count != 1:
            raise RuleError(f"{rule.id} gives {subject} more than one row")
        told[subject] = Verdict(
            verdict, dict(zip(("observed", "expected", "detail"), texts, strict=True))
        )
    return told


def wrong_in(database: duckdb.DuckDBPyConnection, rule: Rule, case: Case) -> list[str]:
    """How the rule's verdicts differ from what the case says."""
    with filled(database, case.rows):
        found = judge(database, rule)
    wrong = []
    for subject in sorted({*case.expected, *found}, key=str):
        wanted = case.expected.get(subject, "no row")
        said = found[subject].verdict if subject in found else "no row"
        if wanted != said:
            wrong.append(f"{case.name}: {subject} is {said}, should be {wanted}")
            continue
        for name, text in case.texts.get(subject, {}).items():
            if found[subject].texts[name] != text:
                has = found[subject].texts[name]
                wrong.append(f"{case.name}: {subject} has {name} {has!r}, should be {text!r}")
    return wrong


def _removals(rule: Rule, case: Case) -> Iterator[tuple[str, Rows, str]]:
    """The case with one thing not read: each need, each table of a need, each machine.

    The last of the three is what is left of a scope, as SQL, where the need is a column of one.
    """
    copy = {table: [dict(row) for row in rows] for table, rows in case.rows.items()}
    for need in rule.needs:
        table, _, column = need.rpartition(".")
        if table in SCOPES:
            kind = scope_columns()[table][column]
            hidden = f"SELECT * REPLACE (NULL::{kind} AS {column}) FROM main.{table}"
            yield f"without {need}", copy, f"CREATE TEMP TABLE {table} AS {hidden}"
        elif any(row.get(column) is not None for row in copy.get(table, ())):
            rows = [{**row, column: None} for row in copy[table]]
            yield f"without {need}", {**copy, table: rows}, ""
    for table in sorted({need.rpartition(".")[0] for need in rule.needs}):
        if copy.get(table) and table != "site":
            yield f"without {table}", {**copy, table: []}, ""
    kept = ("site", "target", "probe_result", *(t for t in copy if t not in tables()))
    gone: Rows = {table: rows if table in kept else [] for table, rows in copy.items()}
    gone["target"] = [{**row, "status": "timeout"} for row in copy["target"]]
    gone["probe_result"] = []
    yield "machine gone", gone, ""


def ok_without(database: duckdb.DuckDBPyConnection, rule: Rule, case: Case) -> list[str]:
    """Where something that was ok still is, though something it needs was not read. Never."""
    good = [subject for subject, verdict in case.expected.items() if verdict == "ok"]
    if not good:
        return []
    wrong = []
    for what, rows, prepare in _removals(rule, case):
        with filled(database, rows):
            if prepare:
                database.execute(prepare)
            found = judge(database, rule)
        still = [s for s in good if s in found and found[s].verdict == "ok"]
        wrong += [f"{case.name}, {what}: {subject} is still ok" for subject in still]
        if not any(told.verdict != "ok" for told in found.values()):
            wrong.append(f"{case.name}, {what}: nobody says that something is unknown")
    return wrong
