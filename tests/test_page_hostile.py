"""Hostile text in every text column of every table: on the page it is text, and nothing runs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from page_walk import is_clean, walk
from test_tainted_snapshots import (  # noqa: F401 - fixtures
    FORGED,
    NAME,
    Copy,
    copies,
    folder,
    whole,
)
from typer.testing import CliRunner

from railwright.cli import program
from railwright.text import plain

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize(
    "variant", ["appended", "every word", "replaced", "every word replaced", "long"]
)
@pytest.mark.one_in(2)
def test_nothing_of_a_machine_runs(
    copies: Callable[[str], Copy],  # noqa: F811
    variant: str,
    tmp_path: Path,
) -> None:
    copy, out = copies(variant), tmp_path / "page.html"
    words = ["report", NAME, "--store", str(copy.store), "--out", str(out)]
    ran = CliRunner().invoke(program(), words)
    assert out.is_file(), (ran.output, ran.exception)
    text = out.read_text()
    still = text[text.index('<div id="app">') : text.index("</main>")]
    assert plain(still.replace("\n", "")) == still.replace("\n", "")
    assert not any(line.startswith(FORGED) for line in still.splitlines())
    told = walk("chromium", out)
    assert is_clean(told) == {}
    assert told["ran"] is None
    assert len(told["views"]) >= 6
    assert not copy.sentinel.exists()
