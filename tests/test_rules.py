"""Every rule of the catalogue: its header, its SELECT, its cases, and what must never be ok."""

import duckdb
import pytest

from railwright.check.cases import load_cases, ok_without, wrong_in
from railwright.check.lint import binding_database, empty_database, faults, known_column
from railwright.check.rule import VERDICTS, Rule, shipped

RULES = list(shipped().values())
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    return empty_database()


@pytest.fixture(scope="module")
def binding() -> duckdb.DuckDBPyConnection:
    return binding_database()


@each_rule
def test_header_and_select(rule: Rule, binding: duckdb.DuckDBPyConnection) -> None:
    assert [need for need in (*rule.needs, *rule.uses) if not known_column(need)] == []
    assert faults(rule, binding) == []
    assert set(rule.implied_by) <= set(shipped()), "implied_by names a rule that is not there"


@each_rule
def test_cases(rule: Rule, database: duckdb.DuckDBPyConnection) -> None:
    cases = load_cases(rule)
    assert [wrong for case in cases for wrong in wrong_in(database, rule, case)] == []
    shown = {verdict for case in cases for verdict in case.expected.values()}
    assert shown >= set(VERDICTS), f"no case for {set(VERDICTS) - shown}"


@each_rule
def test_what_was_not_read_is_never_ok(rule: Rule, database: duckdb.DuckDBPyConnection) -> None:
    cases = load_cases(rule)
    assert [wrong for case in cases for wrong in ok_without(database, rule, case)] == []
