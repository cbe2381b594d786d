"""Evidence that is taken away never makes anything better: a sample of bench.removed_evidence."""

from pathlib import Path

import pytest

from lab.harness.removed_evidence import Removal, better, fleet_of, tried

pytestmark = [pytest.mark.root, pytest.mark.timeout(900)]
MODEL = "two_socket_4x400g"
# What most rules rest on: the parts, the ports, the queues.
PROBES = ("pci", "netdev", "infiniband", "ip_address", "mlnx_qos", "mlxconfig")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("removed")


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.one_in(3)
def test_nothing_gets_better(folder: Path, probe: str) -> None:
    assert tried(folder, Removal(MODEL, probe, "struck")) == []


def test_there_is_something_to_lose(folder: Path) -> None:
    fails, _ = fleet_of(folder, MODEL).whole
    assert len(fails) > 10


def test_what_gets_better_is_told() -> None:
    whole = ({("A-01", "h:x"), ("A-02", "h:x"), ("A-03", "h")}, {("B-01", "h:y")})
    now: tuple[set[tuple[str, str]], set[tuple[str, str]]]
    now = ({("A-01", "h:x")}, {("A-02", "h:*"), ("B-01", "h")})
    assert better(whole, now, "pci") == ["finding A-03 h"]
    assert better(whole, (whole[0], set()), "pci") == ["unknown B-01 h:y"]
