"""A person's own SELECT over a snapshot: read-only, and unable to reach any other file."""

import re
from difflib import get_close_matches

import duckdb

from railwright.errors import UsageError
from railwright.facts.duck import identifier, quote
from railwright.facts.schema import tables
from railwright.facts.snapshot import Snapshot

MEMORY = "1GB"  # a person asks one question at a time; what does not fit spills to disk
_READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def closed_database(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """The snapshot's tables in a database that can open no other file and change no setting."""
    database = snapshot.database()
    folder = str(snapshot.path.resolve())
    database.execute(f"SET memory_limit = {quote(MEMORY)}")
    database.execute(f"SET allowed_directories = [{quote(folder)}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


def check(query: str) -> None:
    """Refuse what is not one reading statement, with words that help."""
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise _mistake(str(error)) from error
    if len(statements) != 1 or statements[0].type not in _READING:
        raise UsageError(
            "one SELECT is wanted" if statements else "the question is empty",
            why="A snapshot is never changed, and a question has one answer.",
            do="railwright sql lists the tables; railwright sql --describe TABLE its columns.",
        )


def ask(database: duckdb.DuckDBPyConnection, query: str) -> duckdb.DuckDBPyConnection:
    """Run it; the caller fetches."""
    check(query)
    try:
        return database.execute(query)
    except duckdb.Error as error:
        raise _mistake(str(error)) from error


def _mistake(said: str) -> UsageError:
    """DuckDB's own words, and where to look."""
    do = "railwright sql lists the tables; railwright sql --describe TABLE its columns."
    missing = re.search(r"Table with name (\w+) does not exist", said)
    if missing and "Did you mean" not in said:
        near = get_close_matches(missing[1], [*tables(), "evidence"], 3, 0.5)
        if near:
            do = f"Did you mean {' or '.join(near)}? {do}"
    if "file system operations are disabled" in said:
        do = "Only the snapshot's own tables can be read: copy the answer out with --format csv."
    return UsageError(said.strip().split("\n\nLINE")[0], do=do)


def row_counts(database: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """How many rows each table has."""
    parts = (f"SELECT {quote(name)}, count(*) FROM {identifier(name)}" for name in tables())
    return dict(database.execute(" UNION ALL ".join(parts)).fetchall())
