"""Waivers that cover nothing are said: by `waive` as they are written, by `check` as long as they are there.

gpu1's ens1 has an MTU of 1500, intent is 9000; gpu3 did not answer.
"""

import json
from pathlib import Path

import jsonschema
import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner, Result

from lab.harness.by_hand import target, with_derived
from lab.harness.small_fabric import change, fabric
from railwright.cli import program


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    rows = fabric()
    change(rows, "netdev", {"target": "gpu1", "name": "ens1"}, mtu=1500)
    rows["target"].append(target("gpu3", "silent"))
    with_derived(folder, rows)
    (folder / "site.toml").write_text('profile = "roce-lossless"\n[fabric]\nmtu = 9000\n')
    return folder


@pytest.fixture
def store(stored: Path) -> Path:
    (stored / "waivers.toml").unlink(missing_ok=True)
    return stored


def waive(store: Path, *words: str, last: str = "2999-01-31") -> Result:
    return CliRunner().invoke(
        program(),
        ["waive", *words, "--reason", "known", "--owner", "kim", "--expires", last, "--store", str(store)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("intent-mtu", "gpu1"), []),
        (("intent-mtu", "gpu1:mlx5_0/1"), []),
        # gpu3 was not read: it may have the finding.
        (("intent-mtu", "gpu3"), []),
        (("intent-mtu", "gpu2"), ["covers nothing in 2026-11-14T2215Z (no such finding)"]),
        (
            ("intent-mtu", "gpu9"),
            ["no machine is called gpu9", "covers nothing in 2026-11-14T2215Z (not in this snapshot)"],
        ),
        (
            ("intent-mtu", "gpu1:mlx5_9"),
            ["gpu1 has nothing called mlx5_9", "(no such finding)"],
        ),
        (("intent-mtu", "gpu1", "--gap"), ["(nothing is inconclusive there)"]),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_slip_is_seen_as_it_is_written(
    store: Path, words: tuple[str, ...], said: list[str]
) -> None:
    done = waive(store, *words)
    assert done.exit_code == 0, (done.output, done.exception)
    warnings = [line for line in done.stderr.splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == len(said)
    assert all(words in line for words, line in zip(said, warnings, strict=True)), warnings
    assert (store / "waivers.toml").is_file()


def test_a_date_that_has_passed_is_refused(store: Path) -> None:
    done = waive(store, "intent-mtu", "gpu1", last="2020-01-01")
    assert "2020-01-01 has passed" in str(done.exception)
    assert not (store / "waivers.toml").exists()


def test_without_a_snapshot_nothing_is_held_against_it(tmp_path: Path) -> None:
    done = waive(tmp_path, "intent-mtu", "gpu1")
    assert done.exit_code == 0
    assert "Warning" not in done.stderr


def test_check_lists_the_unused_and_the_expired(store: Path) -> None:
    entry = '[[waive]]\nrule = "{}"\nsubjects = ["{}"]\nreason = "r"\nowner = "kim"\nexpires = {}\n'
    late = "2999-01-31"
    (store / "waivers.toml").write_text(
        entry.format("intent-mtu", "gpu1", late)
        + entry.format("intent-mtu", "gpu2:mlx5_1", late)
        + entry.format("intent-mtu", "gpu8", late)
        + entry.format("intent-mtu", "gpu3", late)  # cannot be told
        + entry.format("intent-trust", "gpu2", late)  # was not asked this time
        + entry.format("INTENT.mtu", "gpu2", "2020-01-01")
    )
    words = ["check", "--store", str(store), "--select", "intent-mtu"]
    text = CliRunner().invoke(program(), words).stdout
    assert (
        "\nUnused waivers\n"
        "  intent-mtu on gpu2:mlx5_1: no such finding (kim: r)\n"
        "  intent-mtu on gpu8: not in this snapshot (kim: r)\n"
    ) in text
    data = json.loads(CliRunner().invoke(program(), [*words, "--json"]).stdout)
    jsonschema.validate(data, json.loads((REPOSITORY / "docs/schemas/findings-2.json").read_text()))
    told = [(one["subjects"], one["why"]) for one in data["unused_waivers"]]
    assert told == [(["gpu2:mlx5_1"], "no such finding"), (["gpu8"], "not in this snapshot")]
    (expired,) = data["expired_waivers"]
    assert (expired["rule"], expired["title"]) == ("intent-mtu", "MTU does not match intent")
    assert expired["expires"] == "2020-01-01"
    narrowed = CliRunner().invoke(program(), [*words, "-w", "gpu1", "--json"]).stdout
    assert json.loads(narrowed)["unused_waivers"] == []
