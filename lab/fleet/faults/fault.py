"""A declared fault, a fault at a place, and what several faults together must lead to."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from lab.fleet.faults.place import PLACES, Place, subjects
from lab.fleet.model import HostModel

Change = Callable[[Place], HostModel]
Verdict = tuple[str, str]  # rule, subject
# What a boot is called that came before the present one.
_EARLIER_BOOT = "0e4b7c52-93d1-4f6a-b8e0-{tail}"


def untouched(place: Place) -> HostModel:
    """The host as it is: healthy in the earlier snapshot."""
    return place.host


@dataclass(frozen=True)
class Fault:
    """See the package's own words."""

    name: str
    rule: str
    models: tuple[str, ...]
    at: str
    change: Change
    expects: tuple[str, ...]
    implies: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    excuses: tuple[str, ...] = ()
    severity: str = ""
    before: Change | None = None
    rebooted: bool = False
    site: str = "usual"
    clashes: tuple[str, ...] = ()
    needs_peers: bool = False

    def __post_init__(self) -> None:
        if self.at not in PLACES:
            raise ValueError(f"{self.name}: a fault strikes one of {', '.join(PLACES)}")
        strange = [text for text in self.expects if not text.startswith(f"{self.rule} ")]
        if strange or not self.expects:
            raise ValueError(f"{self.name}: expects what {self.rule} says, and nothing else")

    @property
    def makes_odd(self) -> bool:
        """The host is of a kind of its own then, and not compared with others."""
        return "nic-names-differ {host}" in self.excuses


@dataclass(frozen=True)
class Declared:
    """Verdicts that must come, by rule and subject."""

    fails: frozenset[Verdict] = frozenset()
    unknown: frozenset[Verdict] = frozenset()
    excused: frozenset[Verdict] = frozenset()


def _verdicts(place: Place, texts: Iterable[str]) -> frozenset[Verdict]:
    found = set()
    for text in texts:
        rule, _, template = text.partition(" ")
        found |= {(rule, subject) for subject in subjects(place, template)}
    return frozenset(found)


@dataclass(frozen=True)
class Injection:
    """A fault at a place of a healthy host."""

    fault: Fault
    place: Place

    def changed(self, host: HostModel) -> HostModel:
        """The host with the fault; it may have others already."""
        return self.fault.change(self.place.on(host))

    def before(self, host: HostModel) -> HostModel:
        """The same host in the earlier snapshot."""
        return (self.fault.before or self.fault.change)(self.place.on(host))

    @property
    def expected(self) -> frozenset[Verdict]:
        """What the fault's own rule must find."""
        return _verdicts(self.place, self.fault.expects)

    @property
    def declared(self) -> Declared:
        """Everything that must come of it."""
        return Declared(
            self.expected | _verdicts(self.place, self.fault.implies),
            _verdicts(self.place, self.fault.hides),
            _verdicts(self.place, self.fault.excuses),
        )


def together(declared: Iterable[Declared]) -> Declared:
    """What is excused is not said, what is hidden is unknown, whatever else is declared."""
    parts = list(declared)
    excused = frozenset[Verdict]().union(*(part.excused for part in parts))
    unknown = frozenset[Verdict]().union(*(part.unknown for part in parts)) - excused
    fails = frozenset[Verdict]().union(*(part.fails for part in parts)) - excused - unknown
    gone = {subject for rule, subject in excused if rule == "*"}
    return Declared(
        frozenset(one for one in fails if one[1] not in gone),
        frozenset(one for one in unknown if one[1] not in gone),
        excused,
    )


def earlier(host: HostModel, injections: Iterable[Injection]) -> HostModel | None:
    """The host in the earlier snapshot; None = it was as it is now."""
    listed = list(injections)
    if not any(one.fault.before or one.fault.rebooted for one in listed):
        return None
    for one in listed:
        host = one.before(host)
    if any(one.fault.rebooted for one in listed):
        boot = _EARLIER_BOOT.format(tail=host.boot_id.rpartition("-")[2])
        host = replace(host, boot_id=boot)
    return host
