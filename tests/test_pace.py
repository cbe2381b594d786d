"""The pace of a job: expected values by hand."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from railwright.cli import program
from railwright.demo import unpack
from railwright.predict.pace import Pace, pace

_TABLES = """
CREATE TABLE target (target VARCHAR, kind VARCHAR, status VARCHAR, out_of_service VARCHAR);
CREATE TABLE host_class (target VARCHAR, class VARCHAR);
CREATE TABLE host_ceiling (target VARCHAR, ports BIGINT, write_gbps DOUBLE);
CREATE TABLE port_ceiling (
    target VARCHAR, device VARCHAR, port INTEGER, role VARCHAR, state VARCHAR, rate_gbps DOUBLE,
    mtu INTEGER, binding VARCHAR, write_gbps DOUBLE
);
"""


@pytest.fixture
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        database.execute(_TABLES)
        yield database


def _host(database: duckdb.DuckDBPyConnection, name: str, *ports: tuple[object, ...]) -> None:
    """A host with ports of (role, state, write_gbps)."""
    database.execute("INSERT INTO target VALUES (?, 'host', 'reached', '')", [name])
    database.execute("INSERT INTO host_class VALUES (?, 'box')", [name])
    known = all(role is not None for role, _, _ in ports)
    total = sum(gbps or 0 for role, _, gbps in ports if role == "compute") if known else None
    number = sum(role == "compute" for role, _, _ in ports)
    database.execute("INSERT INTO host_ceiling VALUES (?, ?, ?)", [name, number, total])
    for at, (role, state, gbps) in enumerate(ports):
        database.execute(
            "INSERT INTO port_ceiling VALUES (?, ?, 1, ?, ?, 400, 4096, 'port', ?)",
            [name, f"mlx5_{at}", role, state, gbps],
        )


UP = ("compute", "ACTIVE", 392.1)


def _told(found: Pace) -> list[tuple[object, ...]]:
    return [(step.without, step.gbps, step.targets, step.limited_by) for step in found.steps]


def test_a_port_that_is_down_stops_the_job(tables: duckdb.DuckDBPyConnection) -> None:
    _host(tables, "n1", UP, UP)
    _host(tables, "n2", UP, ("compute", "DOWN", None))
    _host(tables, "n3", UP, ("compute", "ACTIVE", 229.9))
    found = pace(tables)
    assert _told(found) == [
        (0, 0.0, ["n2"], "port DOWN"),
        (1, 229.9, ["n3"], "400G, RDMA MTU 4096"),
        (2, 392.1, ["n1"], "400G, RDMA MTU 4096"),
    ]
    assert found.unknown == []


def test_a_lost_nic_is_no_faster_than_a_dead_one(tables: duckdb.DuckDBPyConnection) -> None:
    for number in range(1, 5):
        _host(tables, f"n{number}", UP, UP)
    _host(tables, "n5", UP)
    found = pace(tables)
    assert _told(found)[0] == (0, 0.0, ["n5"], "1 of 2 compute ports")
    assert found.steps[0].slowest == "n5"


def test_a_host_that_lost_all_its_nics_stays_in(tables: duckdb.DuckDBPyConnection) -> None:
    for number in range(1, 5):
        _host(tables, f"n{number}", UP)
    _host(tables, "n5")
    assert _told(pace(tables))[0] == (0, 0.0, ["n5"], "0 of 1 compute ports")


def test_what_is_not_known_is_not_fast(tables: duckdb.DuckDBPyConnection) -> None:
    _host(tables, "n1", UP, UP)
    _host(tables, "n2", UP, ("compute", "ACTIVE", None))  # no ceiling: MTU not read
    _host(tables, "n3", UP, (None, "ACTIVE", 100.0))  # nobody knows what it is for
    _host(tables, "n4", UP, ("compute", None, None))
    tables.execute("INSERT INTO target VALUES ('n5', 'host', 'silent', '')")
    tables.execute("INSERT INTO host_ceiling VALUES ('n5', NULL, NULL)")
    found = pace(tables)
    assert found.unknown == ["n2", "n3", "n4", "n5"]
    assert found.hosts == 4  # of which it is known that they are no faster


def test_hosts_without_compute_ports_take_no_part(tables: duckdb.DuckDBPyConnection) -> None:
    _host(tables, "n1", UP)
    _host(tables, "login1", ("management", "DOWN", None))
    tables.execute("UPDATE host_class SET class = NULL WHERE target = 'login1'")
    _host(tables, "n2", ("compute", "DOWN", None))
    tables.execute("UPDATE target SET out_of_service = 'RMA' WHERE target = 'n2'")
    found = pace(tables)
    assert (_told(found), found.unknown) == ([(0, 392.1, ["n1"], "400G, RDMA MTU 4096")], [])


def test_check_and_predict_tell_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hosts of the demo have a NIC at x8, one an MTU of 1500, one is silent."""
    monkeypatch.setenv("RAILWRIGHT_STORE", str(unpack(tmp_path / "demo")))

    def run(*words: str) -> str:
        return CliRunner().invoke(program(), list(words)).stdout

    first = (
        "Pace of a job: at most 229.9 Gb/s per port over all 30 hosts (ember-h004:mlx5_3/1: PCIe)"
    )
    assert f"{first}; without 3 hosts 392.1; 1 not known" in run("check").replace("\n", " ")
    told = json.loads(run("check", "--json"))["pace"]
    assert told == json.loads(run("predict", "ceiling", "--json"))["pace"]
    assert [(one["without"], one["gbps"], one["targets"]) for one in told["steps"][:2]] == [
        (0, 229.9, "ember-h[004,007]"),
        (2, 370.3, "ember-h026"),
    ]
    assert told["unknown"] == "ember-h029"
    assert "Pace" not in run("check", "-w", "ember-h001")
