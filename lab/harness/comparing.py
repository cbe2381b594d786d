"""Facts of collected hosts beside the truth of their models: what differs, in words."""

import math
from collections.abc import Iterator

import duckdb

from lab.fleet import HostModel
from lab.fleet.truth import answers, derived, truth
from lab.fleet.truth_answers import OF_THE_READING, Answer
from railwright.collect.probe import select
from railwright.schema.table import Table, tables

Row = dict[str, object]
Key = tuple[object, ...]
SHOWN = 40  # differences in a message
# A live host has mounts of its own.
OF_A_LIVE_KERNEL = ("mount",)
_BESIDE_THE_FACT = ("target", "read_at")


class Facts:
    """The fact tables of a snapshot."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database

    def rows(self, table: Table, target: str) -> dict[Key, Row]:
        """Rows by their key, of which each is there once."""
        names = columns(table)
        wanted = ", ".join(f'"{column}"' for column in names)
        query = f'SELECT {wanted} FROM "{table.name}" WHERE target = ?'
        found = self._database.execute(query, [target]).fetchall()
        rows = [dict(zip(names, values, strict=True)) for values in found]
        found_by_key = {_key(table, row): row for row in rows}
        assert len(found_by_key) == len(rows), f"{table.name} has rows of one key twice"
        return found_by_key

    def host(self, target: str) -> Row:
        """What the runner told of the host beside its probes."""
        (row,) = self.rows(tables()["host"], target).values()
        return row


def columns(table: Table) -> list[str]:
    """The columns that tell a fact."""
    return [column.name for column in table.columns if column.name not in _BESIDE_THE_FACT]


def probe_tables() -> list[Table]:
    """Tables that a probe of a host fills."""
    probes = {probe.name for probe in select()}
    return [table for table in tables().values() if table.fed_by in probes]


def check(found: list[str]) -> None:
    """Nothing may differ."""
    more = f"\n... and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:SHOWN]) + more


def fact_differences(
    facts: Facts, target: str, host: HostModel, but: tuple[str, ...] = ()
) -> list[str]:
    """Every column of every table that a host's probes fill, but those named."""
    expected = truth(host)
    found: list[str] = []
    for table in probe_tables():
        if table.fed_by in OF_THE_READING or table.name in but:
            continue
        found += _differences(table, expected.get(table.name, []), facts.rows(table, target))
    return found


def derived_differences(facts: Facts, target: str, host: HostModel) -> list[str]:
    """Derived tables, in the columns that a model makes plain."""
    found: list[str] = []
    for table_name, expected in derived(host).items():
        table = tables()[table_name]
        plain = expected[0].keys() if expected else set()
        got = {
            key: {column: value for column, value in row.items() if column in plain}
            for key, row in facts.rows(table, target).items()
        }
        found += _differences(table, expected, got)
    return found


def disagreements(facts: Facts, target: str) -> list[str]:
    """Things that two sources tell in two ways."""
    found = facts.rows(tables()["disagreement"], target).values()
    return [", ".join(f"{column}={value}" for column, value in row.items()) for row in found]


def answer_differences(facts: Facts, target: str, host: HostModel) -> list[str]:
    """How each probe ended, and how many lines its filter kept on the host."""
    expected: dict[Key, Answer] = dict(answers(host).items())
    got = facts.rows(tables()["probe_result"], target)
    missing = sorted(expected.keys() - got.keys(), key=str)
    found = [f"{key}: expected, but it was not asked" for key in missing]
    for key, row in got.items():
        if key[0] in OF_THE_READING:
            continue
        right = expected.get(key)
        if right is None:
            found.append(f"{key}: asked, which is not expected")
        elif row["status"] != right.status:
            found.append(f"{key}: expected {right.status}, got {row['status']}: {row['reason']}")
        elif right.dropped is not None and row["dropped"] != right.dropped:
            found.append(f"{key}: expected {right.dropped} lines dropped, got {row['dropped']}")
    return found


def _key(table: Table, row: Row) -> Key:
    return tuple(row.get(name) for name in table.key if name != "target")


def _same(expected: object, got: object) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool) or expected is None or got is None:
        return expected is got
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(expected, got, rel_tol=1e-9, abs_tol=1e-12)
    return type(expected) is type(got) and expected == got


def _differences(table: Table, expected: list[Row], got: dict[Key, Row]) -> Iterator[str]:
    """What differs, one line each; a column that no truth row has must be NULL."""
    wanted = {_key(table, row): row for row in expected}
    assert len(wanted) == len(expected), f"the truth has rows of {table.name} twice"
    for key in sorted(wanted.keys() - got.keys(), key=str):
        yield f"{table.name} {key}: expected, but there is no such row"
    for key in sorted(got.keys() - wanted.keys(), key=str):
        yield f"{table.name} {key}: a row that must not be: {got[key]}"
    for key in sorted(wanted.keys() & got.keys(), key=str):
        for column, value in got[key].items():
            right = wanted[key].get(column)
            if not _same(right, value):
                yield f"{table.name} {key} {column}: expected {right!r}, got {value!r}"
