"""The role that a site file gives a port is the same for every command, and its rail follows from it."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import fabric
from railwright.cli import program

# Of four compute ports, all inferred, one: rail 1 of gpu2. The last entry that names a port counts.
SITE = """
[[role]]
role = "management"
hosts = "gpu[1-2]"
devices = ["mlx5_1"]

[[role]]
role = "storage"
hosts = "gpu2"
netdevs = ["ens2"]

[[role]]
role = "compute"
hosts = "gpu1"
devices = ["mlx5_*"]
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, fabric())
    (folder / "site.toml").write_text(SITE)
    return folder


def said(store: Path, *words: str) -> str:
    arguments = [*words, "--store", str(store)]
    return CliRunner().invoke(program(), arguments, env={"COLUMNS": "4000"}).stdout


def test_check(store: Path) -> None:
    assert "2 of 2 hosts, 4 of 4 switches, 3 compute ports, 8 links" in said(store, "check")


def test_predict(store: Path) -> None:
    ports = json.loads(said(store, "predict", "ceiling", "--format", "json"))["ports"]
    assert {(f"{p['target']}:{p['device']}", p["role"], p["rail"]) for p in ports} == {
        ("gpu1:mlx5_0", "compute", 0),
        ("gpu1:mlx5_1", "compute", 1),
        ("gpu2:mlx5_0", "compute", 0),
        ("gpu2:mlx5_1", "storage", None),
    }


def test_rails(store: Path) -> None:
    found = json.loads(said(store, "rails", "--json"))
    assert (found["compute_ports"], found["without_rail"]) == (3, 0)
    assert found["rails"] == [{"rail": 0, "compute_ports": 2}, {"rail": 1, "compute_ports": 1}]
    counts = {row["leaves"][0]: row["ports"][0]["count"] for row in found["rows"]}
    assert counts == {"leaf1": 2, "leaf2": 1}


def test_facts(store: Path) -> None:
    rows = re.findall(r"^ +\d+ +(\d+)  (compute|storage|management) +(.*?)  ", said(store, "facts"), re.MULTILINE)  # fmt: skip
    assert sorted(rows) == [
        ("1", "compute", "PIX to a GPU"),
        ("1", "storage", "the site file says so"),
        ("2", "compute", "the site file says so"),
    ]


def test_show(store: Path) -> None:
    text = said(store, "show", "gpu2")
    assert re.search(r"^  mlx5_0  compute  ", text, re.MULTILINE)
    assert re.search(r"^  mlx5_1  storage \(site file\)  ", text, re.MULTILINE)


def test_a_port_that_only_the_site_makes_compute_has_no_known_rail(tmp_path: Path) -> None:
    rows = fabric()
    for row in rows["pci_function"]:  # without a GPU beside it, a NIC is not for compute
        if row["target"] == "gpu2" and row["pci"] == "0000:11:11.0":
            row.update(vendor="8086", **{"class": "010802"})
    with_derived(tmp_path, rows)
    (tmp_path / "site.toml").write_text('[[role]]\nrole = "compute"\ndevices = ["mlx5_1"]\n')
    found = json.loads(said(tmp_path, "rails", "--json"))
    assert (found["compute_ports"], found["without_rail"], found["exit_status"]) == (4, 1, 3)
