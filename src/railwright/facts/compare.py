"""Two snapshots: what changed, and what cannot be compared. What was not read is never equal."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.facts.derive.digest import compared, digested, instance_of, subject_of
from railwright.facts.duck import connect, identifier, quote
from railwright.facts.schema import Table
from railwright.facts.snapshot import Snapshot

SIDES = ("before", "now")


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
        for table, file in snapshot.files():
            database.execute(
                f"CREATE VIEW {side}.{identifier(table)} AS FROM read_parquet({quote(str(file))})"
            )
    # Where a probe answered in both: only there is a missing row a fact.
    database.execute(
        "CREATE TEMP TABLE answered AS "
        "SELECT DISTINCT target, probe, instance FROM before.probe_result WHERE status = 'ok' "
        "INTERSECT "
        "SELECT DISTINCT target, probe, instance FROM now.probe_result WHERE status = 'ok'"
    )
    return database


def target_changes(database: duckdb.DuckDBPyConnection) -> list[tuple[str, str, list[str]]]:
    """(status before, status now, hosts), where they differ."""
    return database.execute(
        "SELECT coalesce(b.status, 'not asked') AS old, coalesce(n.status, 'not asked') AS new, "
        "list(target ORDER BY target) FROM before.target b FULL JOIN now.target n USING (target) "
        "WHERE b.status IS DISTINCT FROM n.status GROUP BY 1, 2 ORDER BY 1, 2"
    ).fetchall()


def gaps(database: duckdb.DuckDBPyConnection) -> list[Gap]:
    """What cannot be compared: a probe that answered in one snapshot only, on hosts of both."""
    found = database.execute(
        "WITH sides AS ("
        "  SELECT target, probe, 'before' AS side, bool_or(status = 'ok') AS ok "
        "  FROM before.probe_result GROUP BY ALL UNION ALL "
        "  SELECT target, probe, 'now', bool_or(status = 'ok') FROM now.probe_result GROUP BY ALL"
        "), pairs AS ("
        "  SELECT target, probe, coalesce(bool_or(ok) FILTER (side = 'before'), false) AS b, "
        "         coalesce(bool_or(ok) FILTER (side = 'now'), false) AS n "
        "  FROM sides GROUP BY ALL) "
        "SELECT probe, CASE WHEN b THEN 'now' ELSE 'before' END, list(target ORDER BY target) "
        "FROM pairs WHERE b <> n GROUP BY ALL ORDER BY 1, 2"
    ).fetchall()
    return [Gap(*row) for row in found]


def _rest_of_key(table: Table) -> str:
    """`SRIOV_EN port 0 element -1`: the parts of the key behind host and subject, as SQL."""
    parts = [identifier(name) for name in table.key[2:]]
    return f"concat_ws(' ', {', '.join(parts)})" if parts else "''"


def _changes_query(table: Table) -> str:
    name = identifier(table.name)
    key = [identifier(part) for part in table.key]
    subject = subject_of(table, "t.")
    probe = "t.probe" if table.fed_by == "several" else quote(table.fed_by)
    cells = ", ".join(
        f"{{'c': {quote(c)}, 'o': b.{identifier(c)}::VARCHAR, 'n': n.{identifier(c)}::VARCHAR}}"
        for c in compared(table)
        if c not in table.key
    )
    rows = (
        "SELECT t.*, true AS here FROM {side}." + name + " t SEMI JOIN differing d "
        "ON d.target = t.target AND d.subject = " + subject + " SEMI JOIN answered a "
        f"ON a.target = t.target AND a.probe = {probe} "
        f"AND a.instance IN ('', {instance_of(table, 't.')})"
    )
    whole = "CASE WHEN b.here IS NULL THEN 'appeared' WHEN n.here IS NULL THEN 'gone' ELSE NULL END"
    picked = ", ".join(key)
    cells_or_none = (
        f"unnest([{cells}])" if cells else "unnest([]::STRUCT(c VARCHAR, o VARCHAR, n VARCHAR)[])"
    )
    return f"""
        WITH differing AS MATERIALIZED (
            SELECT target, subject FROM
                (FROM before.digest WHERE fact_table = {quote(table.name)}) b
                FULL JOIN (FROM now.digest WHERE fact_table = {quote(table.name)}) n
                USING (target, subject)
            WHERE b.digest IS DISTINCT FROM n.digest OR b.row_count IS DISTINCT FROM n.row_count
        ), joined AS (
            SELECT {picked}, {whole} AS whole, {cells_or_none} AS cell
            FROM ({rows.format(side="before")}) b
            FULL JOIN ({rows.format(side="now")}) n USING ({picked})
        ), told AS (
            SELECT target, {_rest_of_key(table)} AS what,
                CASE WHEN whole IS NULL THEN cell.c ELSE '' END AS col,
                coalesce(whole, CASE WHEN cell.o IS NULL THEN 'read now'
                                     WHEN cell.n IS NULL THEN 'not read now'
                                     ELSE 'changed' END) AS kind,
                CASE WHEN whole IS NULL THEN cell.o END AS old,
                CASE WHEN whole IS NULL THEN cell.n END AS new,
                {picked}
            FROM joined WHERE whole IS NOT NULL OR cell.o IS DISTINCT FROM cell.n
        )
        SELECT what, col, kind, old, new, count(DISTINCT row({picked}))::BIGINT AS things,
               list(DISTINCT target ORDER BY target) AS targets
        FROM told GROUP BY what, col, kind, old, new
        ORDER BY things DESC, what, col, old, new
    """


def changes(database: duckdb.DuckDBPyConnection) -> Iterator[Change]:
    """What differs, table by table, the same change of many hosts as one."""
    for table in digested():
        for row in database.execute(_changes_query(table)).fetchall():
            yield Change(table.name, *row)
