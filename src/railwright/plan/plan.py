"""What a plan consists of: changes in order, what is restarted for them, and what is left."""

from dataclasses import dataclass
from typing import NamedTuple

from railwright.plan.paths import Limits
from railwright.settings.setting import Setting, Step

Names = dict[str, str | None]  # what a machine calls the thing, by the column


class Member(NamedTuple):
    """The same names and steps on several machines."""

    names: Names
    targets: tuple[str, ...]
    steps: tuple[Step, ...]
    undo: tuple[Step, ...]


@dataclass(frozen=True)
class Group:
    """One change, wherever it is made: what a person reviews."""

    setting: Setting
    now: str | None
    wanted: str | None
    rules: tuple[str, ...]  # what finds it
    subjects: int
    targets: tuple[str, ...]
    members: tuple[Member, ...] = ()
    why: str = ""  # it is not in the plan
    is_late: bool = False  # a restart of the plan would lose it, so it is made afterwards
    gbps: float | None = None  # what its findings cost, where arithmetic gives a number
    by_peers: bool = False  # nobody says what it is to be; most like machines have it
    owner: str = ""  # whose the value is


class Again(NamedTuple):
    """A value that a restart may lose: read afterwards, and written again where it differs."""

    setting: str
    value: str
    names: Names
    targets: tuple[str, ...]
    steps: tuple[Step, ...]


class Lost(NamedTuple):
    """A value that a restart may lose and that could not be put back by the plan."""

    setting: str
    why: str
    targets: tuple[str, ...]


class Blind(NamedTuple):
    """A parameter that the card shows only after the first reset: what it is now is not known."""

    setting: str
    wanted: str
    names: Names
    targets: tuple[str, ...]
    steps: tuple[Step, ...]


class Restart(NamedTuple):
    """A card or a host that is restarted, once, for all changes that wait for it."""

    kind: str  # firmware_reset, reboot or power_cycle
    names: Names  # of the card
    targets: tuple[str, ...]
    settings: tuple[str, ...]  # the changes that count afterwards
    rules: tuple[str, ...]  # what finds that something waits
    steps: tuple[Step, ...]  # none for a host: who does it drains and proves
    blind: tuple[Blind, ...] = ()  # written before it


class ByHand(NamedTuple):
    """What a rule found and no setting mends."""

    rule: str
    severity: str
    targets: tuple[str, ...]
    subjects: int
    places: tuple[str, ...]


class Total(NamedTuple):
    """What one path would come to, if it were taken."""

    path: str
    changes: int
    drained_hosts: int
    switches: int
    resets: int  # of cards
    reboots: int
    power_cycles: int
    gbps: float  # what the findings cost that it mends, where arithmetic gives a number
    unpriced: int  # changes whose findings have none
    risk: tuple[tuple[str, str, int], ...]  # reach, way back, changes


@dataclass(frozen=True)
class Plan:
    """What is to be changed, in order, and what is left."""

    limits: Limits
    totals: tuple[Total, ...]
    digests: dict[str, str]  # machine -> over what its changes read
    groups: tuple[Group, ...]
    restarts: tuple[Restart, ...]
    again: tuple[Again, ...]
    lost: tuple[Lost, ...]
    held_back: tuple[Group, ...]
    refused: tuple[Group, ...]
    undecided: tuple[Group, ...]
    by_hand: tuple[ByHand, ...]

    @property
    def render_for(self) -> tuple[Group, ...]:
        """What is to be changed where its owner has it."""
        return tuple(one for one in self.refused if one.owner)
