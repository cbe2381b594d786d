"""The counters that become facts, as data: `counters.toml`.

A rule that compares two readings needs to know how wide a counter is, what it does at its end, and
whether its rise is bad news. The parsers need the names.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from railwright.errors import RailwrightError
from railwright.toml import load_toml

SOURCES = ("ethtool", "counters", "hw_counters")
_CHOICES: dict[str, tuple[object, ...]] = {
    "source": SOURCES,
    "at_end": ("wraps", "saturates"),
    "kind": ("counter", "gauge"),
    "direction": ("rising is bad", "traffic", "information"),
    "bits": (4, 8, 16, 32, 64),
}
_RANGE = re.compile(r"\{(\d)-(\d)\}")


@dataclass(frozen=True)
class Counter:
    """One counter under the exact name that is printed."""

    name: str
    source: str
    unit: str
    bits: int
    at_end: str
    kind: str
    direction: str
    meaning: str
    document: str
    judged: tuple[str, ...] = ()  # the fields that no document says
    template: str = ""  # the name that it was written as, if it stands for several
    standard: str = ""  # group.name of the same register among ethtool's standard groups

    @property
    def largest(self) -> int:
        """The largest value. One that saturates is unknown from there on."""
        return int(2**self.bits - 1)


def expand(name: str) -> list[str]:
    """rx_prio{0-7}_pause -> rx_prio0_pause ... rx_prio7_pause; a plain name is itself."""
    found = _RANGE.search(name)
    if found is None:
        return [name]
    first, last = int(found[1]), int(found[2])
    before, after = name[: found.start()], name[found.end() :]
    return [f"{before}{number}{after}" for number in range(first, last + 1)]


def _counters(name: str, values: dict[str, object]) -> list[Counter]:
    wrong = [key for key, allowed in _CHOICES.items() if values.get(key) not in allowed]
    judged = values.get("judged")
    if wrong or not isinstance(judged, list) or not set(judged) <= set(_CHOICES):
        raise RailwrightError(f"counter {name}: bad {', '.join(wrong) or 'judged'}")
    names = expand(name)
    ready = {**values, "judged": tuple(judged), "template": name if len(names) > 1 else ""}
    try:
        return [Counter(name=exact, **ready) for exact in names]  # type: ignore[arg-type]
    except TypeError as error:
        raise RailwrightError(f"counter {name}: {error}") from error


@cache
def counters() -> dict[tuple[str, str], Counter]:
    """All counters by (source, exact name)."""
    file = Path(__file__).parent / "counters.toml"
    groups = cast("list[dict[str, object]]", load_toml(file.read_text("utf-8"), file.name)["group"])
    found: dict[tuple[str, str], Counter] = {}
    for group in groups:
        common = {key: group[key] for key in group if key not in ("counter", "title")}
        members = cast("dict[str, dict[str, object]]", group["counter"])
        for name, own in members.items():
            for counter in _counters(name, common | own):
                if found.setdefault((counter.source, counter.name), counter) is not counter:
                    raise RailwrightError(f"counter {counter.name} is written twice")
    return found


@cache
def counter_names(source: str) -> frozenset[str]:
    """The exact names of the counters of one source."""
    return frozenset(name for where, name in counters() if where == source)


@cache
def standard_names() -> dict[str, str]:
    """eth-mac.FramesReceivedOK -> rx_packets_phy: ethtool's standard groups under mlx5's names."""
    return {counter.standard: counter.name for counter in counters().values() if counter.standard}
