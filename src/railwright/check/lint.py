"""What can be wrong with a rule before it has seen a single fact."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import duckdb

from railwright.check.rule import AGREED, OPTIONAL, Parameter, Rule
from railwright.check.tables import (
    SCOPES,
    all_tables,
    close,
    make_empty,
    make_lookups,
    make_macros,
    make_scopes,
)
from railwright.store.duck import quote

# Constructs in which a value that was not read silently becomes a known one. Behind `-- null:` on
# the same line stands why it is meant.
# Not among them: min, max and count(x), which mostly pick the one row that a filter leaves or are
# compared with count(*), and string_agg, which makes words: two hundred reasons would hide the few
# that matter. Whether they hide something is tried out instead (trial.single_removals).
_SKIPS_NULL = re.compile(
    r"\b(?:(?:bool_or|bool_and|bit_or|bit_and|bit_xor|mode|coalesce|ifnull|nullif|greatest|least|sum|avg"
    r"|mean|median|product|quantile\w*|histogram|any_value|first|last|arg_max|arg_min|max_by|min_by"
    r"|concat|list_(?:max|min|sum|avg|any_value|first|last|bool_and|bool_or|aggregate|aggr))(?=\s*\()"
    r"|(?:not\s+exists|not\s+in|is\s+(?:not\s+)?distinct\s+from|anti\s+join|semi\s+join)\b)",
    re.IGNORECASE,
)
MEMORY = "512MB"  # a rule over tables without rows needs none
_REASON = re.compile(r"--\s*null:\s*\S")
_TEXT = re.compile(r"'(?:[^']|'')*'")
# Optimisations that take away what an empty table cannot tell, and with it which columns are read.
_KEPT_SIMPLE = (
    "statistics_propagation,empty_result_pullup,filter_pushdown,filter_pullup,limit_pushdown"
)


_SQL_TYPES = {str: "VARCHAR", int: "INTEGER", float: "DOUBLE"}


def with_parameters(query: str, parameters: tuple[Parameter, ...]) -> str:
    """The SELECT with its thresholds filled in; one without a value stays and will not bind."""
    values = {
        p.name: quote(p.default) if isinstance(p.default, str) else repr(p.default)
        for p in parameters
    }
    return re.sub(r"\$([a-z_]+)", lambda found: values.get(found[1], found[0]), query)


def with_any_parameters(query: str, parameters: tuple[Parameter, ...]) -> str:
    """The same with values that the planner cannot fold: a default of 0 must take nothing away."""
    values = {p.name: f"txid_current()::{_SQL_TYPES[type(p.default)]}" for p in parameters}
    return re.sub(r"\$([a-z_]+)", lambda found: values.get(found[1], found[0]), query)


def columns_of(database: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    """The names that a SELECT gives."""
    found = database.execute(f"DESCRIBE {query}").fetchall()
    return [row[0] for row in found]


def empty_database(setting: str = "") -> duckdb.DuckDBPyConnection:
    """All tables without rows, and the scopes over them."""
    database = duckdb.connect(":memory:", config={"threads": 1})
    make_empty(database)
    make_macros(database)
    make_scopes(database, "view")
    make_lookups(database, with_before=True)
    database.execute(setting)
    database.execute(f"SET disabled_optimizers = {quote(_KEPT_SIMPLE)}")
    close(database, [], MEMORY, "0KB")
    return database


@cache
def scope_columns() -> dict[str, dict[str, str]]:
    """The columns of the scopes, and their types."""
    with empty_database() as database:
        return {
            name: {row[0]: row[1] for row in database.execute(f"DESCRIBE {name}").fetchall()}
            for name in SCOPES
        }


def binding_database() -> duckdb.DuckDBPyConnection:
    """The same with scopes that are tables: what a rule reads of them can be told."""
    database = duckdb.connect(":memory:", config={"threads": 1})
    make_empty(database)
    make_macros(database)
    for name, columns in scope_columns().items():
        listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        database.execute(f"CREATE TABLE {name} ({listed})")
    make_lookups(database, with_before=True)
    database.execute(f"SET disabled_optimizers = {quote(_KEPT_SIMPLE)}")
    close(database, [], MEMORY, "0KB")
    return database


def _one_select(rule: Rule) -> Iterator[str]:
    try:
        statements = duckdb.extract_statements(rule.sql)
    except duckdb.Error as error:
        yield f"it is not SQL: {str(error).splitlines()[0]}"
        return
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        yield "it must be one SELECT"


def _null_discipline(rule: Rule) -> Iterator[str]:
    for number, line in enumerate(rule.sql.splitlines(), 1):
        code, _, _ = _TEXT.sub("''", line).partition("--")
        found = _SKIPS_NULL.search(code)
        if found and not _REASON.search(line):
            yield f"line {number} of its SELECT has {found[0]} without `-- null: reason`"


def _shape(rule: Rule, columns: list[str]) -> Iterator[str]:
    agreed = [*rule.subject.key, *AGREED]
    if columns[: len(agreed)] != agreed:
        yield f"its columns must begin with {', '.join(agreed)}; it has {', '.join(columns)}"
    extra = [name for name in columns[len(agreed) :] if name not in OPTIONAL]
    if extra:
        yield f"it may add {', '.join(OPTIONAL)}, not {', '.join(extra)}"
    told = [name for name in OPTIONAL if name in columns]
    if told != list(rule.optional):
        yield f"each of {', '.join(OPTIONAL)} that it gives ends a line of its last SELECT"
    if ("severity" in columns) != bool(rule.grades):
        yield "a column severity and [grades] belong together"
    if rule.several and "detail" not in rule.optional:
        yield "several rows of one subject need a detail that tells them apart"


def _plan(database: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nodes of DuckDB's own plan: (name, what it says of itself)."""
    found = database.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
    waiting = list(json.loads(found[-1][1]))
    while waiting:
        node = waiting.pop()
        waiting.extend(node.get("children", ()))
        yield node["name"].strip(), node.get("extra_info", {})


def columns_read(database: duckdb.DuckDBPyConnection, query: str) -> set[str]:
    """table.column of everything that a SELECT really reads."""
    read: set[str] = set()
    for _, info in _plan(database, query):
        if "Table" in info:
            parts = [part.strip('"') for part in info["Table"].split(".")]
            table = f"before.{parts[-1]}" if "before" in parts else parts[-1]
            columns = info.get("Projections", [])
            read |= {f"{table}.{c}" for c in ([columns] if isinstance(columns, str) else columns)}
    return read


def scope_reads() -> dict[str, list[str]]:
    """For every column of a scope the columns of tables that it is made of, as the planner says.

    What `just scopes` writes to scope_reads.toml, where a check reads it.
    """
    found = {}
    with empty_database() as database:
        for scope, columns in scope_columns().items():
            always = columns_read(database, f"SELECT target FROM {scope}")
            for column in columns:
                read = columns_read(database, f"SELECT {column} FROM {scope}") - always
                found[f"{scope}.{column}"] = sorted(read)
    return found


def _sources(database: duckdb.DuckDBPyConnection, query: str) -> Iterator[str]:
    """Functions that make tables of something else have no place in a rule."""
    odd = {name.lower() for name, info in _plan(database, query) if "Function" in info}
    for name in sorted(odd - {"range", "generate_series"}):
        yield f"it reads from {name}(), not from a table"


def _needs(rule: Rule, read: set[str]) -> Iterator[str]:
    keys = {
        f"{prefix}{name}.{column}"
        for name, table in all_tables().items()
        for prefix in ("", "before.")
        for column in (*table.key, "target", "read_at")
    }
    keys |= {f"{name}.{column}" for name, key in SCOPES.items() for column in key}
    declared = {*rule.needs, *rule.uses}
    unnamed = sorted(read - declared - keys)
    if unnamed:
        yield f"it reads what its header does not name: {', '.join(unnamed)}"
    unread = sorted(declared - read)
    if unread:
        yield f"its header names what it does not read: {', '.join(unread)}"
    if any(one.startswith("before.") for one in read) != rule.baseline:
        yield "baseline = true belongs to rules that read before.*, and only to them"


def faults(rule: Rule, database: duckdb.DuckDBPyConnection) -> list[str]:
    """Everything that is wrong with a rule, in words; the database is a binding_database()."""
    found = [*_one_select(rule), *_null_discipline(rule)]
    if found:
        return found
    query = with_parameters(rule.sql, rule.parameters)
    try:
        columns = columns_of(database, query)
        read = columns_read(database, with_any_parameters(rule.sql, rule.parameters))
    except duckdb.Error as error:
        return [f"it does not bind: {str(error).splitlines()[0]}"]
    return [*_shape(rule, columns), *_sources(database, query), *_needs(rule, read)]


def known_column(need: str) -> bool:
    """Whether table.column exists."""
    table, _, column = need.removeprefix("before.").partition(".")
    if table in SCOPES:
        return column in scope_columns()[table]
    return table in all_tables() and column in all_tables()[table].column_types()
