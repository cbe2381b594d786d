"""`collect --try HOST`: the first hour on a site, in one screen."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from railwright.collect.run import Tally
from railwright.collect.session import Session, read_into
from railwright.collect.switch_run import SwitchPlan
from railwright.parse.base import Value
from railwright.reach.job import STATUSES
from railwright.store.evidence import ANSWER_STATUSES, GAPS, Answer
from railwright.store.ingest import parse_answer
from railwright.text import plain

ROOT_WORDS = {
    "root": "logged in as root",
    "runner": "sudo allows everything: root probes run under one root runner",
    "commands": "sudo allows exact commands: root probes run one by one",
    "denied": "no root",
}


_MEANING = {**STATUSES, "reached": "everything came back", "incomplete": "cut off on the way"}


@dataclass
class Memory:
    """The rows of one host, kept in memory."""

    answers: list[Answer] = field(default_factory=list)
    host: dict[str, Value] = field(default_factory=dict)
    target: dict[str, Value] = field(default_factory=dict)

    def add_answer(self, answer: Answer) -> None:
        """One answer."""
        self.answers.append(answer)

    def add_host(self, row: dict[str, Value]) -> None:
        """The host about itself."""
        self.host = row

    def add_target(self, row: dict[str, Value]) -> None:
        """How it was reached."""
        self.target = row


@dataclass(frozen=True)
class Tried:
    """What the preflight found, as lines to print."""

    ready: bool  # everything the host has could be read
    answered: bool  # something could: a collect gets that much
    lines: list[str]


def try_host(session: Session, host: str) -> Tried:
    """Read one host, store nothing, say what works and what will be unknown."""
    memory = Memory()
    read_into(session, [host], memory, lambda _tally: None)
    lines = list(_way(session, memory, host))
    ready = memory.target["status"] == "reached"
    if memory.host:
        lines += _probes(memory)
        ready = ready and not any(answer.status in GAPS for answer in memory.answers)
    return Tried(ready, bool(memory.answers), lines)


def try_switch(plan: SwitchPlan) -> Tried:
    """Read one switch, store nothing, say what works and what will be unknown."""
    memory = Memory()
    asyncio.run(plan.run(memory, Tally(1), lambda: None))
    target = memory.target
    [(name, system)] = plan.systems.items()
    status = str(target["status"])
    lines = [f"{name} as {system}: {status} ({_MEANING.get(status, '')})"]
    words = str(target["words"] or target["noise"] or "")
    lines += [f"  said         {plain(line)}" for line in words.splitlines()[:8]]
    lines.append(f"  took         {target['duration_s']} s, {target['bytes_received']} bytes")
    lines += _probes(memory) if memory.answers else []
    ready = status == "reached" and not any(one.status in GAPS for one in memory.answers)
    return Tried(ready, bool(memory.answers), lines)


def _way(session: Session, memory: Memory, host: str) -> Iterator[str]:
    target = memory.target
    machine = {key: plain(str(value)) for key, value in memory.host.items()}
    status = str(target["status"])
    yield f"{host} via {session.via}: {status} ({_MEANING.get(status, '')})"
    for word_line in str(target["words"] or "").splitlines()[:8]:
        yield f"  said         {plain(word_line)}"
    if target["noise_bytes"]:
        yield f"  noise        {target['noise_bytes']} bytes: {plain(str(target['noise']))}"
    if not machine:
        return
    yield f"  host         {machine['hostname']}, {machine['operating_system']}"
    yield f"  kernel       {machine['kernel']} {machine['architecture']}"
    yield f"  interpreter  Python {machine['python']}"
    reason = f": {plain(str(target['root_reason']))}" if target["root_reason"] else ""
    yield f"  root         {ROOT_WORDS.get(str(target['root']), '?')}{reason}"
    yield f"  clock        {machine['clock_offset_s']} s from ours"
    yield f"  took         {target['duration_s']} s, {target['bytes_received']} bytes"


@dataclass
class _Line:
    """One kind of answer of one probe, over all its instances."""

    instances: int = 0
    seconds: float = 0.0
    bytes: int = 0
    facts: int = 0
    reason: str = ""


def _probes(memory: Memory) -> Iterator[str]:
    lines: dict[tuple[str, str], _Line] = {}
    for answer in sorted(memory.answers, key=lambda answer: (answer.probe, answer.instance)):
        status, reason, count = answer.status, answer.reason, 0
        if status == "ok":
            rows, trouble = parse_answer(answer.probe, answer.instance, answer.stdout)
            count = len(rows)
            if trouble:
                status, reason = "not understood", trouble
        line = lines.setdefault((answer.probe, status), _Line(reason=reason))
        line.instances += 1
        line.seconds += answer.duration_s
        line.bytes += len(answer.stdout)
        line.facts += count
    width = max((len(probe) for probe, _ in lines), default=5)
    yield f"  {'probe':{width}}  times  status                        seconds      bytes  facts"
    for (probe, status), line in lines.items():
        yield (
            f"  {probe:{width}}  {line.instances:5}  {status:28}  {line.seconds:7.2f}  "
            f"{line.bytes:9}  {line.facts:5}"
        )
    # A management port without DCB is no gap where the RDMA ports have answered.
    unknown = {
        (probe, status): line
        for (probe, status), line in lines.items()
        if status != "ok" and not (status == "absent" and (probe, "ok") in lines)
    }
    if unknown:
        yield "  What will be unknown, and why:"
    for answer in memory.answers:
        if (
            answer.probe,
            answer.status,
        ) in unknown and " " in answer.instance:  # a switch's command
            yield f"    {answer.instance}: {answer.status}: {plain(answer.reason)}".rstrip(": ")
    for (probe, status), line in unknown.items():
        meaning = ANSWER_STATUSES.get(status, "")
        yield f"    {probe}: {status} ({meaning}): {plain(line.reason)}".removesuffix(": ")
