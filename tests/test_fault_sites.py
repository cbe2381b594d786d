"""Faults under every kind of site file: the table fault_sites.toml, and a sample of its cells."""

from pathlib import Path

import pytest

from lab.fleet import MODELS
from lab.fleet.faults import all_faults
from lab.harness.fault_sites import BY_COST, exception, faults, tried, wrong
from lab.harness.struck import CELLS, Cell
from railwright.check.rule import shipped
from railwright.toml import load_toml

TABLE = load_toml(Path("lab/harness/fault_sites.toml").read_text("utf-8"), "fault_sites.toml")


def test_the_table_names_what_exists() -> None:
    entries = TABLE["except"]
    assert isinstance(entries, list)
    for entry in entries:
        assert {*entry.get("rules", ()), *entry.get("instead", ())} <= set(shipped())
        assert set(entry.get("faults", ())) <= set(all_faults())
        assert {Cell(*cell) for cell in entry["cells"]} <= set(CELLS)
        assert {"no_fault", "instead", "unknown", "no_reference"} & set(entry)
    assert set(BY_COST) == set(MODELS)


def test_inconclusive_is_the_exception() -> None:
    cells = [(all_faults()[name], cell) for name in faults() for cell in CELLS]
    held = [exception(*one) or {} for one in cells]
    unsure = [entry for entry in held if "unknown" in entry]
    assert len(unsure) <= 0.05 * len([entry for entry in held if "no_fault" not in entry])


@pytest.mark.root
@pytest.mark.timeout(900)
def test_a_setting_that_one_of_four_has_otherwise(tmp_path: Path) -> None:
    cells = [Cell("none", 4), Cell("full", 1)]
    said = tried(tmp_path, "neither_half_of_ecn", cells)
    fault = all_faults()["neither_half_of_ecn"]
    for cell in cells:
        assert wrong(fault, cell, said[f"{cell.site} {cell.size}"]) == ""
    assert said["none 4"]["exit"] == 3
    assert "host-config-differs" in said["none 4"]["unsure"]
    assert said["full 1"]["found"]


@pytest.mark.root
@pytest.mark.timeout(900)
@pytest.mark.whole
def test_a_host_whose_ports_all_run_slower_than_before(tmp_path: Path) -> None:
    """Read alone, it has no peers; the store knows how it was."""
    cells = [Cell("one", 4), Cell("none", 4), Cell("none", 1)]
    said = tried(tmp_path, "slow_host", cells)
    assert [(one["exit"], "port-slower-than-peers" in one["others"]) for one in said.values()] == [
        (1, True),
        (1, True),
        (3, False),
    ]
