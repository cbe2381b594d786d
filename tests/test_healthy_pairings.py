"""Healthy is what vendors ship: every pairing of presets has the findings that are right, no other.

healthy_pairings.toml says which, by hand. Where a rule is wrong today, WRONG names it and the
cause: the pairing must then be right in all else, and the entry goes when the rule is mended.
"""

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pairing_sites import HOSTS, RAILS, Pairing, Sites, pairings

pytestmark = [pytest.mark.root, pytest.mark.timeout(600)]
PAIRINGS = {one.number: one for one in pairings(Path(__file__).with_name("healthy_pairings.toml"))}


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Tables of some rows: threads would only wait for each other."""
    had = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(had)[os.getpid() % len(had)]})
    yield
    os.sched_setaffinity(0, had)


class Said:
    """What `check` says of a pairing, asked once."""

    def __init__(self, folder: Path) -> None:
        self._sites = Sites(folder)
        self.of = cache(self._of)

    def _of(self, number: int) -> tuple[Counter[tuple[str, str]], dict[str, str], list[str]]:
        """(rule, severity) with counts; what is unknown, and why; rules that could not be run."""
        said = self._sites.checked(PAIRINGS[number])
        found = Counter((one["rule"], one["severity"]) for one in said["findings"])
        hosts = {f"gpu{host:03d}" for host in range(1, HOSTS + 1)}
        unknown = {
            f"{one['rule']} {'hosts' if one['target'] in hosts else 'switches'}": one["why"]
            for one in said["inconclusive"]
        }
        troubled = [one["id"] for one in said["rules"]
                    if one["trouble"] not in ("", "not run (no baseline)")]  # fmt: skip
        return found, unknown, troubled


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    return Said(tmp_path_factory.mktemp("pairings"))


def named(pairing: Pairing) -> str:
    return f"{pairing.number}-{pairing.leaf.replace('/', '-')}-{pairing.host or 'unread'}"


def wanted(pairing: Pairing) -> dict[tuple[str, ...], int]:
    """By hand: (rule, severity) with counts."""
    return {tuple(text.split()): count for text, count in (pairing.findings or {}).items()}


@pytest.mark.parametrize("pairing", PAIRINGS.values(), ids=named)
@pytest.mark.one_in(4)
def test_a_healthy_pairing(said: Said, pairing: Pairing) -> None:
    found, unknown, troubled = said.of(pairing.number)
    assert found == wanted(pairing)
    assert {key: why for key, why in unknown.items() if key not in (pairing.unknown or {})} == {}
    assert troubled == []


def test_all_pairings_are_there_and_name_every_port() -> None:
    assert list(PAIRINGS) == list(range(1, 23))
    counts = {count for one in PAIRINGS.values() for count in (one.findings or {}).values()}
    assert counts == {HOSTS * RAILS, 8, 12}
