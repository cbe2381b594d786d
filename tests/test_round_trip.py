"""The facts of a collected fake host equal its model's truth, column by column.

Each host is built, read by the real runner as root, imported and compared with lab.fleet.truth,
which knows the model and no parser.
"""

import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from lab.fleet import add_shell, build
from lab.fleet.truth import EVERY_COLUMN, NOT_SEEN, answers, derived, truth
from lab.fleet.truth_answers import Answer
from lab.fleet.truth_variants import SOUND, VARIANTS
from railwright.collect.importing import import_files
from railwright.collect.probe import select
from railwright.collect.request import lone_runner
from railwright.facts.schema import Table, tables

Row = dict[str, object]
Key = tuple[object, ...]
SHOWN = 40  # differences in a message
_BESIDE_THE_FACT = ("target", "read_at")
# The first test that needs them waits until all hosts are built and read.
pytestmark = pytest.mark.timeout(900)
by_variant = pytest.mark.parametrize("name", VARIANTS)


class Facts:
    """The fact tables of all variants."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database

    def rows(self, table: Table, target: str) -> dict[Key, Row]:
        """Rows by their key, of which each is there once."""
        columns = _columns(table)
        wanted = ", ".join(f'"{column}"' for column in columns)
        query = f'SELECT {wanted} FROM "{table.name}" WHERE target = ?'
        found = self._database.execute(query, [target]).fetchall()
        rows = [dict(zip(columns, values, strict=True)) for values in found]
        found_by_key = {_key(table, row): row for row in rows}
        assert len(found_by_key) == len(rows), f"{table.name} has rows of one key twice"
        return found_by_key


def _columns(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.name not in _BESIDE_THE_FACT]


def _key(table: Table, row: Row) -> Key:
    return tuple(row.get(name) for name in table.key if name != "target")


def _read(folder: Path, runner: Path, name: str) -> Path:
    """One variant, built and read; its tree is thousands of files and goes at once."""
    root = folder / name
    build(root, VARIANTS[name].host())
    add_shell(root)
    command = [sys.executable, str(runner), "--root", str(root)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    file = folder / f"{name}.rw"
    file.write_bytes(done.stdout)
    shutil.rmtree(root)
    return file


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Facts]:
    """Every variant, collected into one snapshot."""
    folder = tmp_path_factory.mktemp("round_trip")
    runner = folder / "rw.py"
    runner.write_text(lone_runner(select()))
    with ThreadPoolExecutor(2) as pool:
        files = list(pool.map(lambda name: _read(folder, runner, name), VARIANTS))
    snapshot = import_files(files, folder / "store")
    with snapshot.database() as database:
        yield Facts(database)
    shutil.rmtree(folder)


# ---- comparing


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


def _check(found: list[str]) -> None:
    more = f"\n... and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:SHOWN]) + more


@pytest.mark.root
@by_variant
def test_facts_equal_the_truth(facts: Facts, name: str) -> None:
    """Every column of every table that a host's probes fill."""
    expected = truth(VARIANTS[name].host())
    found: list[str] = []
    for table in _probe_tables():
        found += _differences(table, expected.get(table.name, []), facts.rows(table, name))
    _check(found)


@pytest.mark.root
@by_variant
def test_what_is_worked_out_equals_the_truth(facts: Facts, name: str) -> None:
    """Derived tables, in the columns that a model makes plain."""
    found: list[str] = []
    for table_name, expected in derived(VARIANTS[name].host()).items():
        table = tables()[table_name]
        plain = expected[0].keys() if expected else set()
        got = {
            key: {column: value for column, value in row.items() if column in plain}
            for key, row in facts.rows(table, name).items()
        }
        found += _differences(table, expected, got)
    _check(found)


@pytest.mark.root
@by_variant
def test_no_two_sources_disagree(facts: Facts, name: str) -> None:
    """A fault is told alike by all who see it."""
    found = facts.rows(tables()["disagreement"], name).values()
    _check([", ".join(f"{column}={value}" for column, value in row.items()) for row in found])


@pytest.mark.root
@by_variant
def test_every_probe_ends_as_expected(facts: Facts, name: str) -> None:
    """Its status, and how many lines its filter keeps on the host."""
    expected: dict[Key, Answer] = dict(answers(VARIANTS[name].host()).items())
    got = facts.rows(tables()["probe_result"], name)
    missing = sorted(expected.keys() - got.keys(), key=str)
    found = [f"{key}: expected, but it was not asked" for key in missing]
    for key, row in got.items():
        right = expected.get(key)
        if right is None:
            found.append(f"{key}: asked, which is not expected")
        elif row["status"] != right.status:
            found.append(f"{key}: expected {right.status}, got {row['status']}: {row['reason']}")
        elif right.dropped is not None and row["dropped"] != right.dropped:
            found.append(f"{key}: expected {right.dropped} lines dropped, got {row['dropped']}")
    _check(found)


@pytest.mark.root
@by_variant
def test_the_host_says_who_it_is(facts: Facts, name: str) -> None:
    """What the runner tells beside the probes; the kernel's release is this machine's own."""
    host = VARIANTS[name].host()
    (row,) = facts.rows(tables()["host"], name).values()
    told = (row["hostname"], row["operating_system"], row["boot_id"], row["uptime_s"])
    assert told == (host.name, host.operating_system, host.boot_id, host.uptime_s)


# ---- the truth itself is whole


def _probe_tables() -> list[Table]:
    """Tables that a probe of a host fills."""
    probes = {probe.name for probe in select()}
    return [table for table in tables().values() if table.fed_by in probes]


def _unseen(model: str) -> set[tuple[str, str]]:
    return {(entry.table, entry.column) for entry in NOT_SEEN if entry.model in ("all", model)}


@by_variant
def test_every_column_is_in_the_truth_or_excused(name: str) -> None:
    """A new table or column has to be added to the truth, or to NOT_SEEN with its reason."""
    variant = VARIANTS[name]
    unseen, told = _unseen(variant.model), truth(variant.host())
    found: list[str] = []
    for table in _probe_tables():
        rows = told.get(table.name)
        if (table.name, EVERY_COLUMN) in unseen:
            found += [f"{table.name}: excused, but the truth has rows"] if rows else []
            continue
        if rows is None:
            found.append(f"{table.name}: neither in the truth nor in NOT_SEEN")
            continue
        for column in _columns(table):
            having = sum(column in row for row in rows)
            excused = (table.name, column) in unseen
            if having != (0 if excused else len(rows)):
                words = "excused, but in" if excused else "not in all"
                found.append(f"{table.name}.{column}: {words} the truth's rows")
        unknown = {column for row in rows for column in row} - set(_columns(table))
        found += [f"{table.name}.{column}: no such column" for column in sorted(unknown)]
    _check(found)


def test_every_column_has_a_value_somewhere() -> None:
    """A column that is NULL on all hosts would be compared in vain."""
    valued: set[tuple[str, str]] = set()
    for variant in VARIANTS.values():
        for name, rows in truth(variant.host()).items():
            valued |= {(name, c) for row in rows for c, value in row.items() if value is not None}
    everywhere = {(entry.table, entry.column) for entry in NOT_SEEN if entry.model == "all"}
    missing = [
        f"{table.name}.{column}: no host of the fleet has a value"
        for table in _probe_tables()
        for column in _columns(table)
        if (table.name, column) not in valued | everywhere
        and (table.name, EVERY_COLUMN) not in everywhere
    ]
    _check(missing)


def test_excuses_name_what_there_is() -> None:
    models = {"all", *(variant.model for variant in SOUND.values())}
    for entry in NOT_SEEN:
        table = tables()[entry.table]
        assert entry.column in (*_columns(table), EVERY_COLUMN), entry
        assert entry.model in models, entry
        assert entry.reason, entry
