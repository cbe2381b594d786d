"""What was measured, beside what `railwright predict` expects. The reader concludes."""

from collections.abc import Callable
from typing import NamedTuple

import duckdb

from railwright.predict.collectives import Prediction
from railwright.report.console import plain
from railwright.report.screen import Screen, padded, widths
from railwright.store.duck import read_sql

_PORTS = read_sql(__file__, "views/predict/measured.sql")
_COLLECTIVES = read_sql(__file__, "views/predict/measured_collectives.sql")
NOT_SAID = "?"


class PortRun(NamedTuple):
    """A run of perftest on one device: the best average of its sizes."""

    target: str
    run: str
    device: str | None
    test: str | None
    measured_gbps: float
    ceiling_gbps: float | None
    low_gbps: float | None
    alarm_gbps: float | None


class CollectiveRun(NamedTuple):
    """One size of a run of nccl-tests."""

    run: str
    nodes: int | None
    bytes: int
    bus: float  # GB/s: the better of out of place and in place
    expected: Prediction | None


def port_runs(database: duckdb.DuckDBPyConnection) -> list[PortRun]:
    """All that a snapshot holds, with the ceilings of their ports."""
    return [PortRun(*row) for row in database.execute(_PORTS).fetchall()]


def collective_runs(
    database: duckdb.DuckDBPyConnection,
    collective: str,
    expect: Callable[[int, int], Prediction | None],
) -> list[CollectiveRun]:
    """Runs of one operation; `expect` is asked with (nodes, bytes)."""
    rows = database.execute(_COLLECTIVES, {"test": f"{collective}_perf"}).fetchall()
    return [
        CollectiveRun(run, nodes, size, bus, expect(nodes, size) if nodes else None)
        for run, nodes, size, bus in rows
    ]


def _number(value: float | None) -> str:
    return NOT_SAID if value is None else f"{value:,.1f}"


def print_port_runs(screen: Screen, found: list[PortRun]) -> None:
    """A row per run."""
    rows: list[tuple[str, ...]] = [("measured", "expected", "alarm", "test", "port", "run")]
    for one in found:
        low = f"{_number(one.low_gbps)} to " if one.low_gbps is not None else ""
        expected = f"{low}{_number(one.ceiling_gbps)}"
        port = f"{one.target}:{one.device or NOT_SAID}"
        cells = (one.test or NOT_SAID, port, one.run)
        rows.append(
            (_number(one.measured_gbps), expected, _number(one.alarm_gbps), *map(plain, cells))
        )
    _print(screen, "Measured", ": perftest, Gb/s; best average of each run", rows)


def print_collective_runs(
    screen: Screen, found: list[CollectiveRun], size: Callable[[int], str]
) -> None:
    """A row per size."""
    rows: list[tuple[str, ...]] = [("bus", "expected", "algorithm", "nodes", "size", "run")]
    for one in found:
        told = one.expected
        expected = f"{_number(told.low)} to {_number(told.high)}" if told else NOT_SAID
        nodes = str(one.nodes or NOT_SAID)
        algorithm = told.algorithm if told else NOT_SAID
        rows.append((_number(one.bus), expected, algorithm, nodes, size(one.bytes), plain(one.run)))
    _print(screen, "Measured", ": nccl-tests, bus bandwidth in GB/s", rows)


def _print(screen: Screen, title: str, about: str, rows: list[tuple[str, ...]]) -> None:
    if len(rows) == 1:
        return
    columns = widths(rows)
    screen.line()
    screen.heading(title, about)
    for number, row in enumerate(rows):
        screen.line("  " + padded(row, columns), "" if number else "dim")
