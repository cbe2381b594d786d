"""Read many switches: sessions in, snapshot rows out. The rows are those of hosts."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from railwright.collect.stream import storable
from railwright.collect.switch import Command, System, systems
from railwright.collect.switch_filter import keep
from railwright.collect.switch_kind import not_a_shell, other_system
from railwright.collect.switch_session import Said, Speaker, answers_of_shell, job
from railwright.parse.base import Value
from railwright.reach.job import Job, Limits, Outcome
from railwright.reach.ssh import SshOptions, SshTransport
from railwright.store.evidence import Answer

NOISE_CAP = 1024
# One attempt and, where nothing came back, one more: never two sessions at a time on a switch.
FAN_OUT = 16
# A chassis with 512 ports and all its queues answers with some 20 MB.
LARGEST_SESSION = 64 * 1024 * 1024
LONGEST_SESSION_S = 600.0


class Rows(Protocol):
    """Where the rows go."""

    def add_answer(self, answer: Answer) -> None:
        """One answer."""

    def add_target(self, row: dict[str, Value]) -> None:
        """One switch is done."""


class Counts(Protocol):
    """How far the run is."""

    reached: int
    failed: int
    bytes: int


@dataclass(frozen=True)
class SwitchPlan:
    """Which switches, of which system each, and how they are reached."""

    systems: dict[str, str]  # target -> system
    ssh: SshOptions
    limits: Limits

    async def run(self, rows: Rows, counts: Counts, after_rows: Callable[[], None]) -> None:
        """Read all of them."""
        await SwitchReader(self, rows, counts, after_rows).run()


class SwitchReader:
    """Takes what the transport hears of switches and makes rows of it."""

    def __init__(
        self,
        plan: SwitchPlan,
        rows: Rows,
        counts: Counts,
        after_rows: Callable[[], None] = lambda: None,
    ) -> None:
        self._plan = plan
        self._rows = rows
        self._counts = counts
        self._after_rows = after_rows
        self._token = secrets.token_hex(8)
        self._heard: dict[str, list[bytes]] = {}
        self._speakers: dict[str, Speaker] = {}

    async def run(self) -> None:
        """Read every switch of the plan."""
        jobs = {target: self._job(name) for target, name in self._plan.systems.items()}
        transport = SshTransport(self._plan.ssh)
        try:
            await transport.run_jobs(jobs, self._plan.limits, self)
        except BaseException:  # the operator stops the run: what was heard by then counts
            for target in list(self._heard):
                self.ended(Outcome(target, "interrupted", "", None, 0.0, 0.0, 0))
            raise

    def _job(self, name: str) -> Job:
        made = job(systems()[name], self._token)
        return replace(made, conversation=self._speak) if made.terminal else made

    def _speak(self, target: str) -> Speaker:
        speaker = Speaker(self._system(target), self._token)
        self._speakers[target] = speaker
        return speaker

    def _system(self, target: str) -> System:
        return systems()[self._plan.systems[target]]

    # reach's Listener

    def started(self, target: str) -> None:
        """A new attempt."""
        self._heard[target] = []
        self._speakers.pop(target, None)

    def received(self, target: str, data: bytes) -> bool:
        """Bytes of a shell are kept until its end; a speaker keeps its own."""
        self._counts.bytes += len(data)
        if self._system(target).way == "shell":
            self._heard[target].append(data)
        return True

    def ended(self, outcome: Outcome) -> None:
        """The session is over: its rows."""
        target = outcome.target
        system = self._system(target)
        try:  # the boundary: what taking a switch's bytes apart raises is this switch's trouble
            said, noise, trouble = self._said(target)
            rows = list(answers(system, target, said, outcome, trouble))
            status = _status(system, said, outcome.status)
        except Exception as error:
            said, noise, rows, status = [], b"", [], "damaged"
            trouble = f"could not be taken apart: {type(error).__name__}"
        for answer in rows:
            self._rows.add_answer(answer)
        row: dict[str, Value] = {
            "target": target,
            "status": status,
            "words": trouble if trouble.startswith("this is ") else outcome.words or trouble,
            "noise_bytes": len(noise),
            # A banner is of interest only where nothing else came.
            "noise": "" if said else noise[:NOISE_CAP].decode("utf-8", "replace"),
            "started": outcome.started,
            "duration_s": round(outcome.duration, 3),
            "attempts": outcome.attempts,
            "bytes_received": outcome.bytes_received,
        }
        self._rows.add_target(
            {
                key: storable(value) if isinstance(value, str) else value
                for key, value in row.items()
            }
        )
        if status == "reached":
            self._counts.reached += 1
        else:
            self._counts.failed += 1
        self._heard.pop(target, None)
        self._after_rows()

    def _said(self, target: str) -> tuple[list[Said], bytes, str]:
        speaker = self._speakers.pop(target, None)
        if speaker is not None:
            return speaker.answers, speaker.noise, speaker.trouble
        data = b"".join(self._heard.get(target, ()))
        system = self._system(target)
        found, noise = answers_of_shell(system, self._token, data)
        if not found:
            return found, noise, not_a_shell(system, noise)
        # A shell, but of another system: both have vtysh, the rest is each one's own.
        if 2 * sum(one.status == "absent" for one in found) > len(system.commands):
            return [], noise, other_system(system, noise.decode("utf-8", "replace"), "shell")
        return found, noise, ""


def _status(system: System, said: list[Said], transport_status: str) -> str:
    """What became of the switch: what came back decides, then what ssh says."""
    if len(said) == len(system.commands) and said[-1].reason != "the session ended first":
        return "reached"
    if transport_status == "flooding":
        return "flooding"
    if said:
        return "incomplete"
    return "failed" if transport_status == "answered" else transport_status


def answers(
    system: System, target: str, said: list[Said], outcome: Outcome, trouble: str
) -> Iterator[Answer]:
    """One row of evidence per command that began; what never came is missing."""
    if not said and not trouble:
        return  # not reached: the target's own row says so
    words = trouble or "the session ended first"
    rest = [Said(command, b"", "missing", words) for command in system.commands[len(said) :]]
    parts: dict[tuple[str, str], list[Said]] = {}
    for one in [*said, *rest]:
        if one.command.part:
            parts.setdefault((one.command.probe, one.command.instance), []).append(one)
        else:
            yield _answer(system, target, one, outcome.started)
    for together in parts.values():
        yield _answer(system, target, _joined(together), outcome.started)


def _joined(parts: list[Said]) -> Said:
    """Answers that are one thing: a configuration's tables. Half of them would read as whole."""
    failed = next((one for one in parts if one.status != "ok"), None)
    silent = next((one for one in parts if b"{" not in one.output), None)
    if failed is None and silent is not None:  # a table without entries is printed as {}
        failed = replace(silent, status="not understood", reason="no JSON object")
    if failed is not None:
        reason = f"{failed.command.text}: {failed.reason}".removesuffix(": ")
        return replace(failed, output=b"", reason=reason)
    return replace(parts[0], output=b"\n".join(one.output for one in parts))


def _answer(system: System, target: str, said: Said, started: float) -> Answer:
    kept, dropped, status, reason = filtered(system, said.command, said.output)
    if said.status != "ok":
        kept, status, reason = b"", said.status, said.reason
    return Answer(
        target, said.command.probe, said.command.instance, status, reason=storable(reason),
        argv=said.command.text.split(), exit_code=said.exit_code, stdout=kept, started=started,
        duration_s=round(said.seconds, 3), truncated=said.truncated, dropped=dropped,
    )  # fmt: skip


def filtered(system: System, command: Command, output: bytes) -> tuple[bytes, int, str, str]:
    """What may be stored of an answer, what was dropped, its status and why."""
    kept, dropped, why = keep(output, system.keep[command.probe])
    if why:
        return b"", dropped, "not understood", why
    return kept, dropped, "ok", ""
