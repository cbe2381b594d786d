"""Sessions that cross: several of one user over one store, and nothing that was promised is lost.

An interleaving is a store on a disk of its own and two or three sessions beside each other. Each is
a random sequence of verbs, as processes of an ordinary user: collect, also killed, interrupted or
on a disk that fills; finish, prune, merge, check, list. What every one of them said is written
down, and at the end the store is held to it.
"""

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from lab.harness.user_verbs import (
    DISK,
    FAULT,
    PROBES,
    USER,
    Place,
    Running,
    Said,
    arrived,
    processes_of,
    statuses,
)
from railwright.errors import RailwrightError
from railwright.store.snapshot import NAME, UNFINISHED, snapshots, unfinished

SEED = 20261116
NAME_IN_TEXT = re.compile(r"\d{4}-\d\d-\d\dT\d{4}Z(?:-\d+)?")


@dataclass(frozen=True)
class Promise:
    """A snapshot that a verb said it had made."""

    name: str
    targets: int
    said: Said


@dataclass
class Ledger:
    """What all sessions of one interleaving did and said."""

    said: list[Said] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    hosts: dict[str, int] = field(default_factory=dict)  # of each collect, by its prefix
    arrived: dict[str, frozenset[str]] = field(default_factory=dict)  # before it was killed
    full: list[tuple[float, float]] = field(default_factory=list)  # when the disk was small
    undisturbed: list[Said] = field(default_factory=list)  # should have been
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, said: Said, allowed: Sequence[int]) -> Said:
        """Write it down, and hold it to its exit status and to having words."""
        self.said.append(said)
        if sign := said.unworded():
            self.wrong.append(f"no words ({sign}): {said}")
        elif said.fault():
            self.wrong.append(f"only the last handler had words: {said}")
        if said.status not in allowed:
            self.wrong.append(f"exit status {said.status}, not one of {allowed}: {said}")
        if said.status in (0, 3, 130):
            for name in said.made():
                self.promises.append(Promise(name, said.targets(), said))
        return said

    def was_full(self, said: Said) -> bool:
        """Whether it had to do with a disk that was small for a while."""
        return any(began < said.ended and said.began < ended for began, ended in self.full)

    def deleted(self, name: str) -> int:
        """How often a prune said that it had deleted it."""
        return sum(said.deleted().count(name) for said in self.said)


class Session:
    """One operator: a random sequence of verbs over a store that is not only theirs."""

    def __init__(self, at: "Interleaving", number: int) -> None:
        self.at = at
        self.number = number
        self.random = random.Random(f"{at.seed} {number}")
        weights = [weight for _, weight in VERBS.values()]
        count = self.random.randint(at.length - 1, at.length)
        self.verbs = self.random.choices(list(VERBS), weights, k=count)

    def go(self) -> None:
        """All of them, one after another."""
        for step, verb in enumerate(self.verbs):
            time.sleep(self.random.uniform(0, 0.6))
            self.at.ledger.kinds[verb] += 1
            VERBS[verb][0](self, f"s{self.number}v{step}")

    def run(self, *words: str, allowed: Sequence[int]) -> Said:
        """A verb over the store."""
        said = self.at.place.run(
            *words, "--store", str(self.at.store), environment=self.at.environment()
        )
        return self.at.ledger.add(said, allowed)

    def start_collect(self, prefix: str, hosts: int, **told: float) -> Running:
        """Reads so many hosts, one after another."""
        self.at.ledger.hosts[prefix] = hosts
        folder = self.at.temporary / prefix
        folder.mkdir()
        os.chown(folder, USER, USER)
        spoken = json.dumps({"folder": str(folder), **told})
        return self.at.place.start(
            *("collect", "--via", "local", "-w", f"{prefix}h[1-{hosts}]", "--fan-out", "1"),
            *(*PROBES, "--store", str(self.at.store)),
            environment=self.at.environment(RAILWRIGHT_TEST_HOST=spoken),
        )

    def collect(self, prefix: str) -> None:
        """Read to the end: nobody else may disturb it."""
        hosts = self.random.randint(1, 3)
        running = self.start_collect(prefix, hosts, seconds=self.random.uniform(0, 0.4))
        self.at.ledger.undisturbed.append(self.at.ledger.add(running.end(), (0, 2)))

    def killed(self, prefix: str) -> None:
        """Killed at a random moment; held still first, to see what had arrived."""
        running = self.start_collect(prefix, self.random.randint(2, 4), seconds=0.25)
        if self.random.random() < 0.8:
            running.until(lambda: self._written_by(running) is not None)
            time.sleep(self.random.uniform(0, 2.5))
        else:
            time.sleep(self.random.uniform(0, 1.5))
        running.signal(signal.SIGSTOP)
        folder = self._written_by(running)
        if folder is not None:
            self.at.ledger.kinds["killed while it wrote"] += 1
            self.at.ledger.arrived[prefix] = arrived(folder)
        running.signal(signal.SIGKILL)
        self.at.ledger.add(running.end(), (0, 2, -signal.SIGKILL))

    def _written_by(self, running: Running) -> Path | None:
        found = [one for one in unfinished(self.at.seen) if _held_by(one) == running.process.pid]
        return found[0] if found else None

    def interrupted(self, prefix: str) -> None:
        """Ctrl-C at a random moment."""
        running = self.start_collect(prefix, self.random.randint(2, 4), seconds=0.25)
        time.sleep(self.random.uniform(0.4, 3.0))
        running.signal(signal.SIGINT)
        self.at.ledger.add(running.end(), (0, 2, 130))

    def finish(self, _prefix: str) -> None:
        """Whatever is the latest that was cut off."""
        self.run("store", "finish", allowed=(2, 3))

    def finish_killed(self, _prefix: str) -> None:
        """Killed while it finishes, if there is anything to finish."""
        running = self.at.place.start(
            *("store", "finish", "--store", str(self.at.store)), environment=self.at.environment()
        )
        time.sleep(self.random.uniform(0.4, 2.0))
        running.signal(signal.SIGKILL)
        self.at.ledger.add(running.end(), (2, 3, -signal.SIGKILL))

    def prune(self, _prefix: str) -> None:
        """Some of the oldest, perhaps also what was cut off."""
        more = ["--unfinished"] if self.random.random() < 0.5 else []
        keep = str(self.random.randint(0, 2))
        self.run("store", "prune", "--keep", keep, "--yes", *more, allowed=(0,))

    def fill(self, _prefix: str) -> None:
        """What one of them lacks, if it lacks anything."""
        there = [path.name for path in snapshots(self.at.seen)]
        if there:
            old = str(self.at.store / self.random.choice(there))
            words = ("collect", "--via", "local", "--fan-out", "1", "--fill", old, *PROBES)
            self.run(*words, allowed=(0, 2, 3))

    def merge(self, _prefix: str) -> None:
        """Two of those that are there, by their paths."""
        there = [path.name for path in snapshots(self.at.seen)]
        if len(there) < 2:
            return
        chosen = self.random.sample(there, 2)
        paths = [str(self.at.store / name) for name in chosen]
        self.run("merge", *paths, allowed=(0, 2, 3))

    def check(self, _prefix: str) -> None:
        """Judge the latest by one rule."""
        self.run("check", "--select", "pcie-link-narrow", allowed=(0, 1, 2, 3))

    def list(self, _prefix: str) -> None:
        """Look at all there is."""
        self.run("store", "list", allowed=(0,))

    def full(self, prefix: str) -> None:
        """A collect on a disk that becomes too small, or nearly so, and large again."""
        with self.at.filling:
            began = time.time()
            running = self.start_collect(prefix, 3, bytes=self.random.choice((3_000, 400_000)))
            time.sleep(self.random.uniform(0.2, 1.2))
            try:
                self.at.resize(self.random.randint(0, 1_200_000))
                said = self.at.ledger.add(running.end(), (0, 2))
            finally:
                self.at.resize(DISK)
                self.at.ledger.full.append((began, time.time()))
            self.at.ledger.kinds["disk that was full"] += said.status == 2


VERBS: dict[str, tuple[Callable[[Session, str], None], int]] = {
    "collect": (Session.collect, 3),
    "collect, killed": (Session.killed, 3),
    "collect, interrupted": (Session.interrupted, 2),
    "collect, disk full": (Session.full, 2),
    "finish": (Session.finish, 3),
    "finish, killed": (Session.finish_killed, 1),
    "prune": (Session.prune, 3),
    "merge": (Session.merge, 2),
    "fill": (Session.fill, 1),
    "check": (Session.check, 1),
    "list": (Session.list, 1),
}


def _held_by(folder: Path) -> int:
    """The process that says it works there."""
    try:
        return int(json.loads((folder / "lock").read_bytes())["pid"])
    except (OSError, ValueError, KeyError):
        return 0


class Interleaving:
    """Sessions beside each other over one store, and whether it held what they were told."""

    def __init__(self, where: Place, disk: Path, seed: str, length: int) -> None:
        self.place = where
        self.seed = seed
        self.length = length
        self.ledger = Ledger()
        self.filling = threading.Lock()
        self._disk = disk
        self.store = disk / "store"
        self.seen = where.outside(self.store)
        self.temporary = where.shared(f"tmp/{disk.name}")

    def environment(self, **more: str) -> dict[str, str]:
        """Of the sessions of this store."""
        return self.place.environment(TMPDIR=str(self.temporary), **more)

    def resize(self, room: int) -> None:
        """So many bytes more than what is there; all at once if it is the whole disk."""
        while True:
            used = os.statvfs(self.place.outside(self._disk))
            bytes_used = (used.f_blocks - used.f_bfree) * used.f_frsize
            try:
                self.place.resize(self._disk, room if room == DISK else bytes_used + room)
            except subprocess.CalledProcessError:  # it has grown in the meantime
                continue
            return

    def go(self) -> Ledger:
        """All sessions to their end; then what they left."""
        chosen = random.Random(self.seed)
        sessions = [Session(self, number) for number in range(chosen.randint(2, 3))]
        threads = [threading.Thread(target=session.go) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.ledger.kinds["sessions"] += len(sessions)
        self._nobody_left()
        self._nothing_lying_about()
        self._finish_all()
        self._verify()
        for path in snapshots(self.seen):
            self._open(path)
        self._nothing_lost()
        return self.ledger

    def _wrong(self, words: str) -> None:
        self.ledger.wrong.append(words)

    def _nobody_left(self) -> None:
        until = time.monotonic() + 5
        while (left := processes_of(str(self.temporary))) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in left:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            self._wrong(f"a process is left: {command!r}")
            os.kill(pid, signal.SIGKILL)

    def _nothing_lying_about(self) -> None:
        killed = sum(said.status == -signal.SIGKILL for said in self.ledger.said)
        names = os.listdir(self.seen) if self.seen.is_dir() else []
        odd = [name for name in names if not NAME.fullmatch(name.removesuffix(UNFINISHED))]
        hidden = [name for name in odd if name.startswith(".")]  # killed before they had a name
        if len(hidden) > killed or hidden != odd:
            self._wrong(f"left in the store by those that were not killed: {odd}")
        names = [name for name in os.listdir(self.temporary) if not name.startswith(FAULT)]
        spills = [name for name in names if name.startswith("railwright-")]
        if len(spills) > killed:
            self._wrong(f"left in TMPDIR by those that were not killed: {spills}")

    def _finish_all(self) -> None:
        """Each that was cut off can be finished, or it is said why not and what to do."""
        environment = self.environment()
        for path in unfinished(self.seen):
            said = self.place.run(
                *("store", "finish", path.name, "--store", str(self.store)),
                environment=environment,
            )
            self.ledger.add(said, (2, 3))
            self.ledger.kinds["cut off, finished at the end"] += said.status == 3
            self.ledger.kinds["cut off, refused at the end"] += said.status == 2
            if said.status == 2 and "store prune" not in said.text:
                self._wrong(f"cut off, not finished, and not told what to do: {said}")
        said = self.place.run(
            *("store", "prune", "--keep", "1000", "--unfinished", "--yes"),
            *("--store", str(self.store)),
            environment=environment,
        )
        self.ledger.add(said, (0,))
        for name in os.listdir(self.seen) if self.seen.is_dir() else []:
            # Killed between making a folder and locking it: an hour later a prune may take it.
            if not NAME.fullmatch(name) and not name.startswith(".new-"):
                self._wrong(f"neither finished nor pruned: {name}")

    def _verify(self) -> None:
        if snapshots(self.seen):
            words = ("store", "verify", "--store", str(self.store))
            self.ledger.add(self.place.run(*words, environment=self.environment()), (0,))

    def _open(self, path: Path) -> None:
        """It opens, and has every machine of every run that is in it."""
        try:
            status = statuses(path)
        except RailwrightError as error:
            self._wrong(f"{path.name} does not open: {error}")
            return
        self.ledger.kinds["snapshots at the end"] += 1
        runs = {name.rpartition("h")[0] for name in status}
        whole = {f"{run}h{n + 1}" for run in runs for n in range(self.ledger.hosts.get(run, 0))}
        if set(status) != whole:
            self._wrong(f"{path.name} has {sorted(status)}, was made with {sorted(whole)}")
        for run in runs:
            lost = [n for n in self.ledger.arrived.get(run, ()) if status.get(n) != "reached"]
            if lost:
                self._wrong(f"{path.name}: had arrived before the kill and is lost: {lost}")
        counts = {p.targets for p in self.ledger.promises if p.name == path.name}
        if counts and len(status) not in counts:
            self._wrong(f"{path.name} has {len(status)} targets, was promised with {counts}")
        others = {p.name for p in (path / "facts").iterdir() if p.suffix != ".parquet"}
        others |= {p.name for p in path.iterdir()} - {"run.json", "facts", "evidence"}
        if others:
            self._wrong(f"{path.name} has {sorted(others)} in it")

    def _nothing_lost(self) -> None:
        for said in self.ledger.undisturbed:
            pruned = [name for name in NAME_IN_TEXT.findall(said.text) if self.ledger.deleted(name)]
            if said.status == 2 and not self.ledger.was_full(said) and not pruned:
                self._wrong(f"a collect was disturbed: {said}")
        there = Counter(path.name for path in snapshots(self.seen))
        promised = Counter(promise.name for promise in self.ledger.promises)
        for name, times in promised.items():
            if times - self.ledger.deleted(name) > there[name]:
                says = [str(p.said) for p in self.ledger.promises if p.name == name]
                self._wrong(f"{name} was promised and is not there: {says}")


def interleavings(where: Place, count: int, seed: int, length: int) -> Iterator[Ledger]:
    """So many, each on a disk of its own; two at a time, because each waits now and then."""

    def one(number: int) -> Ledger:
        with where.disk(f"disk-{number}") as disk:
            return Interleaving(where, disk, f"{seed} {number}", length).go()

    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(one, range(count))
