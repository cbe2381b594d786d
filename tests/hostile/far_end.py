"""The far end of a connection, played by somebody who means harm: it speaks our frames badly.

Runs as an sshd's ForceCommand, reads what `railwright collect` sends, and answers as its scenario
says. Knows nothing of src/: what it sends is the protocol as the runner's docstring has it.
"""

import ast
import base64
import json
import os
import signal
import sys
import time
import zlib
from collections.abc import Callable
from typing import NamedTuple

MARK = "@rw1"
WIDTH = 840  # base64 characters per line, as the runner has it
LONGEST_LIFE_S = 60  # whatever a scenario forgets, it ends
ALL = "*"  # in `says`: every probe that was asked for
RUNNER = "runner"  # the scenario of an honest host that runs what it is asked to
WHO = "RW_SCENARIO"  # set by the client's SetEnv, one per host
SENTINEL = "RW_SENTINEL"  # a file that only text which was run could make


class Scenario(NamedTuple):
    """One way to misbehave, and what must be said about it."""

    name: str
    batch: str  # those of one batch are read in one run
    statuses: frozenset[str]  # of the target, any of these
    says: frozenset[str]  # probes that are answered as far as the protocol goes
    maybe: frozenset[str]  # probes whose answer may as well be refused
    listens: bool  # to what it is asked, before it plays
    look: bool  # every verb that shows one host is to show this one: it takes a second
    play: Callable[["FarEnd"], None]

    @property
    def host(self) -> str:
        """The name that the operator gives it."""
        return f"evil-{self.name.replace('_', '-')}"

    @property
    def greets(self) -> bool:
        """Whether its hello is one that must be understood."""
        return self.statuses <= {"reached", "incomplete"}


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    batch: str,
    status: str,
    says: str = "",
    maybe: str = "",
    *,
    listens: bool = True,
    look: bool = False,
) -> Callable[[Callable[["FarEnd"], None]], Callable[["FarEnd"], None]]:
    """A function as a scenario; the statuses with | between them, the probes with blanks."""

    def add(play: Callable[["FarEnd"], None]) -> Callable[["FarEnd"], None]:
        name = play.__name__
        assert name not in SCENARIOS, f"two scenarios {name}"
        SCENARIOS[name] = Scenario(
            name,
            batch,
            frozenset(status.split("|")),
            frozenset(says.split()),
            frozenset(maybe.split()),
            listens,
            look,
            play,
        )
        return play

    return add


def payload(fields: dict[str, object], stdout: bytes = b"", stderr: bytes = b"") -> bytes:
    """What a frame holds: a line of JSON, then the bytes."""
    head = json.dumps({"stdout": len(stdout), "stderr": len(stderr)} | fields)
    return head.encode() + b"\n" + stdout + stderr


def frame_text(  # each may be a lie
    run: str,
    sequence: int,
    probe: str,
    body: bytes,
    *,
    zipped: bytes | None = None,
    length: object = None,
    crc: str | None = None,
    lines: object = None,
    width: int = WIDTH,
    level: int = 6,
) -> bytes:
    """A frame as it travels; what is not given is true."""
    packed = base64.b64encode(zlib.compress(body, level) if zipped is None else zipped).decode()
    parts = [packed[at : at + width] for at in range(0, len(packed), width)]
    head = f"{MARK} {run} {sequence}"
    size = len(body) if length is None else length
    check = f"{zlib.crc32(body):08x}" if crc is None else crc
    count = len(parts) if lines is None else lines
    text = f"{head} {probe} {size} {check} {count}\n"
    return (text + "".join(f"{head} + {part}\n" for part in parts)).encode()


class FarEnd:
    """The connection: what was asked, and how to answer it."""

    def __init__(self) -> None:
        self.sent = 0  # frames that an honest reader counts
        self.run = ""
        self.probes: list[str] = []
        self.caps: dict[str, int] = {}  # bytes that an honest runner sends at most
        self.filters: dict[str, str] = {}  # what an honest runner keeps of the output, by kind

    def listen(self) -> None:
        """Read the program, which is not run, and the request."""
        stream = sys.stdin.buffer
        stream.read(int(stream.readline()))
        packed = stream.read(int(stream.readline()))
        request = ast.literal_eval(zlib.decompress(packed).decode("ascii"))
        self.run = request["run"]
        for probe in request["probes"]:
            self.probes.append(probe["name"])
            self.caps[probe["name"]] = probe["cap"]
            self.filters[probe["name"]] = (probe["keep"] or {"kind": ""})["kind"]

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]

    def complain(self, data: bytes) -> None:
        """Bytes on standard error."""
        view = memoryview(data)
        while view:
            view = view[os.write(2, view) :]

    def body(self, probe: str, body: bytes, *, counts: bool = True, **lies: object) -> None:
        """A frame of these bytes; `counts` if `.end` is to count it."""
        run = str(lies.pop("run", self.run))
        sequence = int(str(lies.pop("sequence", self.sent)))
        self.raw(frame_text(run, sequence, probe, body, **lies))  # type: ignore[arg-type]
        self.sent += counts

    def hello(self, **fields: object) -> None:
        """What a host says first."""
        self.body(".hello", payload({**hello_fields(), **fields}))

    def answer(
        self,
        probe: str,
        stdout: bytes = b"",
        *,
        instance: object = "",
        stderr: bytes = b"",
        **fields: object,
    ) -> None:
        """One answer."""
        self.body(probe, payload(answer_fields(probe, instance) | fields, stdout, stderr))

    def end(self, **fields: object) -> None:
        """The last frame; how many came before it, unless that is a lie."""
        told = {"frames": self.sent, "root_runner": False, "seconds": 1.0}
        self.body(".end", payload(told | fields))

    def stay(self) -> None:
        """Hold the connection until nobody is at its other end, and leave without a trace."""
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(0.1)
        os._exit(0)

    def cut_connection(self) -> None:
        """Kill the sshd of this connection, as a crash of the host would."""
        time.sleep(1)  # sshd passes on what it has, else nothing of it was ever said
        sshd = os.getppid()
        with open(f"/proc/{sshd}/comm", encoding="ascii") as file:
            assert file.read().startswith("sshd")
        os.kill(sshd, signal.SIGKILL)
        os._exit(0)


def hello_fields() -> dict[str, object]:
    """What an honest host says of itself."""
    return {
        "hostname": "evil",
        "kernel": "6.1.0",
        "machine": "x86_64",
        "python": "3.11.2",
        "boot_id": "0ac1",
        "uptime": "100.00",
        "os": "Debian GNU/Linux 12",
        "uid": 0,
        "root": "root",
        "root_reason": "",
        "time": time.time(),
        "planned": [],
        "node": "",
    }


def answer_fields(probe: str, instance: object) -> dict[str, object]:
    """What an honest host says of an answer."""
    return {
        "probe": probe,
        "instance": instance,
        "argv": [f"/usr/bin/{probe}"],
        "status": "ok",
        "reason": "",
        "exit_code": 0,
        "started": time.time(),
        "duration": 0.1,
        "truncated": False,
        "dropped": 0,
    }


def play() -> None:
    """Be the host that the client's environment names."""
    signal.alarm(LONGEST_LIFE_S)
    name = os.environ.get(WHO, "")
    if name == RUNNER:  # an honest host: what it was asked to run, this machine being the host
        os.execv("/bin/sh", ["sh", "-c", os.environ["SSH_ORIGINAL_COMMAND"]])
    far_end = FarEnd()
    try:
        if SCENARIOS[name].listens:
            far_end.listen()
        SCENARIOS[name].play(far_end)
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)  # they had enough
