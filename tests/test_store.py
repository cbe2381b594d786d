"""The snapshot store: complete or not there, filled, merged, pruned."""

import json
import multiprocessing
import random
import subprocess
import sys
import time
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from test_frames import frame, payload

from railwright.collect.importing import import_files
from railwright.errors import SnapshotError, UsageError
from railwright.model import merge
from railwright.model.finish import finish
from railwright.schema.table import tables
from railwright.store import build
from railwright.store.build import Building
from railwright.store.evidence import ANSWER_STATUSES, Answer
from railwright.store.ingest import ingest
from railwright.store.lookup import find
from railwright.store.reader import Reader
from railwright.store.snapshot import Snapshot, load, reserve, snapshots, unfinished

NETDEV = (
    b"L 20 /sys/class/net/eth0\n../../devices/x/eth0\n"
    b"F 5 /sys/class/net/eth0/mtu\n9000\n\n"
    b"F 18 /sys/class/net/eth0/address\n02:00:00:00:00:01\n\n"
)


def without_digests(path: Path, **said: object) -> None:
    """run.json as versions before there were digests wrote it."""
    file = path / "run.json"
    run = {k: v for k, v in json.loads(file.read_text()).items() if k not in ("files", "digest")}
    file.chmod(0o644)
    file.write_text(json.dumps({**run, "format": 1, **said}))


def target_row(name: str, status: str = "reached", **more: object) -> dict[str, object]:
    return {"target": name, "status": status, "words": "", "started": 1.7e9, **more}


def answer(target: str, probe: str = "netdev", status: str = "ok", **more: object) -> Answer:
    fields = {"stdout": NETDEV, "started": 1.7e9, "duration_s": 0.1, **more}
    return Answer(target, probe, "", status, **fields)


def building(store: Path, names: dict[str, str], **run: object) -> Building:
    return Building(store, {"started": time.time(), "via": "test", **run}, names)


def snapshot_of(
    store: Path, answers: list[Answer], names: dict[str, str], **status: str
) -> Snapshot:
    made = building(store, names)
    for one in answers:
        made.add_answer(one)
    for name in names:
        if status.get(name) != "never":
            made.add_target(target_row(name, status.get(name, "reached")))
    made.close()
    return finish(made.folder)


def rows(snapshot: Snapshot, query: str) -> list[tuple[object, ...]]:
    with snapshot.database(evidence=True) as database:
        return database.execute(query).fetchall()


def test_a_snapshot_is_sealed_and_holds_every_table(tmp_path: Path) -> None:
    made = snapshot_of(tmp_path / "s", [answer("a")], {"a": "", "b": "Slurm: drained"}, b="refused")
    assert {p.stem for p in (made.path / "facts").iterdir()} == set(tables())
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700
    assert {oct(p.stat().st_mode & 0o777) for p in made.path.rglob("*") if p.is_file()} == {"0o444"}
    assert rows(made, "SELECT target, name, mtu FROM netdev") == [("a", "eth0", 9000)]
    assert rows(made, "SELECT target, status, out_of_service FROM target ORDER BY 1") == [
        ("a", "reached", ""),
        ("b", "refused", "Slurm: drained"),
    ]
    run = json.loads((made.path / "run.json").read_text())
    assert run["targets"] == {
        "reached": {"count": 1, "targets": "a"},
        "refused (out of service)": {"count": 1, "targets": "b"},
    }
    assert not [p for p in made.path.iterdir() if p.name not in ("run.json", "facts", "evidence")]


def test_the_evidence_is_byte_exact(tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000 + b"\r\r\n\0"
    one = answer("a", "dmesg", stdout=data, stderr=b"\xff\xfe", argv=["x", "'\"\n"], exit_code=3)
    made = snapshot_of(tmp_path, [one], {"a": ""})
    assert rows(made, "SELECT stdout, stderr, argv, exit_code, epoch(started) FROM evidence") == [
        (data, b"\xff\xfe", ["x", "'\"\n"], 3, 1.7e9)
    ]


@pytest.mark.parametrize(
    "status", [s for s in ANSWER_STATUSES if s not in ("ok", "not understood")]
)
def test_only_an_ok_answer_becomes_facts(tmp_path: Path, status: str) -> None:
    made = snapshot_of(tmp_path, [answer("a", status=status, reason="why")], {"a": ""})
    assert rows(made, "SELECT count(*) FROM netdev") == [(0,)]
    assert rows(made, "SELECT status, reason FROM probe_result") == [(status, "why")]


def test_what_no_parser_knows_is_not_understood_and_stays_in_the_evidence(tmp_path: Path) -> None:
    made = snapshot_of(tmp_path, [answer("a", stdout=b"gibberish")], {"a": ""})
    [(status, reason)] = rows(made, "SELECT status, reason FROM probe_result")
    assert status == "not understood"
    assert reason
    assert rows(made, "SELECT stdout FROM evidence") == [(b"gibberish",)]


def test_a_machine_that_never_ended_is_in_the_snapshot_all_the_same(tmp_path: Path) -> None:
    names = {"a": "", "b": "", "c": ""}
    made = snapshot_of(tmp_path, [answer("a"), answer("b")], names, b="never", c="never")
    assert dict(rows(made, "SELECT target, status FROM target")) == {
        "a": "reached",
        "b": "incomplete",
        "c": "not collected",
    }


def test_no_machine_at_all_is_still_a_snapshot(tmp_path: Path) -> None:
    made = snapshot_of(tmp_path, [], {"a": ""}, a="silent")
    assert rows(made, "SELECT status FROM target") == [("silent",)]
    assert rows(made, "SELECT count(*) FROM evidence") == [(0,)]


def test_names_dates_paths_and_the_latest(tmp_path: Path) -> None:
    first = snapshot_of(tmp_path, [], {"a": ""})
    second = snapshot_of(tmp_path, [], {"a": ""})
    assert first.name != second.name
    assert find(tmp_path, None).name == second.name
    assert find(tmp_path, first.name).name in (first.name, second.name)
    assert find(tmp_path, str(first.path)).path == first.path
    with pytest.raises(SnapshotError, match="unknown snapshot '1999'"):
        find(tmp_path, "1999")
    with pytest.raises(SnapshotError, match="no snapshot in"):
        find(tmp_path / "nowhere", None)


def test_the_eleventh_of_one_minute_is_later_than_the_second(tmp_path: Path) -> None:
    for _ in range(11):
        reserved = reserve(tmp_path, 1.7e9)
        reserved.rename(reserved.with_name(reserved.name.removesuffix(".unfinished")))
    assert snapshots(tmp_path)[-1].name.endswith("Z-11")
    assert snapshots(tmp_path)[0].name.endswith("Z")


def test_a_damaged_snapshot_says_what_is_wrong(tmp_path: Path) -> None:
    made = snapshot_of(tmp_path, [], {"a": ""})
    file = made.path / "facts/netdev.parquet"
    whole = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(whole[:100])
    with pytest.raises(SnapshotError, match=r"netdev.parquet was changed after it was written"):
        load(made.path).database(evidence=True)
    file.unlink()
    with pytest.raises(SnapshotError, match=r"facts/netdev.parquet is missing"):
        load(made.path).database(evidence=True)
    (made.path / "run.json").chmod(0o644)
    (made.path / "run.json").write_text("{")
    with pytest.raises(SnapshotError, match="cannot be read"):
        load(made.path)
    (made.path / "run.json").write_text('{"format": 99}')
    with pytest.raises(SnapshotError, match="format that this version cannot read"):
        load(made.path)


BIG = """
import os, sys
from pathlib import Path
from railwright.store import build
from railwright.store.evidence import Answer
from railwright.store.ingest import ingest
made = build.Building(Path(sys.argv[1]), {"started": 1.0, "via": "test"}, {"a": ""})
count = 0
while (spool := made.full_spool()) is None:
    size = 8 << 20 if count % 40 == 7 else 400_000
    text = os.urandom(2000) * (size // 2000)  # packs to a hundredth, as config space does
    made.add_answer(Answer("a", "dmesg", str(count), "ok", stdout=text))
    count += 1
assert count > 100
ingest(made.folder, spool)
# Not ru_maxrss: a child starts with its parent's, and that is pytest's.
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) // 1024)
"""


def test_a_full_spool_of_large_answers_is_ingested_in_bounded_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BIG, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 260  # MB; the collector beside it takes 60


# ---- merge and fill -------------------------------------------------------------------------


def all_facts(snapshot: Snapshot) -> dict[str, list[tuple[object, ...]]]:
    with snapshot.database(evidence=True) as database:
        return {
            table: database.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in tables()
        }


def test_shards_merged_are_the_whole(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(8)]
    answers = [answer(name) for name in names] + [answer(names[0], "dmesg", "denied")]
    whole = snapshot_of(tmp_path / "w", answers, dict.fromkeys(names, ""), n7="refused")
    shards = [
        snapshot_of(
            tmp_path / f"s{k}",
            [a for a in answers if a.target in names[k::4]],
            dict.fromkeys(names[k::4], ""),
            n7="refused",
        )
        for k in range(4)
    ]
    merged = merge.merge(tmp_path / "m", shards, {})
    assert all_facts(merged) == all_facts(whole)
    assert rows(merged, "SELECT count(*) FROM evidence") == [(len(answers),)]


def test_filling_takes_the_better_answer_and_keeps_each_row_s_own_time(tmp_path: Path) -> None:
    old = snapshot_of(
        tmp_path,
        [answer("a", started=100.0), answer("b", status="timeout", started=100.0)],
        {"a": "", "b": "", "c": "Slurm: drained"},
        c="refused",
    )
    assert merge.gaps(old, ["netdev", "pci"], ["d"]) == {
        ("netdev", "pci"): ["c", "d"],
        ("netdev",): ["b"],
    }
    new = snapshot_of(tmp_path, [answer("b", started=200.0)], {"b": ""})
    filled = merge.merge(tmp_path, [old, new], {"filled_from": old.name})
    assert rows(filled, "SELECT target, epoch(read_at) FROM netdev ORDER BY 1") == [
        ("a", 100.0),
        ("b", 200.0),
    ]
    assert rows(filled, "SELECT target, status, out_of_service FROM target ORDER BY 1") == [
        ("a", "reached", ""),
        ("b", "reached", ""),
        ("c", "refused", "Slurm: drained"),
    ]
    worse = snapshot_of(
        tmp_path, [answer("b", status="timeout", started=300.0)], {"b": ""}, b="silent"
    )
    again = merge.merge(tmp_path, [filled, worse], {})
    assert rows(again, "SELECT status FROM target WHERE target = 'b'") == [("reached",)]
    assert rows(again, "SELECT epoch(read_at) FROM netdev WHERE target = 'b'") == [(200.0,)]


def test_evidence_of_another_version_is_parsed_again(tmp_path: Path) -> None:
    old = snapshot_of(tmp_path, [answer("a")], {"a": ""})
    without_digests(old.path, revisions={})
    facts = old.path / "facts/netdev.parquet"
    facts.chmod(0o644)
    facts.write_bytes((old.path / "facts/gid.parquet").read_bytes())  # as an old parser left it
    merged = merge.merge(tmp_path, [load(old.path)], {})
    assert rows(merged, "SELECT name, mtu FROM netdev") == [("eth0", 9000)]


# ---- import ---------------------------------------------------------------------------------


def test_importing_what_is_no_answer_is_a_row_too(tmp_path: Path) -> None:
    (tmp_path / "gpu1.rw").write_bytes(b"hello\n" * 10)
    (tmp_path / "gpu2.rw").write_bytes(b"")
    (tmp_path / "gpu3.rw").write_bytes(
        frame(0, ".hello", payload()) + frame(1, ".end", payload(extra=b',"frames":1'))
    )
    names = ["gpu1", "gpu2", "gpu3"]
    made = import_files([tmp_path / f"{name}.rw" for name in names], tmp_path / "s")
    assert rows(made, "SELECT target, status FROM target ORDER BY 1") == [
        ("gpu1", "failed"),
        ("gpu2", "failed"),
        ("gpu3", "reached"),
    ]
    with pytest.raises(UsageError, match="not the runner's output"):  # with nothing else in it
        import_files([tmp_path / "gpu1.rw", tmp_path / "gpu2.rw"], tmp_path / "s")
    with pytest.raises(UsageError, match="two files for one host"):
        import_files([tmp_path / "gpu1.rw", tmp_path / "x" / "gpu1.rw"], tmp_path / "s")


# ---- kill -9 --------------------------------------------------------------------------------

HOSTS = 16
STEPS = HOSTS + 2  # that the writer tells of


def _write(store: Path, told: Connection) -> None:
    """The writer, in a process of its own."""
    build.SPOOL_BYTES = build.LARGEST_SPOOL = 2000
    names = {f"n{number}": "" for number in range(HOSTS)}
    made = building(store, names)
    told.send("begun")
    for name in names:
        told.send("host")
        for probe in ("netdev", "dmesg"):
            made.add_answer(answer(name, probe))
        made.add_target(target_row(name))
        spool = made.full_spool()
        if spool:
            ingest(made.folder, spool)
    made.close()
    told.send("closed")
    finish(made.folder)


def _write_and_kill(store: Path, step: int, after: float) -> None:
    """Kill it some seconds after one of its steps: moments by progress, whatever the machine."""
    forked = multiprocessing.get_context("forkserver")
    forked.set_forkserver_preload([__name__])  # a fresh Python each time would take half of it
    here, there = forked.Pipe(duplex=False)
    process = forked.Process(target=_write, args=(store, there))
    process.start()
    there.close()
    for _ in range(step):
        here.recv()
    time.sleep(after)
    process.kill()
    process.join()
    here.close()


def _facts(snapshot: Snapshot, query: str) -> list[tuple[object, ...]]:
    """Of the tables that the query names: to open all takes long, a hundred times."""
    with closing(Reader(snapshot)) as reader:
        return reader.rows(query, [])


def _check_after_kill(store: Path) -> str:
    """Whatever is there is whole, or says what it lacks. Gives what was found."""
    for path in snapshots(store):
        made = load(path)
        assert _facts(made, "SELECT DISTINCT status FROM target") == [("reached",)]
        assert _facts(made, "SELECT count(*) FROM netdev") == [(HOSTS,)]
        return "whole"
    [cut] = unfinished(store)
    with pytest.raises(SnapshotError, match="is unfinished"):
        load(cut)
    made = finish(cut)
    status = dict(_facts(made, "SELECT target, status FROM target"))
    assert len(status) == HOSTS, "a host vanished"
    reached = {name for name, what in status.items() if what == "reached"}
    with_facts = {name for (name,) in _facts(made, "SELECT target FROM netdev")}
    assert reached <= with_facts, "reached, but its facts are gone"
    assert _facts(made, "SELECT count(*) - count(DISTINCT target) FROM netdev") == [(0,)]
    assert not unfinished(store)
    return "cut"


def test_kill_9_at_random_moments_while_writing(tmp_path: Path) -> None:
    """20 moments: no snapshot, or one that says what it lacks. More in bench/store_sessions.py."""
    generator = random.Random(time.time_ns())
    found = []
    for number in range(20):
        store = tmp_path / str(number)
        if number % 2:
            _write_and_kill(store, generator.randint(1, STEPS - 1), generator.uniform(0, 0.02))
        else:
            _write_and_kill(store, STEPS, generator.uniform(0, 0.6))
        found.append(_check_after_kill(store))
    assert found.count("cut") >= 10, "the kills did not come while it was writing"


def test_cut_off_between_the_last_word_and_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Building(tmp_path, {"started": 1.7e9, "via": "test"}, {"n1": ""})
    made.add_answer(Answer("n1", "netdev", "", "ok", stdout=NETDEV, started=1.7e9))
    made.add_target(target_row("n1"))
    made.close()

    def end(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("railwright.store.build.shutil.rmtree", end)
    with pytest.raises(KeyboardInterrupt):
        finish(made.folder)
    monkeypatch.undo()
    again = finish(made.folder)
    assert rows(again, "SELECT status FROM target") == [("reached",)]
    assert rows(again, "SELECT count(*) FROM netdev") == [(1,)]


def test_a_merge_that_was_cut_off_is_not_finished_with_less(tmp_path: Path) -> None:
    cut = Building(tmp_path, {"started": 1.7e9, "merged_from": ["a", "b"]}, {})
    cut.close()
    with pytest.raises(SnapshotError, match="an unfinished merge"):
        finish(cut.folder)


def test_a_part_that_is_gone_does_not_come_back_from_an_older_answer(tmp_path: Path) -> None:
    """A host that lost a card answers with less than before, and nothing of it failed."""

    def cards(*slots: str, started: float) -> list[Answer]:
        return [
            Answer("a", "mlxconfig", slot, "ok", stdout=b"", started=started, duration_s=0.1)
            for slot in slots
        ]

    before = snapshot_of(tmp_path, cards("0000:18:00.0", "0000:29:00.0", started=100.0), {"a": ""})
    after = snapshot_of(tmp_path, cards("0000:18:00.0", started=200.0), {"a": ""})
    for sources in ([before, after], [after, before]):
        merged = merge.merge(tmp_path, sources, {})
        found = rows(merged, "SELECT instance, epoch(read_at) FROM probe_result")
        assert found == [("0000:18:00.0", 200.0)]


def test_machines_that_are_read_again_are_as_they_were_found(tmp_path: Path) -> None:
    old = snapshot_of(
        tmp_path, [answer(name, started=100.0) for name in "abc"], dict.fromkeys("abc", "")
    )
    new = snapshot_of(tmp_path, [answer("a", started=200.0)], {"a": "", "b": ""}, b="silent")
    joined = merge.merge(tmp_path, [old, new], {}, last_wins=True)
    assert rows(joined, "SELECT target, status FROM target ORDER BY 1") == [
        ("a", "reached"),
        ("b", "silent"),
        ("c", "reached"),
    ]
    assert rows(joined, "SELECT target, epoch(read_at) FROM netdev ORDER BY 1") == [
        ("a", 200.0),
        ("c", 100.0),
    ]
