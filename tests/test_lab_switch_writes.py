"""Switches that are up are written to over ssh, as people do it; the lab's log is read back."""

import json
import selectors
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import site
from lab.live.cluster import cluster
from lab.live.keeper import Keeper
from lab.live.options import Options
from lab.live.place import Place
from lab.live.switches import WRITES
from lab.live.whole import Whole, running

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(900)]
SYSTEMS = {"leaf001": "sonic", "leaf002": "cumulus", "spine001": "eos", "spine002": "onyx"}
TICK_S = 0.2
_ASKS = """import os, socket, sys
os.chdir(sys.argv[1])
keeper = socket.socket(socket.AF_UNIX)
keeper.connect("keeper.sock")
keeper.sendall(sys.argv[2].encode() + b"\\n")
print(keeper.makefile().readline())
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """A switch of each system, and a keeper that answers them in a thread of its own."""
    site.make_root()
    made = cluster(2, 2, 4)
    assert {one.name: one.system for one in made.fabric.switches} == SYSTEMS
    with running(made, tmp_path_factory.mktemp("live")) as whole:
        keeper = Keeper(Place(whole.folder / "place"), Options(hosts=0))
        keeper.parts = [whole.switches]
        ends = threading.Event()
        thread = threading.Thread(target=serve, args=(keeper, whole, ends))
        thread.start()
        yield whole
        ends.set()
        thread.join()
        keeper._listener.close()


def serve(keeper: Keeper, lab: Whole, ends: threading.Event) -> None:
    with selectors.DefaultSelector() as waiting:
        for listener, machine in lab.switches.listeners():
            waiting.register(listener, selectors.EVENT_READ, machine)
        while not ends.is_set():
            for key, _ in waiting.select(TICK_S):
                assert not isinstance(key.fileobj, int)
                keeper._answer(key.fileobj.accept()[0], key.data)  # type: ignore[attr-defined]
            lab.switches.tick()


def ssh(
    lab: Whole, machine: str, command: str, given: str = ""
) -> "subprocess.CompletedProcess[str]":
    argv = ["ssh", "-F", str(lab.ssh_config), machine, command]
    return lab.hosts.fleet.run(argv, capture_output=True, text=True, timeout=120, input=given)  # type: ignore[return-value]


def typed(lab: Whole, machine: str, *lines: str) -> str:
    """What a terminal shows."""
    argv = ["ssh", "-tt", "-F", str(lab.ssh_config), machine]
    text = "".join(f"{line}\r" for line in lines)
    done = lab.hosts.fleet.run(argv, capture_output=True, text=True, timeout=120, input=text)
    return str(done.stdout)


def log(lab: Whole, machine: str) -> list[dict[str, Any]]:
    lines = (lab.folder / "run" / WRITES).read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["machine"] == machine]


def mtu(change: dict[str, Any]) -> Any:
    return change["ports"], change["field"], change["before"], change["after"]


def test_sonic(lab: Whole) -> None:
    before = ssh(lab, "leaf001", "show interfaces status").stdout
    patch = json.dumps([{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "1500"}])
    done = ssh(lab, "leaf001", "cat > /tmp/p.json && sudo config apply-patch /tmp/p.json", patch)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Patch applied successfully.\n")
    after = ssh(lab, "leaf001", "show interfaces status").stdout
    assert before.splitlines()[2].split()[3] == "9216"
    assert after.splitlines()[2].split()[3] == "1500"
    refused = ssh(lab, "leaf001", "sudo config interface mtu Ethernet3 1500")
    assert (refused.returncode, refused.stderr) == (1, "Invalid port Ethernet3\n")
    assert ssh(lab, "leaf001", "config apply-patch /tmp/nowhere.json").returncode == 2
    lab.switches.strike("leaf001", "write_session_drops")
    dropped = ssh(lab, "leaf001", "sudo config interface mtu Ethernet0 2000; echo and on")
    assert (dropped.returncode, dropped.stdout) == (255, "")
    lab.switches.heal("leaf001")
    entries = log(lab, "leaf001")
    assert [mtu(one["changes"][0]) for one in entries if one["changes"]] == [
        (["Ethernet0"], "mtu", 9216, 1500), (["Ethernet0"], "mtu", 1500, 2000)
    ]  # fmt: skip
    assert entries[0]["text"] == "config apply-patch /tmp/p.json"
    assert entries[0]["given"] == patch
    assert entries[-1]["troubles"] == ["write_session_drops"]
    assert ssh(lab, "leaf001", "sudo config interface mtu Ethernet0 9216").returncode == 0
    assert ssh(lab, "leaf001", "show interfaces status").stdout == before


def test_cumulus(lab: Whole) -> None:
    before = ssh(lab, "leaf002", "nv show interface -o json").stdout
    done = ssh(lab, "leaf002", "nv set interface swp1 link mtu 1500 && nv config diff -o commands && "
                               "nv config apply --confirm 2s -y")  # fmt: skip
    assert done.stdout == (
        "created [rev_id: 2]\nnv set interface swp1 link mtu 1500\napplied [rev_id: 2]\n"
    )
    assert json.loads(ssh(lab, "leaf002", "nv show interface -o json").stdout)["swp1"]["link"]["mtu"] in (
        1500, 9216
    )  # fmt: skip
    for _ in range(60):
        if len(log(lab, "leaf002")) == 3:
            break
        threading.Event().wait(TICK_S)
    set_, applied, back = log(lab, "leaf002")
    assert (set_["changes"], back["by"]) == ([], "timer")
    assert mtu(applied["changes"][0]) == (["swp1"], "mtu", 9216, 1500)
    assert mtu(back["changes"][0]) == (["swp1"], "mtu", 1500, 9216)
    assert ssh(lab, "leaf002", "nv show interface -o json").stdout == before


def test_eos(lab: Whole) -> None:
    text = typed(lab, "spine001", "enable", "configure session rw", "interface Ethernet1/1", "mtu 1500",
                 "show session-config diffs", "commit timer 00:10:00", "end", "exit")  # fmt: skip
    assert "spine001(config-s-rw-if-Et1/1)#" in text
    assert "+   mtu 1500" in text
    shown = typed(lab, "spine001", "terminal length 0", "show interfaces | json", "exit")
    assert '"mtu": 1500' in shown
    typed(lab, "spine001", "enable", "configure session rw abort", "exit")
    shown = typed(lab, "spine001", "terminal length 0", "show interfaces | json", "exit")
    assert '"mtu": 1500' not in shown
    [commit, abort] = [one for one in log(lab, "spine001") if one["changes"]]
    assert (commit["text"], commit["place"]) == ("commit timer 00:10:00", "config-s-rw-if-Et1/1")
    assert mtu(abort["changes"][0]) == (["Ethernet1/1"], "mtu", 1500, 9216)


def test_onyx(lab: Whole) -> None:
    port = "interface ethernet 1/1"
    text = typed(lab, "spine002", "enable", "configure terminal", f"{port} mtu 2000 force", "what",
                 "no configure", "exit")  # fmt: skip
    assert "(config) # " in text
    assert 'Unrecognized command "what"' in text
    assert lab.switches.state.now().named("spine002").settings[0].mtu == 2000
    lab.switches.reboot("spine002")
    assert lab.switches.state.now().named("spine002").settings[0].mtu == 9216, "it was not saved"
    changes = [mtu(one["changes"][0]) for one in log(lab, "spine002") if one["changes"]]
    assert changes == [(["Eth1/1"], "mtu", 9216, 2000), (["Eth1/1"], "mtu", 2000, 9216)]


def test_a_machine_speaks_only_for_itself_and_odd_words_end_nothing(lab: Whole) -> None:
    folder = Path(lab.switches.folder / "leaf001")
    for line in ("", "not json", '{"do": "write"}', '{"do": "down"}', '{"do": "write", "words": 7}',
                 '{"do": "write", "words": [], "files": {"a": "%%%"}}'):  # fmt: skip
        ask = ["python3", "-c", _ASKS, str(folder), line]
        said = subprocess.run(ask, capture_output=True, text=True, timeout=60).stdout
        assert set(json.loads(said)) in (
            {"error"},
            {"stdout", "stderr", "code", "prompt", "hung_up"},
        )
    assert ssh(lab, "leaf001", "sudo config feature state lldp enabled").returncode == 0
