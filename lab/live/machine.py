"""The state of one host: which model it is, which faults it has, what was written to it."""

from dataclasses import dataclass, field

from lab.fleet.faults import Fault, Injection, Place, all_faults, places
from lab.fleet.model import HostModel
from lab.live.names import nearest
from lab.live.part import LabError
from lab.writes import HostState

_NAMED = {"rail": "a compute card", "storage": "a storage card", "virtual": "a virtual function"}


@dataclass(frozen=True)
class Struck:
    """A fault that a host has."""

    injection: Injection
    earlier: bool = False  # the host is as it was before the fault showed

    @property
    def words(self) -> str:
        """link_down at mlx5_3."""
        at = self.injection.place.name
        name = self.injection.fault.name + (f" at {at}" if at else "")
        return f"{name} (earlier)" if self.earlier else name


@dataclass
class HostMachine:
    """A host and what has become of it."""

    kind: str  # the name of its model
    healthy: HostModel
    faults: list[Struck] = field(default_factory=list)
    uptime_s: float = 0.0  # that it claims when it has restarted; measurements skip the first hour
    state: HostState = field(init=False, repr=False)  # what was written, on top of the faults

    def __post_init__(self) -> None:
        self.state = HostState(self.healthy)
        self.state.uptime_s = self.uptime_s

    @property
    def name(self) -> str:
        """Its host name."""
        return self.healthy.name

    @property
    def troubles(self) -> tuple[str, ...]:
        """Its faults, and what it was told to do that it should not."""
        ordered = (f"misbehaves: {one.words}" for one in self.state.misbehaviours)
        return (*(fault.words for fault in self.faults), *ordered)

    def model(self) -> HostModel:
        """The host as it is now."""
        self.state.rebase(self._struck())
        return self.state.model()

    def _struck(self) -> HostModel:
        """The host with its faults."""
        host = self.healthy
        for one in self.faults:
            injection = one.injection
            host = injection.before(host) if one.earlier else injection.changed(host)
        return host

    def strike(self, name: str, at: str = "", *, earlier: bool = False) -> Struck:
        """One fault more; the same fault at the same place is there once."""
        fault = self._fault(name)
        injection = Injection(fault, self._place(fault, at))
        struck = Struck(injection, earlier)
        before = self.faults
        self.faults = [struck if _is(one, injection) else one for one in before]
        if not any(one is struck for one in self.faults):
            self.faults.append(struck)
        try:
            self._struck()
        except (KeyError, StopIteration, ValueError) as error:
            self.faults = before
            there = ", ".join(one.words for one in before)
            words = f"{name} cannot be put on top of what {self.name} has: {there}. Heal it first."
            raise LabError(words) from error
        return struck

    def heal(self) -> list[str]:
        """No fault any more; those that there were."""
        words = [one.words for one in self.faults]
        self.faults = []
        return words

    def reboot(self, *, warm: bool = True) -> None:
        """A restart, or its power taken away: what was written at run time is gone.

        Files and faults stay, and what waited for it takes hold (lab/writes/events.py).
        """
        self.model()
        self.state.restarts = ""
        self.state.reboot(warm=warm)

    def possible(self) -> list[Fault]:
        """Faults that a host of this model can have."""
        return [one for one in all_faults().values() if self.kind in one.models]

    def _fault(self, name: str) -> Fault:
        known = all_faults()
        if name not in known:
            raise LabError(f"No fault is called {name}. {nearest(name, known)}")
        fault = known[name]
        if self.kind not in fault.models:
            models = ", ".join(fault.models)
            raise LabError(
                f"{name} cannot be on {self.name}, a {self.kind}; it can be on: {models}."
            )
        return fault

    def _place(self, fault: Fault, at: str) -> Place:
        found = places(self.healthy, fault.at)
        where = _NAMED.get(fault.at, f"a {fault.at}")
        if not found:
            raise LabError(f"{fault.name} strikes {where}, and {self.name} has none.")
        if not at:
            return found[0]
        if fault.at == "host":
            raise LabError(f"{fault.name} strikes a host as a whole: leave --at out.")
        for place in found:
            if place.name == at:
                return place
        names = ", ".join(place.name for place in found)
        raise LabError(f"{fault.name} strikes {where}. {self.name} has {names}, and not {at}.")


def _is(one: Struck, other: Injection) -> bool:
    """The same fault at the same place; comparing whole hosts would take long."""
    mine = one.injection
    return mine.fault is other.fault and mine.place.name == other.place.name
