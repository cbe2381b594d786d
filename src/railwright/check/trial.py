"""Rules over their cases: what they say of each subject, and what must never come out.

A case is some rows, and all that takes time is to plan queries: so they are not optimised, and
scopes are tables that are filled once per case, if the rule has to do with them.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from railwright.check.account import silent_targets, verdicts
from railwright.check.alike import mentioned
from railwright.check.cases import PARAMETERS, TEXTS, Case, Rows
from railwright.check.lint import empty_database, with_parameters
from railwright.check.rule import Rule
from railwright.check.tables import SCOPES, make_lookups
from railwright.errors import RuleError
from railwright.model import derive
from railwright.schema.table import tables
from railwright.store.duck import identifier

_AT_A_TIME = 500  # rows of one INSERT


@dataclass(frozen=True)
class Verdict:
    """What a rule said of one subject."""

    verdict: str
    texts: dict[str, str | None]


def trial_database() -> duckdb.DuckDBPyConnection:
    """All tables without rows; the scopes are tables that `Trial` fills from their views."""
    database = empty_database("PRAGMA disable_optimizer")
    for name in SCOPES:
        database.execute(f"CREATE TEMP TABLE {name} AS FROM memory.main.{name} LIMIT 0")
    make_lookups(database, with_before=True)  # anew, over these
    return database


@contextmanager
def filled(
    database: duckdb.DuckDBPyConnection, rows: Rows, scopes: Iterable[str]
) -> Iterator[None]:
    """A database of `trial_database()` with these rows, and without them afterwards."""
    database.execute("BEGIN")
    try:
        for table, content in rows.items():
            if table == PARAMETERS:
                continue
            _insert(database, table, content)
        for query in derive.queries_of("gap"):
            database.execute(f"INSERT INTO gap BY NAME ({query})")
        for name in scopes:
            database.execute(f"INSERT INTO temp.{name} FROM memory.main.{name}")
        yield
    finally:
        database.execute("ROLLBACK")


class Trial:
    """One rule in a database of `trial_database()`."""

    def __init__(self, database: duckdb.DuckDBPyConnection, rule: Rule) -> None:
        self._database = database
        self.rule = rule
        words = mentioned(rule.sql)
        self._scopes = [name for name in SCOPES if name in words]  # one reads those before it

    def _query(self, asked: dict[str, Any]) -> str:
        """The rule's SELECT, with its thresholds or those that a case asks for."""
        rule = self.rule
        values = [replace(p, default=asked.get(p.name, p.default)) for p in rule.parameters]
        query = with_parameters(rule.sql, tuple(values))
        shown = f"subject, verdict, {', '.join(TEXTS)}, subjects"
        each = verdicts(rule, query, each=True)
        made = f"SELECT {shown} FROM ({each})"
        if rule.subject.probe:
            made += f" UNION ALL SELECT {shown} FROM ({silent_targets(rule)})"
        return made

    def judge(self, rows: Rows, hidden: dict[str, list[str]] | None = None) -> dict[str, Verdict]:
        """What the rule says of every subject.

        `hidden`: columns of scopes, and the machines for which nobody has read them.
        """
        with filled(self._database, rows, self._scopes):
            for need, machines in (hidden or {}).items():
                table, _, column = need.partition(".")
                self._database.execute(
                    f"UPDATE temp.{table} SET {identifier(column)} = NULL "
                    "WHERE list_contains($1, target)",
                    [machines],
                )
            (asked,) = rows.get(PARAMETERS, [{}])
            found = self._database.execute(self._query(asked)).fetchall()
        told: dict[str, Verdict] = {}
        for subject, verdict, *texts, count in found:
            if subject in told or count != 1:
                raise RuleError(f"{self.rule.id} gives {subject} more than one row")
            words = [None if text is None else str(text) for text in texts]
            told[subject] = Verdict(verdict, dict(zip(TEXTS, words, strict=True)))
        return told


def _insert(
    database: duckdb.DuckDBPyConnection, table: str, content: list[dict[str, object]]
) -> None:
    name = ".".join(identifier(part) for part in table.split("."))
    columns = list(dict.fromkeys(column for row in content for column in row))
    listed = ", ".join(map(identifier, columns))
    for at in range(0, len(content), _AT_A_TIME):
        part = content[at : at + _AT_A_TIME]
        marks = ", ".join(f"({', '.join('?' * len(columns))})" for _ in part)
        database.execute(
            f"INSERT INTO {name} ({listed}) VALUES {marks}",
            [row.get(column) for row in part for column in columns],
        )


def wrong_in(trial: Trial, case: Case) -> list[str]:
    """How the rule's verdicts differ from what the case says."""
    return differences(trial.rule, case, trial.judge(case.rows))


def differences(rule: Rule, case: Case, found: dict[str, Verdict]) -> list[str]:
    """What was found and what the case says, where they differ."""
    wrong = []
    for subject in sorted({*case.expected, *found}, key=str):
        wanted = case.expected.get(subject, "no row")
        said = found[subject].verdict if subject in found else "no row"
        if wanted != said:
            wrong.append(f"{case.name}: {subject} is {said}, should be {wanted}")
            continue
        grade = found[subject].texts["severity"]
        if said == "fail" and rule.grades and grade not in rule.grades:
            wrong.append(f"{case.name}: {subject} has severity {grade!r}, which is not a grade")
        for name, text in case.texts.get(subject, {}).items():
            if found[subject].texts[name] != text:
                has = found[subject].texts[name]
                wrong.append(f"{case.name}: {subject} has {name} {has!r}, should be {text!r}")
    return wrong


def not_cured(case: Case, found: dict[str, Verdict]) -> list[str]:
    """Where something is still wrong, or not known any more, once its cause is set right."""
    failed = {subject for subject, verdict in case.expected.items() if verdict == "fail"}
    return [
        f"{case.name}, cured: {subject} is {said.verdict}"
        for subject, said in found.items()
        if said.verdict == "fail" or (subject in failed and said.verdict == "unknown")
    ]


def removals(rule: Rule, case: Case) -> Iterator[tuple[str, Rows, str]]:
    """A case with something ok, and one thing not read: a need, a table of a need, the machine.

    The last of the three is the column of a scope, where that is the need.
    """
    if "ok" not in case.expected.values():
        return
    copy = {table: [dict(row) for row in rows] for table, rows in case.rows.items()}
    for need in rule.needs:
        table, _, column = need.rpartition(".")
        if table in SCOPES:
            yield f"without {need}", copy, need
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


def single_removals(rule: Rule, case: Case) -> Iterator[tuple[str, Rows]]:
    """A case with a failure, and one value of one row not read: what was wrong may be just that.

    Where values of several rows are put together, min, max and count leave out the one that was
    not read, and the rest looks well.
    """
    if "fail" not in case.expected.values():
        return
    for need in rule.needs:
        table, _, column = need.rpartition(".")
        rows = [] if need in rule.unless else case.rows.get(table, [])
        for number, row in enumerate(rows):
            if row.get(column) is not None:
                left = [*rows[:number], {**row, column: None}, *rows[number + 1 :]]
                yield f"without {need} of row {number}", {**case.rows, table: left}


def no_longer_wrong(case: Case, what: str, found: dict[str, Verdict]) -> list[str]:
    """Where something failed and is in order now, because something was not read."""
    failed = [subject for subject, verdict in case.expected.items() if verdict == "fail"]
    told = {s: found[s].verdict for s in failed if s in found}
    return [
        f"{case.name}, {what}: {subject} failed and is {verdict}"
        for subject, verdict in told.items()
        if verdict in ("ok", "not applicable")
    ]


def not_unknown(rule: Rule, case: Case, what: str, found: dict[str, Verdict]) -> list[str]:
    """Where something that was ok is not unknown, though something it needs was not read.

    A whole table may be empty because there is none of it; then it must only not be ok. So it is
    with a need that is not always asked for.
    """
    asked = {f"without {need}" for need in rule.needs if need not in rule.unless}
    wrong = []
    for subject, verdict in case.expected.items():
        told = found[subject].verdict if verdict == "ok" and subject in found else "unknown"
        if told == "ok":
            wrong.append(f"{case.name}, {what}: {subject} is still ok")
        elif told != "unknown" and what in asked:
            wrong.append(f"{case.name}, {what}: {subject} is {told}, should be unknown")
    if not any(told.verdict != "ok" for told in found.values()):
        wrong.append(f"{case.name}, {what}: no verdict is unknown")
    return wrong


def wrong_without(trial: Trial, case: Case) -> list[str]:
    """The same for every need, one after the other: what a pack from elsewhere is held to."""
    needs = {f"without {need}" for need in trial.rule.needs}
    wrong = []
    for what, rows, hidden in removals(trial.rule, case):
        if what in needs:
            machines = [str(row["target"]) for row in rows["target"]]
            found = trial.judge(rows, {hidden: machines} if hidden else None)
            wrong += not_unknown(trial.rule, case, what, found)
    return wrong
