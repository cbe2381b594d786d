"""A part that one host of a fleet has lost: which rule must find it, and where.

What must come of it is written by hand in lost_parts.toml. Losses come in an order that chance has
given once and for all, of every sort (a model, a kind of part, a way to lose it) one first, then of
every sort another, so that a run which ends early has tried a fair sample.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lab.fleet import MODELS, HostModel
from lab.fleet.healthy import HEALTHY
from lab.fleet.lose_part import WAYS, Part, lost, parts
from lab.harness.struck import CELLS, STRUCK, Cell, Struck, locked, prepare
from railwright.toml import load_toml

BUILD: dict[str, Callable[[int], HostModel]] = {**HEALTHY, **MODELS}
RULES = ("--select", "inventory", "--select", "port-down", "--select", "bond-member-down")


class Loss(NamedTuple):
    """A part of one host of a model, and how it is lost."""

    model: str
    part: Part
    way: str

    def name(self) -> str:
        """As it stands in the progress file."""
        return f"{self.model} {self.part.kind} {self.part.name} {self.way}"

    def sort(self) -> tuple[str, str, str]:
        """Which losses are much alike."""
        return self.model, self.part.kind, self.way


@dataclass(frozen=True)
class Wanted:
    """What must come of a loss: one of these rules at these places, or unknown for a reason."""

    rules: tuple[tuple[str, str], ...]
    unknown: str = ""


@cache
def _expected() -> dict[str, Any]:
    return load_toml(Path(__file__).with_suffix(".toml").read_text("utf-8"), "lost_parts.toml")


@cache
def _sound(model: str) -> HostModel:
    """The host as it is before it loses anything."""
    return BUILD[model](STRUCK)


@cache
def losses() -> tuple[Loss, ...]:
    """All of them, shuffled with a seed, one of every sort first."""
    found = [
        Loss(model, part, way)
        for model in BUILD
        for part in parts(_sound(model))
        for way in WAYS[part.kind]
    ]
    random.Random(16).shuffle(found)
    turns: Counter[tuple[str, str, str]] = Counter()
    turn = {}
    for loss in found:
        turn[loss] = turns[loss.sort()]
        turns[loss.sort()] += 1
    return tuple(sorted(found, key=turn.__getitem__))


# ---- what must come of it


def _of(host: HostModel, part: Part) -> str:
    """Whether a port, a module or a cable is that of an RDMA device."""
    return "rdma" if any(nic.netdev == part.name for nic in host.nics) else "netdev"


def _function(host: HostModel, part: Part) -> str:
    """The slot of the card that a part belongs to, without the function."""
    for netdev in (*host.nics, *host.netdevs):
        if part.name in (netdev.netdev, getattr(netdev, "name", "")):
            return netdev.address.rpartition(".")[0]
    return part.name


def _device(host: HostModel, part: Part) -> str:
    return next((nic.name for nic in host.nics if nic.netdev == part.name), "")


def wanted(loss: Loss, cell: Cell) -> Wanted:
    """By the table: the first entry that speaks of the part."""
    host = _sound(loss.model)
    places = {
        "host": host.name,
        "function": f"{host.name}:{_function(host, loss.part)}.",
        "port": f"{host.name}:{_device(host, loss.part)}/",
    }
    (entry,) = [
        one
        for one in _expected()["loss"]
        if loss.part.kind in one["parts"] and one.get("of") in (None, _of(host, loss.part))
    ]

    def at(named: list[str]) -> tuple[tuple[str, str], ...]:
        return tuple((rule, places[where]) for rule, where in map(str.split, named))

    rules = at(entry["by"])
    if entry.get("needs_reference", True):
        for name in ("no_reference", "unconfirmed"):
            doubt = _expected()[name]
            if cell.site in doubt["sites"] and cell.size in doubt["sizes"]:
                return Wanted(rules + at(doubt["by"]), doubt["unknown"])
    return Wanted(rules, entry.get("unknown", ""))


# ---- what comes of it


def _said(told: dict[str, Any], wish: Wanted) -> str:
    """found, the reason for which it is unknown, or ''."""

    def there(one: dict[str, Any]) -> bool:
        return any(
            one["rule"] == rule and (one["subject"] == place or _within(one["subject"], place))
            for rule, place in wish.rules
        )

    if any(there(one) for one in told["findings"]):
        return "found"
    return next((str(one["reason"]) for one in told["inconclusive"] if there(one)), "")


def _within(subject: str, place: str) -> bool:
    return place.endswith((".", "/")) and subject.startswith(place)


def _outcome(struck: Struck, loss: Loss, cell: Cell) -> str:
    """'' where it is as the table has it."""
    wish = wanted(loss, cell)
    _, told = struck.judged(cell, *RULES)
    said = _said(told, wish)
    if said == "found":
        return ""
    # Never in order: whatever else there is to say of it must be said.
    status, _ = struck.judged(cell)
    if status == 0:
        return "exit 0"
    if wish.unknown and said:
        return "" if said == wish.unknown else f"unknown: {said}, wanted {wish.unknown}"
    return f"unknown: {said}" if said else "not found"


def tried(folder: Path, loss: Loss, cells: Iterable[Cell] = CELLS) -> dict[str, str]:
    """Cells of a loss: '' or what is wrong. Healthy fleets of its model are at hand."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        host = lost(_sound(loss.model), loss.part, loss.way)
        struck = Struck(Path(own), folder / loss.model, host)
        return {f"{cell.site} {cell.size}": _outcome(struck, loss, cell) for cell in cells}


def prepared_and_tried(folder: Path, loss: Loss) -> dict[str, str]:
    """With the healthy fleets of its model, which whoever comes first makes."""
    with locked(folder / f"{loss.model}.lock"):
        prepare(folder / loss.model, BUILD[loss.model])
    return tried(folder, loss)
