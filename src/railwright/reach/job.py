"""What is asked of many machines, within which limits, and what each of them did."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

# Each status with what it means to the operator. A failed machine is a row with one of these.
STATUSES = {
    "answered": "the command ran and its output came back",
    "refused": "nothing listens on the ssh port",
    "unreachable": "no route, or the network refused",
    "unresolved": "the name is not known here",
    "silent": "the connection was not answered in time",
    "closed": "the connection was closed before anything came back",
    "denied": "the machine does not accept our login",
    "wants a password": "the machine would ask for a password; Railwright never prompts for one",
    "host key unknown": "the machine's key is not in known_hosts",
    "host key changed": "the machine's key differs from the one in known_hosts",
    "no python": "no Python 3.6 or later was found there",
    "login script reads input": "a start-up file of the account ate what was sent",
    "hanging": "the login worked, then nothing came within the time limit",
    "too slow": "output had begun, but the time limit came first",
    "flooding": "more output than the byte limit",
    "no slot": "the scheduler could not start a step there",
    "failed": "the command could not be run; see the words",
    "damaged": "what came back could not be taken apart",
    "interrupted": "the operator stopped the run first",
}

# Worth one more try, later: nothing had come back, and the reason may pass.
PASSING = frozenset({"refused", "unreachable", "unresolved", "silent", "closed"})


@dataclass(frozen=True)
class Limits:
    """Bounds per machine and for the run. Zero jitter: none."""

    connect_s: float = 10.0
    total_s: float = 180.0
    # An 8-GPU host sends about 0.3 MB; a hundred times that is a machine that has lost its way.
    bytes: int = 32 * 1024 * 1024
    # clush and pdsh fan out to 64 and 32; ssh costs the collector 17 ms CPU per host.
    fan_out: int = 64
    jitter_s: float = 0.0
    retries: int = 1


class Conversation(Protocol):
    """Who speaks with a command line that must be asked line by line."""

    def heard(self, data: bytes) -> bytes | None:
        """What came; gives what is to be sent now, b"" for nothing, None to hang up."""

    def waited_enough(self) -> bool:
        """Whether what it waits for is overdue; asked several times a second."""


@dataclass(frozen=True)
class Job:
    """One command for every machine: a shell string that is a constant, and bytes for its input.

    An empty command is the machine's own login: what answers there is the account's shell or CLI.
    """

    command: str
    stdin: bytes
    hold_stdin: bool = True  # keep it open: the far end takes its closing as "stop"
    terminal: bool = False  # ask for one: some CLIs say nothing without
    conversation: Callable[[str], Conversation] | None = None  # a new one for every attempt


@dataclass(frozen=True)
class Outcome:
    """What became of one machine."""

    target: str
    status: str
    words: str  # what ssh or srun said, as they said it
    exit_code: int | None
    started: float  # seconds since the epoch
    duration: float
    bytes_received: int
    attempts: int = 1


class Listener(Protocol):
    """Who is told. Called from one thread; must not block."""

    def started(self, target: str) -> None:
        """An attempt begins; what an earlier one sent for this target is void."""

    def received(self, target: str, data: bytes) -> bool:
        """Bytes of standard output, exactly as they came; False to hang up."""

    def ended(self, outcome: Outcome) -> None:
        """The machine is done; said exactly once per target."""


class Transport(Protocol):
    """A way to reach machines: OpenSSH, Slurm, local; Kubernetes later."""

    name: str

    async def run(self, targets: list[str], job: Job, limits: Limits, listener: Listener) -> None:
        """Run the job on every target; each ends in exactly one outcome."""
