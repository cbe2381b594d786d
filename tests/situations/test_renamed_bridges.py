"""Firmware calls its root bridges otherwise since an update: nothing is lost for that."""

from collections.abc import Callable

import pytest

from lab.harness.fleets import Reading
from situations.by_text import Fleet, change, each, lost_nic, without_nccl_file, words

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
FOURTH = ("0000:5b:00.0", "mlx5_3", "enp91s0np0")


@pytest.fixture(scope="module")
def sound(healthy: Callable[..., dict[str, Reading]]) -> dict[str, Reading]:
    return each(healthy("hgx_h100", 4), without_nccl_file)


def renamed(host: Reading) -> Reading:
    return change(host, "pci_root", words(("\\_SB_.PC", "\\_SB_.RP")))


def test_the_site_file_has_the_names_of_before(
    lasting_fleet: Make, sound: dict[str, Reading]
) -> None:
    """Nobody can say that they are the same places, or that they are not."""
    site = lasting_fleet(sound).proposed_site()
    report = lasting_fleet(each(sound, renamed)).check(site)
    assert report.found() == []
    assert {report.reason("part-missing", host) for host in sound} == {
        "like parts sit below root bridges of other names than are expected"
    }
    assert report.exit_status == 3


def test_a_lost_nic_is_told_with_the_switch_that_is_left(
    lasting_fleet: Make, sound: dict[str, Reading]
) -> None:
    """Its peers have the names of before; its buses tell which places are meant."""
    struck = sorted(sound)[1]
    fleet = lasting_fleet({**sound, struck: lost_nic(renamed(sound[struck]), *FOURTH)})
    report = fleet.check()
    (finding,) = report.of("part-missing", struck)
    assert finding["observed"].endswith(": slot empty")
    assert "(0000:5b:00.0)" in finding["detail"]
    assert report.found("part-missing") == [("part-missing", struck, "blocker")]
