"""Every rule of the catalogue: its header, its SELECT, its cases, and what must never be ok."""

from dataclasses import replace
from statistics import median

import duckdb
import pytest
from said_names import NAMES_ARE_VALUES, names_said
from silencing import partners, silenced, unlike
from universes import judge_each, judge_together

from lab.harness.rule_lengths import MOST_OF_MEDIAN, lengths
from railwright.check.cases import Case, load_cases, not_shown
from railwright.check.lint import (
    binding_database,
    columns_read,
    empty_database,
    faults,
    known_column,
    with_parameters,
)
from railwright.check.rule import ANY, Rule, shipped
from railwright.check.trial import (
    Trial,
    Verdict,
    differences,
    no_longer_wrong,
    not_cured,
    not_unknown,
    removals,
    single_removals,
    trial_database,
)
from railwright.schema.system import facts
from railwright.schema.table import intent_tables

RULES = list(shipped().values())
# What is true of one machine whatever others have: (rule, case, silent machine).
STANDS_ALONE = {
    # The site sets what this card does not have. That another card has it only says that the name is right.
    ("intent-parameter-name", "a card of the type on another machine has it", "b"),
}
MOST_ALONE = 20  # of what was not read, for rules that compare machines
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    return trial_database()


@pytest.fixture(scope="module")
def binding() -> duckdb.DuckDBPyConnection:
    return binding_database()


@each_rule
def test_header_and_select(rule: Rule, binding: duckdb.DuckDBPyConnection) -> None:
    assert [need for need in (*rule.needs, *rule.uses) if not known_column(need)] == []
    assert faults(rule, binding) == []
    assert set(rule.implied_by) <= {*shipped(), ANY}, "implied_by names a rule that is not there"


@each_rule
def test_cases(rule: Rule, database: duckdb.DuckDBPyConnection) -> None:
    """A rule that judges each machine by itself says the same of a case among all others.

    So all its cases are judged at once, which proves just that: `check` relies on it where it
    judges one of many machines that are alike.
    """
    trial, cases = Trial(database, rule), load_cases(rule)
    assert not_shown(rule, cases) == []
    judge = judge_each if rule.peers else judge_together
    found = judge(trial, [(case.rows, "") for case in cases])
    told_of = list(zip(cases, found, strict=True))
    assert [wrong for case, told in told_of for wrong in differences(rule, case, told)] == []
    named = [said for case, told in told_of for said in names_said(case.rows, told)]
    if rule.id in NAMES_ARE_VALUES:
        assert named, "no value of this rule is a name any more"
    else:
        assert named == [], "findings that say the same cannot be one line: name it in the detail"


@each_rule
@pytest.mark.one_in(4)
def test_what_was_not_read_is_never_ok(rule: Rule, database: duckdb.DuckDBPyConnection) -> None:
    trial, cases = Trial(database, rule), load_cases(rule)
    judge = judge_each if rule.peers else judge_together
    without = [(case, *removed) for case in cases for removed in removals(rule, case)]
    found = judge(trial, [(rows, hidden) for _, _, rows, hidden in without])
    assert [
        wrong
        for (case, what, _, _), told in zip(without, found, strict=True)
        for wrong in not_unknown(rule, case, what, told)
    ] == []


@pytest.mark.parametrize("rule", [r for r in RULES if r.setting], ids=lambda rule: rule.id)
def test_what_a_rule_asks_to_set_cures_it(rule: Rule, database: duckdb.DuckDBPyConnection) -> None:
    """Its remedy, put into the facts: what failed is gone, and nothing else fails for it."""
    trial, cases = Trial(database, rule), load_cases(rule)
    cured = [case for case in cases if case.cured is not None]
    assert cured, "no case has a cure"
    wrong = [one for case in cured for one in not_cured(case, trial.judge(case.cured or {}))]
    assert wrong == []


@each_rule
@pytest.mark.one_in(4)
def test_what_is_wrong_is_not_in_order_because_it_was_not_read(
    rule: Rule, database: duckdb.DuckDBPyConnection
) -> None:
    trial, cases = Trial(database, rule), load_cases(rule)
    without = [(case, *removed) for case in cases for removed in single_removals(rule, case)]
    if rule.peers:  # each in a database of its own: some of them, spread over all
        without = without[:: len(without) // MOST_ALONE + 1]
    judge = judge_each if rule.peers else judge_together
    found = judge(trial, [(rows, "") for _, _, rows in without])
    assert [
        wrong
        for (case, what, _), told in zip(without, found, strict=True)
        for wrong in no_longer_wrong(case, what, told)
    ] == []


@pytest.mark.parametrize(
    "rule", [r for r in RULES if "unread_facts" in r.optional], ids=lambda rule: rule.id
)
def test_facts_that_are_missing_never_hide_what_else_was_not_read(
    rule: Rule, database: duckdb.DuckDBPyConnection
) -> None:
    """Who accepts that a system does not report a fact must not accept a failed answer with it."""
    trial, wrong, claims = Trial(database, rule), [], 0
    for case in load_cases(rule):
        told = {
            s: texts["unread_facts"] for s, texts in case.texts.items() if texts.get("unread_facts")
        }
        claims += len(told)
        held = {
            c for names in told.values() for name in names.split(",") for c in facts()[name].columns
        }
        held |= {column.replace("link_end.", "end_scope.") for column in held} | set(rule.unless)
        held |= {column.partition(".")[0] for column in held}
        for what, rows, hidden in removals(rule, replace(case, expected=dict.fromkeys(told, "ok"))):
            if what.removeprefix("without ") in held:
                continue
            machines = [str(row["target"]) for row in rows["target"]]
            found = trial.judge(rows, {hidden: machines} if hidden else None)
            wrong += [
                f"{case.name}, {what}: {subject} claims that only {fact} is missing"
                for subject, fact in told.items()
                if subject in found
                and found[subject].verdict == "unknown"
                and found[subject].texts["unread_facts"] == fact
            ]
    assert claims, "no case shows which facts it may miss"
    assert wrong == []


@pytest.mark.parametrize(
    "rule", [r for r in RULES if r.peers or r.both_ends], ids=lambda rule: rule.id
)
@pytest.mark.one_in(2)
def test_nothing_is_found_because_a_machine_is_silent(
    rule: Rule, database: duckdb.DuckDBPyConnection
) -> None:
    trial, wrong = Trial(database, rule), []
    for case in load_cases(rule):
        failed = {subject for subject, verdict in case.expected.items() if verdict == "fail"}
        failed |= partners(case, failed)  # told at the end that was read
        for name in unlike(case):
            if (rule.id, case.name, name) in STANDS_ALONE:
                continue
            found = trial.judge(silenced(case, name))
            wrong += [
                f"{case.name}, {name} silent: {subject} is found"
                for subject, told in found.items()
                if told.verdict == "fail" and subject not in failed
            ]
    assert wrong == []


@pytest.mark.parametrize("rule", [r for r in RULES if r.peers], ids=lambda rule: rule.id)
@pytest.mark.one_in(3)
def test_a_rule_that_compares_machines_really_does(
    rule: Rule, database: duckdb.DuckDBPyConnection
) -> None:
    """Among others, or alone, one of its machines is judged otherwise."""
    trial, cases = Trial(database, rule), load_cases(rule)
    among = judge_together(trial, [(case.rows, "") for case in cases])
    alone = [_each_alone(trial, case) for case in cases]
    assert any(
        differences(rule, case, told)
        for found in (among, alone)
        for case, told in zip(cases, found, strict=True)
    )


def _each_alone(trial: Trial, case: Case) -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}
    for name in {row["target"] for row in case.rows["target"]}:
        rows = {
            table: [row for row in content if row.get("target", name) == name]
            for table, content in case.rows.items()
        }
        found |= trial.judge(rows)
    return found


def test_every_column_of_the_intent_is_read_by_a_rule() -> None:
    """What a site may say and no rule looks at would be a promise that nobody keeps."""
    read = set()
    with empty_database() as database:
        for rule in RULES:
            read |= columns_read(database, with_parameters(rule.sql, rule.parameters))
    said = {
        f"{name}.{column}"
        for name, table in intent_tables().items()
        for column in table.column_types()
    }
    # The profile's name is for the head of the report; what it stands for is in the other columns.
    assert said - read == {"site.profile"}


def test_half_of_the_selects_fit_on_a_screen() -> None:
    """`python -m bench.rule_lengths` writes the figure."""
    middle = median(lengths().values())
    assert middle <= MOST_OF_MEDIAN, f"{middle:g} lines: shorten some of {list(lengths())[:20]}"
