"""Sweeps that go on where they were."""

import os
from pathlib import Path

from lab.harness.resumable import WORKERS, go_on, read


def tried(number: int) -> list[int]:
    return [number * number, len(os.sched_getaffinity(0))]


def test_every_trial_has_a_line_and_a_core(tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    trials = {f"trial {number}": (number,) for number in range(3 * WORKERS)}
    go_on(progress, trials, tried, 1)
    assert read(progress) == {f"trial {number}": [number**2, 1] for number in range(3 * WORKERS)}


def test_goes_on_behind_a_line_that_was_cut_off(tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    progress.write_text('{"trial": "0", "said": "before"}\n{"trial": "1", "sa')
    go_on(progress, {"0": (0,), "1": (1,)}, tried, 1)
    assert read(progress) == {"0": "before", "1": [1, 1]}


def test_begins_nothing_when_the_time_is_over(tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    go_on(progress, {"0": (0,)}, tried, 0)
    assert read(progress) == {}
