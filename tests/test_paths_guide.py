"""docs/paths.md: every command in it runs, and prints what the page says."""

import re
from pathlib import Path

import pytest
from conftest import REPOSITORY
from test_paths import ACCEPTED
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import change, fabric
from railwright.cli import program

PAGE = (REPOSITORY / "docs/paths.md").read_text("utf-8")
BLOCKS = re.findall(
    r"^```console\n\$ railwright ([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    (folder / "site.toml").write_text('profile = "roce-lossless"\n')
    (folder / "waivers.toml").write_text(ACCEPTED)
    rows = change(fabric(), "switch_port", {"target": "leaf1", "port": "Ethernet8"}, mtu=1500)
    with_derived(folder, rows)
    return folder


@pytest.mark.parametrize(("command", "expected"), BLOCKS)
def test_what_the_page_shows_is_what_is_printed(store: Path, command: str, expected: str) -> None:
    result = CliRunner().invoke(program(), [*command.split(), "--store", str(store)])
    assert result.exit_code in (0, 1)
    if expected:
        assert result.stdout == expected


def test_the_page_has_commands() -> None:
    assert [command.split()[0] for command, _ in BLOCKS] == ["rails", "links", "path", "path"]
