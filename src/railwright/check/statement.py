"""A rule's SELECT as a person can run it: thresholds filled in, and what it reads made first."""

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb

from railwright.check.lint import with_parameters
from railwright.check.rule import Rule
from railwright.check.tables import SCOPES, make_lookups, make_macros, make_scopes
from railwright.errors import UsageError
from railwright.intent.site import Site
from railwright.intent.write import write_intent
from railwright.schema.table import intent_tables, tables
from railwright.store.duck import identifier, quote, read_sql, words
from railwright.store.snapshot import Snapshot

_MADE = re.compile(r"create or replace \{kind\} (?:macro|view) (\w+)")
_MACRO = re.compile(r"create macro (\w+)")
_NEEDS_TWO = "an earlier snapshot (before.*), and railwright sql reads one"


def statement(rule: Rule) -> str:
    """For `railwright sql -`: what it lists, then the SELECT."""
    kind = rule.subject.kind.replace("_", " ")
    head = f"-- {rule.id}: one row per {kind}; fault = true is a finding, NULL is inconclusive.\n"
    if rule.baseline:
        head += f"-- It needs {_NEEDS_TWO}: use railwright check --before.\n"
    return head + with_parameters(rule.sql, rule.parameters)


@cache
def _of_two() -> frozenset[str]:
    return frozenset(_MADE.findall(read_sql(__file__, "rises.sql")))


@cache
def _of_rules() -> frozenset[str]:
    """The views and macros that only a rule finds there; those of hardware come with a table."""
    made = _MADE.findall(read_sql(__file__, "lookups.sql"))
    macros = _MACRO.findall(read_sql(__file__, "known.sql"))
    return frozenset([*SCOPES, "site_port", "site_part", *intent_tables(), *made, *macros])


def reads_as_rules_do(query: str) -> bool:
    """Whether a query names something that is made before rules run."""
    named = words(query)
    earlier = any(re.search(rf"\bbefore\.{name}\b", query) for name in tables().keys() & named)
    if earlier or named & _of_two():
        raise UsageError(
            f"the query needs {_NEEDS_TWO}",
            do="Run the rule instead: railwright check --before previous --select RULE",
        )
    return bool(named & _of_rules())


Make = Callable[[duckdb.DuckDBPyConnection], None]


@contextmanager
def made_for(query: str, site: Callable[[], Site], snapshot: Snapshot) -> Iterator[Make | None]:
    """What makes everything that rules read, if the query names any of it.

    Only then is the site file read: a mistake in it is no reason not to answer other questions.
    """
    if not reads_as_rules_do(query):
        yield None
        return
    # Removed out here: where queries run nothing can be.
    with tempfile.TemporaryDirectory(prefix="railwright-sql-") as name:
        write_intent(site(), snapshot.facts, Path(name))
        yield lambda database: _make(database, Path(name))


def _make(database: duckdb.DuckDBPyConnection, intent: Path) -> None:
    # DuckDB 2.0.0 fails over a table without rows: "BindBuiltinScalarFunction did not return ...".
    database.execute("SET disabled_optimizers = 'statistics_propagation'")
    for table in intent_tables():
        file = quote(str(intent / f"{table}.parquet"))
        database.execute(f"CREATE TABLE {identifier(table)} AS FROM read_parquet({file})")
    make_macros(database)
    make_scopes(database, "temp view")
    make_lookups(database, with_before=False)
