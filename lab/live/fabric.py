"""The state of the lab's fabric: which faults it has, and what its switches and hosts are then.

A fault belongs to the fabric and not to one machine: two cables that are mixed up show on two
switches and a host.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from lab.fleet.fabric.hosts import host_model
from lab.fleet.fabric.model import Fabric
from lab.fleet.fabric.routes import planned_places
from lab.fleet.faults.switch_fault import FabricFault, FabricInjection, Place, all_fabric_faults
from lab.fleet.faults.switch_places import on_switch, place_words, port_names
from lab.fleet.model import HostModel
from lab.live.names import nearest
from lab.live.part import LabError
from lab.switch_writes import SwitchState
from lab.switch_writes.fabric import written


@dataclass(frozen=True)
class StruckFabric:
    """A fault that the fabric has."""

    injection: FabricInjection
    earlier: bool = False  # as it was before the fault showed

    @property
    def switch(self) -> str:
        """The switch that was named when it was struck."""
        return self.injection.place.switch.name

    @property
    def words(self) -> str:
        """switch_pfc_off at leaf001:Ethernet0."""
        name = f"{self.injection.fault.name} at {place_words(self.injection.place)}"
        return f"{name} (earlier)" if self.earlier else name


@dataclass
class FabricState:
    """A healthy fabric and what has become of it."""

    healthy: Fabric
    faults: list[StruckFabric] = field(default_factory=list)
    writes: dict[str, SwitchState] = field(default_factory=dict)  # of switches written to

    def now(self) -> Fabric:
        """The fabric as it is: its faults, and what was written to its switches."""
        return written(self._base(), self.healthy, self.writes)

    def writer(self, switch: str) -> SwitchState:
        """What takes writes for a switch; from the first one on it is what the switch is."""
        if switch not in self.writes:
            model, healthy = self.now().named(switch), self.healthy.named(switch)
            self.writes[switch] = SwitchState(model, healthy)
        return self.writes[switch]

    def _follow(self, before: Fabric) -> None:
        """Faults came or went: switches that are written to have that too."""
        after = self._base()
        for name, state in self.writes.items():
            state.follow(before.named(name), after.named(name))

    def _base(self) -> Fabric:
        made = self.healthy.copy()
        for one in self.faults:
            one.injection.apply(made, before=one.earlier)
        return made

    def strike(
        self, switch: str, name: str, at: str = "", *, earlier: bool = False
    ) -> StruckFabric:
        """One fault more; the same at the same place is there once."""
        fault = _fault(name)
        struck = StruckFabric(FabricInjection(fault, self._place(fault, switch, at)), earlier)
        self.put(struck)
        return struck

    def put(self, struck: StruckFabric) -> None:
        """A fault whose place is known."""
        others = [one for one in self.faults if one.injection != struck.injection]
        base = self._base()
        before, self.faults = self.faults, [*others, struck]
        try:
            self._base()
        except (KeyError, IndexError, StopIteration, ValueError) as error:
            self.faults = before
            there = ", ".join(one.words for one in before)
            raise LabError(
                f"{struck.words} cannot be put on top of what there is: {there}. Heal it first."
            ) from error
        self._follow(base)

    def heal(self, switch: str = "") -> list[StruckFabric]:
        """No fault of a switch any more, or none at all; those that there were."""
        gone = [one for one in self.faults if switch in ("", one.switch)]
        base = self._base()
        self.faults = [one for one in self.faults if one not in gone]
        self._follow(base)
        return gone

    def _place(self, fault: FabricFault, switch: str, at: str) -> Place:
        found = list(on_switch(self.healthy, fault, switch))
        if not found:
            kinds = ", ".join(fault.at)
            raise LabError(
                f"{fault.name} cannot be on {switch}: it strikes {kinds} of "
                f"{', '.join(fault.systems)}, and may need a second rail, spine or leaf."
            )
        chosen = [place for place in found if not at or at in port_names(place)]
        if not chosen:
            names = ", ".join(dict.fromkeys(port_names(place)[0] for place in found))
            raise LabError(f"{fault.name} cannot strike {at} of {switch}. There: {names}.")
        return chosen[0]


def _fault(name: str) -> FabricFault:
    known = all_fabric_faults()
    if name not in known:
        raise LabError(f"No fault of switches is called {name}. {nearest(name, known)}".rstrip())
    return known[name]


class FabricHosts:
    """The hosts of a fabric: made anew where a fault of the fabric changes them."""

    def __init__(self, healthy: Fabric, show: Callable[[HostModel], int] | None = None) -> None:
        self._places = planned_places(healthy)
        self._show = show
        self._known = {number: self._model(healthy, number) for number in range(healthy.hosts)}

    def _model(self, fabric: Fabric, number: int) -> HostModel:
        return host_model(fabric, number, self._places)

    def follow(self, fabric: Fabric) -> int:
        """Show what differs; how many files of hosts were changed."""
        if self._show is None:
            return 0
        changed = 0
        for number, was in self._known.items():
            model = self._model(fabric, number)
            if model != was:
                self._known[number] = model
                changed += self._show(model)
        return changed
