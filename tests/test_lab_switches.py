"""Switches of four systems that are up, with hosts on the same fabric: read together over SSH.

`python -m bench.lab_switch_faults` strikes every fault of switches.
"""

import json
import os
import secrets
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lab import first_process, site
from lab.harness.fabric_faults import judged
from lab.harness.switch_truth import CHECKS, Check, Rows
from lab.live.cluster import cluster
from lab.live.part import LabError
from lab.live.whole import Whole, running
from railwright.check.run import Choice, checked, chosen
from railwright.intent.site import load_site
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot, load
from tests.searching import everything

# Bringing up the lab and reading it takes most of the first test.
pytestmark = [pytest.mark.fleet, pytest.mark.timeout(1800)]
SYSTEMS = {"leaf001": "sonic", "leaf002": "cumulus", "spine001": "eos", "spine002": "onyx"}
NAMES = tuple(SYSTEMS)
TRIES = 3
# Faults that have nothing to do with each other, one on each system.
STRUCK = (
    ("leaf001", "drops_of_data", "Ethernet0", "switch-drops-lossless leaf001:Ethernet0"),
    ("leaf002", "switch_mtu_small", "swp2", "host-mtu-above-switch leaf002:swp2"),
    ("spine001", "switch_global_pause", "Ethernet1/1", "switch-global-pause spine001:Ethernet1/1"),
    ("spine002", "fabric_mtu_small", "Eth1/4", "fabric-mtu-small spine002:Eth1/4"),
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """Two hosts on two rails, two leaves, two spines: each switch of another system."""
    site.make_root()
    folder = tmp_path_factory.mktemp("live")
    made = cluster(2, 2, 4)
    assert {one.name: one.system for one in made.fabric.switches} == SYSTEMS
    with running(made, folder) as whole:
        yield whole


def read(lab: Whole, name: str) -> Snapshot:
    """All machines; once more where one was too slow: a CLI has 30 s to show its prompt."""
    for attempt in range(TRIES):
        store = lab.folder / f"{name}{attempt}"
        done = lab.collect(store)
        if done.returncode == 0:
            return find(store, None)
    raise AssertionError(done.stderr)


@pytest.fixture(scope="module")
def healthy(lab: Whole) -> Snapshot:
    """Hosts and switches in one run."""
    return read(lab, "healthy")


@cache
def database_of(path: Path) -> Any:
    """A view per table is dear to make: once per snapshot."""
    return load(path).database()


@cache
def rows_of(path: Path, switch: str) -> Rows:
    """All facts of a switch; a table that has none is not there."""
    found: Rows = {}
    database = database_of(path)
    for (table,) in database.execute("SHOW TABLES").fetchall():
        if not table.startswith("switch") or table == "switch_place":
            continue
        answer = database.execute(f"FROM {table} WHERE target = '{switch}'")
        names = [column[0] for column in answer.description]
        rows = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
        if rows:
            found[table] = rows
    return found


def query(snapshot: Snapshot, text: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = database_of(snapshot.path).execute(text).fetchall()
    return found


# ---- as the models are


def test_hosts_and_switches_are_read_in_one_run(healthy: Snapshot) -> None:
    assert query(healthy, "SELECT target, kind, status FROM target ORDER BY target") == [
        ("gpu001", "host", "reached"), ("gpu002", "host", "reached"),
        *((name, "switch", "reached") for name in NAMES),
    ]  # fmt: skip
    assert query(healthy, "SELECT target, instance, status FROM probe_result "
                          "WHERE status <> 'ok' AND target NOT LIKE 'gpu%'") == []  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", NAMES)
def test_facts_of_a_switch_equal_its_model(
    lab: Whole, healthy: Snapshot, name: str, check: Check
) -> None:
    fabric = lab.switches.state.healthy
    check(rows_of(healthy.path, name), fabric, fabric.named(name))


def test_both_ends_of_a_link_name_each_other(healthy: Snapshot) -> None:
    """By hand: the first host's first rail is at the first port of the first leaf."""
    heard = "SELECT system_name, port_id FROM lldp_neighbor WHERE target = 'gpu001' AND netdev = "
    assert query(healthy, f"{heard} 'enp24s0np0'") == [("leaf001", "etp1")]
    assert query(healthy, f"{heard} 'enp41s0np0'") == [("leaf002", "swp1")]
    [(mac,)] = query(healthy, "SELECT mac FROM netdev WHERE target = 'gpu001' "
                              "AND name = 'enp24s0np0'")  # fmt: skip
    assert query(healthy, "SELECT system_name, port_id FROM switch_neighbor "
                          "WHERE target = 'leaf001' AND port = 'Ethernet0'") == [
        ("gpu001", mac)
    ]  # fmt: skip


def test_a_healthy_lab_is_silent(lab: Whole, healthy: Snapshot) -> None:
    folder = lab.folder / "site"
    folder.mkdir()
    for name, text in lab.cluster.texts().items():
        (folder / name).write_text(text)
    wanted = load_site(folder / "site.toml")
    with checked(healthy, chosen(Choice(()), wanted), wanted, []) as findings:
        fails = findings.database.execute(
            "SELECT rule, subject FROM finding WHERE verdict = 'fail'"
        ).fetchall()
    assert fails == []


# ---- broken


def test_faults_struck_live_are_found_as_declared(lab: Whole, healthy: Snapshot) -> None:
    injections = []
    for switch, fault, at, _ in STRUCK:
        lab.switches.strike(switch, fault, at)
        injections.append(lab.switches.state.faults[-1].injection)
    now = read(lab, "broken")
    lab.switches.heal()
    fabric = lab.switches.state.healthy
    outcome = judged(lab.folder, fabric, (healthy, now), injections, "usual")
    assert {tuple(words.split(" ", 1)) for *_, words in STRUCK} == outcome.expected
    said = [words for words in outcome.differences() if not words.startswith("unknown: ")]
    assert said == []


def test_a_swapped_cable_shows_on_the_switches_and_on_the_host(lab: Whole) -> None:
    heard = lab.ssh("gpu001", "lldpctl -f json0")
    before = lab.ssh("leaf001", "show lldp table")
    lab.switches.strike("leaf001", "rails_swapped", "Ethernet0")
    try:
        after = lab.ssh("leaf001", "show lldp table")
        swapped = lab.ssh("gpu001", "lldpctl -f json0")
    finally:
        lab.switches.heal("leaf001")
    # The leaf hears the host's second rail where its first should be, the host the other leaf.
    assert "enp24s0np0" in before
    assert "enp41s0np0" in after
    assert str(swapped) != str(heard)
    assert lab.ssh("leaf001", "show lldp table") == before


def planted(folder: Path) -> list[str]:
    """Fresh secrets in every record that a SONiC switch prints of its configuration."""
    tokens = []
    others = {f"{name}|x": {"value": {"passkey": "TOKEN", "password": "TOKEN"}}
              for name in ("TACPLUS_SERVER", "SNMP_COMMUNITY", "BGP_NEIGHBOR", "LDAP")}  # fmt: skip
    for path in folder.glob("sonic_db_dump*CONFIG_DB*"):
        known = json.loads(path.read_text())
        for entry in known.values():
            entry["value"] |= {"description": "TOKEN", "bind_password": "TOKEN"}
        text = json.dumps({**known, **others})
        while "TOKEN" in text:
            tokens.append(f"planted-{secrets.token_hex(12)}")
            text = text.replace("TOKEN", tokens[-1], 1)
        path.write_text(text)
    return tokens


@pytest.fixture(scope="module")
def troubled(lab: Whole) -> tuple[Snapshot, list[str]]:
    """One floods, one hangs before its prompt, one says too much and hangs once, one is well."""
    lab.switches.misbehave("spine001", "floods", "show interfaces | json")
    lab.switches.misbehave("spine002", "hangs", "login")
    lab.switches.misbehave("leaf001", "hangs", "show pfcwd stats")
    tokens = planted(lab.switches.folder / "leaf001/on/answers")
    done = lab.collect(lab.folder / "troubled", with_hosts=False)
    lab.switches.heal()
    assert done.returncode == 3, done.stderr
    return find(lab.folder / "troubled", None), [*tokens, "planted-tacacs", "planted-bgp"]


def test_switches_that_hang_or_flood_leave_the_others_alone(
    lab: Whole, troubled: tuple[Snapshot, list[str]]
) -> None:
    snapshot, _ = troubled
    status = dict(query(snapshot, "SELECT target, status FROM target"))
    assert (status["leaf002"], status["spine001"]) == ("reached", "flooding")
    assert status["spine002"] not in ("reached", "flooding")
    assert query(snapshot, "SELECT DISTINCT instance FROM probe_result "
                           "WHERE target = 'leaf001' AND status = 'timeout'") == [
        ("show pfcwd stats",)
    ]  # fmt: skip
    assert "switch" not in rows_of(snapshot.path, "spine002")
    fabric = lab.switches.state.healthy
    for check in CHECKS:
        check(rows_of(snapshot.path, "leaf002"), fabric, fabric.named("leaf002"))


def test_no_secret_of_a_live_configuration_is_kept(
    lab: Whole, troubled: tuple[Snapshot, list[str]]
) -> None:
    snapshot, tokens = troubled
    assert len(tokens) > 100
    # The switch would tell them to whoever asks for everything.
    assert "planted-tacacs" in lab.ssh("leaf001", "sonic-db-dump -n CONFIG_DB -y")
    [(state,)] = query(snapshot, "SELECT status FROM probe_result WHERE target = 'leaf001' "
                                 "AND probe = 'sonic_config_db'")  # fmt: skip
    assert state == "ok"
    found = list(everything(snapshot))
    assert [token for token in tokens for part in found if token.encode() in part] == []


# ---- what somebody may do there


def test_root_on_a_switch_has_no_power_over_this_machine(lab: Whole) -> None:
    own = lab.ssh("leaf001", "readlink /proc/self/ns/uts").strip()
    assert own.startswith("uts:[")
    assert own != os.readlink("/proc/self/ns/uts")
    kept = int(lab.ssh("leaf001", "grep CapBnd /proc/self/status").split()[1], 16)
    assert [number for number in (16, 17, 22, 25) if kept >> number & 1] == [], "as on a host"
    mounts = lab.ssh("leaf001", "cat /proc/self/mounts").splitlines()
    [settings] = [line.split()[3] for line in mounts if line.split()[1] == "/proc/sys"]
    assert "ro" in settings.split(",")


def test_switches_whose_sshd_ended_can_be_started_again(lab: Whole) -> None:
    process = lab.switches._process
    assert process is not None
    first_process.end([process])
    assert {one.state for one in lab.switches.status()} == {"ended"}
    lab.switches.reboot("leaf001")
    assert {one.name: one.state for one in lab.switches.status()} == {
        "leaf001": "booting", "leaf002": "up", "spine001": "up", "spine002": "up"
    }  # fmt: skip
    assert lab.ssh("leaf002", "echo there") == "there\n"
    deadline = time.monotonic() + 60
    while lab.switches.status()[0].state != "up":
        assert time.monotonic() < deadline
        lab.switches.tick()
    assert lab.ssh("leaf001", "echo there") == "there\n"


# ---- what somebody may type


def test_what_cannot_be_struck_is_said(lab: Whole) -> None:
    for words, arguments in (
        ("No switch is called leaf01", ("leaf01", "no_watchdog")),
        ("Did you mean no_watchdog", ("leaf001", "no_watchdogs")),
        ("cannot be on spine001", ("spine001", "no_watchdog")),
        ("cannot strike Ethernet7 of leaf001. There: Ethernet0,", ("leaf001", "no_watchdog", "Ethernet7")),
    ):  # fmt: skip
        with pytest.raises(LabError, match=words):
            lab.switches.strike(*arguments)
    assert lab.switches.state.faults == []


def test_a_change_replaces_only_files_that_differ(lab: Whole) -> None:
    answers = lab.switches.folder / "leaf002/on/answers"
    before = {path.name: path.stat().st_ino for path in answers.iterdir()}
    lab.switches.strike("leaf002", "switch_mtu_small", "swp1")
    after = {path.name: path.stat().st_ino for path in answers.iterdir()}
    lab.switches.heal("leaf002")
    assert {name for name in before if before[name] != after[name]} == {"nv_show_interface__o_json"}
