"""What a system of switches does not report: said once per system and fact, accepted on purpose."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import change, drop, fabric
from railwright.check.rule import SHIPPED, shipped
from railwright.cli import program
from railwright.errors import RailwrightError
from railwright.schema.system import facts, load_system, systems
from railwright.schema.table import tables

SITE = 'profile = "roce-lossless"\n[fabric]\npfc_watchdog = true\n'
# Onyx (spine2) does not report a watchdog; the others are named so that nothing else is unknown.
ASKED = ("--select", "switch-watchdog-missing")


def checked(store: Path, *more: str) -> tuple[int, str]:
    done = CliRunner().invoke(program(), ["check", "--store", str(store), *more])
    return done.exit_code, done.stdout


def snapshot(store: Path, rows: dict[str, list[dict[str, Any]]]) -> None:
    (store / "site.toml").write_text(SITE)
    with_derived(store, rows)


def without_watchdog(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    for port in ("Eth1/1", "Eth1/2"):
        change(rows, "switch_port_qos", {"target": "spine2", "port": port}, watchdog=None)
    return rows


def test_a_fact_that_is_not_reported_is_one_line_and_the_command_accepts_it(tmp_path: Path) -> None:
    snapshot(tmp_path, without_watchdog(fabric()))
    status, said = checked(tmp_path, *ASKED)
    assert status == 3
    assert "1 switch  onyx does not report pfc_watchdog, 2 ports: switch-watchdog-missing" in said
    (command,) = re.findall(r"to accept that: railwright (.*)", said)
    done = CliRunner().invoke(program(), [*shlex.split(command), "--store", str(tmp_path)])
    assert done.exit_code == 0, done.output
    status, said = checked(tmp_path, *ASKED)
    assert (status, "accepted until onyx reports pfc_watchdog by who: pfc_watchdog" in said) == (
        0,
        True,
    )
    written = (tmp_path / "waivers.toml").read_text()
    assert written == (
        '[[accept_gap]]\nsystem = "onyx"\nfact = "pfc_watchdog"\nreason = "why"\nowner = "who"\n'
    )


def test_json_names_the_reason(tmp_path: Path) -> None:
    snapshot(tmp_path, without_watchdog(fabric()))
    _, said = checked(tmp_path, *ASKED, "--format", "json")
    assert [
        (one["subject"], one["reason"], one["why"]) for one in json.loads(said)["inconclusive"]
    ] == [
        (f"spine2:{port}", "not_reported", "onyx does not report pfc_watchdog")
        for port in ("Eth1/1", "Eth1/2")
    ]


ACCEPTED = """
[[accept_gap]]
system = "onyx"
fact = "pfc_watchdog"
reason = "watched by hand"
owner = "kim"
"""


def test_what_was_accepted_never_hides_an_answer_that_failed(tmp_path: Path) -> None:
    """The same two ports, and PFC was not read either: that is no longer the system's silence."""
    rows = drop(without_watchdog(fabric()), "switch_pfc", target="spine2")
    change(
        rows,
        "switch_port_qos",
        {"target": "spine2", "port": ""},
        pfc_mode=None,
        pfc_priorities=None,
    )
    rows["probe_result"].append(
        {
            "target": "spine2",
            "probe": "onyx_show",
            "instance": "show roce",
            "status": "timeout",
            "reason": "",
        }
    )
    snapshot(tmp_path, rows)
    (tmp_path / "waivers.toml").write_text(ACCEPTED)
    status, said = checked(tmp_path, *ASKED, "--format", "json")
    told = {
        (one["subject"], one["reason"], one["state"]) for one in json.loads(said)["inconclusive"]
    }
    assert told == {(f"spine2:{p}", "not_collected", "open") for p in ("Eth1/1", "Eth1/2")}
    assert status == 3


def test_what_was_accepted_of_one_system_is_not_accepted_of_another(tmp_path: Path) -> None:
    """SONiC reports its watchdog: without it, the answer is missing."""
    rows = without_watchdog(fabric())
    change(rows, "switch_port_qos", {"target": "leaf1"}, watchdog=None, watchdog_priorities=None)
    snapshot(tmp_path, rows)
    (tmp_path / "waivers.toml").write_text(ACCEPTED)
    status, said = checked(tmp_path, *ASKED, "--format", "json")
    told = {
        (one["target"], one["reason"], one["state"]) for one in json.loads(said)["inconclusive"]
    }
    assert told == {("spine2", "not_reported", "accepted"), ("leaf1", "not_collected", "open")}
    assert status == 3


def test_it_ends_by_itself_where_the_fact_is_read(tmp_path: Path) -> None:
    """A watchdog that was read and is off is a finding, whatever was accepted before."""
    rows = fabric()
    change(rows, "switch_port_qos", {"target": "spine2", "port": "Eth1/1"}, watchdog=False)
    snapshot(tmp_path, rows)
    (tmp_path / "waivers.toml").write_text(ACCEPTED)
    status, said = checked(tmp_path, *ASKED)
    assert status == 1
    assert "switch-watchdog-missing" in said


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('[[accept_gap]]\nsystem = "onyx"\nfact = "colour"\nreason = "r"\nowner = "k"\n', "'colour'"),
        ('[[accept_gap]]\nsystem = "ios"\nfact = "ecn"\nreason = "r"\nowner = "k"\n', "'ios'"),
        ('[[accept_gap]]\nsystem = "onyx"\nfact = "ecn"\nreason = "r"\n', "lacks owner"),
        ('[[accept_gap]]\nfact = "ecn"\nreason = "r"\nowner = "k"\n', "lacks system"),
        ('[[waive]]\nsystem = "onyx"\nfact = "ecn"\nreason = "r"\nowner = "k"\n', "has unknown keys"),
    ],
)  # fmt: skip
def test_what_is_not_whole_is_refused(tmp_path: Path, text: str, wrong: str) -> None:
    snapshot(tmp_path, fabric())
    (tmp_path / "waivers.toml").write_text(text)
    done = CliRunner().invoke(program(), ["check", "--store", str(tmp_path), *ASKED])
    assert done.exit_code != 0
    assert wrong in f"{done.output}{done.exception}"


def test_every_system_says_something_of_every_fact() -> None:
    assert {"sonic", "cumulus", "eos", "onyx"} == set(systems())
    for system in systems().values():
        assert set(system.states) == set(facts())
    with pytest.raises(RailwrightError, match="says nothing of trust"):
        load_system("odd", 'title = "Odd"\nprobes = []\n[facts]\n')


def test_a_fact_is_held_by_columns_that_are_there() -> None:
    for fact in facts().values():
        for column in fact.columns:
            table, _, name = column.partition(".")
            assert name in tables()[table].column_types(), column


def test_no_rule_asks_which_system_a_switch_has() -> None:
    """What a system reports is data: a rule that asks for its name takes ports out of scope."""
    check = SHIPPED.parent / "check"
    texts = {rule.id: rule.sql for rule in shipped().values()}
    texts |= {name: (check / name).read_text("utf-8") for name in ("scope.sql", "lookups.sql")}
    named = re.compile(r"(?<![a-z_])system(?![a-z_])")
    found = {
        name: line
        for name, text in texts.items()
        for line in text.splitlines()
        if named.search(line.partition("--")[0])
    }
    assert found == {}
    assert [
        r.id for r in shipped().values() if any(n.endswith(".system") for n in (*r.needs, *r.uses))
    ] == []


def test_prose_does_not_say_what_purpose_says() -> None:
    mere = ("caps the severity", "for the words", "for the cost")
    found = [
        f"{rule.id} {column}"
        for rule in shipped().values()
        for column, use in rule.uses.items()
        if use.purpose == "verdict" and any(word in use.why for word in mere)
    ]
    assert found == [], "write {purpose = …}"
