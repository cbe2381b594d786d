"""Guests as a part of the lab: virtual machines with real RDMA on the hub of the live hosts."""

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lab.guest import fleet
from lab.guest.machine import FAULTS, GuestMachine
from lab.guest.model import MOST_RAILS
from lab.live.names import nearest
from lab.live.part import Hub, LabError, Part, Status
from lab.sshd_fleet import LAB

_BETWEEN_LOOKS_S = 5.0  # a login to an emulated machine takes seconds


@dataclass
class _Look:
    """At a guest that restarts: when to ask it again, and who asks now."""

    due: float  # by time.monotonic()
    asking: "subprocess.Popen[str] | None" = None


class GuestPart(Part):
    """A few of them; each has a card on every rail, as far as its model has cards."""

    name = "guests"

    def __init__(self, count: int, rails: int) -> None:
        self._count = count
        self._rails = min(max(rails, 1), MOST_RAILS)
        self._guests: fleet.Guests | None = None
        self._restarting: dict[str, _Look] = {}

    # ---- up and down

    def up(self, hub: Hub) -> Iterator[str]:
        """Start all and wait for each."""
        yield "guests: their image is made once, which takes minutes"
        try:
            fleet.make_image()
        except subprocess.CalledProcessError:
            raise LabError(
                f"The guests' image could not be made; see {LAB}/guest.log. A second try goes on "
                "where the first ended."
            ) from None
        folder = hub.folder / "guests"
        self._guests = fleet.begin(hub.prefix, self._count, self._rails, folder, hub.namespace)
        for number, _ in enumerate(fleet.answering(self._guests), 1):
            yield f"{number} of {self._count} guests answer"

    def down(self) -> None:
        """End all."""
        for look in self._restarting.values():
            if look.asking is not None:
                look.asking.kill()
                look.asking.communicate()
        self._restarting.clear()
        if self._guests is not None:
            fleet.down(self._guests)
            self._guests = None

    # ---- state

    def _machines(self) -> dict[str, GuestMachine]:
        if self._guests is None:
            return {}
        return {one.guest.name: one for one in self._guests.machines}

    def status(self) -> list[Status]:
        """Every guest."""
        return [
            Status(name, "guest", self._state(one), tuple(_words(one)))
            for name, one in self._machines().items()
        ]

    def _state(self, one: GuestMachine) -> str:
        assert self._guests is not None
        if self._guests.processes[one.guest.number].poll() is not None:
            return "ended"
        return "booting" if one.guest.name in self._restarting else "up"

    def faults(self, machine: str = "") -> dict[str, str]:
        """The same for all guests."""
        del machine
        return {name: f"a rail {fault.does}" for name, fault in FAULTS.items()}

    def strike(self, machine: str, fault: str, at: str = "", *, earlier: bool = False) -> str:
        """Faults are real, and there is no earlier state to show."""
        if fault not in FAULTS:
            raise LabError(f"No fault of guests is called {fault}. {nearest(fault, FAULTS)}")
        if earlier:
            raise LabError(f"{machine} is a real kernel: read it before you break it.")
        one = self._machines()[machine]
        rail = _rail(one, at)
        _asked(lambda: one.strike(fault, rail), machine)
        return f"{machine}: {fault} at {one.guest.cards[rail].netdev}"

    def heal(self, machine: str) -> str:
        """Undo everything."""
        one = self._machines()[machine]
        words = ", ".join(_words(one))
        _asked(one.heal, machine)
        return f"{machine}: healed of {words or 'nothing'}"

    def reboot(self, machine: str) -> str:
        """A real one: what was set at run time is lost."""
        _asked(self._machines()[machine].restart, machine)
        self._restarting.setdefault(machine, _Look(time.monotonic() + _BETWEEN_LOOKS_S))
        return f"{machine}: restarting"

    def tick(self) -> None:
        """Look whether those that restart are back; the keeper waits for none of them."""
        for name, look in list(self._restarting.items()):
            machine = self._machines()[name]
            if look.asking is None:
                if time.monotonic() >= look.due:
                    look.asking = machine.look()
            elif look.asking.poll() is not None:
                if machine.is_another_boot(look.asking.communicate()[0]):
                    del self._restarting[name]
                else:
                    self._restarting[name] = _Look(time.monotonic() + _BETWEEN_LOOKS_S)

    # ---- how they are reached

    def ssh_config(self) -> str:
        """`Host` blocks."""
        return self._guests.ssh_blocks() if self._guests is not None else ""

    def collect_arguments(self) -> list[str]:
        """Read all guests, with the patience that emulated processors need."""
        names = list(self._machines())
        if not names:
            return []
        return ["-w", ",".join(names), "--connect-timeout", "120", "--timeout", "900"]


def _words(one: GuestMachine) -> list[str]:
    return [f"{name} at {one.guest.cards[rail].netdev}" for name, rail in one.struck]


def _rail(one: GuestMachine, at: str) -> int:
    """By the name of the netdev or of the RDMA device; the first otherwise."""
    names = {card.netdev: rail for rail, card in enumerate(one.guest.cards)}
    names |= {f"rxe{rail}": rail for rail in range(len(one.guest.cards))}
    if at and at not in names:
        raise LabError(f"{one.guest.name} has {', '.join(names)}, and not {at}.")
    return names[at] if at else 0


def _asked(what: Callable[[], None], machine: str) -> None:
    try:
        what()
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        raise LabError(f"{machine} did not do it: {error}") from error
