"""Several sessions over one store, a user who is another, a disk that is full: words, nothing lost.

Real processes of the command line, of an ordinary user: root may write what nobody else can. A test
that ends in an error and not in a failure held, but for what was said: only the last handler had
words for it, and a file with a traceback (`faults`).
"""

import os
import platform
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from store_sessions import BUILD, Store, intact, make_cut_off, make_whole

from lab.harness.store_sessions import SEED, interleavings
from lab.harness.user_verbs import DISK, PROBES, USER, Place, Said, place, processes_of, statuses
from railwright.store.lookup import find
from railwright.store.snapshot import reserve

pytestmark = pytest.mark.root
LIST, FINISH = ("store", "list"), ("store", "finish")
PRUNE_ALL = ("store", "prune", "--keep", "0", "--unfinished", "--yes")
COLLECT = ("collect", "--via", "local", "-w", "n1", *PROBES)
MINUTE = "2026-11-14T22{:02d}Z"


@pytest.fixture(scope="module")
def where() -> Iterator[Place]:
    with place() as made:
        yield made


_unworded: list[str] = []


@pytest.fixture(autouse=True)
def faults() -> Iterator[None]:
    """What is to be expected of a store has words of its own: what, why, what to do."""
    _unworded.clear()
    yield
    assert _unworded == []


@pytest.fixture
def store(where: Place) -> Iterator[Store]:
    """An empty one; afterwards nobody is left who has to do with it."""
    number = len(os.listdir(where.shared_once("stores")))
    made = Store(where, where.shared(f"stores/{number}"))
    yield made
    made.go()
    until = time.monotonic() + 5
    while (left := processes_of(f'{made.folder}"')) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []


@pytest.fixture
def disk(where: Place) -> Iterator[Store]:
    """A store on a disk of its own."""
    number = len(os.listdir(where.shared_once("disks")))
    with where.disk(f"disks/{number}") as folder:
        made = Store(where, folder)
        yield made
        made.place.resize(folder, DISK)
        made.go()


def fill(store: Store) -> None:
    """Not one more byte."""
    used = os.statvfs(store.place.outside(store.folder))
    store.place.resize(store.folder, max((used.f_blocks - used.f_bfree) * used.f_frsize, 4096))


@pytest.fixture(scope="module")
def whole(where: Place) -> Path:
    """A snapshot of two hosts."""
    return make_whole(Store(where, where.shared("whole")))


@pytest.fixture(scope="module")
def cut_off(where: Place) -> Path:
    """A collect of three hosts that was killed when one was done."""
    return make_cut_off(Store(where, where.shared("cut-off")))


@pytest.fixture(scope="module")
def with_gaps(where: Place, cut_off: Path) -> Path:
    """What `store finish` makes of it: one host was reached, two were not."""
    store = Store(where, where.shared("with-gaps"))
    store.take(cut_off, cut_off.name)
    [name] = store.run(*FINISH).made()
    return store.seen / name


def worded(said: Said, *allowed: int) -> Said:
    """Ended as it may end, and had words for it."""
    assert said.status in allowed, str(said)
    assert said.unworded() == "", str(said)
    _unworded.extend([said.fault()] if said.fault() else [])
    return said


# ---- beside a collect that runs -------------------------------------------------------------


def left_alone(store: Store, who: str) -> None:
    """Everybody says that somebody is at work on it, and who."""
    listed, finished, pruned = store.run_all([LIST, FINISH, PRUNE_ALL])
    assert "running since" in worded(listed, 0).text
    assert "cut off" not in listed.text
    assert "is being written" in worded(finished, 2).text
    assert "not deleted" in worded(pruned, 0, 2).text
    assert [str(said) for said in (listed, finished, pruned) if who not in said.text] == []


def test_a_collect_that_runs_is_named_and_left_alone(store: Store) -> None:
    running = store.collect_some("n[1-3]", 1)
    who = f"process {running.process.pid} on {platform.node()}"
    for _ in range(2):  # the first may have made it worse
        left_alone(store, who)
    store.go()
    said = worded(running.end(), 0)
    [name] = store.names()
    assert said.made() == [name]
    assert statuses(store.seen / name) == dict.fromkeys(("n1", "n2", "n3"), "reached")
    assert "as written" in worded(store.run("store", "verify"), 0).text
    intact(store.seen / name)


def test_a_collect_that_was_killed_is_cut_off_finished_and_pruned(store: Store) -> None:
    running = store.collect_some("n[1-3]", 1)
    running.signal(signal.SIGKILL)
    running.end()
    assert "cut off" in worded(store.run(*LIST), 0).text
    said = worded(store.run(*FINISH), 3)
    [name] = store.names()
    assert said.made() == [name]
    status = statuses(store.seen / name)
    assert status.pop("n1") == "reached"
    assert set(status) == {"n2", "n3"}
    assert "reached" not in status.values()
    intact(store.seen / name)
    assert worded(store.run("store", "prune", "--keep", "0", "--yes"), 0).deleted() == [name]
    assert store.names() == []


def test_what_was_cut_off_goes_only_where_that_was_asked_for(store: Store, cut_off: Path) -> None:
    store.take(cut_off, cut_off.name)
    assert "nothing" in worded(store.run("store", "prune", "--keep", "0", "--yes"), 0).text
    assert store.names() == [cut_off.name]
    worded(store.run(*PRUNE_ALL), 0)
    assert store.names() == []


AT_ITS_END = ("before run.json is replaced", "between the last word and the name")


@pytest.mark.parametrize("moment", ["before run.json", *AT_ITS_END])
@pytest.mark.one_in(3)
def test_whoever_makes_a_snapshot_is_left_alone_at_every_step(store: Store, moment: str) -> None:
    running = store.stopped(moment, "goes on")
    if moment in AT_ITS_END:
        left_alone(store, f"process {running.process.pid} on {platform.node()}")
    else:  # it may have no name yet
        listed, finished, pruned = store.run_all([LIST, FINISH, PRUNE_ALL])
        worded(listed, 0)
        worded(finished, 2)
        worded(pruned, 0, 2)
    store.go()
    said = running.end()
    assert said.status == 0, str(said)
    [name] = store.names()
    assert statuses(store.seen / name) == {"a": "reached", "b": "not collected"}
    intact(store.seen / name)


def test_killed_before_anything_arrived_it_can_be_pruned(store: Store) -> None:
    store.go()
    assert store.stopped("before run.json", "dies").end().status == -signal.SIGKILL
    worded(store.run(*LIST), 0)
    worded(store.run(*FINISH), 2)
    worded(store.run(*PRUNE_ALL), 0)
    assert store.names() == []


@pytest.mark.parametrize("moment", [*AT_ITS_END, "between the name and the lock"])
@pytest.mark.one_in(3)
def test_killed_at_its_end_it_can_be_finished(store: Store, moment: str) -> None:
    store.go()
    assert store.stopped(moment, "dies").end().status == -signal.SIGKILL
    if moment in AT_ITS_END:
        worded(store.run(*FINISH), 3)
    [name] = store.names()
    assert statuses(store.seen / name) == {"a": "reached", "b": "not collected"}
    intact(store.seen / name, *(() if moment in AT_ITS_END else ("lock",)))


def test_a_torn_run_json_is_words(store: Store, cut_off: Path) -> None:
    """As a full disk or a power cut leave it: begun, and not written to its end."""
    torn = ["", "{", '{"format": 2, "started": 1.0', "[]", "{}"]
    names = [f"{MINUTE.format(number)}.unfinished" for number in range(len(torn))]
    store.take(cut_off, *names)
    for name, text in zip(names, torn, strict=True):
        (store.seen / name / "run.json").write_text(text)
    worded(store.run(*LIST), 0)
    unhelpful = [
        str(said)
        for said in store.run_all((*FINISH, name) for name in names)
        if said.status != 2 or said.unworded() or said.fault() or "store prune" not in said.text
    ]
    worded(store.run(*PRUNE_ALL), 0)
    assert store.names() == []
    assert unhelpful == []


# ---- two of them at once --------------------------------------------------------------------


@pytest.mark.whole
def test_eight_collects_at_once(store: Store) -> None:
    """With the real runner, on this machine."""
    environment = {**store.environment(), "PATH": os.environ["PATH"]}
    words = ("collect", "--via", "local", "--probe", "cmdline", "--store", str(store.path))
    running = {
        f"n{number}": store.place.start(*words, "-w", f"n{number}", environment=environment)
        for number in range(8)
    }
    said = {host: worded(one.end(), 0) for host, one in running.items()}
    names = {host: one.made()[0] for host, one in said.items()}
    assert len(set(names.values())) == 8
    assert sorted(names.values()) == store.names()
    for host, name in names.items():
        assert statuses(store.seen / name) == {host: "reached"}
        intact(store.seen / name)


def test_two_prunes_at_once(store: Store, whole: Path) -> None:
    names = [MINUTE.format(number) for number in range(30)]
    store.take(whole, *names)
    words = ("store", "prune", "--keep", "3", "--yes")
    running = [store.start(*words), store.start(*words)]
    said = [worded(one.end(), 0) for one in running]
    assert store.names() == names[-3:]
    assert sorted(name for one in said for name in one.deleted()) == names[:-3]
    for name in store.names():
        intact(store.seen / name)


PRUNE_BESIDE = """
import sys
from pathlib import Path
from railwright.store.remove import remove
from railwright.store.snapshot import unfinished
Path(sys.argv[1], sys.argv[2]).touch()
while len(list(Path(sys.argv[1]).glob("ready-*"))) < 2:
    pass
for path in unfinished(Path(sys.argv[1], "store")):
    print("deleted" if remove(path) else "gone", path.name)
"""


@pytest.mark.whole
def test_two_prunes_of_what_was_cut_off_at_once(store: Store, cut_off: Path) -> None:
    """Both look, both find it idle, one is faster: the other says so, and goes on."""
    names = [f"{MINUTE.format(number)}.unfinished" for number in range(60)]
    store.take(cut_off, *names)
    running = [store.program(PRUNE_BESIDE, f"ready-{number}") for number in range(2)]
    said = [one.end() for one in running]
    assert [one.text[-1000:] for one in said if one.status] == []
    assert store.names() == []
    assert sorted(name for one in said for name in one.deleted()) == names


def test_prune_while_a_finish_runs(store: Store, whole: Path, cut_off: Path) -> None:
    store.take(whole, MINUTE.format(1), MINUTE.format(2))
    store.take(cut_off, cut_off.name)
    finishing = store.start(*FINISH)
    facts = store.seen / cut_off.name / "facts"
    assert finishing.until(facts.is_dir), str(finishing.end())
    finishing.signal(signal.SIGSTOP)
    who = f"process {finishing.process.pid} on"
    assert who in worded(store.run(*LIST), 0).text
    pruned = worded(store.run("store", "prune", "--keep", "1", "--unfinished", "--yes"), 0, 2)
    assert who in pruned.text
    assert pruned.deleted() == [MINUTE.format(1)]
    finishing.signal(signal.SIGCONT)
    said = worded(finishing.end(), 3)
    assert store.names() == [MINUTE.format(2), *said.made()]
    for name in store.names():
        intact(store.seen / name)


def test_two_finishes_at_once(store: Store, cut_off: Path) -> None:
    store.take(cut_off, cut_off.name)
    running = [store.start(*FINISH), store.start(*FINISH)]
    said = [worded(one.end(), 2, 3) for one in running]
    assert sorted(one.status for one in said) == [2, 3]
    [name] = store.names()
    assert statuses(store.seen / name)["n1"] == "reached"
    intact(store.seen / name)


@pytest.mark.whole
def test_two_finishes_at_once_of_two(store: Store, cut_off: Path) -> None:
    """Each takes one: what the other is at work on is not the latest that was cut off."""
    names = [MINUTE.format(number) for number in (1, 2)]
    store.take(cut_off, *(f"{name}.unfinished" for name in names))
    first = store.start(*FINISH)
    facts = store.seen / f"{names[1]}.unfinished/facts"
    assert first.until(facts.is_dir), str(first.end())
    second = store.start(*FINISH)
    assert [worded(one.end(), 3).made() for one in (first, second)] == [
        [names[1]],
        [names[0]],
    ]
    assert store.names() == names


def test_a_check_whose_snapshot_is_pruned(store: Store, whole: Path) -> None:
    """Stopped when it has started the process that runs the rules."""
    store.take(whole, whole.name)
    checking = store.start("check", "--select", "pcie-link-narrow")
    below = Path(f"/proc/{checking.process.pid}/task/{checking.process.pid}/children")
    assert checking.until(lambda: below.read_text() != ""), str(checking.end())
    both = [checking.process.pid, *(int(word) for word in below.read_text().split())]
    for pid in both:
        os.kill(pid, signal.SIGSTOP)
    worded(store.run("store", "prune", "--keep", "0", "--yes"), 0)
    for pid in both:
        os.kill(pid, signal.SIGCONT)
    worded(checking.end(), 2)


FILL = ("collect", "--via", "local", "--fan-out", "1", "--fill", MINUTE.format(1), *PROBES)


def test_a_fill_does_not_show_its_parts(store: Store, with_gaps: Path) -> None:
    """What it reads for the gaps alone is no snapshot of the fleet, and never the latest.

    A prune that keeps the latest would keep that one, and delete what it is to be merged with.
    """
    old = MINUTE.format(1)
    store.take(with_gaps, old)
    filling = store.start(*FILL)
    seen: set[str] = set()
    pruned: list[Said] = []
    while filling.process.poll() is None:
        seen |= set(store.snapshots())
        if len(seen) == 2 and not pruned:
            filling.signal(signal.SIGSTOP)
            pruned.append(store.run("store", "prune", "--keep", "1", "--yes"))
            filling.signal(signal.SIGCONT)
        time.sleep(0.005)
    said = worded(filling.end(), 0)
    latest = store.snapshots()[-1]
    assert set(statuses(store.seen / latest)) == {"n1", "n2", "n3"}
    assert seen <= {old, *said.made()}


@pytest.mark.parametrize("how", ["killed", "interrupted", "disk full"])
@pytest.mark.one_in(3)
def test_a_fill_that_is_cut_off_spoils_nothing(disk: Store, with_gaps: Path, how: str) -> None:
    """Interrupted it keeps what had arrived; killed, the next one reads those hosts again."""
    old = MINUTE.format(1)
    disk.take(with_gaps, old)
    filling = disk.start(*FILL, free=1)
    spools = "target-*.ndjson"
    there = filling.until(lambda: any("reached" in f.read_text() for f in disk.seen.rglob(spools)))
    assert there, str(filling.end())
    if how == "disk full":
        filling.signal(signal.SIGSTOP)
        fill(disk)
        disk.go()
        filling.signal(signal.SIGCONT)
    else:
        filling.signal(signal.SIGKILL if how == "killed" else signal.SIGINT)
    said = worded(
        filling.end(), {"killed": -signal.SIGKILL, "interrupted": 130, "disk full": 2}[how]
    )
    disk.place.resize(disk.folder, DISK)
    if how == "interrupted":
        [new] = said.made()
        assert statuses(disk.seen / new) == {
            "n1": "reached",
            "n2": "reached",
            "n3": "interrupted",
        }
    else:
        assert disk.snapshots() == [old]
        disk.go()
        [new] = worded(disk.run(*FILL), 0).made()
        assert set(statuses(disk.seen / new).values()) == {"reached"}
    intact(disk.seen / old)
    intact(disk.seen / new)
    worded(disk.run("store", "prune", "--keep", "2", "--yes"), 0)
    assert disk.names() == [old, new], "nothing is left out of sight"


# Programs: the same calls as the verbs make, thousands of times, to meet in the smallest gaps.
LOOK = """
import sys
from pathlib import Path
from railwright.store.locks import holder
[folder] = Path(sys.argv[1], "store").glob("*.unfinished")
until = Path(sys.argv[1], "go")
Path(sys.argv[1], sys.argv[2]).touch()
while not until.exists():
    found = holder(folder)
    if found is not None and (found.pid < 2 or sys.argv[3] == "nobody"):
        print("it says:", found.words())
        break
"""
TAKE = """
import sys
from pathlib import Path
from railwright.store.locks import Lock
[folder] = Path(sys.argv[1], "store").glob("*.unfinished")
while not Path(sys.argv[1], "there").exists():
    pass
for number in range(20000):
    Lock(folder).release()
"""


def test_looking_never_keeps_others_from_finishing(store: Store, cut_off: Path) -> None:
    """`store list` looks whether somebody holds it; that is no reason to refuse a finish."""
    store.take(cut_off, cut_off.name)
    looking, taking = store.program(LOOK, "there", "somebody"), store.program(TAKE)
    taken = taking.end()
    store.go()
    assert (taken.text[-1000:], looking.end().text) == ("", "")


@pytest.mark.whole
def test_two_who_look_do_not_take_each_other_for_a_writer(store: Store, cut_off: Path) -> None:
    store.take(cut_off, cut_off.name)
    looking = [store.program(LOOK, f"there-{number}", "nobody") for number in range(2)]
    for number, running in enumerate(looking):
        assert running.until((store.folder / f"there-{number}").exists), str(running.end())
    time.sleep(1.5)
    store.go()
    assert [running.end().text for running in looking] == ["", ""]


MAKE = """
while not Path(sys.argv[1], "there").exists():
    pass
for number in range(400):
    made = Building(Path(sys.argv[1], "store"), {"started": 1.7e9, "via": "test"}, {"a": ""})
    made.close()
    made.lock.release()
"""
PRUNE = """
import sys
from pathlib import Path
from railwright.errors import SnapshotError
from railwright.store.locks import holder
from railwright.store.remove import remove, remove_remains
from railwright.store.snapshot import unfinished
store, until = Path(sys.argv[1], "store"), Path(sys.argv[1], "go")
Path(sys.argv[1], "there").touch()
while not until.exists():
    remove_remains(store)
    for path in unfinished(store):
        if holder(path) is None:
            try:
                remove(path)
            except SnapshotError:
                pass
"""


def test_a_prune_never_ends_a_collect_that_begins(store: Store) -> None:
    """Between the making of its folder and the lock in it."""
    pruning, making = store.program(PRUNE), store.program(BUILD + MAKE)
    made = making.end()
    store.go()
    assert pruning.end().text[-1000:] == ""
    assert made.text[-1000:] == ""


LIST_AGAIN = """
import io, sys
from pathlib import Path
from rich.console import Console
from railwright.report.stored import print_stored
until = Path(sys.argv[1], "go")
Path(sys.argv[1], "there").touch()
while not until.exists():
    printed = io.StringIO()
    print_stored(Console(file=printed, width=1000), Path(sys.argv[1], "store"))
    damaged = [line for line in printed.getvalue().splitlines() if "damaged" in line]
    if damaged:
        print(damaged[0])
        break
"""


def test_a_list_beside_a_prune_neither_fails_nor_calls_anything_damaged(
    store: Store, whole: Path
) -> None:
    store.take(whole, *(MINUTE.format(number) for number in range(60)))
    listing = store.program(LIST_AGAIN)
    assert listing.until((store.folder / "there").exists), str(listing.end())
    worded(store.run("store", "prune", "--keep", "0", "--yes"), 0)
    store.go()
    assert listing.end().text[-1000:] == ""


def test_a_name_is_that_snapshot_and_not_one_that_begins_alike(store: Store, whole: Path) -> None:
    """Two of one minute: the second is called as the first, with a number behind it.

    `merge A A-2` would merge the second with itself, `check A` judge another than was asked for.
    """
    names = [MINUTE.format(1), f"{MINUTE.format(1)}-2", f"{MINUTE.format(1)}-12"]
    store.take(whole, *names)
    assert [find(store.seen, name).name for name in names] == names
    assert worded(store.run("store", "verify", names[0]), 0).text.split()[0] == names[0]


def test_the_one_that_is_named_is_finished(store: Store, cut_off: Path) -> None:
    store.take(cut_off, *(f"{MINUTE.format(1)}{more}.unfinished" for more in ("", "-2", "-3")))
    said = worded(store.run(*FINISH, MINUTE.format(1)), 3)
    assert said.made() == [MINUTE.format(1)]


# ---- another user ---------------------------------------------------------------------------

WAIVE = (
    "waive",
    "pcie-link-narrow",
    "n1",
    "--reason",
    "r",
    "--owner",
    "o",
    "--expires",
    "2099-01-01",
)
VERBS: dict[str, tuple[str, ...]] = {
    "collect": COLLECT,
    "finish": FINISH,
    "prune": PRUNE_ALL,
    "merge": ("merge", "2026"),
    "waive": WAIVE,
    "check": ("check", "--select", "pcie-link-narrow"),
    "list": LIST,
    "verify": ("store", "verify"),
}
WRITING = ("collect", "finish", "prune", "merge", "waive")


def furnish(store: Store, whole: Path, cut_off: Path) -> list[str]:
    """A snapshot, a cut-off one and waivers; gives their names."""
    store.take(whole, whole.name)
    store.take(cut_off, cut_off.name)
    (store.seen / "waivers.toml").write_text("")
    os.chown(store.seen / "waivers.toml", USER, USER)
    return sorted([whole.name, cut_off.name, "waivers.toml"])


def refused(store: Store, verbs: Sequence[str], words: str) -> None:
    """Each of these verbs: exit status 2, and it says these words."""
    said = store.run_all(VERBS[verb] for verb in verbs)
    assert [str(one) for one in said if one.status != 2 or one.unworded()] == []
    assert [str(one) for one in said if words not in one.text] == []
    _unworded.extend(one.fault() for one in said if one.fault())


def test_a_store_of_another_user_is_refused(store: Store, whole: Path, cut_off: Path) -> None:
    names = furnish(store, whole, cut_off)
    subprocess.run(["chown", "-R", "root:root", store.seen], check=True)
    store.seen.chmod(0o700)
    refused(store, list(VERBS), str(store.path))
    assert store.names() == names


def test_a_store_in_a_closed_folder_is_refused(store: Store) -> None:
    os.chown(store.folder, 0, 0)
    store.folder.chmod(0o700)
    refused(store, list(VERBS), str(store.path))
    assert os.listdir(store.folder) == []


def test_a_store_of_another_user_that_is_open_can_be_looked_at(
    store: Store, whole: Path, cut_off: Path
) -> None:
    names = furnish(store, whole, cut_off)
    subprocess.run(["chown", "-R", "root:root", store.seen], check=True)
    for path in (store.seen, store.seen / whole.name, store.seen / cut_off.name):
        path.chmod(0o755)
    worded(store.run(*LIST), 0)
    refused(store, WRITING, str(store.path))
    assert store.names() == names


# ---- disks ----------------------------------------------------------------------------------


def is_sealed(file: Path) -> bool:
    try:
        return not file.stat().st_mode & 0o200
    except FileNotFoundError:  # it has got another name
        return False


FILLING: dict[str, Callable[[Store], bool]] = {
    "while the folder is made": lambda store: store.seen.is_dir(),
    "while hosts answer": lambda store: len(store.arrived()) == 1,
    "while parts are made": lambda store: any(store.seen.glob("*/parts/*/*")),
    "while it is sealed": lambda store: any(map(is_sealed, store.seen.glob("*/facts/*.parquet"))),
}


@pytest.mark.parametrize("moment", FILLING)
@pytest.mark.one_in(3)
def test_a_disk_that_is_full_is_words_and_what_had_arrived_is_kept(
    disk: Store, moment: str
) -> None:
    running = disk.collect("n[1-3]", bytes=60_000, seconds=0.1)
    assert running.until(lambda: FILLING[moment](disk)), str(running.end())
    running.signal(signal.SIGSTOP)
    fill(disk)
    had = disk.arrived()
    running.signal(signal.SIGCONT)
    assert "No space left" in worded(running.end(), 2).text
    if moment == "while hosts answer":
        assert "No space left" in worded(disk.run(*FINISH), 2).text
    disk.place.resize(disk.folder, DISK)
    finished = worded(disk.run(*FINISH), *((3,) if had else (2, 3)))
    if finished.status == 3:
        [name] = disk.names()
        status = statuses(disk.seen / name)
        assert len(status) == 3
        assert {host for host, what in status.items() if what == "reached"} >= had
        intact(disk.seen / name)


def test_a_disk_that_fills_beside_the_process_that_makes_parts(disk: Store) -> None:
    """Large answers: parts are made beside the collector while hosts still answer."""
    running = disk.collect("n[1-2]", bytes=2_700_000, free=1)
    seen = running.until(lambda: any(disk.seen.glob("*/parts/*/*.ndjson")))
    assert seen, str(running.end())
    running.signal(signal.SIGSTOP)
    fill(disk)
    had = disk.arrived()
    running.signal(signal.SIGCONT)
    said = running.end()
    disk.place.resize(disk.folder, DISK)
    worded(disk.run(*FINISH), 3)
    [name] = disk.names()
    status = statuses(disk.seen / name)
    assert {host for host, what in status.items() if what == "reached"} >= had
    intact(disk.seen / name)
    assert "No space left" in worded(said, 2).text
    assert "store finish" in said.text


def test_a_full_disk_can_be_pruned(disk: Store, whole: Path, cut_off: Path) -> None:
    """That is when somebody wants to: also what has no lock yet, and one that is empty."""
    names = [MINUTE.format(number) for number in range(4)]
    disk.take(whole, names[0])
    disk.take(cut_off, *(f"{name}.unfinished" for name in names[1:]))
    (disk.seen / f"{names[1]}.unfinished/lock").unlink()
    (disk.seen / f"{names[2]}.unfinished/lock").write_bytes(b"")
    fill(disk)
    worded(disk.run(*LIST), 0)
    worded(disk.run("store", "prune", "--keep", "1", "--unfinished", "--yes"), 0)
    assert disk.names() == names[:1]
    worded(disk.run("store", "prune", "--keep", "0", "--yes"), 0)
    assert disk.names() == []


def test_a_merge_on_a_full_disk_does_not_send_anybody_to_finish_it(
    disk: Store, whole: Path
) -> None:
    """`store finish` refuses a merge: its sources are there, it can be made again."""
    disk.take(whole, MINUTE.format(1), MINUTE.format(2))
    fill(disk)
    said = worded(disk.run("merge", MINUTE.format(1), MINUTE.format(2)), 2)
    assert "No space left" in said.text
    assert "store finish" not in said.text
    for name in disk.snapshots():
        intact(disk.seen / name)


def test_a_disk_that_cannot_be_written(disk: Store, whole: Path, cut_off: Path) -> None:
    names = furnish(disk, whole, cut_off)
    disk.place.root("mount", "-o", "remount,ro", str(disk.folder))
    try:
        worded(disk.run(*LIST), 0)
        worded(disk.run("store", "verify"), 0)
        refused(disk, WRITING, "Read-only file system")
    finally:
        disk.place.root("mount", "-o", "remount,rw", str(disk.folder))
    assert disk.names() == names


# ---- paths and links ------------------------------------------------------------------------

ODD = {
    "bracket": "a[1]",
    "star": "a*",
    "blanks, quotes, a newline": ' it\'s "so"\nand so ',
    "not UTF-8": os.fsdecode(b"a\xff\xfe"),
    "escape code": "a\x1b[2J",
    "long name": "a" * 300,
    "long path": "/".join(["a" * 200] * 25),
    "a file": "file",
}


def test_a_store_with_an_odd_path_works_or_is_refused_in_words(store: Store) -> None:
    (store.folder / "file").touch()
    paths = [str(store.folder / name) for name in ODD.values()]
    said = store.run_all((*words, "--store", path) for path in paths for words in (COLLECT, LIST))
    odd = store.folder / ODD["blanks, quotes, a newline"]
    assert len(os.listdir(odd)) == 1
    said.append(store.run(*PRUNE_ALL, "--store", str(odd)))
    assert os.listdir(odd) == []
    assert [str(one) for one in said if "\x1b" in one.text] == []
    assert [str(one) for one in said if one.status not in (0, 2) or one.unworded()] == []
    _unworded.extend(one.fault() for one in said if one.fault())


def test_links_are_pruned_and_not_what_they_point_to(store: Store, whole: Path) -> None:
    outside = store.folder / "elsewhere"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    subprocess.run(["cp", "-a", whole, outside / "snapshot"], check=True)
    (outside / "snapshot" / "run.json.mine").write_text("kept")
    subprocess.run(["chown", "-R", f"{USER}", outside], check=True)
    before = sorted(outside.rglob("*"))
    store.take(whole, MINUTE.format(9))
    for number, to in enumerate((outside, outside / "snapshot")):
        (store.seen / MINUTE.format(number)).symlink_to(to)
        (store.seen / f"{MINUTE.format(number)}-2.unfinished").symlink_to(to)
    worded(store.run(*LIST), 0)
    worded(store.run(*FINISH), 2)
    assert sorted(outside.rglob("*")) == before
    worded(store.run("store", "prune", "--keep", "1", "--unfinished", "--yes"), 0)
    assert store.names() == [MINUTE.format(9)]
    assert sorted(outside.rglob("*")) == before
    assert (outside / "precious").read_text() == "kept"


def test_a_link_that_leads_nowhere_takes_its_name(store: Store, whole: Path) -> None:
    """A collect gets another one: it could not be given that name at its end."""
    store.take(whole, MINUTE.format(1))
    now = time.time()
    name = time.strftime("%Y-%m-%dT%H%MZ", time.gmtime(now))
    (store.seen / name).symlink_to("nowhere")
    assert reserve(store.seen, now).name.endswith("Z-2.unfinished")


def test_what_a_killed_prune_left_goes_with_the_next(store: Store, whole: Path) -> None:
    names = [MINUTE.format(number) for number in range(40)]
    store.take(whole, *names)
    pruning = store.start("store", "prune", "--keep", "2", "--yes")
    assert pruning.until(lambda: any(store.seen.glob(".removing-*"))), str(pruning.end())
    pruning.signal(signal.SIGSTOP)
    pruning.signal(signal.SIGKILL)
    pruning.end()
    if not any(store.seen.glob(".removing-*")):  # killed between two: as it might have been
        shutil.move(store.seen / names[-3], store.seen / f".removing-{names[-3]}-1")
    left = {name for name in store.names() if name in names}
    assert set(names[-2:]) <= left
    worded(store.run("store", "prune", "--keep", "1000"), 0)  # only shows
    assert any(store.seen.glob(".removing-*"))
    worded(store.run("store", "prune", "--keep", "1000", "--yes"), 0)
    assert set(store.names()) == left
    for name in left:
        intact(store.seen / name)


def test_leftovers_that_are_links_or_files_go_too(store: Store, whole: Path) -> None:
    store.take(whole, MINUTE.format(1))
    outside = store.folder / "precious"
    outside.mkdir()
    (store.seen / ".removing-link-1").symlink_to(outside)
    (store.seen / ".removing-file-1").write_text("")
    worded(store.run("store", "prune", "--keep", "1", "--yes"), 0)
    assert store.names() == [MINUTE.format(1)]
    assert outside.is_dir()


# ---- at random ------------------------------------------------------------------------------


def test_some_interleavings(where: Place) -> None:
    """`python -m bench.store_sessions` runs two hundred, and longer ones."""
    wrong = [words for ledger in interleavings(where, 8, SEED, 2) for words in ledger.wrong]
    assert wrong == [], "\n".join(wrong)
