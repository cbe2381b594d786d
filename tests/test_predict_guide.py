"""docs/predict.md: every command in it runs, and prints what the page says."""

import re
from pathlib import Path

import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner

from railwright.cli import program
from railwright.demo import unpack

PAGE = (REPOSITORY / "docs/predict.md").read_text("utf-8")
BLOCKS = re.findall(
    r"^```console\n\$ railwright ([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "store")


@pytest.mark.parametrize(("command", "expected"), BLOCKS)
def test_what_the_page_shows_is_what_is_printed(store: Path, command: str, expected: str) -> None:
    result = CliRunner().invoke(program(), [*command.split(), "--store", str(store)])
    # One host of the demo is silent, so not all ceilings are known.
    assert result.exit_code == (3 if command == "predict ceiling" else 0)
    assert result.stdout == expected


def test_the_page_has_commands() -> None:
    assert len(BLOCKS) == 4
