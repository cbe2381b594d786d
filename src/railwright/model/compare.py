"""Two snapshots: what changed, and what cannot be compared. What is unknown is never equal."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import duckdb

from railwright.model.compare_plan import compared_tables, of_the_reading, plan_of
from railwright.model.compare_roots import Caused, Change, Thing, Unknown, settled
from railwright.model.derived.digest import hash_of, subject_of
from railwright.schema.table import Table
from railwright.store.duck import connect, identifier, quote, read_sql
from railwright.store.snapshot import Snapshot

SIDES = ("before", "now")
_NO_CELLS = "unnest([]::STRUCT(c VARCHAR, o VARCHAR, n VARCHAR)[])"  # of a table with a key alone


class Gap(NamedTuple):
    """What could not be compared, and at which machines."""

    what: str  # a probe, a command of a switch, a column
    side: str  # where it is missing: before, now, both
    targets: list[str]
    is_value: bool = False  # a single value, not a whole answer
    is_excluded: bool = False  # the machines are out of service


class Alike(NamedTuple):
    """Machines at which exactly the same changed, and what follows from what there."""

    targets: list[str]
    caused: list[Caused]
    things: dict[str, Thing]


class Moved(NamedTuple):
    """Machines that came, went or answered otherwise."""

    before: str
    now: str
    targets: list[str]
    is_excluded: bool  # the machines are out of service


class Difference(NamedTuple):
    """All that is to be told of two snapshots."""

    moved: list[Moved]
    alike: list[Alike]
    gaps: list[Gap]
    targets: int  # machines that were compared

    @property
    def has_changes(self) -> bool:
        """Something is otherwise than it was."""
        return bool(self.alike)

    @property
    def is_incomplete(self) -> bool:
        """Something could not be compared."""
        gaps = any(not gap.is_excluded for gap in self.gaps)
        return gaps or any(not one.is_excluded for one in self.moved)


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
    return database


# One number per host and per table over all digests of a side: nearly everything is the same in
# both, and need not be joined row by row to be seen so.
_OF_DIGESTS = f"""
    SELECT target, fact_table, bit_xor(number) AS fingerprint
    FROM (SELECT target, fact_table,
                 {hash_of(["target", "fact_table", "subject", "row_count", "digest"])} AS number
          FROM {{side}}.digest SEMI JOIN asked USING (target))
    GROUP BY GROUPING SETS ((target), (fact_table))"""
_OF_ANSWERS = f"""
    SELECT target, bit_xor({hash_of(["probe", "instance", "ok"])}) AS fingerprint
    FROM (SELECT target, probe, instance, status = 'ok' AS ok FROM {{side}}.probe_result)
    GROUP BY target"""


def _run(database: duckdb.DuckDBPyConnection, *names: str) -> None:
    for name in names:
        database.execute(read_sql(__file__, f"{name}.sql"))


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


def narrow(database: duckdb.DuckDBPyConnection, only: Iterable[str] | None = None) -> None:
    """What is worth a closer look: hosts and tables that differ, hosts that answered otherwise."""
    names = None if only is None else sorted(only)
    database.execute(read_sql(__file__, "compare_asked.sql"), {"only": names})
    database.execute(read_sql(__file__, "compare_targets.sql"))
    for side in SIDES:
        database.execute(f"CREATE TEMP TABLE fingerprint_{side} AS {_OF_DIGESTS.format(side=side)}")
    kept = "FROM fingerprint_{side}"
    _keep_differing(database, "differing_digest", "target", kept)
    both = "FROM differing_digest SEMI JOIN compared_target USING (target)"
    database.execute(f"CREATE TEMP TABLE differing_target AS {both}")
    _keep_differing(database, "differing_table", "fact_table", kept)
    _keep_differing(database, "answered_otherwise", "target", _OF_ANSWERS)
    _run(database, "compare_names", "compare_renamed", "compare_answers", "compare_commands")
    _run(database, "compare_change")


def changes_query(table: Table) -> str:
    """The query that puts what differs in the rows of one table into `change`."""
    plan = plan_of(table)
    columns = [*plan.spoken, *plan.columns]
    cells = ", ".join(
        f"{{'c': {quote(c)}, 'o': b.{identifier(c)}::VARCHAR, 'n': n.{identifier(c)}::VARCHAR}}"
        for c in columns
    )
    parts = ", ".join(f"t.{identifier(name)}" for name in plan.rest)
    order = [f"t.{identifier(name)}" for name in (*table.key[1:], *plan.columns)]
    return read_sql(__file__, "compare_rows.sql").format(
        table=identifier(table.name),
        fact_table=quote(table.name),
        thing=plan.thing_sql(),
        other=f"t.{identifier(plan.other)}" if plan.other else "''",
        kind=quote(plan.kind),
        rest=f"concat_ws(' ', {parts})" if parts else "''",
        spoken="".join(f"{sql} AS {identifier(name)}, " for name, sql in plan.spoken.items()),
        order=", ".join(order) or "t.target",
        subject=subject_of(table, "t."),
        probe="t.probe" if table.fed_by == "several" else quote(table.fed_by),
        is_switch=str(table.machines == "switch").lower(),
        cells=f"unnest([{cells}])" if cells else _NO_CELLS,
        differs=" OR ".join(
            f"b.{column} IS DISTINCT FROM n.{column}"
            for column in ("here_", *map(identifier, columns))
        ),
    )


def find(database: duckdb.DuckDBPyConnection) -> None:
    """Every change of every machine, in `change`."""
    differing = {name for (name,) in database.execute("FROM differing_table").fetchall()}
    for table in (one for one in compared_tables() if one.name in differing):
        database.execute(changes_query(table))
    if "kernel_message" in differing:
        _run(database, "compare_messages")
    _run(database, "compare_new_names", "compare_host")
    _run(database, "compare_things", "compare_alike")


def _of_examples(database: duckdb.DuckDBPyConnection, table: str) -> dict[str, list[list[Any]]]:
    """The rows of a table, of the machines that stand for others."""
    without = "EXCLUDE (target, number)" if table == "change" else "EXCLUDE (target)"
    found: dict[str, list[list[Any]]] = {}
    for target, *values in database.execute(
        f"SELECT target, * {without} FROM {table} SEMI JOIN changed_alike "
        f"ON changed_alike.example = {table}.target ORDER BY ALL"
    ).fetchall():
        found.setdefault(target, []).append(values)
    return found


def _alike(database: duckdb.DuckDBPyConnection) -> Iterator[tuple[Alike, list[Unknown]]]:
    """Machine by machine, those that are alike at once."""
    things, changes = _of_examples(database, "thing"), _of_examples(database, "change")
    for example, targets in database.execute("FROM changed_alike ORDER BY example").fetchall():
        known = {values[0]: Thing(*values) for values in things[example]}
        caused, unknown = settled((Change(*values) for values in changes[example]), known)
        yield Alike(targets, caused, known), unknown


def _moved(database: duckdb.DuckDBPyConnection) -> list[Moved]:
    """(status before, status now, machines), where they differ."""
    rows = database.execute(read_sql(__file__, "compare_moved.sql")).fetchall()
    return [Moved(*row) for row in rows]


def _gaps(database: duckdb.DuckDBPyConnection) -> list[Gap]:
    """Machines that were read in neither, and probes that answered in one only or in neither."""
    silent = database.execute(read_sql(__file__, "compare_silent.sql")).fetchall()
    rows = database.execute(read_sql(__file__, "compare_gaps.sql")).fetchall()
    unread = [Gap("machine", "both", targets, is_excluded=away) for targets, away in silent]
    return unread + [Gap(*row) for row in rows if row[0] not in of_the_reading()]


def _values(unknown: Iterable[tuple[list[str], Unknown]], gaps: list[Gap]) -> list[Gap]:
    """Values that are known in one only; where their probe did not answer, that is said already."""
    away = {(gap.what.partition(" ")[0], name) for gap in gaps for name in gap.targets}
    found: dict[tuple[str, str], set[str]] = {}
    for targets, one in unknown:
        left = {name for name in targets if (one.probe, name) not in away}
        if left:
            found.setdefault((one.what, one.side), set()).update(left)
    return [Gap(*key, sorted(names), is_value=True) for key, names in sorted(found.items())]


def difference(before: Snapshot, now: Snapshot, only: Iterable[str] | None = None) -> Difference:
    """What differs, at all machines or some."""
    with open_both(before, now) as database:
        narrow(database, only)
        find(database)
        alike, unknown = [], []
        for one, values in _alike(database):
            unknown += [(one.targets, value) for value in values]
            if one.caused:
                alike.append(one)
        gaps = _gaps(database)
        count = database.execute("SELECT count(*) FROM compared_target").fetchall()[0][0]
        return Difference(_moved(database), alike, gaps + _values(unknown, gaps), count)


def names_of(before: Snapshot, now: Snapshot) -> set[str]:
    """The machines of both."""
    with open_both(before, now) as database:
        rows = database.execute(
            "SELECT target FROM before.target UNION SELECT target FROM now.target"
        )
        return {name for (name,) in rows.fetchall()}
