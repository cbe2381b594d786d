"""Guests with real Soft-RoCE: facts are what their kernels say, perftest runs, faults are seen.

Emulated processors are slow: two guests are started once, read twice, and nothing is asserted about
time or bandwidth.
"""

import math
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lab.fleet import two_socket_4x400g
from lab.fleet.truth import truth
from lab.guest import FAULTS, GuestMachine, Guests, make_image, running
from lab.guest.model import QOS
from lab.harness import guest_kernel
from lab.harness.guest_kernel import TABLES, Kernel, Row, only
from lab.live.guests import GuestPart
from lab.live.part import LabError
from railwright.check.run import Choice, checked, chosen
from railwright.intent.site import read_site
from railwright.parse.perftest import parse
from railwright.schema.table import tables
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(1800)]

RAILWRIGHT = [sys.executable, "-m", "railwright"]
RAILS = 2
SITE = '[[role]]\nrole = "compute"\ndevices = ["rxe*"]\n[fabric]\nmtu = 9000\n'

# Tables that the model fills, through tools that answer from it or settings made from it at boot.
FROM_MODEL = (
    "nic_card", "nic_parameter", "nic_firmware", "nic_firmware_device", "nic_reset",
    "nic_reset_level", "mlxlink_port", "mlxlink_lane", "qos_port", "qos_priority", "qos_dscp",
    "qos_class", "qos_buffer", "dcb_app", "dcb_buffer", "dcb_buffer_priority", "dcb_buffer_total",
    "dcb_ets", "dcb_ets_class", "dcb_ets_priority", "dcb_pfc", "dcb_pfc_priority",
)  # fmt: skip


@dataclass
class Lab:
    """Two guests, what their kernels said, and the snapshot that was taken meanwhile."""

    guests: Guests
    kernels: dict[str, Kernel]
    counters: list[dict[str, dict[tuple[str, int, str], int]]]  # before, after
    snapshot: Snapshot
    store: Path

    @property
    def one(self) -> GuestMachine:
        return self.guests.machines[0]

    @property
    def two(self) -> GuestMachine:
        return self.guests.machines[1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    make_image()
    folder = tmp_path_factory.mktemp("guests")
    with running("rwg", 2, RAILS, folder / "run") as guests:
        for machine in guests.machines:
            _wait_for_neighbors(machine)
        counters = [_all_counters(guests)]
        snapshot = _collect(guests, folder / "store")
        counters.append(_all_counters(guests))
        kernels = {m.guest.name: guest_kernel.read(m) for m in guests.machines}
        yield Lab(guests, kernels, counters, snapshot, folder / "store")
        hub = guests.hub
    assert not Path("/run/netns", hub).exists()
    assert _processes(str(folder)) == []
    assert not (folder / "run").exists()


def _wait_for_neighbors(machine: GuestMachine) -> None:
    """One shell that looks by itself: a login costs more than lldpd's interval."""
    machine.run(
        f"for try in $(seq 120); do [ $(lldpcli -f keyvalue show neighbors | "
        f"grep -c chassis.name=) -ge {RAILS} ] && exit 0; sleep 1; done; exit 1", seconds=600
    )  # fmt: skip


def _all_counters(guests: Guests) -> dict[str, dict[tuple[str, int, str], int]]:
    return {m.guest.name: guest_kernel.counters(m) for m in guests.machines}


def _collect(guests: Guests, store: Path) -> Snapshot:
    command = [*RAILWRIGHT, "collect", "--store", str(store), "--timeout", "900",
               "--connect-timeout", "120", "-w", "guest[1-2]", "-F",
               str(guests.ssh_config)]  # fmt: skip
    done = guests.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr  # 3: a guest has no GPU tools, for one
    return find(store, None)


def _processes(words: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if said.startswith("qemu") and words in said:
            found.append(said)
    return found


def _facts(snapshot: Snapshot, table: str, target: str) -> list[Row]:
    with snapshot.database() as database:
        found = database.execute(f'SELECT * FROM "{table}" WHERE target = ?', [target])
        names = [column[0] for column in found.description]
        return [dict(zip(names, values, strict=True)) for values in found.fetchall()]


def _columns(table: str) -> set[str]:
    return {column.name for column in tables()[table].columns} - {"target", "read_at"}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("guest", ["guest1", "guest2"])
def test_facts_are_what_the_kernel_says(lab: Lab, guest: str, table: str) -> None:
    facts = _facts(lab.snapshot, table, guest)
    found, expected = guest_kernel.compared(table, _columns(table), facts, lab.kernels[guest])
    assert found == expected


@pytest.mark.parametrize("table", ["rdma_counter", "rdma_statistic"])
@pytest.mark.parametrize("guest", ["guest1", "guest2"])
def test_counters_lie_between_two_readings(lab: Lab, guest: str, table: str) -> None:
    before, after = (reading[guest] for reading in lab.counters)
    found = {
        (str(r["device"]), int(str(r["port"])), str(r["counter"])): r["value"]
        for r in _facts(lab.snapshot, table, guest)
    }
    known = {"sent_pkts", "rcvd_pkts", "duplicate_request", "out_of_seq_request", "rcvd_seq_err",
             "rcvd_rnr_err", "send_rnr_err", "completer_retry_err", "retry_exceeded_err",
             "retry_rnr_exceeded_err", "send_err"}  # fmt: skip
    assert {name for _, _, name in found} == known
    assert {device for device, _, _ in found} == {f"rxe{rail}" for rail in range(RAILS)}
    wrong = [k for k, v in found.items() if not before[k] <= int(str(v)) <= after[k]]
    assert wrong == []


@pytest.mark.parametrize("table", FROM_MODEL)
def test_firmware_tools_and_dcb_answer_from_the_model(lab: Lab, table: str) -> None:
    """The truth is that of the whole host; a guest has the cards of its rails."""
    whole = two_socket_4x400g(lab.two.guest.number)
    whole = replace(whole, nics=tuple(replace(nic, qos=QOS) for nic in whole.nics))
    mine = {name for card in lab.two.guest.cards for name in (card.netdev, card.address)}
    expected = [r for r in truth(whole)[table] if {r.get("netdev"), r.get("pci")} & mine]
    assert expected, "the model says nothing"
    found = _facts(lab.snapshot, table, "guest2")
    columns = set.intersection(*(set(row) for row in expected)) - {"target", "read_at"}
    assert only(found, columns) == only(expected, columns)


def test_a_sound_guest_contradicts_itself_nowhere(lab: Lab) -> None:
    assert _facts(lab.snapshot, "disagreement", "guest1") == []


def _gid_index(lab: Lab, machine: GuestMachine) -> int:
    """The slot of RoCE v2 with the rail's IPv4 address, which every guest has."""
    for row in TABLES["gid"](lab.kernels[machine.guest.name]):
        if row["device"] == "rxe0" and ":ffff:" in str(row["gid"]) and row["type"] == "RoCE v2":
            return int(str(row["index"]))
    raise AssertionError("no such GID")


def _server(lab: Lab, command: str) -> tuple["subprocess.Popen[str]", str]:
    """A server on guest1 that is about to listen: whoever logs in next comes later."""
    server = lab.one.start(f"timeout 300 stdbuf -oL {command}")
    assert server.stdout is not None
    said = ""
    for line in server.stdout:
        said += line
        if "Waiting for client" in line:
            return server, said
    raise AssertionError(said)


def _rest(server: "subprocess.Popen[str]") -> str:
    assert server.stdout is not None
    said = server.stdout.read()
    server.wait()
    return said


def _perftest(lab: Lab, program: str, words: str) -> tuple[str, str]:
    """What server (guest1) and client (guest2) print."""
    options = f"-d rxe0 -x {_gid_index(lab, lab.one)} {words}"
    server, said = _server(lab, f"{program} {options}")
    address = lab.one.guest.cards[0].addresses[0].partition("/")[0]
    client = lab.two.run(f"timeout 300 {program} {options} {address}")
    return said + _rest(server), client


@pytest.mark.parametrize(
    ("program", "title"),
    [
        ("ib_write_bw", "RDMA_Write BW Test"),
        ("ib_write_lat", "RDMA_Write Latency Test"),
        ("ib_read_bw", "RDMA_Read BW Test"),
    ],
)
def test_real_perftest_is_understood(lab: Lab, program: str, title: str) -> None:
    """Under emulation a table may say inf or -nan; what is no number must not become one."""
    for said in _perftest(lab, program, "-s 4096 -n 50 -F"):
        rows = {}
        for row in parse(said.encode(), "run"):
            rows.setdefault(row.table, []).append(row.values)
        (run,) = rows["perftest_run"]
        assert (run["test"], run["device"], run["connection"]) == (title, "rxe0", "RC"), said
        assert (run["link_type"], run["mtu"]) == ("Ethernet", 4096), said
        assert not run["error"], said
        for result in rows.get("perftest_result", []):
            assert (result["bytes"], result["iterations"]) == (4096, 50), said
            numbers = [v for k, v in result.items() if k.endswith(("_gbps", "_us", "_mpps"))]
            assert all(v is None or (math.isfinite(v) and v >= 0) for v in numbers), said
    assert rows["perftest_result"], said  # the client's: a server of a bandwidth test prints none


def test_loss_moves_real_counters(lab: Lab) -> None:
    before = _all_counters(lab.guests)
    lab.two.strike("loss", 0)
    try:
        _perftest(lab, "ib_write_bw", "-s 65536 -n 100 -F")
    finally:
        lab.two.heal()
    after = _all_counters(lab.guests)
    rises = {(g, key[2]) for g in after for key in after[g] if after[g][key] > before[g][key]}
    assert ("guest2", "completer_retry_err") in rises
    assert rises & {("guest1", "out_of_seq_request"), ("guest1", "duplicate_request")}
    assert not {key for _, key in rises} & {"retry_exceeded_err"}, "5 % kills no connection"


def _kill_a_connection(lab: Lab) -> str:
    """Cut rail 0 while guest2 writes; the client's last words.

    Through rdma_cm, because only there perftest lets us ask for fewer than 7 retries, and Soft-RoCE
    takes 7 for ever (rxe_comp.c).
    """
    address = lab.one.guest.cards[0].addresses[0].partition("/")[0]
    server, _ = _server(lab, "ib_write_bw -R -d rxe0 -s 4096 -D 60 -F")
    sent = guest_kernel.counters(lab.two)["rxe0", 1, "sent_pkts"]
    client = lab.two.start(
        f"timeout 300 ib_write_bw -R --retry_count=1 -d rxe0 -s 4096 -D 60 -F {address}"
    )
    deadline = time.monotonic() + 600
    while guest_kernel.counters(lab.two)["rxe0", 1, "sent_pkts"] < sent + 50:
        assert time.monotonic() < deadline, "nothing was sent"
    lab.two.strike("cut", 0)
    said = _rest(client)
    lab.two.heal()
    lab.one.run("pkill ib_write_bw; true")
    _rest(server)
    return said


def test_faults_are_seen_between_two_snapshots(lab: Lab) -> None:
    """A connection that died, by its counter; MTU, PFC and a rail that is down, by their state."""
    said = _kill_a_connection(lab)
    failed = [row.values for row in parse(said.encode(), "run") if row.table == "perftest_run"]
    assert [row["error_status"] for row in failed] == [12], said  # retries exceeded
    lab.one.strike("mtu", 1)
    lab.one.strike("no_flow_control", 1)
    lab.two.strike("down", 1)
    try:
        second = _collect(lab.guests, lab.store)
    finally:
        lab.one.heal()
        lab.two.heal()
    site = read_site(SITE, "site.toml")
    rules = chosen(Choice(("rdma-retransmissions", "intent-mtu")), site)
    with checked(second, rules, site, [], before=lab.snapshot) as findings:
        rows = findings.database.execute("SELECT rule, subject, verdict FROM finding").fetchall()
    fails = {(rule, subject) for rule, subject, verdict in rows if verdict == "fail"}
    assert fails == {("rdma-retransmissions", "guest2:rxe0/1"), ("intent-mtu", "guest1:rxe1/1")}

    name = lab.one.guest.cards[1].netdev
    (rail,) = [r for r in _facts(second, "netdev", "guest1") if r["name"] == name]
    assert rail["mtu"] == 1500
    on = [r["enabled"] for r in _facts(second, "dcb_pfc_priority", "guest1") if r["netdev"] == name]
    assert on == [False] * 8
    ports = {r["device"]: r["state"] for r in _facts(second, "rdma_port", "guest2")}
    assert ports == {"rxe0": "ACTIVE", "rxe1": "DOWN"}


@pytest.mark.whole
def test_every_fault_can_be_struck_and_healed(lab: Lab) -> None:
    read = "tc qdisc show dev {0}; ip -o link show {0}; dcb pfc show dev {0}; dcb app show dev {0}"
    ask = read.format(lab.one.guest.cards[0].netdev)
    sound = lab.one.run(ask)
    for fault in FAULTS:
        lab.one.strike(fault, 0)
        assert lab.one.struck
        lab.one.heal()
    assert re.sub(r"qdisc \S+ \S+|qlen \d+", "", lab.one.run(ask)) == re.sub(
        r"qdisc \S+ \S+|qlen \d+", "", sound
    )


@pytest.mark.whole
def test_a_reboot_is_real(lab: Lab) -> None:
    """Another boot id, and what was set at run time is lost."""
    before = lab.one.boot_id()
    card = lab.one.guest.cards[0]
    lab.one.strike("no_flow_control", 0)
    lab.one.strike("mtu", 0)
    lab.one.reboot(seconds=900)
    assert lab.one.boot_id() != before
    assert lab.one.struck == {}
    said = lab.one.run(f"cat /sys/class/net/{card.netdev}/mtu; dcb pfc show dev {card.netdev}")
    assert said.split()[0] == "9000"
    assert "3:on" in said


@pytest.mark.whole
def test_a_guest_whose_qemu_ended_is_started_again(lab: Lab) -> None:
    part = GuestPart(2, RAILS)
    part._guests = lab.guests
    lab.two.strike("mtu", 0)
    lab.guests.processes[lab.two.guest.number].kill()
    lab.guests.processes[lab.two.guest.number].wait()
    assert [(one.state, one.faults) for one in part.status()] == [("up", ()), ("ended", ())]
    with pytest.raises(LabError, match="guest2 is ended: `lab reboot guest2` starts it"):
        part.strike("guest2", "mtu")
    part.reboot("guest2")
    with pytest.raises(LabError, match="guest2 is booting: wait"):
        part.heal("guest2")
    deadline = time.monotonic() + 900
    while part.status()[1].state != "up":
        assert time.monotonic() < deadline
        time.sleep(1)
    mtu = f"cat /sys/class/net/{lab.two.guest.cards[0].netdev}/mtu"
    assert (lab.two.run(mtu), lab.two.struck) == ("9000\n", {})


def test_guests_end_with_a_killed_keeper(tmp_path: Path) -> None:
    make_image()
    script = (
        "import sys; from pathlib import Path; from lab.guest.fleet import up; "
        "up('rwg', 1, 1, Path(sys.argv[1]))"
    )
    keeper = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "run")])
    deadline = time.monotonic() + 120
    while not _processes(str(tmp_path)):
        assert time.monotonic() < deadline, "never saw it"
        time.sleep(0.05)
    keeper.send_signal(signal.SIGKILL)
    keeper.wait()
    deadline = time.monotonic() + 30
    while _processes(str(tmp_path)):
        assert time.monotonic() < deadline, "it went on"
        time.sleep(0.05)
