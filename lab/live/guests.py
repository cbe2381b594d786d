"""Guests as a part of the lab: virtual machines with real RDMA on the hub of the live hosts."""

import subprocess
from collections.abc import Callable, Iterator

from lab.guest import fleet
from lab.guest.machine import FAULTS, GuestMachine
from lab.guest.model import MOST_RAILS
from lab.live.names import nearest
from lab.live.part import Hub, LabError, Part, Status
from lab.sshd_fleet import LAB


class GuestPart(Part):
    """A few of them; each has a card on every rail, as far as its model has cards."""

    name = "guests"

    def __init__(self, count: int, rails: int) -> None:
        self._count = count
        self._rails = min(max(rails, 1), MOST_RAILS)
        self._guests: fleet.Guests | None = None

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
            Status(name, "guest", state, tuple(_words(one)) if state == "up" else ())
            for name, one in self._machines().items()
            for state in [self._state(one)]
        ]

    def _state(self, one: GuestMachine) -> str:
        assert self._guests is not None
        if self._guests.has_ended(one.guest):
            return "ended"
        return "booting" if one.is_booting else "up"

    def _up(self, machine: str) -> GuestMachine:
        """A guest that answers: to wait for one that does not would hold up the whole lab."""
        one = self._machines()[machine]
        state = self._state(one)
        if state != "up":
            starts = f"`lab reboot {machine}` starts it"
            what = starts if state == "ended" else "wait until it is up"
            raise LabError(f"{machine} is {state}: {what}.")
        return one

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
        one = self._up(machine)
        rail = _rail(one, at)
        _asked(lambda: one.strike(fault, rail), machine)
        return f"{machine}: {fault} at {one.guest.cards[rail].netdev}"

    def heal(self, machine: str) -> str:
        """Undo everything."""
        one = self._up(machine)
        words = ", ".join(_words(one))
        _asked(one.heal, machine)
        return f"{machine}: healed of {words or 'nothing'}"

    def reboot(self, machine: str) -> str:
        """A real one: what was set at run time is lost."""
        one = self._machines()[machine]
        assert self._guests is not None
        if self._guests.has_ended(one.guest):
            one.await_boot()
            fleet.start(self._guests, one.guest)
        else:
            _asked(self._up(machine).restart, machine)
        return f"{machine}: restarting"

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
