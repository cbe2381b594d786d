"""Two snapshots: what changed, and what cannot be compared. What was not read is never equal."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.model.derived.digest import compared, digested, hash_of, instance_of, subject_of
from railwright.schema.table import Table
from railwright.store.duck import connect, identifier, quote, read_sql
from railwright.store.snapshot import Snapshot

SIDES = ("before", "now")
_NO_CELLS = "unnest([]::STRUCT(c VARCHAR, o VARCHAR, n VARCHAR)[])"  # of a table with a key alone


class Change(NamedTuple):
    """The same change on one or many hosts."""

    table: str
    what: str  # which rows of the table, where the key has more than host and subject
    column: str  # '' where whole rows came or went
    kind: str  # changed, appeared, gone, read now, not read now
    old: str | None
    new: str | None
    things: int
    targets: list[str]


class Gap(NamedTuple):
    """Hosts on which a probe did not answer in both snapshots."""

    probe: str
    side: str  # before, now, both
    targets: list[str]


def open_both(before: Snapshot, now: Snapshot) -> duckdb.DuckDBPyConnection:
    """One database with the tables of both, in the schemas `before` and `now`."""
    database = connect(threads=2)
    database.execute("SET memory_limit = '1GB'")
    for side, snapshot in zip(SIDES, (before, now), strict=True):
        database.execute(f"CREATE SCHEMA {side}")
        for table, file in snapshot.files().items():
            database.execute(
                f"CREATE VIEW {side}.{identifier(table)} AS FROM read_parquet({quote(str(file))})"
            )
    _narrow(database)
    return database


# One number per host and per table over all digests of a side: nearly everything is the same in
# both, and need not be joined row by row to be seen so.
_OF_DIGESTS = f"""
    SELECT target, fact_table, bit_xor(number) AS fingerprint
    FROM (SELECT target, fact_table,
                 {hash_of(["target", "fact_table", "subject", "row_count", "digest"])} AS number
          FROM {{side}}.digest)
    GROUP BY GROUPING SETS ((target), (fact_table))"""
_OF_ANSWERS = f"""
    SELECT target, bit_xor({hash_of(["probe", "instance", "ok"])}) AS fingerprint
    FROM (SELECT target, probe, instance, status = 'ok' AS ok FROM {{side}}.probe_result)
    GROUP BY target"""


def _keep_differing(
    database: duckdb.DuckDBPyConnection, table: str, key: str, fingerprints: str
) -> None:
    """A table of the hosts, or of the fact tables, whose fingerprints are not those of both."""
    before, now = (
        f"(FROM ({fingerprints.format(side=side)}) WHERE {key} NOT NULL)" for side in SIDES
    )
    database.execute(
        f"CREATE TEMP TABLE {table} AS SELECT {key} FROM {before} b FULL JOIN {now} n "
        f"USING ({key}) WHERE b.fingerprint IS DISTINCT FROM n.fingerprint"
    )


def _narrow(database: duckdb.DuckDBPyConnection) -> None:
    """What is worth a closer look: hosts and tables that differ, hosts that answered otherwise."""
    for side in SIDES:
        database.execute(f"CREATE TEMP TABLE fingerprint_{side} AS {_OF_DIGESTS.format(side=side)}")
    kept = "FROM fingerprint_{side}"
    _keep_differing(database, "differing_target", "target", kept)
    _keep_differing(database, "differing_table", "fact_table", kept)
    _keep_differing(database, "answered_otherwise", "target", _OF_ANSWERS)
    # Where a probe answered in both: only there is a missing row a fact.
    ok = (
        "SELECT DISTINCT target, probe, instance FROM {side}.probe_result "
        "SEMI JOIN differing_target USING (target) WHERE status = 'ok'"
    )
    both = " INTERSECT ".join(ok.format(side=side) for side in SIDES)
    database.execute(f"CREATE TEMP TABLE answered AS {both}")


def target_changes(database: duckdb.DuckDBPyConnection) -> list[tuple[str, str, list[str]]]:
    """(status before, status now, hosts), where they differ."""
    return database.execute(
        "SELECT coalesce(b.status, 'not asked') AS old, coalesce(n.status, 'not asked') AS new, "
        "list(target ORDER BY target) FROM before.target b FULL JOIN now.target n USING (target) "
        "WHERE b.status IS DISTINCT FROM n.status GROUP BY 1, 2 ORDER BY 1, 2"
    ).fetchall()


def gaps(database: duckdb.DuckDBPyConnection) -> list[Gap]:
    """What cannot be compared: a probe that answered in one snapshot only, on hosts of both."""
    found = database.execute(read_sql(__file__, "compare_gaps.sql")).fetchall()
    return [Gap(*row) for row in found]


def _rest_of_key(table: Table) -> str:
    """`SRIOV_EN port 0 element -1`: the parts of the key behind host and subject, as SQL."""
    parts = [identifier(name) for name in table.key[2:]]
    return f"concat_ws(' ', {', '.join(parts)})" if parts else "''"


def changes_query(table: Table) -> str:
    """The query for what differs in the rows of one table."""
    columns = [c for c in compared(table) if c not in table.key]
    cells = ", ".join(
        f"{{'c': {quote(c)}, 'o': b.{identifier(c)}::VARCHAR, 'n': n.{identifier(c)}::VARCHAR}}"
        for c in columns
    )
    return read_sql(__file__, "compare_rows.sql").format(
        table=identifier(table.name),
        fact_table=quote(table.name),
        key=", ".join(map(identifier, table.key)),
        rest_of_key=_rest_of_key(table),
        subject=subject_of(table, "t."),
        instance=instance_of(table, "t."),
        probe="t.probe" if table.fed_by == "several" else quote(table.fed_by),
        cells=f"unnest([{cells}])" if cells else _NO_CELLS,
        differs=" OR ".join(
            f"b.{column} IS DISTINCT FROM n.{column}"
            for column in ("here", *map(identifier, columns))
        ),
    )


def changes(database: duckdb.DuckDBPyConnection) -> Iterator[Change]:
    """What differs, table by table, the same change of many hosts as one."""
    differing = {name for (name,) in database.execute("FROM differing_table").fetchall()}
    for table in (one for one in digested() if one.name in differing):
        for row in database.execute(changes_query(table)).fetchall():
            yield Change(table.name, *row)
