"""A guest that is up: what can be asked of it and what can be done to it.

Faults are real: the kernel's own traffic control, MTU, link state, DCB and LLDP are changed by the
programs an administrator would use. A reboot is real too and undoes all of them.
"""

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.guest.model import QOS, Guest

BOOT_ID = "/proc/sys/kernel/random/boot_id"
CAME_UP = b" is up after "  # what init writes to the console once per boot, when all is there


@dataclass(frozen=True)
class GuestFault:
    """What is wrong with one rail of a guest; {netdev} and {mtu} stand for its own."""

    does: str
    strike: tuple[str, ...]
    heal: tuple[str, ...]


# Healed is where none is left, also where the guest has lost it by a restart of its own.
_NO_NETEM = (
    "{{ tc qdisc del dev {netdev} root; ! tc qdisc show dev {netdev} | grep netem; }} 2>/dev/null",
)


def _netem(does: str, words: str) -> GuestFault:
    """Traffic control acts on what the guest sends; what it receives is another guest's sending."""
    return GuestFault(
        does,
        (f"tc qdisc replace dev {{netdev}} root netem {words}",),
        _NO_NETEM,
    )


_LOSSLESS = " ".join(f"{priority}:on" for priority, on in enumerate(QOS.pfc) if on)
_DSCPS = " ".join(f"{point}:{QOS.dscp_priority[point]}" for point in QOS.app_dscps)

FAULTS: dict[str, GuestFault] = {
    "loss": _netem("loses 5 % of what it sends", "loss 5%"),
    "cut": _netem("loses all it sends, with the link up", "loss 100%"),
    "delay": _netem("sends 20 ms late", "delay 20ms"),
    "corrupt": _netem("damages 5 % of what it sends", "corrupt 5%"),
    "mtu": GuestFault(
        "has an MTU of 1500",
        ("ip link set dev {netdev} mtu 1500",),
        ("ip link set dev {netdev} mtu {mtu}",),
    ),
    "down": GuestFault(
        "is switched off",
        ("ip link set dev {netdev} down",),
        ("ip link set dev {netdev} up",),
    ),
    "no_flow_control": GuestFault(
        "has PFC off on all priorities",
        ("dcb pfc set dev {netdev} prio-pfc all:off",),
        (f"dcb pfc set dev {{netdev}} prio-pfc {_LOSSLESS}",),
    ),
    "no_dscp_map": GuestFault(
        "maps no code point to a priority",
        ("dcb app flush dev {netdev} dscp-prio",),
        (f"dcb app add dev {{netdev}} dscp-prio {_DSCPS}",),
    ),
    "no_lldp": GuestFault(
        "neither sends nor hears LLDP",
        ("lldpcli configure ports {netdev} lldp status disabled",),
        ("lldpcli configure ports {netdev} lldp status rx-and-tx",),
    ),
}


@dataclass
class GuestMachine:
    """One guest, reached by ssh from the hub's namespace."""

    guest: Guest
    reach: tuple[str, ...]  # the command line that ends in ssh and its options
    console: Path  # what it wrote there in all its boots
    _struck: dict[tuple[str, int], GuestFault] = field(default_factory=dict)
    _struck_in: int = 0  # the boot in which they were
    _awaited: int = 1  # the boot that was asked for last

    def boots(self) -> int:
        """How often it came up. Its console tells without a login, which takes seconds."""
        return self.console.read_bytes().count(CAME_UP) if self.console.exists() else 0

    @property
    def is_booting(self) -> bool:
        """Whether it has yet to come up since it was started or told to restart."""
        return self.boots() < self._awaited

    def await_boot(self) -> None:
        """It is about to start once more."""
        self._awaited = self.boots() + 1

    @property
    def struck(self) -> dict[tuple[str, int], GuestFault]:
        """The faults that are in it: a restart, also one of its own accord, undoes all."""
        boots = self.boots()
        if boots != self._struck_in:
            self._struck, self._struck_in = {}, boots
        return self._struck

    def run(self, command: str, seconds: float = 600) -> str:
        """What a command line prints there; an error where it fails."""
        argv = [*self.reach, self.guest.name, command]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.guest.name}: {command}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, command: str) -> "subprocess.Popen[str]":
        """A command line that runs there while others do."""
        return subprocess.Popen(
            [*self.reach, self.guest.name, command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def strike(self, fault: str, rail: int = 0) -> None:
        """Do something to one rail; a second time changes nothing.

        Faults that are healed in the same way take each other's place, as netem's do: a device has
        one root qdisc.
        """
        found = FAULTS[fault]
        self._do(found.strike, rail)
        struck = self.struck
        for key in [k for k, other in struck.items() if k[1] == rail and other.heal == found.heal]:
            del struck[key]
        struck[fault, rail] = found

    def heal(self) -> None:
        """Undo everything, the last first."""
        struck = self.struck
        for (name, rail), fault in reversed(list(struck.items())):
            self._do(fault.heal, rail)
            del struck[name, rail]

    def _do(self, commands: tuple[str, ...], rail: int) -> None:
        card = self.guest.cards[rail]
        lines = [line.format(netdev=card.netdev, mtu=card.mtu) for line in commands]
        self.run(" && ".join(lines))

    def boot_id(self) -> str:
        """Of the boot that answers."""
        return self.run(f"cat {BOOT_ID}").strip()

    def restart(self) -> None:
        """Reboot, and do not wait: whatever was set at run time is lost."""
        self.run("reboot")
        self.await_boot()
        self.struck.clear()

    def reboot(self, seconds: float = 300) -> None:
        """Reboot and wait until another boot answers."""
        self.restart()
        deadline = time.monotonic() + seconds
        while self.is_booting:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.guest.name} did not come back in {seconds:.0f} s")
            time.sleep(1)
