"""`railwright sql` and `evidence`: through the front door, over tables written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lab.harness.by_hand import answers, target, with_derived
from railwright.cli import program
from railwright.errors import RailwrightError, UsageError
from railwright.model.finish import finish
from railwright.store.build import Building
from railwright.store.evidence import Answer


def railwright(*arguments: object) -> Result:
    return CliRunner().invoke(program(), [str(argument) for argument in arguments])


def netdevs(*hosts: str, **values: Any) -> list[dict[str, Any]]:
    return [{"target": host, "name": "eth0", "pci": "", **values} for host in hosts]


def hosts(*names: str) -> dict[str, list[dict[str, Any]]]:
    return {
        "target": [target(name) for name in names],
        "probe_result": [row for name in names for row in answers(name, "netdev", "mlxconfig")],
    }


def parameters(host: str, pci: str, **values: str) -> list[dict[str, Any]]:
    return [
        {"target": host, "pci": pci, "name": name, "port": 0, "element": -1, "current_text": value}
        for name, value in values.items()
    ]


# ---- sql ------------------------------------------------------------------------------------


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Three hosts in the store that the environment names; one MTU was not read."""
    rows = hosts("gpu1", "gpu2", "gpu3")
    rows["netdev"] = [*netdevs("gpu1", "gpu2", mtu=9000), *netdevs("gpu3")]
    return with_derived(tmp_path / "store", rows).path


@pytest.mark.usefixtures("three")
def test_a_question_is_answered_and_null_is_never_blank() -> None:
    done = railwright("sql", "SELECT target, mtu, pci FROM netdev ORDER BY 1")
    assert done.exit_code == 0
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["target", "mtu", "pci"],
        ["gpu1", "9000", "''"],
        ["gpu2", "9000", "''"],
        ["gpu3", "NULL", "''"],
    ]
    assert "3 rows" in done.stderr


@pytest.mark.usefixtures("three")
def test_answers_for_other_programs() -> None:
    query = "SELECT target, mtu, pci FROM netdev ORDER BY 1"
    table = railwright("sql", query, "--format", "csv").stdout
    assert table == "target,mtu,pci\ngpu1,9000,\ngpu2,9000,\ngpu3,NULL,\n"
    lines = railwright("sql", query, "--format", "json").stdout.splitlines()
    assert json.loads(lines[2]) == {"target": "gpu3", "mtu": None, "pci": ""}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "FROM '/etc/passwd'",
        "SELECT * FROM read_text('/proc/self/environ')",
        "SELECT * FROM glob('/*')",
        "COPY netdev TO '/tmp/out.csv'",
        "COPY (SELECT 1) TO '/tmp/out.csv'",
        "ATTACH '/tmp/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA enable_profiling",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW netdev",
        "INSERT INTO netdev SELECT * FROM netdev",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP VIEW netdev",
        "",
        "/* nothing */",
        "SELECT",
        "SELECT * FROM no_such_table",
        "SELECT no_such_column FROM netdev",
    ],
)
@pytest.mark.usefixtures("three")
def test_a_question_reads_its_snapshot_and_nothing_else(query: str) -> None:
    done = railwright("sql", query)
    assert done.exit_code != 0
    assert isinstance(done.exception, RailwrightError), done.output
    assert "root:" not in done.output


@pytest.mark.usefixtures("three")
def test_the_tables_explain_themselves() -> None:
    listed = railwright("sql").stdout
    assert "\nnetdev" in listed
    assert "A network device of the host's own network namespace" in listed
    told = railwright("sql", "--describe", "netdev").stdout
    assert "mtu" in told
    assert "bytes" in told
    assert "source: mtu" in told
    wrong = railwright("sql", "--describe", "netdevs").exception
    assert isinstance(wrong, UsageError)
    assert "netdev" in wrong.do


# ---- evidence -------------------------------------------------------------------------------


@pytest.fixture
def read(tmp_path: Path) -> None:
    """A host with one answer that holds an escape code, and one probe that failed."""
    row = {"target": "gpu1", "status": "reached", "words": "", "out_of_service": ""}
    building = Building(tmp_path / "store", {"started": 1.7e9, "via": "test"}, {"gpu1": ""})
    said = {"started": 1.7e9, "argv": ["/usr/bin/x", "-d"]}
    building.add_answer(
        Answer("gpu1", "mlxconfig", "0000:18:00.0", "ok", stdout=b"\x1b[31mA\n", **said)
    )
    building.add_answer(Answer("gpu1", "mlxconfig", "0000:29:00.0", "ok", stdout=b"B", **said))
    building.add_answer(Answer("gpu1", "lldpctl", "", "denied", reason="no", **said))
    building.add_target(row)
    building.close()
    finish(building.folder)


@pytest.mark.usefixtures("read")
def test_the_bytes_come_back_as_they_were() -> None:
    one = railwright("evidence", "gpu1", "mlxconfig", "0000:18:00.0")
    assert one.stdout_bytes == b"\x1b[31mA\n"
    both = railwright("evidence", "gpu1", "mlxconfig")
    assert both.stdout_bytes == b"\x1b[31mA\nB\n"
    assert "/usr/bin/x -d" in both.stderr


@pytest.mark.usefixtures("read")
def test_the_answers_are_listed() -> None:
    lines = railwright("evidence", "gpu1").stdout.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["lldpctl", "denied", "0"],
        ["mlxconfig", "0000:18:00.0", "not"],
        ["mlxconfig", "0000:29:00.0", "not"],
    ]


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gpu2",), "Did you mean gpu1?"),
        (("gpu1", "mlxconfi"), "Did you mean mlxconfig"),
        (("gpu1", "mlxconfig", "0000:77:00.0"), "no answer for '0000:77:00.0'"),
    ],
)
def test_a_misspelt_name_gets_a_hint(arguments: tuple[str, ...], words: str) -> None:
    error = railwright("evidence", *arguments).exception
    assert isinstance(error, UsageError)
    assert words in f"{error.what} {error.do}"
