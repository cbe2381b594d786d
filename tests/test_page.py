"""The page in real browsers: it works, is quiet, and shows the numbers of the verbs."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from page_walk import is_clean, pictures, states, walk
from typer.testing import CliRunner, Result

from railwright.cli import program
from railwright.demo import unpack

pytestmark = pytest.mark.timeout(300)


def _run(*words: str) -> Result:
    return CliRunner().invoke(program(), list(words))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(unpack(tmp_path_factory.mktemp("page") / "demo"))


@pytest.fixture(scope="module")
def page(store: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "demo.html"
    assert _run("report", "--store", store, "--before", "previous", "-o", str(out)).exit_code == 1
    return out


@pytest.fixture(scope="module")
def chromium(page: Path) -> dict[str, Any]:
    return walk("chromium", page, "whole")


def test_every_view_is_quiet_in_chromium(chromium: dict[str, Any]) -> None:
    """No message, no request, nothing that axe objects to, no element of a machine's."""
    assert is_clean(chromium) == {}
    assert {"", "map", "heat", "findings", "paths", "coverage", "diff"} <= set(chromium["views"])
    assert "No host is called nobody" in chromium["views"]["host/nobody"]


def test_every_view_is_quiet_in_firefox(page: Path) -> None:
    assert is_clean(walk("firefox", page, "quick")) == {}


def test_the_keyboard_alone_is_enough(chromium: dict[str, Any]) -> None:
    assert chromium["keyboard"] == [
        "a Skip to content",
        "a Verdict",
        "a Map",
        "#/map",
        "canvas Fabric map: leaves by rail and group of hosts",
        "ember-leaf02, rail 1: high; 32 host ports, 2 with findings, 1 not read, 1 out of service",
        "#/switch/ember-leaf02",
        "#/findings?rule=pcie-capped-by-firmware&state=all",
    ]


def test_it_is_of_use_without_scripts_and_on_paper(page: Path) -> None:
    told = states(page)
    for text in (told["scriptsOff"], told["noStreams"], told["printed"]):
        assert "10 findings: 8 high, 2 medium" in text
        assert "PCIe link downtrained (lanes)" in text
    assert "cannot be shown in this browser" in told["noStreams"]
    assert 1 <= told["pages"] <= 6


ATTACK = (
    '<img src="x" onerror="window.ran=1"><script>window.ran=2</script>'
    '<iframe src="https://example.invalid/"></iframe><form action="https://example.invalid/">'
)


def test_the_policy_bites(page: Path, tmp_path: Path) -> None:
    """Markup that somebody wrote into the file by hand neither runs nor loads anything."""
    file = tmp_path / "attacked.html"
    file.write_text(page.read_text().replace("</body>", f"{ATTACK}</body>"))
    told = walk("chromium", file)
    assert told["ran"] is None
    assert set(told["elements"]) == {
        "img",
        "iframe",
        "form",
    }  # so the walk would see one of a machine
    assert len(told["console"]) >= 3, told["console"]
    assert all(re.search("Content Security Policy", one) for one in told["console"])


def test_pictures_of_the_docs_show_this_page(page: Path) -> None:
    """RAILWRIGHT_GOLDEN=write makes them anew. Fonts differ a little from machine to machine."""
    folder = REPOSITORY / "docs/images"
    if os.environ.get("RAILWRIGHT_GOLDEN") == "write":
        pictures(page, folder, "write")
    told = pictures(page, folder, "compare")
    assert set(told) == {"report", "report-dark", "report-map", "report-host", "report-heat"}
    assert {name: share for name, share in told.items() if share > 0.04} == {}
