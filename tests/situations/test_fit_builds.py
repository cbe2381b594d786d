"""Builds of tests/fit_builds.toml, by the command: right, or left open, and never wrong."""

import json
import shlex
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from railwright.cli import program
from railwright.toml import load_toml

FILE = Path(__file__).parents[1] / "fit_builds.toml"
BUILDS = cast("list[dict[str, Any]]", load_toml(FILE.read_text("utf-8"), FILE.name)["build"])
EXIT = {"works": 0, "limited": 1, "does not": 1, "not documented": 3}


def judged(line: str) -> tuple[dict[str, Any], int]:
    done = CliRunner().invoke(program(), ["fit", *shlex.split(line), "--format", "json"])
    if not done.stdout.startswith("{"):
        raise ValueError(f"{line}: {done.output} {done.exception!r}")
    (build,) = json.loads(done.stdout)["builds"]
    return build, done.exit_code


@pytest.mark.parametrize("build", BUILDS, ids=[one["line"] for one in BUILDS])
def test_a_build_is_judged_rightly(build: dict[str, Any]) -> None:
    told, status = judged(build["line"])
    items = {one["what"]: one["state"] for one in told["items"]}
    assert {what: items.get(what) for what in build.get("items", {})} == build.get("items", {})
    verdict = "not documented" if build.get("open") else build["right"]
    assert told["verdict"] == verdict
    if "gbps" in build:
        assert told["gbps"] == pytest.approx(build["gbps"], abs=0.1)
    if not build.get("open"):
        assert status == EXIT[verdict]


def test_what_is_left_open_is_the_exception() -> None:
    left = [one["line"] for one in BUILDS if one.get("open")]
    assert len(BUILDS) >= 58
    assert len(left) < len(BUILDS) / 5
    assert all(one["source"] and one["right"] in EXIT for one in BUILDS)
    assert len({one["line"] for one in BUILDS}) == len(BUILDS)
