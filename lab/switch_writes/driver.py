"""What a system must tell of itself, to be written to."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lab.fleet.fabric.model import Switch
from lab.switch_writes.outcome import Call, Config, Outcome, RefusedError

if TYPE_CHECKING:
    from lab.switch_writes.state import SwitchState


class Driver:
    """The tools of one system; what is the same for most is written here."""

    bouncing: tuple[str, ...] = ("fec_asked", "speed_mbps", "autonegotiation", "admin_up")
    disk_full = "No space left on device"
    # How somebody who has just logged in gets where one can write, and out again.
    entering: tuple[str, ...] = ()
    leaving: tuple[str, ...] = ()
    dangerous: tuple[str, ...] = ()  # beginnings of commands that nobody should need

    def __init__(self, state: "SwitchState") -> None:
        self.state = state

    def native(self) -> Any:
        """What a configuration also holds, of a switch that nobody has written to."""
        return None

    def run(self, call: Call) -> Outcome:
        """Do what was typed; RefusedError where the tool says no."""
        raise NotImplementedError

    def refusal(self, call: Call, error: RefusedError) -> Outcome:
        """How the tool says it."""
        del call
        return Outcome(error.said, error.words + "\n" if error.words else "", error.code)

    def place(self, session: str) -> str:
        """Where in the configuration somebody is, for the log."""
        del session
        return ""

    def hang_up(self, session: str) -> None:
        """A connection has ended."""

    def tick(self, now: float) -> Iterator[str]:
        """Do what is due; what was done, in words."""
        del now
        yield from ()

    def reboot(self) -> None:
        """What is not in any file is gone."""

    def is_dangerous(self, text: str) -> bool:
        """Whether a command does more than anybody who changes one setting wants."""
        return text.removeprefix("sudo ").startswith(self.dangerous) if self.dangerous else False

    def native_changes(self, before: Any, after: Any) -> Iterator[dict[str, Any]]:
        """For the log."""
        del before, after
        yield from ()

    def follow(self, native: Any, before: Switch, after: Switch) -> Any:
        """What a fault changes in it."""
        del before, after
        return native

    def shown(self, switch: Switch, told: Config, running: Config) -> Switch:
        """For the renderers."""
        del told, running
        return switch
