"""Network operating systems as data: which facts each one reports (systems/*.toml)."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from railwright.errors import RailwrightError
from railwright.toml import load_toml

HERE = Path(__file__).parent
# reported      what is not read was not collected
# not_reported  the switch has it, and no command that is asked tells it: nobody can know
# automatic     the switch works it out by itself and does not print it: it cannot be left out
# lacking       the system has no such thing
STATES = ("reported", "not_reported", "automatic", "lacking")


@dataclass(frozen=True)
class Fact:
    """Something that a switch can be asked about."""

    name: str
    meaning: str
    columns: tuple[str, ...]  # table.column of what holds it


@dataclass(frozen=True)
class System:
    """One network operating system."""

    name: str
    title: str
    probes: tuple[str, ...]
    states: dict[str, str] = field(hash=False)  # fact -> one of STATES
    sources: dict[str, str] = field(hash=False)  # fact -> where that is known from


@cache
def facts() -> dict[str, Fact]:
    """All facts by name."""
    file = HERE / "system.toml"
    raw: dict[str, Any] = load_toml(file.read_text("utf-8"), file.name)
    return {name: Fact(name, one["meaning"], tuple(one["columns"])) for name, one in raw.items()}


def load_system(name: str, text: str) -> System:
    """One system; it must say something of every fact, and from where."""
    data: dict[str, Any] = load_toml(text, f"{name}.toml")
    said = data["facts"]
    wrong = [f"says nothing of {fact}" for fact in facts() if fact not in said]
    wrong += [f"knows no fact {fact}" for fact in said if fact not in facts()]
    for fact, one in said.items():
        if set(one) != {"state", "source"} or one["state"] not in STATES or not one["source"]:
            wrong.append(f"{fact} needs a source and a state of {', '.join(STATES)}")
    if wrong:
        raise RailwrightError(f"systems/{name}.toml: {'; '.join(wrong)}")
    return System(
        name,
        str(data["title"]),
        tuple(data["probes"]),
        {fact: one["state"] for fact, one in said.items()},
        {fact: one["source"] for fact, one in said.items()},
    )


@cache
def systems() -> dict[str, System]:
    """All systems by name."""
    return {
        file.stem: load_system(file.stem, file.read_text("utf-8"))
        for file in sorted((HERE / "systems").glob("*.toml"))
    }
