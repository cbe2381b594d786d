"""Rendered answers are as large as real ones: a parser that is fast on short texts proves nothing."""

from pathlib import Path

import pytest

from lab.fleet import hgx_h100, with_uncore
from lab.fleet.render import all_commands

CAPTURES = Path(__file__).parents[2] / "shared" / "captures"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CAPTURES.is_dir(), reason="no shared captures beside the repository"),
]


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    return {one.command: one.stdout for one in all_commands(with_uncore(hgx_h100(1)))}


def test_lspci(said: dict[str, str]) -> None:
    real = (CAPTURES / "lspci/gpud-h100-host-vvv.txt").read_bytes()
    ours = said["lspci -D -vvv"].encode()
    assert 0.8 < len(ours) / len(real) < 1.2
    assert 0.9 < ours.count(b"\n0000:") / real.count(b"\n\n") < 1.1


def test_mlxconfig(said: dict[str, str]) -> None:
    """25 KB per NIC; there is no public capture of a whole query."""
    sizes = [len(text) for command, text in said.items() if command.startswith("mlxconfig")]
    assert len(sizes) == 10
    assert all(22_000 < size < 35_000 for size in sizes)


def test_ethtool_statistics(said: dict[str, str]) -> None:
    real = (CAPTURES / "ethtool-S/ethq-mlx5_core.txt").read_text()
    ours = said["ethtool -S enp24s0np0"]
    assert 0.75 < ours.count("\n") / real.count("\n") < 1.25
    assert 0.6 < len(ours) / len(real) < 1.4


def test_flint_and_driver(said: dict[str, str]) -> None:
    for folder, command in (("flint", "flint -d 0000:18:00.0 query"), ("ethtool-i", "ethtool -i enp24s0np0")):  # fmt: skip
        real = next((CAPTURES / folder).iterdir()).read_text()
        assert 0.4 < len(said[command]) / len(real) < 2.5, command
