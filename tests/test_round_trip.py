"""The facts of a collected fake host equal its model's truth, column by column.

Each host is built, read by the real runner as root, imported and compared with lab.fleet.truth,
which knows the model and no parser.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.fleet import add_shell, build
from lab.fleet.truth import EVERY_COLUMN, NOT_SEEN, truth
from lab.fleet.truth_variants import SOUND, VARIANTS
from lab.harness.comparing import (
    Facts,
    answer_differences,
    check,
    columns,
    derived_differences,
    disagreements,
    fact_differences,
    probe_tables,
)
from railwright.collect.importing import import_files
from railwright.collect.probe import select
from railwright.collect.request import lone_runner
from railwright.schema.table import tables

# The first test that needs them waits until all hosts are built and read.
pytestmark = pytest.mark.timeout(900)
by_variant = pytest.mark.parametrize("name", VARIANTS)


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


@pytest.mark.root
@by_variant
def test_facts_equal_the_truth(facts: Facts, name: str) -> None:
    """Every column of every table that a host's probes fill."""
    check(fact_differences(facts, name, VARIANTS[name].host()))


@pytest.mark.root
@by_variant
def test_what_is_worked_out_equals_the_truth(facts: Facts, name: str) -> None:
    """Derived tables, in the columns that a model makes plain."""
    check(derived_differences(facts, name, VARIANTS[name].host()))


@pytest.mark.root
@by_variant
def test_no_two_sources_disagree(facts: Facts, name: str) -> None:
    """A fault is told alike by all who see it."""
    check(disagreements(facts, name))


@pytest.mark.root
@by_variant
def test_every_probe_ends_as_expected(facts: Facts, name: str) -> None:
    """Its status, and how many lines its filter keeps on the host."""
    check(answer_differences(facts, name, VARIANTS[name].host()))


@pytest.mark.root
@by_variant
def test_the_host_says_who_it_is(facts: Facts, name: str) -> None:
    """What the runner tells beside the probes; the kernel's release is this machine's own."""
    host, row = VARIANTS[name].host(), facts.host(name)
    told = (row["hostname"], row["operating_system"], row["boot_id"], row["uptime_s"])
    assert told == (host.name, host.operating_system, host.boot_id, host.uptime_s)


# ---- the truth itself is whole


def _unseen(model: str) -> set[tuple[str, str]]:
    return {(entry.table, entry.column) for entry in NOT_SEEN if entry.model in ("all", model)}


@by_variant
def test_every_column_is_in_the_truth_or_excused(name: str) -> None:
    """A new table or column has to be added to the truth, or to NOT_SEEN with its reason."""
    variant = VARIANTS[name]
    unseen, told = _unseen(variant.model), truth(variant.host())
    found: list[str] = []
    for table in probe_tables():
        rows = told.get(table.name)
        if (table.name, EVERY_COLUMN) in unseen:
            found += [f"{table.name}: excused, but the truth has rows"] if rows else []
            continue
        if rows is None:
            found.append(f"{table.name}: neither in the truth nor in NOT_SEEN")
            continue
        for column in columns(table):
            having = sum(column in row for row in rows)
            excused = (table.name, column) in unseen
            if having != (0 if excused else len(rows)):
                words = "excused, but in" if excused else "not in all"
                found.append(f"{table.name}.{column}: {words} the truth's rows")
        unknown = {column for row in rows for column in row} - set(columns(table))
        found += [f"{table.name}.{column}: no such column" for column in sorted(unknown)]
    check(found)


def test_every_column_has_a_value_somewhere() -> None:
    """A column that is NULL on all hosts would be compared in vain."""
    valued: set[tuple[str, str]] = set()
    for variant in VARIANTS.values():
        for name, rows in truth(variant.host()).items():
            valued |= {(name, c) for row in rows for c, value in row.items() if value is not None}
    everywhere = {(entry.table, entry.column) for entry in NOT_SEEN if entry.model == "all"}
    missing = [
        f"{table.name}.{column}: no host of the fleet has a value"
        for table in probe_tables()
        for column in columns(table)
        if (table.name, column) not in valued | everywhere
        and (table.name, EVERY_COLUMN) not in everywhere
    ]
    check(missing)


def test_excuses_name_what_there_is() -> None:
    models = {"all", *(variant.model for variant in SOUND.values())}
    for entry in NOT_SEEN:
        table = tables()[entry.table]
        assert entry.column in (*columns(table), EVERY_COLUMN), entry
        assert entry.model in models, entry
        assert entry.reason, entry
