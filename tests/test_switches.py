"""Switches: sessions with a real sshd, and what becomes of those that go wrong.

Behind the sshd answer programs that behave as the four CLIs do: with a terminal, an echo, a pager,
`\\r\\r\\n`. What they print are the cases of `tests/evidence`, whose facts are written by hand.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lab.switch_sshd import Site, Switch, running
from railwright.collect.switch import load_system, systems
from railwright.collect.switch_kind import not_a_shell
from railwright.collect.switch_session import Speaker
from railwright.errors import ProbeError
from railwright.store.lookup import find
from railwright.store.snapshot import load, snapshots
from tests.switch_cases import (
    CASES,
    EOS,
    answers_of,
    assert_case,
    facts,
    rows,
    sonic,
    terminal,
)

# Ten sessions and their sshd: on a busy machine the first of these tests waits for all of them.
pytestmark = pytest.mark.timeout(1200)


def collect(site: Site, store: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "railwright", "collect", "-F", str(site.ssh_config), "--store",
         str(store), "--state-from", "none", *arguments],
        capture_output=True, text=True, timeout=1000,
    )  # fmt: skip


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Four sound switches and some that a site really has, read once."""
    folder = tmp_path_factory.mktemp("fabric")
    switches = [
        terminal("eos01", "eos"),
        terminal("onyx01", "onyx"),
        sonic("sonic01"),
        Switch("cumulus01", "shell", {c.text: answers_of("cumulus")[c.text]
                                      for c in systems()["cumulus"].commands}),
        terminal("pager", "eos", trouble="pager stays"),
        terminal("dies", "eos", trouble="dies", at="show interfaces | json"),
        terminal("floods", "eos", trouble="floods", at="show interfaces | json"),
        terminal("small", "eos", denied=["show priority-flow-control | json"]),
        sonic("partly", codes={"show ecn": 1, "show pfcwd stats": 127,
                               "sonic-db-dump -n CONFIG_DB -k 'QUEUE|*' -y": 1}),
    ]  # fmt: skip
    switches[7].answers.pop("show qos maps | json")
    with running(folder / "lab", switches) as site:
        boxes = "pager,dies,floods,small,eos01=eos,onyx01=onyx,cumulus01=cumulus,nobody=eos"
        done = collect(site, folder / "store", "--switches", boxes,
                       "--switches", "sonic01,partly=sonic")  # fmt: skip
        yield site, find(folder / "store", None), done


@pytest.mark.root
@pytest.mark.parametrize(("target", "system"), [
    ("eos01", "eos"), ("onyx01", "onyx"), ("sonic01", "sonic"), ("cumulus01", "cumulus"),
])  # fmt: skip
def test_a_session_brings_the_facts_of_every_answer(fabric: Any, target: str, system: str) -> None:
    _, snapshot, done = fabric
    found = rows(snapshot, f"SELECT kind, status FROM target WHERE target = '{target}'")
    assert found == [("switch", "reached")], done.stderr
    for case in CASES[system].values():
        assert_case(snapshot, target, case)


@pytest.mark.root
def test_the_configuration_comes_table_by_table_and_is_one_answer(fabric: Any) -> None:
    _, snapshot, _ = fabric
    assert_case(snapshot, "sonic01", "sonic_config_db/correct-roce-dscp26-prio3")
    assert rows(snapshot, "SELECT instance, status FROM probe_result WHERE target = 'sonic01' "
                          "AND probe = 'sonic_config_db'") == [("", "ok")]  # fmt: skip


@pytest.mark.root
def test_a_pager_is_never_answered(fabric: Any) -> None:
    site, snapshot, _ = fabric
    [(status, words)] = rows(snapshot, "SELECT status, words FROM target WHERE target = 'pager'")
    assert status == "incomplete"
    assert "KEY b''" in site.typed("pager") or "KEY" not in site.typed("pager")
    found = rows(snapshot, "SELECT DISTINCT status, reason FROM probe_result "
                           "WHERE target = 'pager' AND status <> 'ok'")  # fmt: skip
    assert {reason for _, reason in found} == {
        "the pager was not switched off, and nobody answers it"
    }
    assert words


@pytest.mark.root
def test_what_breaks_in_the_middle_leaves_what_came_before(fabric: Any) -> None:
    _, snapshot, _ = fabric
    status = dict(rows(snapshot, "SELECT target, status FROM target"))
    assert (status["dies"], status["floods"]) == ("incomplete", "flooding")
    assert status["nobody"] == "unresolved"
    for target in ("dies", "floods"):
        assert_case(snapshot, target, EOS["show version"])
        found = dict(rows(snapshot, "SELECT instance, status FROM probe_result "
                                    f"WHERE target = '{target}'"))  # fmt: skip
        assert found["show version"] == "ok"
        assert found["show interfaces"] == "missing"
        assert found["show lldp neighbors detail"] == "missing"
    assert rows(snapshot, "SELECT DISTINCT status FROM gap WHERE target = 'nobody'") == [
        ("not reached",)
    ]


@pytest.mark.root
def test_a_refused_command_costs_only_its_own_answer(fabric: Any) -> None:
    _, snapshot, done = fabric
    status = dict(rows(snapshot, "SELECT instance, status FROM probe_result "
                                 "WHERE target = 'small'"))  # fmt: skip
    assert status.pop("show priority-flow-control") == "denied"
    assert status.pop("show qos maps") == "not understood"
    assert set(status.values()) == {"ok"}
    status = dict(rows(snapshot, "SELECT instance, status FROM probe_result "
                                 "WHERE target = 'partly' AND probe = 'sonic_show'"))  # fmt: skip
    assert (status.pop("show ecn"), status.pop("show pfcwd stats")) == ("failed", "absent")
    assert set(status.values()) == {"ok"}
    # A configuration of which one table failed would read as one without that table.
    [(state, reason)] = rows(snapshot, "SELECT status, reason FROM probe_result "
                             "WHERE target = 'partly' AND probe = 'sonic_config_db'")  # fmt: skip
    assert state == "failed"
    assert "QUEUE" in reason
    assert not facts(snapshot.path, "switch_port", "partly", "sonic_config_db")
    assert done.returncode == 3


@pytest.mark.root
def test_only_listed_lines_are_sent_and_no_privileges_are_asked_for(fabric: Any) -> None:
    site, _, _ = fabric
    for name, system in (("eos01", "eos"), ("onyx01", "onyx")):
        typed = [line for line in site.typed(name).splitlines() if not line.startswith("! rw-")]
        known = systems()[system]
        assert typed == [*known.opening, *(c.text for c in known.commands), "exit"]


@pytest.mark.root
def test_a_switch_has_no_gap_of_a_host(fabric: Any) -> None:
    _, snapshot, _ = fabric
    probes = {p for (p,) in rows(snapshot, "SELECT DISTINCT probe FROM gap WHERE target = 'eos01'")}
    assert probes <= {"eos_show", "eos_route"}
    shown = subprocess.run(
        [sys.executable, "-m", "railwright", "show", "eos01", str(snapshot.path)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "Ethernet" in shown.stdout
    assert "mlxconfig" not in shown.stdout
    facts_shown = subprocess.run(
        [sys.executable, "-m", "railwright", "facts", str(snapshot.path)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert "10 switches: " in facts_shown.stdout, facts_shown.stderr
    assert "RDMA" not in facts_shown.stdout


@pytest.mark.root
def test_another_system_than_was_said_is_told_at_once(tmp_path: Path) -> None:
    cumulus = {c.text: answers_of("cumulus")[c.text] for c in systems()["cumulus"].commands}
    switches = [
        sonic("leaf1"),
        terminal("spine1", "onyx", banner="NVIDIA Onyx Switch Management\n"),
        terminal("spine2", "eos"),
        Switch("leaf2", "shell", cumulus, tools=("nv", "vtysh", "sudo")),
    ]
    with running(tmp_path / "lab", switches) as site:
        began = time.monotonic()
        done = collect(site, tmp_path / "store", "--switches", "leaf1,spine1=eos,spine2,leaf2=sonic")  # fmt: skip
        assert time.monotonic() - began < 25, done.stdout
        snapshot = load(snapshots(tmp_path / "store")[-1])
    words = dict(rows(snapshot, "SELECT target, words FROM target"))
    assert words["leaf1"].startswith("this is a Linux shell, not Arista EOS")
    assert words["spine1"] == "this is NVIDIA Onyx, not Arista EOS: write =onyx"
    assert words["spine2"].startswith("this is a command line of its own, not SONiC")
    assert words["leaf2"].startswith("this is a Linux shell, not SONiC")
    assert rows(snapshot, "SELECT DISTINCT status FROM target") == [("failed",)]
    assert done.returncode == 3
    assert "=onyx" in done.stdout
    assert "Next: railwright collect --try leaf1=eos" in done.stderr


# ---- without a connection


def test_a_cli_that_hangs_is_given_up() -> None:
    speaker = Speaker(systems()["eos"], "0" * 16)
    assert speaker.heard(b"leaf01>") == b"! rw-0000000000000000-1\r"
    assert not speaker.waited_enough()
    speaker._patience = -1.0
    assert speaker.waited_enough()
    assert speaker.trouble == "no prompt came back in time"


SONIC_GREETS = (
    b"Linux leaf001 5.10.0-23-2-amd64 #1 SMP x86_64\r\nYou are on\r\n"
    b"-- Software for Open Networking in the Cloud --\r\n\r\n"
)


@pytest.mark.parametrize(
    ("greeting", "says"),
    [
        (SONIC_GREETS + b"admin@leaf001:~$ ", "this is SONiC, not Arista EOS: write =sonic"),
        (SONIC_GREETS + b"root@leaf001:~# ", "this is SONiC, not Arista EOS: write =sonic"),
        (b"Welcome to NVIDIA Cumulus (R) Linux (R)\r\n\x1b[1mcumulus@leaf:mgmt:~$\x1b[0m ",
         "this is Cumulus Linux, not Arista EOS: write =cumulus"),
        (b"keep out\r\nkim@box:/home/kim$ ",
         "this is a Linux shell, not Arista EOS: Cumulus Linux and SONiC have one, write =cumulus or =sonic"),
    ],
)  # fmt: skip
def test_a_shell_is_not_taken_for_a_cli(greeting: bytes, says: str) -> None:
    """Nothing is sent, and nobody waits for a prompt that never comes."""
    speaker = Speaker(systems()["eos"], "0" * 16)
    for at in range(0, len(greeting), 40):
        assert not speaker.heard(greeting[at : at + 40])
    assert speaker.trouble == says
    assert speaker.answers == []


@pytest.mark.parametrize(
    ("system", "greeting", "prompt", "refusal", "says"),
    [
        ("eos", b"NVIDIA Onyx Switch Management\r\n\r\n", b"spine2 [standalone: master] >",
         b"% Unrecognized command \"terminal\".\r\nType 'terminal ?' for help.",
         "this is NVIDIA Onyx, not Arista EOS: write =onyx"),
        ("onyx", b"", b"spine1>", b"% Invalid input",
         "this is a command line of its own, not NVIDIA Onyx: Arista EOS has one, write =eos"),
    ],
)  # fmt: skip
def test_a_cli_that_refuses_the_first_line_is_another(
    system: str, greeting: bytes, prompt: bytes, refusal: bytes, says: str
) -> None:
    speaker = Speaker(systems()[system], "0" * 16)
    mark = speaker.heard(greeting + prompt)
    first = speaker.heard(mark + b"\r\n% Invalid input\r\n" + prompt)
    assert first == systems()[system].opening[0].encode() + b"\r"
    assert speaker.heard(first + b"\r\n" + refusal + b"\r\n" + prompt) is None
    assert speaker.trouble == says


@pytest.mark.parametrize(
    ("system", "output", "says"),
    [
        ("sonic", b"% Invalid input\n", "this is a command line of its own, not SONiC: Arista EOS and NVIDIA Onyx have one, write =eos or =onyx"),
        ("cumulus", b"UNIX shell commands cannot be executed using this account.\n",
         "this is NVIDIA Onyx, not Cumulus Linux: write =onyx"),
        ("sonic", b"", ""),
        ("sonic", b"Connection closed by remote host\n", ""),
    ],
)  # fmt: skip
def test_a_cli_is_not_taken_for_a_shell(system: str, output: bytes, says: str) -> None:
    assert not_a_shell(systems()[system], output) == says


def test_a_banner_that_looks_like_a_prompt_does_not_confuse_it() -> None:
    """The terminal echoes the mark at once; the CLI starts later and echoes it again."""
    speaker = Speaker(systems()["eos"], "a" * 16)
    mark = b"! rw-" + b"a" * 16 + b"-1"
    assert speaker.heard(b"Welcome to leaf #") == mark + b"\r"
    assert speaker.heard(mark + b"\r\n") == b""
    first = speaker.heard(b"more banner\r\nleaf01>")
    assert first == b"terminal length 0\r"
    assert speaker.heard(mark + b"\r\r\nleaf01>") == b""  # not the answer to `terminal length 0`
    assert speaker.heard(b"terminal length 0\r\r\nleaf01>").startswith(b"! rw-")


@pytest.mark.parametrize(
    "text", ["configure", "show tech-support | json", "reload", "show version"]
)
def test_a_system_that_does_more_than_read_is_refused(text: str) -> None:
    file = Path(systems.__module__.replace(".", "/")).with_name("switches")
    source = Path(__file__).parents[1] / "src" / file / "eos.toml"
    changed = source.read_text("utf-8").replace('text = "show hostname"', f'text = "{text}"')
    assert changed != source.read_text("utf-8")
    if text == "show version":
        load_system("eos", changed)  # known: the check is not simply against any change
        return
    with pytest.raises(ProbeError):
        load_system("eos", changed)
