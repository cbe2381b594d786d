"""A fabric of 16 hosts with 8 rails, of which 2 did not answer: nothing is found because of them.

`python -m bench.silent_hosts` does the same with 512 hosts.
"""

from pathlib import Path

import pytest

from lab.fleet.fabric import Fabric, Shape, build
from lab.harness.fabric import fabric_snapshot
from lab.harness.silent_hosts import WAYS, found_in, silenced
from railwright.store.snapshot import Snapshot

pytestmark = pytest.mark.root
SHAPE = Shape(16, hosts_per_leaf=16, uplinks=4, spines=4)


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return build(SHAPE)


@pytest.fixture(scope="module")
def whole(fabric: Fabric, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return fabric_snapshot(tmp_path_factory.mktemp("fabric") / "whole", fabric)


@pytest.fixture(scope="module")
def usual(
    fabric: Fabric, whole: Snapshot, tmp_path_factory: pytest.TempPathFactory
) -> set[tuple[str, str]]:
    return found_in(tmp_path_factory.mktemp("usual"), fabric, whole, whole)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_found_because_hosts_are_silent(
    way: str, fabric: Fabric, whole: Snapshot, usual: set[tuple[str, str]], tmp_path: Path
) -> None:
    silent = [fabric.host_name(3), fabric.host_name(11)]
    left = silenced(whole, silent, way)
    assert found_in(tmp_path, fabric, left, whole) - usual == set()
