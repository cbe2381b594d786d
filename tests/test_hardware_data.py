"""Hardware data: what a row must have, and that "not documented" cannot pass for anything else."""

from dataclasses import dataclass
from typing import Literal

import pytest

from lab.fleet.fabric import cumulus
from lab.fleet.fabric.hardware import SWITCH_MODELS
from lab.fleet.fabric.model import Switch
from railwright.errors import RailwrightError
from railwright.hardware.data import NOT_DOCUMENTED, NotDocumented, Row, parse_rows
from railwright.hardware.link_modes import link_modes
from railwright.hardware.switch_asics import asic_of, spectrum


@dataclass(frozen=True, kw_only=True)
class Fan(Row):
    """A kind of row that exists for this test alone."""

    blades: int
    colour: Literal["red", "blue"]
    sizes: tuple[float, ...]
    power_w: float | NotDocumented


HEAD = '[[group]]\ntitle = "fans"\nsource = ["CALC"]\nsizes = [1, 2.5]\n[group.row]\n'
GOOD = "a = { blades = 3, colour = 'red', power_w = 4 }\n"


def test_a_group_gives_what_a_row_does_not_say():
    rows = parse_rows(
        Fan,
        HEAD + GOOD + "b = { blades = 4, colour = 'blue', power_w = 'not documented', sizes = [] }",
        "fans.toml",
    )
    assert rows["a"] == Fan(
        name="a", source=("CALC",), blades=3, colour="red", sizes=(1, 2.5), power_w=4
    )
    assert rows["b"].power_w is NOT_DOCUMENTED
    assert rows["b"].sizes == ()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a = { blades = 3, colour = 'red' }", "no power_w"),
        ("a = { blades = 3, colour = 'red', power_w = 1, weight = 2 }", "unknown column weight"),
        ("a = { blades = 'not documented', colour = 'red', power_w = 1 }", "blades"),
        ("a = { blades = '3', colour = 'red', power_w = 1 }", "blades"),
        ("a = { blades = true, colour = 'red', power_w = 1 }", "blades"),
        ("a = { blades = 3, colour = 'green', power_w = 1 }", "colour"),
        ("a = { blades = 3, colour = 'red', power_w = '' }", "power_w"),
        ("a = { blades = 3, colour = 'red', power_w = 1, sizes = [1, 'x'] }", "sizes"),
        ("a = { blades = 3, colour = 'red', power_w = 1, source = [] }", "no source"),
        ("a = { blades = 3, colour = 'red', power_w = 1, source = ['HEARSAY'] }", "HEARSAY"),
        ("a = { blades = 3, colour = 'red', power_w = 1, judged = ['weight'] }", "weight"),
    ],
)
def test_what_is_refused(row, says):
    with pytest.raises(RailwrightError, match=says):
        parse_rows(Fan, HEAD + row, "fans.toml")


def test_a_name_is_written_once():
    again = HEAD + GOOD + HEAD + GOOD
    with pytest.raises(RailwrightError, match="a is there twice"):
        parse_rows(Fan, again, "fans.toml")


def test_a_row_without_a_source_is_refused():
    with pytest.raises(RailwrightError, match="no source"):
        parse_rows(Fan, (HEAD + GOOD).replace('source = ["CALC"]\n', ""), "fans.toml")


def test_not_documented_is_neither_true_nor_false_nor_a_number():
    with pytest.raises(TypeError):
        bool(NOT_DOCUMENTED)
    with pytest.raises(TypeError):
        NOT_DOCUMENTED < 3  # type: ignore[operator]  # noqa: B015
    assert NOT_DOCUMENTED != 0
    assert str(NOT_DOCUMENTED) == "not documented"


def test_link_modes_are_consistent():
    for mode in link_modes().values():
        assert mode.gbps == mode.lanes * mode.lane_gbps, mode.name
        if mode.modulation == "PAM4":
            assert mode.fec_required is True, mode.name


def test_link_modes_by_hand():
    modes = link_modes()
    assert (modes["200G_2X"].lanes, modes["200G_2X"].lane_gbps) == (2, 100)
    assert modes["200G_4X"].fec == ("RS(544,514)",)
    assert "Firecode" not in modes["100G_4X"].fec
    assert modes["4X NDR"].gbps == 400
    assert modes["800G_4X"].fec is NOT_DOCUMENTED


@pytest.mark.parametrize("name", SWITCH_MODELS)
def test_the_lab_has_the_chip_of_the_one_list(name: str) -> None:
    """The lab keeps its own figure, so that it can contradict; its Cumulus prints the chip."""
    model = SWITCH_MODELS[name]
    listed = {number for number, models in spectrum().items() if name.startswith(models)}
    assert listed == ({model.spectrum} if model.spectrum else set())
    if "cumulus" in model.systems:
        leaf = Switch("leaf1", 0, "cumulus", model, 1, 0, 0, 0, (), ())
        assert cumulus.platform(leaf)["asic-model"] == asic_of(name)
