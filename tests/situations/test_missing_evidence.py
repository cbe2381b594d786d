"""Evidence that is missing is never taken for good: one host under many names, each lacking one answer."""

from collections.abc import Callable

import pytest

from lab.harness.fleets import Reading
from situations.by_text import Fleet, Report, unanswered

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
Healthy = Callable[..., dict[str, Reading]]

PROBES = (
    *("infiniband", "pci", "netdev", "mlnx_qos", "ip_route", "mlxconfig", "dmesg", "lldpctl"),
    *("pci_config", "ecn", "ibv_devinfo", "lscpu", "numa", "modules", "libraries", "limits"),
)
STATUSES = ("failed", "absent")
# Without switches nobody needs neighbors; a host without files of libraries pins nothing.
NOT_NEEDED = {"failed": ("lldpctl",), "absent": ("lldpctl", "libraries")}

# It is one machine under all these names: what it has twice is no fault here.
ONE_MACHINE = (
    "--ignore",
    "machine-twice",
    "--ignore",
    "address-twice",
    "--ignore",
    "hostname-of-another",
)


def name_of(probe: str, status: str) -> str:
    return f"{probe.replace('_', '-')}-{status}"


@pytest.fixture(scope="module")
def report(lasting_fleet: Make, healthy: Healthy) -> Report:
    (host,) = healthy("hgx_h100", 1).values()
    lacking = {
        name_of(probe, status): unanswered(host, probe, status)
        for probe in PROBES
        for status in STATUSES
    }
    return lasting_fleet({"whole": host, **lacking}).check("", *ONE_MACHINE)


def open_at(report: Report, host: str) -> set[str]:
    return {
        rule for rule, subject, _ in report.open_questions() if subject.partition(":")[0] == host
    }


def test_with_all_of_it_nothing_is_open(report: Report) -> None:
    assert open_at(report, "whole") == set()
    assert report.at("whole") == []


@pytest.mark.parametrize("probe", PROBES)
def test_what_could_not_be_read_is_open(report: Report, probe: str) -> None:
    host = name_of(probe, "failed")
    assert report.at(host) == []
    assert bool(open_at(report, host)) == (probe not in NOT_NEEDED["failed"])


@pytest.mark.parametrize("probe", PROBES)
def test_what_is_not_there_is_open_or_a_finding(report: Report, probe: str) -> None:
    # That a host has no RDMA devices or no network devices at all is a fault by itself.
    host = name_of(probe, "absent")
    told = open_at(report, host) | {one["rule"] for one in report.at(host)}
    assert bool(told) == (probe not in NOT_NEEDED["absent"])


def test_the_exit_status_tells_of_it(report: Report) -> None:
    assert report.exit_status in (1, 3)
