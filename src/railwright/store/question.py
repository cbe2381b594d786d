"""A person's own SELECT over a snapshot: read-only, and unable to reach any other file."""

import re
from collections.abc import Callable
from difflib import get_close_matches

import duckdb

from railwright.errors import UsageError
from railwright.schema.table import tables
from railwright.store.duck import file_list, identifier, quote, words
from railwright.store.snapshot import Snapshot

MEMORY = "1GB"  # a person asks one question at a time; what does not fit spills to disk


# EXPLAIN of a SELECT only: what stands behind it is looked at as if it stood alone.
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(.*)", re.IGNORECASE | re.DOTALL)
_ZONED = ("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "TIMESTAMP_TZ", "TIME_TZ")
_ANALYZE = re.compile(r"\(|ANALY[SZ]E\b", re.IGNORECASE)


def closed_database(
    snapshot: Snapshot, query: str, make: Callable[[duckdb.DuckDBPyConnection], None] | None = None
) -> duckdb.DuckDBPyConnection:
    """The snapshot's tables in a database that can open no other file and change no setting.

    Its files are named one by one, and no folder is: nothing can be made anywhere. What else the
    query may name is made first.
    """
    answers = "evidence" in words(query)
    readable = [*snapshot.files().values(), *(snapshot.evidence_files() if answers else ())]
    database = snapshot.database(evidence=answers)
    if make is not None:
        make(database)
    for setting in (
        f"SET memory_limit = {quote(MEMORY)}",
        f"SET allowed_paths = {file_list(readable)}",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ):
        database.execute(setting)
    return database


def ask(database: duckdb.DuckDBPyConnection, query: str) -> duckdb.DuckDBPyConnection:
    """Run it; the caller fetches."""
    try:
        _check(query)
        found = database.execute(query)
    except duckdb.Error as error:
        raise _mistake(str(error)) from error
    zoned = [column[0] for column in found.description if str(column[1]) in _ZONED]
    if zoned:
        raise UsageError(
            f"{zoned[0]} has a time zone, which cannot be printed",
            why="All times in a snapshot are UTC, without a time zone.",
            do=f"Cast it: {zoned[0]}::TIMESTAMP",
        )
    return found


def _check(query: str) -> None:
    """Refuse what is not one reading statement, with words that help."""
    explained = _EXPLAIN.fullmatch(query)
    if explained and _ANALYZE.match(explained[1]):
        raise UsageError("EXPLAIN ANALYZE is not supported", do="Write EXPLAIN SELECT …")
    statements = duckdb.extract_statements(explained[1] if explained else query)
    if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
        raise UsageError(
            "the query must be one SELECT" if statements else "the query is empty",
            why="Snapshots are read-only.",
            do="To list tables: railwright sql; columns: railwright sql --describe TABLE",
        )


def _mistake(said: str) -> UsageError:
    """DuckDB's own words, and where to look."""
    do = "To list tables: railwright sql; columns: railwright sql --describe TABLE"
    missing = re.search(r"Table with name (\w+) does not exist", said)
    if missing and "Did you mean" not in said:
        near = get_close_matches(missing[1], [*tables(), "evidence"], 3, 0.5)
        if near:
            do = f"Did you mean {' or '.join(near)}? {do}"
    if "file system operations are disabled" in said:
        do = "Only the snapshot's own tables can be read: export the result with --format csv."
    return UsageError(said.strip().split("\n\nLINE")[0], do=do)


def row_counts(database: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """How many rows each table has."""
    parts = (f"SELECT {quote(name)}, count(*) FROM {identifier(name)}" for name in tables())
    return dict(database.execute(" UNION ALL ".join(parts)).fetchall())
