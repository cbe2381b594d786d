"""Snapshots that were damaged: refused in plain words, or answered as if nothing had happened to them.

Thirty of the mutations of `bench.mutated_snapshots`, which tries five thousand.
"""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.harness.damaging import Damaging, State, wrong
from lab.harness.forked_verbs import Done
from lab.harness.mutations import BYTES, FILES, ROWS, RUN, How, mutate
from lab.harness.small_snapshot import NAME, content, small_snapshot, writable
from railwright.store.integrity import run_digest

MUTATIONS = 30  # bench/mutated_snapshots.py does thousands
AT_A_TIME = 15  # of one test: each says what is wrong in all of them


@pytest.fixture(scope="module")
def damaging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Damaging]:
    with Damaging(tmp_path_factory.mktemp("mutated")) as found:
        yield found


@pytest.mark.parametrize("first", range(0, MUTATIONS, AT_A_TIME))
@pytest.mark.one_in(2)
def test_damage_is_told_or_does_no_harm(damaging: Damaging, first: int) -> None:
    trials = [damaging.trial(number) for number in range(first, first + AT_A_TIME)]
    said = [trial.words() for trial in trials if trial.faults]
    assert not said, "\n" + "\n".join(said)


def test_a_trial_can_be_repeated(damaging: Damaging) -> None:
    one, other = damaging.trial(3), damaging.trial(3)
    assert one.mutation == other.mutation
    assert {n: d.status for n, d in one.runs.items()} == {
        n: d.status for n, d in other.runs.items()
    }


# ---- that the oracle sees ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_snapshot(tmp_path_factory.mktemp("oracle") / "store")


def test_the_snapshot_is_sealed(good: Path) -> None:
    run = json.loads((good / "run.json").read_text())
    assert run["digest"] == run_digest(run)
    assert set(run["files"]) == {f"{p.parent.name}/{p.name}" for p in good.glob("*/*.parquet")}
    assert len(list(good.glob("evidence/*.parquet"))) > 1, "evidence that could be swapped"


@pytest.mark.parametrize("how", [*BYTES, *ROWS], ids=lambda how: how.__name__)
@pytest.mark.one_in(2)
def test_every_mutation_changes_something(how: How, good: Path, tmp_path: Path) -> None:
    changed = 0
    for seed in range(5):
        path = copied(good, tmp_path / str(seed))
        how(path, random.Random(seed))
        changed += content(path) != content(good)
    assert changed >= 3, "most of the time"


def copied(good: Path, folder: Path) -> Path:
    shutil.copytree(good, folder / NAME)
    writable(folder / NAME)
    return folder / NAME


@pytest.mark.parametrize("how", [*RUN, *FILES], ids=lambda how: how.__name__)
@pytest.mark.one_in(2)
def test_what_a_mutation_leaves_is_told(how: How, good: Path, tmp_path: Path) -> None:
    """Only what nobody sealed may be added without being called a change."""
    for seed in range(8):
        path = copied(good, tmp_path / str(seed))
        said = how(path, random.Random(seed))
        state = State(path, content(good))
        touched = content(path) != content(good)
        if how.__name__ == "add":
            assert state.is_whole, said
        elif state.is_whole:
            assert not touched or how.__name__.startswith("run_"), said


def test_what_would_be_wrong(good: Path, tmp_path: Path) -> None:
    wanted = Done(1, b'{"n": 3}', "", 0.1, 1.0)
    whole = State(good, content(good))
    path = copied(good, tmp_path)
    mutate(path, random.Random(1))
    (path / "facts" / "target.parquet").write_bytes(b"x")
    damaged = State(path, content(good))
    plain = "railwright: x was changed after it was written\nRestore it from a copy.\n"
    cases = {
        "": [
            (wanted, whole),
            (wanted, damaged),
            (Done(2, b"", plain, 0.1, 1.0), damaged),
        ],
        "another answer": [(Done(1, b'{"n": 2}', "", 0.1, 1.0), damaged)],
        "refused, although": [(Done(2, b"", plain, 0.1, 1.0), whole)],
        "lines": [(Done(2, b"", "no\n", 0.1, 1.0), damaged), (Done(2, b"", "x\n" * 9, 0, 0), damaged)],
        "signal 11": [(Done(-11, b"", "", 0.1, 1.0), damaged)],
        "at work for 31 s": [(Done(-9, b"", "", 31.0, 1.0, True), damaged)],
        "traceback": [(Done(1, b'{"n": 3}', "Traceback (most recent", 0.1, 1.0), damaged)],
        "fault of the tool": [(Done(2, b"", "railwright: internal error: x\n", 0, 0), damaged)],
        "control characters": [(Done(2, b"", "railwright: \x1b[2J\nTake\n", 0.1, 1.0), damaged)],
        "ended with 134": [(Done(134, b"", "", 0.1, 1.0), damaged)],
    }  # fmt: skip
    for said, runs in cases.items():
        for done, state in runs:
            found = " ".join(wrong("counts", done, wanted, state))
            assert said in found if said else not found, (said, found)


def test_what_is_wanted_without_digests(good: Path, tmp_path: Path) -> None:
    wanted = Done(1, b'{"n": 3}', "", 0.1, 1.0)
    path = copied(good, tmp_path)
    run = json.loads((path / "run.json").read_text())
    del run["files"], run["digest"]
    (path / "run.json").write_text(json.dumps({**run, "format": 1}))
    state = State(path, content(good))
    assert not state.has_digests
    assert wrong("counts", Done(1, b'{"n": 9}', "x has no digests", 0, 0), wanted, state) == []
    assert wrong("counts", wanted, wanted, state) == ["does not say 'no digests'"]
    assert wrong("verify", Done(3, b"no digests", "", 0, 0), wanted, state) == []
    # "damaged" counts only where something is: run.json for the one, any file for the other.
    listed, verified = (Done(0, words, "", 0, 0) for words in (b"damaged: x", b"DAMAGED"))
    unsaid = ["does not say 'no digests'"]
    assert (
        wrong("list", listed, wanted, state) == wrong("verify", verified, wanted, state) == unsaid
    )
    (path / "facts" / "target.parquet").chmod(0o600)
    (path / "facts" / "target.parquet").write_bytes(b"x")
    state = State(path, content(good))
    assert wrong("list", listed, wanted, state) == unsaid
    assert wrong("verify", verified, wanted, state) == []
    (path / "run.json").write_text(json.dumps({**run, "format": 1, "become": float("-inf")}))
    assert wrong("list", listed, wanted, State(path, content(good))) == []
