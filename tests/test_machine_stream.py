"""One machine's stream: whatever its JSON says, the trouble is this machine's and can be stored."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_frames import RUN, frame

from railwright.collect.admission import admit
from railwright.collect.request import new_request
from railwright.collect.run import Collector, Tally
from railwright.collect.stream import MachineStream
from railwright.model.finish import finish_building
from railwright.parse.base import Row
from railwright.reach.job import STATUSES, Outcome
from railwright.store import ingest
from railwright.store.build import Building
from railwright.store.evidence import ANSWER_STATUSES, Answer

PROBES = frozenset({"lscpu", "pci", "lldpctl"})
KNOWN = {*STATUSES, "reached", "incomplete"}

# Any JSON that a host can write, numbers of 400 digits and halves of pairs among it.
TEXTS = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["\ud800", "\udfffx", "\x00", "\x1b[2J"]
)
NUMBERS = st.integers() | st.integers(10**300, 10**400) | st.floats() | st.just(-(10**400))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
HELLO = st.dictionaries(
    st.sampled_from(["hostname", "time", "planned", "uptime", "os", "kernel", "root", "machine",
                     "root_reason", "boot_id", "python"]), JSON)  # fmt: skip
ANSWER = st.dictionaries(
    st.sampled_from(["instance", "status", "reason", "argv", "exit_code", "started", "duration",
                     "truncated", "dropped", "probe"]), JSON)  # fmt: skip
END = st.dictionaries(st.sampled_from(["frames", "root_runner", "seconds"]), JSON)


def said(fields: dict[str, Any], stdout: bytes = b"") -> bytes:
    head = json.dumps({**fields, "stdout": len(stdout), "stderr": 0}).encode("ascii")
    return head + b"\n" + stdout


def storable(row: dict[str, Any]) -> None:
    """What DuckDB can read back: valid text, numbers of the columns' sizes, no NaN."""
    text = json.dumps(row, allow_nan=False)
    for value in json.loads(text).values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str):
                one.encode("utf-8")
                assert "\x00" not in one
            elif isinstance(one, (int, float)):
                assert abs(one) < 2**63


@settings(max_examples=120, deadline=None)
@given(HELLO, st.lists(st.tuples(st.sampled_from(sorted(PROBES)), ANSWER), max_size=4), END)
def test_any_json_in_any_field(
    hello: dict[str, Any], answers: list[tuple[str, dict[str, Any]]], end: dict[str, Any]
) -> None:
    stream = MachineStream("gpu1", RUN, PROBES, PROBES)
    data = frame(0, ".hello", said(hello))
    for number, (probe, fields) in enumerate(answers, 1):
        data += frame(number, probe, said(fields, b"{}"))
    data += frame(len(answers) + 1, ".end", said(end))
    found = stream.feed(data)
    found += stream.missing()
    assert stream.status("answered") in KNOWN
    assert not stream.trouble, stream.trouble
    for answer in found:
        assert answer.status in ANSWER_STATUSES
        row = {key: value for key, value in vars(answer).items() if not isinstance(value, bytes)}
        storable(row)
        answer.spool_line()
    host = stream.host_row()
    assert host is not None
    storable(host)
    storable(stream.target_row("reached", ""))
    # What was asked is answered or missing, whatever the machine had planned.
    assert {answer.probe for answer in found} == PROBES


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    stream = MachineStream("gpu1", RUN, PROBES, PROBES)
    stream.feed(data + b"\n" + data)
    assert stream.status("answered") in KNOWN
    storable(stream.target_row("failed", ""))


def test_what_raises_is_this_machine_s_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a fault of ours ends here: the next machine is read as if nothing had been."""
    make = MachineStream._answer

    def faulty(self: MachineStream, frame: Any) -> Answer | None:
        if self.target == "evil":
            raise ZeroDivisionError
        return make(self, frame)

    monkeypatch.setattr(MachineStream, "_answer", faulty)
    building = Building(tmp_path, {"started": 1.0, "probes": ["lscpu"]}, {"evil": "", "good": ""})
    request = new_request([], 10)
    collector = Collector(building, request, Tally(2))
    collector._probes = PROBES
    for target in ("evil", "good"):
        collector.started(target)
        data = frame(0, ".hello", said({"hostname": target}), run=request.run)
        data += frame(1, "lscpu", said({"instance": "", "status": "ok"}, b"{}"), run=request.run)
        data += frame(2, ".end", said({"frames": 2}), run=request.run)
        assert collector.received(target, data) is False, "it may hang up"
        collector.ended(Outcome(target, "answered", "", 0, 1.0, 1.0, 100))
    snapshot = finish_building(building)
    with snapshot.database() as database:
        rows = database.execute("SELECT target, status FROM target ORDER BY 1").fetchall()
    assert rows == [("evil", "damaged"), ("good", "reached")]


def test_two_that_speak_in_one_name_are_not_believed() -> None:
    """Through Slurm all nodes of a step share a run id: a second greeting is another node's."""
    stream = MachineStream("gpu1", RUN, PROBES, PROBES)
    stream.feed(frame(0, ".hello", said({"hostname": "gpu1"})))
    stream.feed(frame(0, ".hello", said({"hostname": "gpu2"})))
    assert stream.status("answered") == "damaged"
    assert "two runners" in str(stream.target_row("damaged", "")["words"])


def test_a_line_that_is_damaged_in_the_spool_is_said(tmp_path: Path) -> None:
    """A disk that lost a block: the answers around it are kept, and the snapshot is not whole."""
    building = Building(tmp_path, {"started": 1.0, "probes": ["lscpu"]}, {"gpu1": ""})
    for number in range(3):
        building.add_answer(Answer("gpu1", "lscpu", str(number), "absent", started=1.0))
    building.close()
    (spool,) = (building.folder / "spool").glob("part-*.ndjson")
    lines = spool.read_text().splitlines(keepends=True)
    spool.write_text(lines[0] + lines[1][:30] + "\0" * 20 + "\n" + lines[2] + lines[2][:10])
    snapshot = finish_building(building)
    assert snapshot.run["answers_lost"] == 1, "the torn last line is no damage"
    with snapshot.database() as database:
        found = database.execute("SELECT instance FROM probe_result ORDER BY 1").fetchall()
    assert found == [("0",), ("2",)]


def test_what_a_table_cannot_take_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser that gives a number beyond the column: that answer is named, the others are there."""

    def parse(stdout: bytes, _instance: str) -> list[Row]:
        return [Row("cpu", {"sockets": 10**30 if stdout == b"evil" else 2})]

    monkeypatch.setattr(ingest, "_parser", lambda _probe: parse)
    building = Building(tmp_path, {"started": 1.0, "probes": ["lscpu"]}, {"gpu1": "", "gpu2": ""})
    for target, stdout in (("gpu1", b"evil"), ("gpu2", b"good")):
        building.add_answer(Answer(target, "lscpu", "", "ok", stdout=stdout, started=1.0))
    snapshot = finish_building(building)
    with snapshot.database() as database:
        told = database.execute("SELECT target, status, reason FROM probe_result ORDER BY 1")
        assert told.fetchall() == [
            ("gpu1", "not understood", "could not be stored"), ("gpu2", "ok", "")
        ]  # fmt: skip
        assert database.execute("SELECT target, sockets FROM cpu").fetchall() == [("gpu2", 2)]


def test_the_allow_list_runs_at_the_collector_too(tmp_path: Path) -> None:
    """What an honest runner would have dropped on the host does not enter the snapshot."""
    stats = b"NIC statistics:\n     rx_packets: 5\n"
    sent = [
        Answer("gpu1", "ethtool_statistics", "eth0", "ok", stdout=stats + b"password: hunter2\n"),
        Answer("gpu1", "ethtool_statistics", "eth1", "ok", stdout=stats),
        Answer("gpu1", "mlxlink", "0", "failed", stderr=b"Permission denied\ntoken=s3cret\n"),
    ]
    building = Building(tmp_path, {"started": 1.0, "probes": []}, {"gpu1": ""})
    for answer in sent:
        building.add_answer(answer)
    snapshot = finish_building(building, {}, admit)
    with snapshot.database(evidence=True) as database:
        found = database.execute(
            "SELECT instance, stdout, stderr FROM evidence ORDER BY 1"
        ).fetchall()
    assert found == [("0", b"", b"Permission denied\n"), ("eth0", stats, b""), ("eth1", stats, b"")]
