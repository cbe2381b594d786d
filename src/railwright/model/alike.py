"""Machines that are alike in some tables: one of them, the example, is looked at for all.

A fleet is many machines of few kinds. The derived table `likeness` has one number per machine and
table; machines whose numbers are equal say the same, serials, addresses and counters aside.
"""

from collections.abc import Iterable

import duckdb

from railwright.store.duck import identifier, quote, words

FEWEST = 1_000  # machines; below, folding costs more than it saves
MOST_EXAMPLES = 0.2  # of all machines: with more kinds than that, folding is not worth it


def words_behind(sql: str, made: dict[str, frozenset[str]]) -> frozenset[str]:
    """The words of a query and of all that it is made of: a few too many, never one too few."""
    found = words(sql)
    while more := frozenset().union(*(made[name] for name in found & set(made))) - found:
        found |= more
    return found


def number_kinds(
    database: duckdb.DuckDBPyConnection, names: list[str], more: Iterable[str]
) -> None:
    """Table `machine_kind`: of every machine one number per table, and what else it is told by.

    `more` are queries, each of which gives `target` and a column that `likeness` has not.
    """
    wide = "".join(
        f", max(kind) FILTER (fact_table = {quote(name)}) AS {identifier(name)}" for name in names
    )
    listed = ", ".join(map(quote, names))
    joined = "".join(f" LEFT JOIN ({query}) USING (target)" for query in more)
    database.execute(
        "CREATE TABLE machine_kind AS "
        "FROM (SELECT target, kind, status, out_of_service FROM target) "
        f"LEFT JOIN (SELECT target{wide} FROM likeness WHERE fact_table IN ({listed}) "
        f"GROUP BY target) USING (target){joined}"
    )


def find_kinds(database: duckdb.DuckDBPyConnection, name: str, by: list[str]) -> bool:
    """Make a table (example, members) of machines with equal numbers; whether that saves work.

    A host and a switch may have nothing in the same tables, and are not alike for that.
    """
    database.execute(
        f"CREATE TABLE {identifier(name)} AS SELECT min(target) AS example, "
        f"list(target) AS members FROM machine_kind GROUP BY kind, {', '.join(by)}"
    )
    found = database.execute(
        f"SELECT (SELECT count(*) FROM {identifier(name)}), (SELECT count(*) FROM machine_kind)"
    ).fetchall()
    kinds, machines = found[0]
    return bool(kinds <= machines * MOST_EXAMPLES)


def examples_of(database: duckdb.DuckDBPyConnection, names: list[str]) -> str:
    """The examples of several such tables, as a SQL list.

    Named one by one, they tell Parquet which row groups hold none of them.
    """
    listed = " UNION ".join(f"SELECT example FROM {identifier(name)}" for name in names)
    return ", ".join(quote(name) for (name,) in database.execute(listed).fetchall())
