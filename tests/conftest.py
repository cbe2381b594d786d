"""What tests need of the machine; outside CI they are skipped where it is missing, in CI never."""

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from railwright.toml import load_toml

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


# Everything, also what is marked `whole` or `one_in`: `python -m bench.whole_tests`.
WHOLE = bool(os.environ.get("RAILWRIGHT_WHOLE"))
# About how many seconds a file takes by itself; CI says at its end how many it took.
SECONDS: dict[str, int] = load_toml(
    (REPOSITORY / "tests/seconds.toml").read_text("utf-8"), "tests/seconds.toml"
)["seconds"]
SLOW = 10  # a file of more is not for while one writes


def _left_for_the_whole(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """What CI leaves out: the count goes on from case to case, so new cases take their turn."""
    seen: defaultdict[str, int] = defaultdict(int)
    for item in items:
        sample = item.get_closest_marker("one_in")
        name = item.nodeid.partition("[")[0]
        if item.get_closest_marker("whole") or (sample and seen[name] % sample.args[0]):
            yield item
        seen[name] += 1


# Long files take turns: each commit runs one in TURNS of them, the next commit the next ones. The count of
# commits, which CI gives, says whose turn it is; who runs pytest by hand has all of them.
TURN = os.environ.get("RAILWRIGHT_TURN", "")
TURNS = 8
LONG = 30  # seconds


@cache
def _turns() -> dict[str, int]:
    """Long file -> its turn: the longest first, each to the turn with the least to do.

    A changed file of seconds deals anew: then a file may wait longer for its turn once.
    """
    long = sorted((one for one in SECONDS if SECONDS[one] >= LONG), key=lambda one: -SECONDS[one])
    spent, dealt = [0] * TURNS, {}
    for name in long:
        dealt[name] = spent.index(min(spent))
        spent[dealt[name]] += SECONDS[name]
    return dealt


def takes_its_turn(name: str, turn: int) -> bool:
    """Whether CI runs this file at this commit; a file that is not long always."""
    return _turns().get(name, turn % TURNS) == turn % TURNS


def _chosen_by_hand(config: pytest.Config) -> bool:
    """Who names a test, or a word of it, wants that one."""
    return bool(config.option.keyword) or any("::" in one for one in config.args)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not WHOLE and not _chosen_by_hand(config):
        left = set(_left_for_the_whole(items))
        if TURN:
            turn = int(TURN)
            left |= {one for one in items if not takes_its_turn(one.path.name, turn)}
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=list(left))
    # Files are dealt out to processes one by one: the longest first, then all end at about one time.
    items.sort(key=lambda item: -SECONDS.get(item.path.name, 0))
    for item in items:
        if SECONDS.get(item.path.name, 0) > SLOW:
            item.add_marker(pytest.mark.slow)
        missing = ""
        if ("root" in item.keywords or "fleet" in item.keywords) and os.geteuid() != 0:
            missing = "needs root"
        elif "shared" in item.keywords and not SHARED.is_dir():
            missing = "needs the shared reference data"
        if missing and not IN_CI:
            item.add_marker(pytest.mark.skip(reason=missing))


_workers_ended: list[float] = []


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown() -> None:
    _workers_ended.append(time.monotonic())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the time went, by file: the longest of them go into tests/seconds.toml."""
    if not IN_CI:
        return
    spent: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                spent[report.nodeid.partition("::")[0]] += report.duration
    terminalreporter.section("seconds by file")
    for name, seconds in spent.most_common(40):
        terminalreporter.write_line(f"{seconds:7.0f}  {name}")
    terminalreporter.write_line(f"{sum(spent.values()):7.0f}  all")
    if _workers_ended:
        idle = max(_workers_ended) - min(_workers_ended)
        terminalreporter.write_line(f"{idle:7.0f}  from the first idle process to the last")


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test ever touches the user's own store."""
    monkeypatch.setenv("RAILWRIGHT_STORE", str(tmp_path / "store"))


@pytest.fixture(scope="session")
def eleven_faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of lab/harness/eleven_faults.py, made once for all processes. Not to be written to."""
    from lab.harness.eleven_faults import shared  # noqa: PLC0415 - builds on all of lab

    base = tmp_path_factory.getbasetemp()
    return shared(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
