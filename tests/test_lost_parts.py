"""Parts that are lost: a sample of bench.lost_parts, of models with and without PCIe switches."""

from functools import cache
from pathlib import Path

import pytest

from lab.harness.lost_parts import BUILD, Loss, losses, tried, wanted
from lab.harness.struck import CELLS, SITES, Cell, prepare

pytestmark = [pytest.mark.root, pytest.mark.timeout(900)]
SIZES = (1, 4)
MODELS = ("hgx_h100_e810", "pcie_l40s")
PER_MODEL = 2


def sample() -> list[Loss]:
    """Of each model the first of every kind of part, in the order of the bench."""
    found = []
    for model in MODELS:
        kinds: dict[str, Loss] = {}
        for loss in losses():
            if loss.model == model and loss.part.kind != "netdev":
                kinds.setdefault(loss.part.kind, loss)
        found += list(kinds.values())[:PER_MODEL]
    return found


def cells(number: int) -> list[Cell]:
    """Two of the sites for one size or the other, by turns: four losses see each site."""
    return [Cell(site, 4 if site == "one" else SIZES[(number + place) % 2])
            for place, site in enumerate(SITES) if (number + place) % 5 < 2]  # fmt: skip


@pytest.fixture(scope="module")
def fleets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fleets")


@cache
def prepared(folder: Path, model: str) -> None:
    prepare(folder / model, BUILD[model], SIZES)


@pytest.mark.parametrize(("number", "loss"), list(enumerate(sample())), ids=lambda one: one.name() if isinstance(one, Loss) else "")  # fmt: skip
@pytest.mark.one_in(2)
def test_what_is_lost_is_found(fleets: Path, number: int, loss: Loss) -> None:
    prepared(fleets, loss.model)
    said = tried(fleets, loss, cells(number))
    assert {cell: words for cell, words in said.items() if words} == {}


def test_the_table_speaks_of_every_loss() -> None:
    for loss in losses():
        for cell in CELLS:
            assert wanted(loss, cell).rules


def test_inconclusive_is_the_exception() -> None:
    """Where there is something to hold the host to: only network devices, which a pod may have."""
    held = [
        (loss, cell)
        for loss in losses()
        for cell in CELLS
        if cell not in (Cell("none", 1), Cell("broken", 1))
    ]
    unsure = [one for one in held if wanted(*one).unknown]
    assert {loss.part.kind for loss, _ in unsure} == {"netdev"}
