"""One session with a switch: what is sent, and which bytes answer which command.

Two ways. Where the login is a Linux shell, one script on its standard input asks everything and
prints a mark behind each answer; there is no terminal, so no pager can wait. Where it is a CLI
that wants a terminal, it is asked line by line: a command is sent only when the prompt is back,
because what is typed ahead would be an answer to a pager (in one of them `!` starts a shell). The
mark is a comment there: it shows once more that the prompt is the CLI's own.
"""

import re
import time
from dataclasses import dataclass
from itertools import pairwise

from railwright.collect.switch import Command, System
from railwright.collect.switch_kind import is_shell_prompt, other_system, refuses
from railwright.reach.job import Job

LONGEST_LOGIN_S = 30.0  # to the first byte, and from there to the first prompt: TACACS, banners
LONGEST_GOODBYE_S = 3.0
TAIL = 4096  # of what came last: a prompt, an echo, a pager's line
LONGEST_PAGER_LINE = 200
SHELL = "exec /bin/sh"
_TIMED_OUT, _NOT_FOUND = (124, 137), 127  # of timeout(1), of the shell

# Colours, cursor moves, titles; then the carriage returns and backspaces of a line editor.
_ESCAPES = re.compile(
    rb"\x1b\[[0-9;?]{0,20}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)"
    rb"|\x1b[()].|\x1b[=>78MDEHc]"
)
_PROMPT = re.compile(r"[^\s#>%][^\n]{0,150}[>#]", re.ASCII)
_PAGER = re.compile(
    r"-{2,} ?more ?-{0,}|lines \d{1,7}-\d{1,7}|\(END\)|\(q\)uit|[Pp]ress .{0,40} to continue",
    re.IGNORECASE,
)
PAGER_WORDS = "the pager was not switched off, and nobody answers it"


@dataclass(frozen=True)
class Said:
    """What came back for one command."""

    command: Command
    output: bytes
    status: str
    reason: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    truncated: bool = False


def judged(system: System, said: Said) -> Said:
    """The same with what the CLI's own words make of it."""
    if said.status != "ok":
        return said
    head = said.output[:20_000].decode("utf-8", "replace").replace("\r", "")
    for patterns, status in ((system.denied, "denied"), (system.refused, "not understood")):
        for pattern in patterns:
            found = re.search(pattern, head, re.MULTILINE)
            if found:
                return Said(said.command, said.output, status, found[0].strip()[:160],
                            said.exit_code, said.seconds)  # fmt: skip
    if said.exit_code in _TIMED_OUT:
        return Said(said.command, b"", "timeout", "", said.exit_code, said.seconds)
    if said.exit_code == _NOT_FOUND:
        return Said(said.command, b"", "absent", "no such command there", said.exit_code)
    if said.exit_code:
        why = f"ended with {said.exit_code}"
        return Said(said.command, said.output, "failed", why, said.exit_code, said.seconds)
    return said


# ---- a shell


def script(system: System, token: str) -> bytes:
    """What the shell reads. Every line is a constant of the system's file, but for the token."""
    lines = ["LC_ALL=C TERM=dumb PAGER=cat; export LC_ALL TERM PAGER", _shell_mark(token, "start")]
    for number, command in enumerate(system.commands):
        ask = f"nice -n 19 timeout -k 5 {command.timeout_s} {command.text}"
        lines += [f"{ask} </dev/null 2>&1", _shell_mark(token, str(number))]
    return "\n".join([*lines, "exit 0", ""]).encode("ascii")


def _shell_mark(token: str, name: str) -> str:
    return f"printf '\\n@rw {token} {name} %s\\n' $?"


def answers_of_shell(system: System, token: str, data: bytes) -> tuple[list[Said], bytes]:
    """The answers that are there, and what came before the first mark."""
    mark = re.compile(rb"\n@rw " + token.encode() + rb" (start|\d{1,4}) (\d{1,4})\r?\n")
    found = list(mark.finditer(b"\n" + data))
    if not found or found[0][1] != b"start":
        return [], data
    noise = data[: max(found[0].start() - 1, 0)]
    answers: list[Said] = []
    for before, after in pairwise(found):
        number = int(after[1]) if after[1] != b"start" else -1
        if number != len(answers) or number >= len(system.commands):
            break  # said twice or out of order: what follows is not ours
        output = data[before.end() - 1 : after.start() - 1]
        answers.append(_said(system, number, output, int(after[2])))
    return answers, noise


def _said(system: System, number: int, output: bytes, code: int | None, s: float = 0.0) -> Said:
    command = system.commands[number]
    if len(output) > system.cap_bytes:
        return Said(command, b"", "cut", "more than is taken of one answer", code, s, True)
    return judged(system, Said(command, output, "ok", "", code, s))


# ---- a CLI on a terminal


def plain(data: bytes) -> bytes:
    """Bytes of a terminal as lines: no escapes, no carriage returns."""
    return _ESCAPES.sub(b"", data).replace(b"\r", b"").replace(b"\x07", b"")


def _packed(text: str) -> str:
    """Without blanks: a line editor breaks what is too long for its idea of the screen."""
    return re.sub(r"[\s\x08]", "", text)


class Speaker:
    """Asks a CLI line by line, and keeps what it answers."""

    def __init__(self, system: System, token: str) -> None:
        self._system = system
        self._token = token
        # (line, number of the command or -1, seconds); None behind the last
        commands = [(c.text, n, float(c.timeout_s)) for n, c in enumerate(system.commands)]
        self._todo = [*((line, -1, 30.0) for line in system.opening), *commands]
        self._sent = ""  # what the CLI must echo before its prompt counts
        self._number = -1
        self._prompt = ""
        self._raw = b""
        self._output: list[bytes] = []
        self._size = 0
        self._marks = 0
        self._is_heard = False
        self._since = time.monotonic()
        self._patience = LONGEST_LOGIN_S
        self.answers: list[Said] = []
        self.noise = b""
        self.trouble = ""  # why it stopped before its end

    # reach's Conversation

    def heard(self, data: bytes) -> bytes | None:
        """What came; gives the next line, once the prompt is back."""
        if not self._is_heard:
            self._is_heard, self._since = True, time.monotonic()
        self._size += len(data)
        if self._number >= 0 and self._size <= 2 * self._system.cap_bytes:
            self._output.append(data)
        elif self._prompt == "" and len(self.noise) < 1024:
            self.noise = (self.noise + data)[:1024]
        # As bytes: what comes may break off in the middle of an escape.
        self._raw = (self._raw + data)[-TAIL:]
        last = self._tail().rpartition("\n")[2]
        if _PAGER.search(last[-LONGEST_PAGER_LINE:]):
            self._stop(PAGER_WORDS, "failed")
            return None
        return self._next(last.strip())

    def _tail(self) -> str:
        return plain(self._raw).decode("utf-8", "replace")

    def waited_enough(self) -> bool:
        """Whether the prompt is overdue."""
        if time.monotonic() - self._since < self._patience:
            return False
        if self._todo or self._number >= 0:
            self._stop("no prompt came back in time", "timeout")
        return True

    def _stop(self, why: str, status: str) -> None:
        self.trouble = self.trouble or why
        if self._number >= 0:
            command = self._system.commands[self._number]
            seconds = time.monotonic() - self._since
            self.answers.append(Said(command, b"", status, why, None, seconds))
        self._number, self._todo = -1, []

    def _next(self, last: str) -> bytes | None:
        if not self._prompt and is_shell_prompt(last):
            self._stop(self._another("shell"), "failed")
            return None
        if not self._prompt and not self._sent:
            return self._mark() if _PROMPT.fullmatch(last) else b""
        if self._is_back(last):
            if self._is_mark():
                self._prompt = last
                return self._ask()
            if self._sent in self._system.opening[:1] and refuses(self._system, self._tail()):
                self._stop(self._another("terminal"), "failed")
                return None
            self._finish()
            return self._mark()
        return b""

    def _another(self, way: str) -> str:
        return other_system(self._system, self.noise.decode("utf-8", "replace"), way)

    def _is_back(self, last: str) -> bool:
        is_prompt = last == self._prompt if self._prompt else _PROMPT.fullmatch(last) is not None
        return is_prompt and _packed(self._sent) in _packed(self._seen())

    def _seen(self) -> str:
        """The beginning and the end of what came since the line was sent."""
        head = b"".join(self._output[:8])[:TAIL] if self._number >= 0 else b""
        return plain(head).decode("utf-8", "replace") + self._tail()

    def _is_mark(self) -> bool:
        return self._sent.startswith("! ")

    def _mark(self) -> bytes:
        self._marks += 1
        return self._send(f"! rw-{self._token}-{self._marks}", -1, 30.0)

    def _ask(self) -> bytes:
        if not self._todo:
            return self._send(self._system.closing, -1, LONGEST_GOODBYE_S, is_last=True)
        return self._send(*self._todo.pop(0))

    def _send(self, line: str, number: int, seconds: float, *, is_last: bool = False) -> bytes:
        self._sent, self._number = ("\x00" if is_last else line), number
        self._raw, self._output, self._size = b"", [], 0
        self._since, self._patience = time.monotonic(), seconds
        return line.encode("ascii") + b"\r"

    def _finish(self) -> None:
        if self._number < 0:
            return
        seconds = time.monotonic() - self._since
        output = b"".join(self._output)
        if self._size > self._system.cap_bytes:
            command = self._system.commands[self._number]
            words = "more than is taken of one answer"
            self.answers.append(Said(command, b"", "cut", words, None, seconds, True))
        else:
            answer = _without_echo(plain(output), self._sent, self._prompt)
            self.answers.append(_said(self._system, self._number, answer, None, seconds))
        self._number = -1


def _without_echo(output: bytes, line: str, prompt: str) -> bytes:
    """The lines between the echo of the command and the prompt behind the answer."""
    lines = output.split(b"\n")
    wanted, seen = _packed(line), ""
    for place, one in enumerate(lines[:12]):
        seen += _packed(one.decode("utf-8", "replace"))
        if wanted in seen:
            lines = lines[place + 1 :]
            break
    if lines and lines[-1].strip() == prompt.encode():
        lines[-1] = b""
    return b"\n".join(lines)


def job(system: System, token: str) -> Job:
    """How a session of this system begins. Of a CLI the listener makes the speaker."""
    if system.way == "shell":
        return Job(SHELL, script(system, token))
    return Job("", b"", terminal=True)
