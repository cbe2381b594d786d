"""What tests need of the machine; outside CI they are skipped where it is missing, in CI never."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
SHARED = REPOSITORY.parent / "shared"
IN_CI = bool(os.environ.get("RAILWRIGHT_CI"))


_ended: list[int] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """In CI a skipped test is a failed one: there everything that a test needs is installed.

    One that is expected to fail is not skipped: it ran.
    """
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


def pytest_sessionfinish(exitstatus: int) -> None:
    _ended.append(int(exitstatus))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """CI ends with pytest's own summary line.

    DuckDB 2.0's binding would print a page about leaked objects when the interpreter ends, also
    where every connection was closed.
    """
    if IN_CI and _ended and "PYTEST_XDIST_WORKER" not in os.environ:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_ended[-1])


# Files are dealt out to processes one by one: the longest first, then all end at about the same time.
LONGEST_FIRST = (
    "test_store.py",
    "test_hostile_hosts.py",
    "test_store_sessions.py",
    "test_mutated_snapshots.py",
    "test_faults.py",
    "test_fabric_faults.py",
    "test_round_trip.py",
    "test_fleet.py",
    "test_rules.py",
    "test_captures.py",
    "test_unknown.py",
)


def _place(item: pytest.Item) -> int:
    name = item.path.name
    return LONGEST_FIRST.index(name) if name in LONGEST_FIRST else len(LONGEST_FIRST)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_place)
    for item in items:
        missing = ""
        if ("root" in item.keywords or "fleet" in item.keywords) and os.geteuid() != 0:
            missing = "needs root"
        elif "shared" in item.keywords and not SHARED.is_dir():
            missing = "needs the shared reference data"
        if missing and not IN_CI:
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test ever touches the user's own store."""
    monkeypatch.setenv("RAILWRIGHT_STORE", str(tmp_path / "store"))
