"""Odd fabrics on the page: one host, no switch, InfiniBand, nothing read, planes, a fat tree."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_walk import is_clean, walk
from test_infiniband_paths import only_infiniband
from typer.testing import CliRunner

from lab.fleet.fabric import SHAPES, build
from lab.harness.by_hand import target, with_derived
from lab.harness.fabric import fabric_snapshot
from lab.harness.small_fabric import HOSTS, Rows, fabric
from railwright.cli import program

pytestmark = pytest.mark.timeout(300)


def _only(rows: Rows, *targets: str) -> Rows:
    return {t: [row for row in of if row["target"] in targets] for t, of in rows.items()}


def _no_switch() -> Rows:
    rows = _only(fabric(), *HOSTS)
    return {**rows, "lldp_neighbor": []}


def _silent() -> Rows:
    return {"target": [target(name, status="silent") for name in HOSTS]}


def _of_rows(rows: Callable[[], Rows]) -> Callable[[Path], None]:
    return lambda folder: with_derived(folder, rows()) and None


def _of_shape(name: str) -> Callable[[Path], None]:
    return lambda folder: fabric_snapshot(folder, build(SHAPES[name])) and None


FABRICS: dict[str, tuple[Callable[[Path], Any], dict[str, str]]] = {
    "two hosts, four systems": (_of_rows(fabric), {"map": "2 leaves", "paths": "Data: "}),
    "one host": (
        _of_rows(lambda: _only(fabric(), "gpu1")),
        {"map": "leaf1", "host/gpu1": "From socket to leaf"},
    ),
    "no switch": (_of_rows(_no_switch), {"map": "No leaf is known", "paths": "no switch was read"}),
    "InfiniBand": (_of_rows(only_infiniband), {"paths": "their switches are not collected"}),
    "nothing read": (
        _of_rows(_silent),
        {"": "No result", "heat": "No port was read", "coverage": "inconclusive"},
    ),
    "planes": (_of_shape("planes"), {"map": "leaves"}),
    "fat tree": (_of_shape("fat_tree"), {"map": "leaves"}),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.whole) if n == "fat tree" else n for n in FABRICS],
)
def test_odd_fabrics_can_be_looked_at(name: str, tmp_path: Path) -> None:
    make, wanted = FABRICS[name]
    make(tmp_path / "store")
    out = tmp_path / "page.html"
    ran = CliRunner().invoke(
        program(), ["report", "--store", str(tmp_path / "store"), "--out", str(out)]
    )
    assert out.is_file(), (ran.output, ran.exception)
    told = walk("chromium", out, also=wanted)
    assert is_clean(told) == {}
    for view, words in wanted.items():
        assert words in told["views"][view], view
