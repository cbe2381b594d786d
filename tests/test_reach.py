"""reach/: bytes, limits and statuses, with real processes."""

import asyncio
import resource
import sys
import time

import pytest

from railwright.reach.each import OneByOne, run_each
from railwright.reach.job import STATUSES, Job, Limits, Outcome
from railwright.reach.local import LocalTransport
from railwright.reach.process import Ended
from railwright.reach.ssh import SshOptions, SshTransport, ssh_status


class Heard:
    """A listener that keeps everything."""

    def __init__(self) -> None:
        self.bytes: dict[str, bytes] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.at: dict[str, float] = {}

    def started(self, target: str) -> None:
        self.bytes[target] = b""

    def received(self, target: str, data: bytes) -> bool:
        self.bytes[target] += data
        return True

    def ended(self, outcome: Outcome) -> None:
        assert outcome.target not in self.outcomes, "ended twice"
        assert outcome.status in STATUSES
        self.outcomes[outcome.target] = outcome
        self.at[outcome.target] = time.monotonic()


def local(command: str, targets: list[str] | None = None, **limits: float) -> Heard:
    heard = Heard()
    job = Job(command, limits.pop("stdin", b""), hold_stdin=False)
    asyncio.run(LocalTransport().run(targets or ["here"], job, Limits(**limits), heard))
    return heard


def each(commands: dict[str, str], statuses: dict[str, list[str]] | None = None, **limits) -> Heard:
    """Another command per target; `statuses` scripts what each attempt means."""
    heard = Heard()
    plan = {name: list(todo) for name, todo in (statuses or {}).items()}
    current: list[str] = []

    def argv(target: str) -> list[str]:
        current.append(target)
        return ["/bin/sh", "-c", commands[target]]

    def status(_ended: Ended) -> str:
        return plan[current[-1]].pop(0) if plan else "answered"

    job = Job("", b"", hold_stdin=False)
    asyncio.run(run_each(list(commands), job, Limits(**limits), heard, OneByOne(argv, status)))
    return heard


def test_carriage_returns_and_binary_come_back_byte_for_byte() -> None:
    text = bytes(range(256)) * 40 + b"a\r\r\nb\r\n\r\n\r\rc\n\rd"
    heard = local(f"{sys.executable} -c \"import sys; sys.stdout.buffer.write("
                  f"bytes(range(256)) * 40 + b'a\\r\\r\\nb\\r\\n\\r\\n\\r\\rc\\n\\rd')\"")  # fmt: skip
    assert heard.bytes["here"] == text


def test_a_command_that_closes_its_output_and_lives_on_stalls_nobody() -> None:
    began = time.monotonic()
    commands = {"deaf": "exec >&- 2>&-; sleep 60"} | {f"n{i}": "echo x" for i in range(8)}
    heard = each(commands, fan_out=2, total_s=30)
    assert len(heard.outcomes) == 9
    assert max(heard.at[f"n{i}"] for i in range(8)) - began < 3
    assert heard.at["deaf"] - began < 8  # killed after it lingered, not after total_s


def test_a_child_that_keeps_the_pipe_open_does_not_keep_us() -> None:
    """ssh's ControlPersist master holds standard error for minutes after ssh is gone."""
    began = time.monotonic()
    heard = each({"master": "sleep 20 & echo done"}, total_s=30)
    assert heard.bytes["master"] == b"done\n"
    assert heard.outcomes["master"].status == "answered"
    assert time.monotonic() - began < 5


def test_a_hanging_command_is_a_row_and_its_processes_are_gone() -> None:
    heard = local("echo $$; exec sleep 321", total_s=1.0)
    assert heard.outcomes["here"].status == "too slow"
    with pytest.raises(ProcessLookupError):
        __import__("os").kill(int(heard.bytes["here"]), 0)
    assert local("exec sleep 321", total_s=0.5).outcomes["here"].status == "hanging"


def test_a_flood_without_newline_is_cut_and_never_held_in_memory() -> None:
    received = 0

    class Counting(Heard):
        def received(self, target: str, data: bytes) -> bool:
            nonlocal received
            received += len(data)
            return True

    heard = Counting()
    job = Job("head -c 300000000 /dev/zero", b"", hold_stdin=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits = Limits(total_s=60, bytes=20_000_000)
    asyncio.run(LocalTransport().run(["here"], job, limits, heard))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert heard.outcomes["here"].status == "flooding"
    assert received <= 20_000_000
    assert grown < 30_000  # KB


def test_standard_input_arrives_whole_and_a_command_that_ignores_it_is_no_fault() -> None:
    data = bytes(range(256)) * 5000
    assert local("cat", stdin=data).bytes["here"] == data
    assert local("true", stdin=data).outcomes["here"].status == "answered"


def test_failures_before_the_first_byte_are_tried_once_more_and_only_those() -> None:
    commands = dict.fromkeys(("late", "dead", "key"), "true")
    statuses = {"late": ["closed", "answered"], "dead": ["refused", "refused"], "key": ["denied"]}
    heard = each(commands, statuses, fan_out=1)
    assert {t: (o.status, o.attempts) for t, o in heard.outcomes.items()} == {
        "late": ("answered", 2),
        "dead": ("refused", 2),
        "key": ("denied", 1),
    }


def test_nothing_is_tried_again_once_a_byte_has_come() -> None:
    heard = each({"cut": "echo x"}, {"cut": ["closed"]})
    assert heard.outcomes["cut"].attempts == 1


# Words as OpenSSH 9.2 prints them; each was seen from a real ssh.
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("ssh: connect to host n1 port 22: Connection refused", "refused"),
        ("ssh: Could not resolve hostname n1: Name or service not known", "unresolved"),
        ("Connection timed out during banner exchange\r\nConnection to 10.0.0.1 port 22 timed out", "silent"),
        ("ssh: connect to host n1 port 22: Connection timed out", "silent"),
        ("ssh: connect to host n1 port 22: No route to host", "unreachable"),
        ("root@n1: Permission denied (publickey).", "denied"),
        ("u@n1: Permission denied (publickey,password).", "wants a password"),
        ("u@n1: Permission denied (publickey,keyboard-interactive).", "wants a password"),
        ("kex_exchange_identification: Connection closed by remote host", "closed"),
        ("No ED25519 host key is known for n1 and you have requested strict checking.\nHost key verification failed.", "host key unknown"),
        ("@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.", "host key changed"),
    ],
)  # fmt: skip
def test_what_ssh_says_becomes_a_status(words: str, status: str) -> None:
    assert ssh_status(Ended(255, words, 0, 1.0)) == status


def test_a_login_script_that_reads_input_is_named() -> None:
    words = "ValueError: invalid literal for int() with base 10: b'x'"
    assert ssh_status(Ended(1, words, 0, 1.0)) == "login script reads input"


def test_words_of_the_far_end_are_not_taken_for_ssh_s_own() -> None:
    assert ssh_status(Ended(1, "cat: /x: Connection refused", 10, 1.0)) == "answered"


def test_a_target_can_never_become_an_option_and_ssh_never_asks() -> None:
    argv = SshTransport(SshOptions("bob", ("ProxyJump=b",))).argv("n1", "CMD", 10)
    assert argv[-3:] == ["--", "n1", "CMD"]
    assert "BatchMode=yes" in argv
    assert argv.index("ProxyJump=b") < argv.index("BatchMode=yes")
