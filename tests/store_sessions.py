"""A store for tests of sessions: snapshots and cut-off ones to begin with, disks that fill."""

import json
import os
import signal
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.harness.user_verbs import PROBES, USER, Place, Running, Said, arrived
from railwright.store.snapshot import UNFINISHED, load, snapshots, unfinished

# An ordinary user's programs that use the store as the verbs do, and stop where a verb would not.
BUILD = """
import os, signal, sys, time
from pathlib import Path
from railwright.model import finish
from railwright.model.finish import finish_building
from railwright.store import snapshot
from railwright.store.build import Building
"""
# Before one of its steps it says that it is there and waits for the file `go`; then it dies, or not.
STOP = """
def stop(owner, name):
    step = getattr(owner, name)

    def stopped(*arguments, **named):
        setattr(owner, name, step)
        Path(sys.argv[1], "there").touch()
        while not Path(sys.argv[1], "go").exists():
            time.sleep(0.01)
        if sys.argv[3] == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*arguments, **named)

    setattr(owner, name, stopped)

store = Path(sys.argv[1], "store")
store.mkdir(mode=0o700)
if sys.argv[2] == "before run.json":
    stop(Path, "write_text")
elif sys.argv[2] == "before run.json is replaced":
    stop(Path, "replace")
elif sys.argv[2] == "between the last word and the name":
    stop(finish, "put_in_place")
elif sys.argv[2] == "between the name and the lock":
    stop(Path, "unlink")
made = Building(store, {"started": 1.7e9, "via": "test"}, {"a": "", "b": ""})
made.add_target({"target": "a", "status": "reached", "words": "", "started": 1.7e9})
finish_building(made)
"""


class Store:
    """One store in a folder of its own, and its user's verbs over it."""

    def __init__(self, where: Place, folder: Path) -> None:
        self.place = where
        self.folder = folder
        self.path = folder / "store"
        self.seen = where.outside(self.path)

    def environment(self, **told: object) -> dict[str, str]:
        """Of a session; `told` is for the hosts it reads."""
        spoken = json.dumps({"folder": str(self.folder), **told})
        return self.place.environment(RAILWRIGHT_TEST_HOST=spoken)

    def start(self, *words: str, **told: object) -> Running:
        """A verb over this store, or over the one that its words name."""
        environment = self.environment(**told)
        store = () if "--store" in words else ("--store", str(self.path))
        return self.place.start(*words, *store, environment=environment)

    def run(self, *words: str, **told: object) -> Said:
        """A verb to its end."""
        return self.start(*words, **told).end()

    def run_all(self, verbs: Iterable[tuple[str, ...]]) -> list[Said]:
        """Verbs that do not care for each other, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda words: self.run(*words), verbs))

    def collect(self, hosts: str, **told: object) -> Running:
        """Reads the hosts one after another: `free` of them at once, the others with `go`."""
        words = ("collect", "--via", "local", "-w", hosts, "--fan-out", "1", *PROBES)
        return self.start(*words, **told)

    def collect_some(self, hosts: str, count: int, **told: object) -> Running:
        """A collect that has read so many hosts and waits for the next."""
        running = self.collect(hosts, free=count, **told)
        assert running.until(lambda: len(self.arrived()) == count), str(running.end())
        return running

    def go(self) -> None:
        """Every host that waits may go on."""
        self.place.outside(self.folder / "go").touch()

    def arrived(self) -> frozenset[str]:
        """The machines that are done, of all that is unfinished."""
        return frozenset().union(*(arrived(path) for path in unfinished(self.seen)))

    def names(self) -> list[str]:
        """Everything in it."""
        return sorted(os.listdir(self.seen)) if self.seen.is_dir() else []

    def snapshots(self) -> list[str]:
        """The names of those that are whole, oldest first."""
        return [path.name for path in snapshots(self.seen)]

    def take(self, source: Path, *names: str) -> None:
        """Copies of a snapshot under these names."""
        self.seen.mkdir(exist_ok=True)
        os.chown(self.seen, USER, USER)
        for name in names:
            subprocess.run(["cp", "-a", source, self.seen / name], check=True)

    def program(self, text: str, *words: str) -> Running:
        """A program of the store's user."""
        environment = self.environment()
        return self.place.start(
            str(self.folder), *words, environment=environment, program=("-c", text)
        )

    def stopped(self, moment: str, then: str) -> Running:
        """A process that makes a snapshot and waits at this moment for `go`."""
        running = self.program(BUILD + STOP, moment, then)
        there = self.place.outside(self.folder / "there")
        assert running.until(there.exists), str(running.end())
        return running


def intact(path: Path, *beside: str) -> None:
    """Every file is the one that was written, and nothing else lies beside them."""
    snapshot = load(path)
    files = snapshot.run["files"]
    for name in files:
        snapshot.verified.check_bytes(name)
    assert {str(one.relative_to(path)) for one in path.rglob("*") if one.is_file()} == {
        *files,
        *beside,
        "run.json",
    }


def make_whole(store: Store, hosts: str = "n[1-2]") -> Path:
    """A snapshot as `collect` leaves it."""
    said = store.collect(hosts).end()
    assert said.status == 0, str(said)
    return store.seen / said.made()[0]


def make_cut_off(store: Store) -> Path:
    """What a collect leaves that was killed when one of its three hosts was done."""
    running = store.collect_some("n[1-3]", 1)
    running.signal(signal.SIGKILL)
    running.end()
    [path] = unfinished(store.seen)
    assert path.name.endswith(UNFINISHED)
    return path
