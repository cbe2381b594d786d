"""A name that leads to another machine: what answers is not what was asked for."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from lab.harness.fleets import Reading
from situations.by_text import Fleet, each, without_nccl_file

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
ANSWERS, MEANT = "ember-h003", "ember-h004"


@pytest.fixture
def sound(healthy: Callable[..., dict[str, Reading]]) -> dict[str, Reading]:
    return each(healthy("hgx_h100", 4), without_nccl_file)


def answered_by(other: Reading, hostname: str) -> Reading:
    return replace(other, host={**other.host, "target": MEANT, "hostname": hostname})


@pytest.mark.parametrize("hostname", [ANSWERS, MEANT])
def test_one_machine_answers_under_two_names(
    fleet: Make, sound: dict[str, Reading], hostname: str
) -> None:
    """Whatever it calls itself: in a container it may well have the name that was asked for."""
    made = fleet({**sound, MEANT: answered_by(sound[ANSWERS], hostname)})
    report = made.check()
    assert report.exit_status == 1
    assert {host for rule, host, _ in report.found("machine-twice")} == {ANSWERS, MEANT}
    assert MEANT in report.of("machine-twice", ANSWERS)[0]["detail"]
    said = made.run("check").stdout
    assert "Checked: 3 of 4 hosts" in said
    assert "No findings" not in said
