"""What is judged: an adapter and what it is to be put together with, and the words of a verdict."""

from dataclasses import dataclass
from typing import Literal

from railwright.hardware.parts import Adapter, Cable, Protocol, Switch

State = Literal["works", "limited", "not documented", "does not"]
# From the best to the worst. What is not documented may not work at all: it is worse than a limit.
STATES: tuple[State, ...] = ("works", "limited", "not documented", "does not")
FecSetting = Literal["auto", "none", "fc", "rs", "ll"]
# What most servers set a PCIe function's largest payload to; judgement (facts of real hosts say
# 256 or 512). The smaller one carries less, so nothing is promised that is not there.
USUAL_PAYLOAD = 256


@dataclass(frozen=True)
class Slot:
    """Where the adapter goes: one PCIe link, or two for a card with two interfaces."""

    form: Literal["PCIe", "OCP 3.0"]
    links: tuple[tuple[int, int], ...]  # generation, lanes

    def __str__(self) -> str:
        links = "+".join(f"gen{generation}x{width}" for generation, width in self.links)
        return links if self.form == "PCIe" else f"ocp3-{links}"


@dataclass(frozen=True)
class Server:
    """What the server gives at that slot; None = not said."""

    slot_power_w: float | None = None
    airflow_lfm: float | None = None
    external_power: Literal["none", "8-pin ATX"] | None = None


@dataclass(frozen=True)
class Build:
    """One adapter and what it is put together with; None = that part is not asked about."""

    adapter: Adapter
    slot: Slot | None = None
    cable: Cable | None = None
    switch: Switch | None = None
    server: Server = Server()
    length_m: float | None = None
    ports: int | None = None  # in use; None = all
    protocol: Protocol | None = None
    max_payload: int = USUAL_PAYLOAD
    adapter_fec: FecSetting = "auto"
    switch_fec: FecSetting = "auto"

    @property
    def ports_used(self) -> int:
        """How many ports of the adapter are in use."""
        return self.adapter.ports if self.ports is None else self.ports

    @property
    def name(self) -> str:
        """The parts by name, in one line."""
        slot = f"in {self.slot}" if self.slot else ""
        rest = [part.name for part in (self.cable, self.switch) if part]
        return ", ".join([f"{self.adapter.name} {slot}".strip(), *rest])


@dataclass(frozen=True)
class Item:
    """A verdict on one question."""

    what: str
    state: State
    why: str
    gbps: float | None = None  # of all ports in use, where it is limited and by how much is known
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """All items, and what they come to."""

    items: tuple[Item, ...]

    @property
    def state(self) -> State:
        """The worst of all."""
        return max((item.state for item in self.items), key=STATES.index)

    @property
    def gbps(self) -> float | None:
        """What is left at best, of all ports in use; None = no limit, or one of unknown size."""
        if self.state == "does not":
            return None
        return min((item.gbps for item in self.items if item.gbps is not None), default=None)

    @property
    def is_at_fault(self) -> bool:
        """Whether something does not fit, or is limited."""
        return any(item.state in ("does not", "limited") for item in self.items)

    @property
    def has_gap(self) -> bool:
        """Whether a document is lacking."""
        return any(item.state == "not documented" for item in self.items)
