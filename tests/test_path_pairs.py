"""`path` agrees with an independent walk over the raw texts; `bench.fabric_paths` has 4,096 hosts."""

from pathlib import Path

import pytest

from lab.fleet.fabric import SHAPES, build
from lab.harness.path_pairs import differences, pairs, struck

pytestmark = [pytest.mark.root, pytest.mark.timeout(900)]


def test_pairs_of_a_fabric_of_three_tiers(tmp_path: Path) -> None:
    fabric = build(SHAPES["pods"])
    found = list(pairs(tmp_path, fabric, struck(fabric, 6, seed=1), 100, seed=2))
    assert [words for pair in found for words in differences(pair)] == []
    broken = [pair for pair in found if pair.raw.broken]
    assert 0 < len(broken) < len(found), "both kinds are among them"
    assert max(len(pair.raw.entries) for pair in found) == 5, "some go through a core"
