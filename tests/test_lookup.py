"""Which snapshot a verb takes when none is named, and what it may be compared with."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lab.harness.by_hand import answers, target, with_derived
from railwright.cli import program
from railwright.errors import RailwrightError
from railwright.store.snapshot import load

FIRST, SECOND, THIRD = "2026-11-14T2215Z", "2026-11-15T0800Z", "2026-11-16T0900Z"


def railwright(*arguments: object) -> Result:
    return CliRunner().invoke(program(), [str(argument) for argument in arguments])


def stored(folder: Path, name: str, statuses: dict[str, str], mtu: int = 9000) -> None:
    """A snapshot under a name of ours."""
    read = [host for host, status in statuses.items() if status == "reached"]
    rows: dict[str, list[dict[str, Any]]] = {
        "target": [target(host, status=status) for host, status in statuses.items()],
        "probe_result": [row for host in read for row in answers(host, "netdev")],
        "netdev": [{"target": host, "name": "eth0", "pci": "", "mtu": mtu} for host in read],
    }
    made = with_derived(folder / "making", rows).path
    made.rename(folder / name)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAILWRIGHT_STORE", str(tmp_path))
    return tmp_path


def test_a_run_that_reached_nobody_is_not_the_latest(store: Path) -> None:
    stored(store, FIRST, {"gpu1": "reached", "gpu2": "reached"})
    stored(store, SECOND, {"gpu1": "unresolved", "gpu2": "silent", "gpu3": "silent"})
    for verb in ("check", "links", "rails", "path"):
        done = railwright(verb)
        assert f"{SECOND}, reached 0 of 3 machines; using {FIRST}" in done.stderr, verb
        assert done.exit_code == 3, verb
    assert FIRST in railwright("facts").stdout
    # By name it can be had.
    assert SECOND in railwright("facts", SECOND).stdout
    stored(store, THIRD, {"gpu1": "reached"})
    assert THIRD in railwright("facts").stdout


def test_where_nobody_was_ever_reached_the_newest_says_so(store: Path) -> None:
    stored(store, FIRST, {"gpu1": "silent"})
    stored(store, SECOND, {"gpu1": "refused"})
    done = railwright("facts")
    assert SECOND in done.stdout
    assert "refused" in done.stdout


def test_diff_takes_the_previous_one_that_can_be_compared(store: Path) -> None:
    stored(store, FIRST, {"gpu1": "reached"}, mtu=1500)
    stored(store, SECOND, {"cpu7": "reached"})
    stored(store, THIRD, {"gpu1": "reached"})
    done = railwright("diff")
    assert done.exit_code == 1
    assert f"{FIRST} -> {THIRD}" in done.stdout
    assert "1500 -> 9000" in done.stdout


@pytest.mark.parametrize("words", [("diff", THIRD), ("check", "--before", THIRD)])
def test_nothing_is_compared_with_itself(store: Path, words: tuple[str, ...]) -> None:
    stored(store, THIRD, {"gpu1": "reached"})
    done = railwright(*words)
    assert isinstance(done.exception, RailwrightError)
    assert f"{THIRD} cannot be compared with itself" in str(done.exception)


def test_the_older_one_comes_first(store: Path) -> None:
    stored(store, FIRST, {"gpu1": "reached"})
    stored(store, SECOND, {"gpu1": "reached"})
    done = railwright("diff", SECOND, FIRST)
    assert isinstance(done.exception, RailwrightError)
    assert f"{SECOND} is newer than {FIRST}" in str(done.exception)


def test_counters_are_held_against_the_previous_one(store: Path) -> None:
    stored(store, FIRST, {"gpu1": "reached"})
    stored(store, SECOND, {"gpu1": "reached"})
    assert "skipped" not in railwright("check", "--before", "previous").stdout
    done = railwright("check", FIRST, "--before", "previous")
    assert isinstance(done.exception, RailwrightError)
    assert f"no snapshot before {FIRST}" in str(done.exception)


def test_a_name_that_is_not_there_is_met_with_those_that_are(store: Path) -> None:
    stored(store, FIRST, {"gpu1": "reached"})
    done = railwright("facts", "2025-01-01")
    assert isinstance(done.exception, RailwrightError)
    assert FIRST in str(done.exception) + str(getattr(done.exception, "do", ""))


def test_the_exact_name_is_taken_before_longer_ones(store: Path) -> None:
    stored(store, FIRST, {"gpu1": "reached"})
    stored(store, f"{FIRST}-2", {"gpu1": "reached", "gpu2": "reached"})
    assert load(store / FIRST).reached() == (1, 1)
    assert f"{FIRST} -> {FIRST}-2" in railwright("diff", FIRST).stdout
