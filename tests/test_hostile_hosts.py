"""Hosts that mean harm, over a real ssh: each harms its own answers and nothing else.

A batch of hostile hosts (tests/hostile/) is read in one run together with two honest
ones: `honest-runner` runs the real runner on this machine, `honest-paper` answers with evidence
whose rows were written by hand. Then every verb looks at what came of it.
"""

import contextlib
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import duckdb
import pytest

from railwright.collect.probe import probes
from railwright.reach.job import STATUSES
from railwright.schema.table import tables
from railwright.store.evidence import ANSWER_STATUSES
from tests.hostile.far_end import ALL, RUNNER, SCENARIOS, SENTINEL, WHO, Scenario
from tests.hostile.honest import EVIDENCE, HONEST_CASES, LEAF, LEAF_PORT
from tests.hostile.words import SECRET

pytestmark = pytest.mark.root

REPOSITORY = Path(__file__).parents[1]
RAILWRIGHT = Path(sys.executable).with_name("railwright")
# Per host. Only those of one batch wait for it; the others are to be judged by what they send, also
# where this machine is busy.
TIMEOUT_S, PATIENCE_S = 60, 15
MOST_MEMORY = 300 << 20  # collector and ingest together, whatever the hosts send
BATCHES = sorted({one.batch for one in SCENARIOS.values()} - {"honest"})
HONEST_RUNNER, HONEST_PAPER = "honest-runner", "honest-paper"
KNOWN_STATUSES = {*STATUSES, "reached", "incomplete", "not collected"}

# ---- the rig ---------------------------------------------------------------------------------

SSHD_CONFIG = """
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
MaxStartups 200
AcceptEnv {who} {sentinel}
SetEnv HOME={folder}
ForceCommand exec env PYTHONPATH={repository} {python} -S -B -c "{start}"
"""
START = "import tests.hostile; tests.hostile.far_end.play()"
SSH_CONFIG = """
Host *
  HostName 127.0.0.1
  Port {port}
  User root
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
"""


@dataclass(frozen=True)
class Rig:
    """An sshd that is every host, and where its runs are kept."""

    folder: Path
    port: int

    @property
    def sentinel(self) -> Path:
        """A file that is made only where a host's text is run."""
        return self.folder / "pwned"

    def ssh_config(self, name: str, hosts: dict[str, str]) -> Path:
        """For `railwright collect -F`: which scenario each host plays."""
        blocks = [
            f"Host {host}\n  SetEnv {WHO}={scenario} {SENTINEL}={self.sentinel}\n"
            for host, scenario in hosts.items()
        ]
        file = self.folder / f"{name}.ssh_config"
        file.write_text("".join(blocks) + SSH_CONFIG.format(port=self.port, folder=self.folder))
        return file


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def listening(sshd: str, folder: Path) -> Iterator[Rig]:
    """The sshd, with keys and a configuration of its own."""
    for name in ("host_key", "key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    kind, key = (folder / "host_key.pub").read_text().split()[:2]
    (folder / "known_hosts").write_text(f"* {kind} {key}\n")
    config = folder / "sshd_config"
    config.write_text(
        SSHD_CONFIG.format(
            folder=folder,
            who=WHO,
            sentinel=SENTINEL,
            repository=REPOSITORY,
            python=sys.executable,
            start=START,
        )
    )
    port = free_port()
    options = ["-f", str(config), "-o", f"ListenAddress=127.0.0.1:{port}"]
    # Since 9.8 an address whose sessions crash is shut out for a while; here many of them do.
    lenient = ["-o", "PerSourcePenalties=no"]
    if subprocess.run([sshd, "-t", *options, *lenient], capture_output=True).returncode == 0:
        options += lenient
    process = subprocess.Popen([sshd, "-D", "-E", f"{folder}/log", *options])
    try:
        until = time.monotonic() + 10
        while not listens(port):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < until, "sshd does not listen"
            time.sleep(0.05)
        yield Rig(folder, port)
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if sshd is None:
        pytest.skip("needs openssh-server")
    Path("/run/sshd").mkdir(exist_ok=True)
    with listening(sshd, tmp_path_factory.mktemp("rig")) as found:
        yield found


# ---- how much memory -------------------------------------------------------------------------


def process_tree(pid: int) -> Iterator[int]:
    """A process and all that came of it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                yield from process_tree(int(child))


def own_memory(pid: int) -> dict[str, int]:
    """Bytes of the Python processes below this one, what they share counted once; no ssh."""
    found = {}
    for one in process_tree(pid):
        with contextlib.suppress(OSError):  # it ended in the meantime
            if Path(os.readlink(f"/proc/{one}/exe")).name.startswith("python"):
                text = Path(f"/proc/{one}/smaps_rollup").read_text()
                what = "collector" if one == pid else f"ingest {one}"
                size = re.search(r"^Pss: +(\d+)", text, re.MULTILINE)
                found[what] = int(size[1]) * 1024 if size else 0
    return found


class Watch(threading.Thread):
    """Looks every moment how much memory a process and its children have."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._over = threading.Event()
        self.peak: dict[str, int] = {}

    def run(self) -> None:
        while not self._over.wait(0.05):
            found = own_memory(self._pid)
            if sum(found.values()) > sum(self.peak.values()):
                self.peak = found

    def end(self) -> dict[str, int]:
        self._over.set()
        self.join()
        return self.peak


# ---- one run of `collect` --------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """How a program ended and what it said."""

    what: str
    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Run:
    """A batch that was read."""

    batch: str
    folder: Path
    collect: Ended
    seconds: float
    peak: dict[str, int]  # bytes of each process when they were most together
    sentinel: Path

    @property
    def scenarios(self) -> list[Scenario]:
        return [one for one in SCENARIOS.values() if one.batch == self.batch]

    @property
    def timeout_s(self) -> int:
        return PATIENCE_S if self.batch == "hanging" else TIMEOUT_S

    @property
    def hosts(self) -> list[str]:
        return [HONEST_RUNNER, HONEST_PAPER, *(one.host for one in self.scenarios)]

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        """Every fact table and `evidence`, without the code that is under test."""
        (snapshot,) = (self.folder / "store").glob("*Z*")
        database = duckdb.connect()
        for file in snapshot.glob("facts/*.parquet"):
            database.execute(f"CREATE VIEW {file.stem} AS FROM read_parquet('{file}')")
        database.execute(
            f"CREATE VIEW evidence AS FROM read_parquet('{snapshot}/evidence/*.parquet')"
        )
        return database

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of the snapshot."""
        return self._database.execute(query, list(values)).fetchall()

    @property
    def asked(self) -> set[str]:
        """The probes that every host was asked for."""
        return set(probes())

    def environment(self) -> dict[str, str]:
        """What every program of ours gets: folders of its own, so that all it leaves is seen."""
        kept = {name: value for name, value in os.environ.items() if "RAILWRIGHT" not in name}
        own = {
            "RAILWRIGHT_STORE": f"{self.folder}/store",
            "TMPDIR": f"{self.folder}/tmp",
            "XDG_CACHE_HOME": f"{self.folder}/cache",
            "HOME": f"{self.folder}/home",
        }
        return {**kept, **own, "LC_ALL": "C.UTF-8"}


def collect(rig: Rig, batch: str) -> Run:
    """Read the hosts of a batch and the honest ones, all at once."""
    folder = rig.folder / batch
    for name in ("cwd", "tmp", "home"):
        (folder / name).mkdir(parents=True)
    run = Run(batch, folder, Ended("", 0, "", ""), 0.0, {}, rig.sentinel)
    played = {one.host: one.name for one in run.scenarios}
    config = rig.ssh_config(batch, {HONEST_RUNNER: RUNNER, HONEST_PAPER: "paper", **played})
    command = [str(RAILWRIGHT), "collect", "-F", str(config), "-w", ",".join(run.hosts)]
    command += [
        "--state-from",
        "none",
        "--timeout",
        str(run.timeout_s),
        "--store",
        f"{folder}/store",
    ]
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder / "cwd",
        env=run.environment(),
    )
    watch = Watch(process.pid)
    watch.start()
    stdout, stderr = process.communicate()
    peak = watch.end()
    told = ", ".join(f"{what} {size >> 20} MB" for what, size in peak.items())
    print(f"{batch}: {time.monotonic() - began:.1f} s, {told}")
    ended = Ended("collect", process.returncode, stdout.decode(), stderr.decode())
    return Run(batch, folder, ended, time.monotonic() - began, peak, rig.sentinel)


Runs = Callable[[str], Run]


@pytest.fixture(scope="module")
def runs(rig: Rig) -> Runs:
    """Each batch is read once, by whoever asks first."""
    return cache(partial(collect, rig))


def batches() -> Iterator[Any]:
    """Each is a run of its own; CI has every third."""
    for number, batch in enumerate(BATCHES):
        yield pytest.param(batch, marks=[pytest.mark.whole] if number % 3 else [])


@pytest.fixture(scope="module", params=batches())
def run(runs: Runs, request: pytest.FixtureRequest) -> Run:
    return runs(request.param)


# ---- what must be true of every run ----------------------------------------------------------


# Control, format (bidi, zero-width), halves of pairs, separators of lines and paragraphs.
ODD_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Invisible too, and counted among letters and marks: Default_Ignorable_Code_Point of Unicode.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def odd_signs(text: str) -> list[str]:
    """What must not reach a terminal, nor a pipe that may lead to one."""
    found = {sign for sign in set(text) if unicodedata.category(sign) in ODD_CATEGORIES}
    return sorted(ascii(sign) for sign in (found - {"\n"}) | set(INVISIBLE.findall(text)))


def troubles(ended: Ended, allowed: tuple[int, ...], *, raw_stdout: bool = False) -> list[str]:
    """What is wrong with how a program ended; [] if nothing is."""
    said = ended.stderr if raw_stdout else ended.stdout + ended.stderr
    found = []
    if ended.code not in allowed:
        found.append(f"{ended.what}: exit {ended.code}: {ended.stderr[-1500:]!a}")
    if "Traceback" in said or "Exception" in said:
        found.append(f"{ended.what}: {said[-1500:]!a}")
    if odd := odd_signs(said):
        line = next(line for line in said.split("\n") if odd_signs(line))
        found.append(f"{ended.what}: {odd} in {line[:300]!a}")
    return found


def test_the_run_ends_as_documented(run: Run) -> None:
    assert troubles(run.collect, (3,)) == []  # 3: not every host could be read in full
    assert run.seconds < 2 * TIMEOUT_S


def test_honest_hosts_are_read_in_full(run: Run) -> None:
    found = run.ask("SELECT target, status FROM target WHERE target LIKE 'honest-%' ORDER BY ALL")
    assert found == [(HONEST_PAPER, "reached"), (HONEST_RUNNER, "reached")]
    for host in (HONEST_PAPER, HONEST_RUNNER):
        answers = run.ask("SELECT probe, status FROM probe_result WHERE target = ?", host)
        assert {probe for probe, _ in answers} == run.asked
        assert not {status for _, status in answers} & {"missing", "not understood"}


def test_facts_of_the_real_runner_are_of_this_machine(run: Run) -> None:
    columns = "hostname, kernel, architecture"
    found = run.ask(f"SELECT {columns} FROM host WHERE target = ?", HONEST_RUNNER)
    assert found == [(socket.gethostname(), platform.release(), platform.machine())]
    found = run.ask("SELECT architecture FROM cpu WHERE target = ?", HONEST_RUNNER)
    assert found == [(platform.machine(),)]


def test_facts_written_by_hand_are_found_again(run: Run) -> None:
    expected: dict[str, list[dict[str, object]]] = {}
    for case in HONEST_CASES:
        expect = json.loads((EVIDENCE / f"{case}.expect.json").read_text("utf-8"))
        for table, values in expect["rows"]:
            expected.setdefault(table, []).append(values)
    for table, rows in expected.items():
        columns = list(rows[0])
        chosen = ", ".join(f'"{name}"' for name in columns)
        found = run.ask(f"SELECT {chosen} FROM {table} WHERE target = ?", HONEST_PAPER)
        as_rows = [dict(zip(columns, row, strict=True)) for row in found]
        assert len(as_rows) == len(rows), table
        assert all(row in as_rows for row in rows), table


def test_nobody_else_says_who_an_honest_host_is_cabled_to(run: Run) -> None:
    query = "SELECT peer, peer_port, peer_kind FROM adjacency WHERE target = ? AND peer <> ''"
    assert run.ask(query, HONEST_PAPER) == [(LEAF, LEAF_PORT, "stranger")]


def test_every_hostile_host_is_one_row_with_its_status(run: Run) -> None:
    found = run.ask("SELECT target, status FROM target")
    assert sorted(target for target, _ in found) == sorted(run.hosts)
    assert {status for _, status in found} <= KNOWN_STATUSES
    statuses = dict(found)
    wrong = {
        one.name: (statuses[one.host], sorted(one.statuses))
        for one in run.scenarios
        if statuses[one.host] not in one.statuses
    }
    assert wrong == {}


def test_no_row_is_empty(run: Run) -> None:
    never = {
        "target": ("target", "kind", "status", "words", "started", "duration_s", "attempts"),
        "host": ("target", "read_at", "hostname", "kernel", "boot_id"),
        "evidence": (
            "target",
            "probe",
            "instance",
            "status",
            "reason",
            "argv",
            "stdout",
            "started",
        ),
        "probe_result": ("target", "probe", "instance", "status", "reason", "read_at", "bytes"),
    }
    for table, columns in never.items():
        where = " OR ".join(f"{name} IS NULL" for name in columns)
        assert run.ask(f"SELECT count(*) FROM {table} WHERE {where}") == [(0,)], table
    keys = "target, probe, instance"
    for table, key in (("host", "target"), ("probe_result", keys), ("evidence", keys)):
        twice = f"SELECT {key} FROM {table} GROUP BY ALL HAVING count(*) > 1"
        assert run.ask(twice) == [], table


def test_rows_bear_the_name_that_the_operator_gave(run: Run) -> None:
    for table in ("evidence", *tables()):
        found = run.ask(f"SELECT DISTINCT target FROM {table}")
        assert {target for (target,) in found} <= set(run.hosts), table


def test_a_host_that_greets_has_a_row_of_its_own(run: Run) -> None:
    greeted = {target for (target,) in run.ask("SELECT target FROM host")}
    assert {one.host for one in run.scenarios if one.greets} <= greeted


def test_what_was_asked_is_answered_or_missing(run: Run) -> None:
    asked = run.asked
    rows = run.ask("SELECT target, probe, list(DISTINCT status) FROM probe_result GROUP BY ALL")
    results = {(target, probe): set(statuses) for target, probe, statuses in rows}
    assert set().union(*results.values()) <= set(ANSWER_STATUSES)
    assert {probe for _, probe in results} <= asked, "nobody asked for these"
    reached = {t for (t,) in run.ask("SELECT target FROM target WHERE status = 'reached'")}
    greeted = {t for (t,) in run.ask("SELECT target FROM host")}
    for one in run.scenarios:
        if one.host not in greeted:
            continue
        assert {probe for host, probe in results if host == one.host} == asked, one.name
        answered = {p for p in asked if results[one.host, p] - {"missing"}}
        says = asked if one.says == {ALL} else one.says
        assert answered <= says | one.maybe, one.name
        if one.host in reached:
            assert says <= answered, one.name


def test_memory_is_bounded(run: Run) -> None:
    assert sum(run.peak.values()) < MOST_MEMORY, run.peak


# ---- what must be true of some ---------------------------------------------------------------


def test_the_first_word_stands(runs: Runs) -> None:
    found = runs("frames").ask("SELECT cpus FROM cpu WHERE target = 'evil-replay'")
    assert found == [(0,)]
    found = runs("fields").ask("SELECT hostname FROM host WHERE target = 'evil-dup-hello'")
    assert found == [("h0",)]


def test_no_secret_comes_in_by_a_host_without_our_filter(runs: Runs) -> None:
    run = runs("texts")
    where = "target IN ('evil-secrets', 'evil-secrets-of-failures')"
    told = run.ask(f"SELECT target, probe, stdout || stderr FROM evidence WHERE {where}")
    assert [(t, p) for t, p, said in told if SECRET.encode() in said] == []
    for name, table in tables().items():
        columns = [n for n, kind in table.column_types().items() if kind == "VARCHAR"]
        holds = " OR ".join(f"contains({n}, '{SECRET}')" for n in map(_quoted, columns))
        assert run.ask(f"SELECT count(*) FROM {name} WHERE ({holds}) AND {where}") == [(0,)], name


def _quoted(name: str) -> str:
    return f'"{name}"'


def test_names_heard_over_lldp_are_names(runs: Runs) -> None:
    columns = "system_name, port_id, port_description"
    found = runs("texts").ask(
        f"SELECT {columns} FROM lldp_neighbor WHERE target = 'evil-lldp-shell'"
    )
    said = {text for row in found for text in row if text}
    assert [
        text for text in said if not re.fullmatch(r"[A-Za-z0-9._:/ -]{1,64}|\[dropped\]", text)
    ] == []


def test_who_stays_after_the_end_holds_no_slot(runs: Runs) -> None:
    names = ("evil-linger", "evil-late-close", "evil-closes-early")
    found = runs("frames").ask("SELECT target, duration_s FROM target WHERE target IN ?", names)
    assert len(found) == len(names)
    assert [(target, took) for target, took in found if took > TIMEOUT_S / 2] == []


# ---- every verb over what came of it ---------------------------------------------------------

# One process reads the program once and forks for every verb: a verb takes half as long.
DRIVER = """
import contextlib, json, os, selectors, sys
__file__ = "driver"  # DuckDB draws a progress bar where it takes the program for a session by hand
from railwright import cli
cli.program()
with contextlib.suppress(ImportError):
    import typer._adapters  # what typer reads when it meets its first argument
for line in sys.stdin:
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if not child:
        for number, (_, end) in enumerate(pipes, 1):
            os.dup2(end, number)
        sys.argv = ["railwright", *json.loads(line)]
        cli.main()
        sys.exit(0)
    said = {}
    with selectors.DefaultSelector() as selector:
        for read, write in pipes:
            os.close(write)
            selector.register(read, selectors.EVENT_READ)
            said[read] = b""
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 20)
                said[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([code, *(text.decode("latin-1") for text in said.values())]), flush=True)
"""


class Verbs:
    """Runs verbs of the program, some at a time, standard output and error in pipes."""

    def __init__(self, run: Run, at_a_time: int = 2) -> None:
        self._free: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        self._all = [
            subprocess.Popen(
                [sys.executable, "-I", "-c", DRIVER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=run.folder / "cwd",
                env=run.environment(),
                text=True,
            )
            for _ in range(at_a_time)
        ]
        for process in self._all:
            self._free.put(process)

    def __call__(self, argv: list[str]) -> Ended:
        process = self._free.get()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(argv) + "\n")
        process.stdin.flush()
        code, *said = json.loads(process.stdout.readline())
        self._free.put(process)
        texts = [text.encode("latin-1").decode("utf-8", "replace") for text in said]
        return Ended(" ".join(argv), code, *texts)

    def run_all(self, commands: list[list[str]]) -> list[Ended]:
        with ThreadPoolExecutor(len(self._all)) as pool:
            return list(pool.map(self, commands))

    def end(self) -> None:
        for process in self._all:
            process.communicate()


LOOKS = (
    ["facts"],
    ["check", "--select", "pcie-*"],
    ["sql", "SELECT * FROM host"],
    ["sql", "SELECT * FROM target"],
    ["store", "list"],
    ["links"],
    ["rails"],
)


def test_every_verb_shows_it_safely(run: Run) -> None:
    hosts = [HONEST_PAPER, *(one.host for one in run.scenarios if one.look)]
    answers = dict(run.ask("SELECT target, min(probe) FROM evidence GROUP BY target"))
    plain = [*LOOKS, *(["show", host] for host in hosts), *(["evidence", host] for host in hosts)]
    raw = [["evidence", host, answers[host]] for host in hosts if host in answers]
    if run.batch != "texts":  # nothing of the hosts is in what it says, but in those fields
        raw = raw[:3]
    verbs = Verbs(run)
    try:
        shown, bytes_of = verbs.run_all(plain), verbs.run_all(raw)
    finally:
        verbs.end()
    found = [trouble for ended in shown for trouble in troubles(ended, (0, 1, 3))]
    found += [t for ended in bytes_of for t in troubles(ended, (0, 1, 3), raw_stdout=True)]
    assert found == []
    assert not run.sentinel.exists(), "a host's text was run"
    assert list((run.folder / "cwd").iterdir()) == []
    assert list((run.folder / "tmp").iterdir()) == []  # no report of a fault, no spill left behind
