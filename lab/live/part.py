"""What a part of the lab is to its keeper: hosts, switches, guests, Slurm.

Parts are brought up in the order in which they are listed and taken down in the other. All run in
the keeper's main thread: a process that ends with its parent (`setpriv --pdeathsig KILL`) ends with
the *thread* that started it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from socket import socket
from typing import Any, Protocol


class LabError(Exception):
    """Something that the user can put right; the text says what and how."""


@dataclass(frozen=True)
class Hub:
    """The network that all machines are on: a namespace with one bridge.

    Hosts have the addresses 10.88.0.2 to 10.88.239.255, the hub itself 10.88.255.254; switches take
    10.88.240.x, guests 10.88.241.x.
    """

    namespace: str  # for `ip netns exec`
    bridge: str  # its bridge, which a part may add ports to
    prefix: str  # of every namespace of this lab: what a killed keeper leaves is found by it
    folder: Path  # what is up keeps its files below it, in a folder of the part's own


@dataclass(frozen=True)
class Status:
    """A machine as `lab status` shows it."""

    name: str
    kind: str  # hgx_h100, sonic, guest
    state: str  # up, booting, ended
    faults: tuple[str, ...] = ()  # link_down at mlx5_3

    def told(self) -> dict[str, Any]:
        """For the keeper's socket."""
        return asdict(self)


class Part(Protocol):
    """Machines of one sort; what is the same for most is written here."""

    name: str  # hosts, switches, guests, slurm

    def up(self, hub: Hub) -> Iterator[str]:
        """Start everything; a few words whenever something is done, the last when all answers."""

    def down(self) -> None:
        """End everything, also half of it; called once more is no mistake."""

    def status(self) -> Sequence[Status]:
        """Every machine."""

    def faults(self, machine: str = "") -> dict[str, str]:
        """Fault -> where it strikes and what finds it; of one machine, or of all."""
        del machine
        return {}

    def strike(self, machine: str, fault: str, at: str = "", *, earlier: bool = False) -> str:
        """Put a fault into a machine; what was done, in words. LabError where it cannot be.

        `earlier`: leave the machine as it was before the fault showed, for a first snapshot.
        """
        del fault, at, earlier
        raise LabError(f"{machine}: {self.name} have no faults.")

    def heal(self, machine: str) -> str:
        """Take all faults out of a machine; what was done, in words."""
        return f"{machine}: healed of nothing"

    def reboot(self, machine: str) -> str:
        """Restart a machine; returns before it answers again."""
        raise LabError(f"{machine}: {self.name} cannot be restarted.")

    def write(self, machine: str, wish: dict[str, Any]) -> dict[str, Any]:
        """A command that a machine's own program was given, and that changes the machine."""
        del wish
        raise LabError(f"{machine}: {self.name} cannot be written to.")

    def power_cycle(self, machine: str) -> str:
        """Take a machine's power away and give it back; returns before it answers again."""
        raise LabError(f"{machine}: {self.name} have no power supplies.")

    def run(self, machine: str, argv: Sequence[str], stdin: str = "") -> tuple[str, str, int]:
        """A command line of a machine's own; standard output, standard error, exit status."""
        del argv, stdin
        raise LabError(f"{machine}: {self.name} cannot be written so.")

    def sync(self, machine: str) -> None:
        """Look at what was written to a machine's files."""
        del machine

    def order(self, machine: str, kind: str, at: str = "", value: str = "", times: int = 0) -> str:
        """Order a misbehaviour; what was ordered, in words."""
        del kind, at, value, times
        raise LabError(f"{machine}: {self.name} cannot be told to misbehave.")

    def behave(self, machine: str) -> str:
        """Take all misbehaviour out of a machine."""
        return f"{machine}: nothing to take out"

    def tick(self) -> None:
        """Called now and then: what was put off can be done."""
        return

    def listeners(self) -> Iterator[tuple[socket, str]]:
        """Sockets through which the machines' own programs ask the keeper, and whose they are."""
        return iter(())

    def ssh_config(self) -> str:
        """`Host` blocks for the machines that answer ssh from the hub."""
        return ""

    def collect_arguments(self) -> list[str]:
        """What `railwright collect` needs to read this part's machines."""
        return []

    def files(self) -> dict[str, str]:
        """Texts for the user in the lab's folder, by name: a site file."""
        return {}

    def environment(self) -> dict[str, str]:
        """What programs at the hub need to find this part."""
        return {}
