"""Switch systems as data: load `switches/*.toml`, refuse what is not a pure read.

Two files must agree on every command: the system's own, which says what is asked and who parses it,
and `switch_read_only.toml`, which holds the exact texts that may be sent and the source that says
that they only read.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from railwright.errors import ProbeError
from railwright.toml import load_toml

HERE = Path(__file__).parent
WAYS = ("shell", "terminal")
# Nothing but these words begins a command; whatever stands behind is held to the list of texts.
_BEGINNINGS = ("show ", "nv show ", "sonic-db-dump ", "vtysh -c 'show ", "sudo -n vtysh -c 'show ")
_REFUSED = re.compile(r"[;&`$<>\\\n\r]")  # no shell would do more than the one thing
LARGEST_CAP = 8 * 1024 * 1024
LONGEST_TIMEOUT = 300


@dataclass(frozen=True)
class Command:
    """One thing that is asked of a switch."""

    probe: str
    text: str  # as it is sent
    instance: str  # which answer of the probe this is
    timeout_s: int
    part: bool = False  # its answer is joined with those of the same probe and instance


@dataclass(frozen=True)
class System:
    """One network operating system: how its command line is spoken with, and what is asked."""

    name: str
    title: str
    way: str  # shell = a script for /bin/sh; terminal = a CLI that wants a terminal
    role: str
    role_source: str
    commands: tuple[Command, ...]
    cap_bytes: int  # of one answer
    opening: tuple[str, ...] = ()  # sent first: settings of the session, the pager off
    closing: str = ""
    refused: tuple[str, ...] = ()  # patterns: the CLI does not know the command
    denied: tuple[str, ...] = ()  # patterns: the account may not run it
    keep: dict[str, dict[str, Any]] = field(default_factory=dict, hash=False)  # probe -> filter
    banners: tuple[str, ...] = ()  # patterns: it says who it is

    @property
    def probes(self) -> tuple[str, ...]:
        """The probes it answers."""
        return tuple(dict.fromkeys(command.probe for command in self.commands))


@cache
def read_only_texts() -> dict[str, dict[str, str]]:
    """System -> text that may be sent -> the source that says that it only reads."""
    file = HERE / "switch_read_only.toml"
    raw = cast("dict[str, list[dict[str, Any]]]", load_toml(file.read_text("utf-8"), file.name))
    return {
        name: {text: str(group["source"]) for group in groups for text in group["texts"]}
        for name, groups in raw.items()
    }


def _refuse(name: str, what: str, do: str) -> ProbeError:
    return ProbeError(
        f"switch system {name}: {what}", why="Switches are only read; this is not loaded.", do=do
    )


def _check_text(system: str, text: str, *, session: bool) -> None:
    if text not in read_only_texts().get(system, {}):
        raise _refuse(
            system,
            f"`{text}` is not a known read-only command",
            "Add the exact text to switch_read_only.toml, with the source that says so.",
        )
    plain = text.replace(" | json", "").replace("|*'", "'")
    if _REFUSED.search(plain) or (not session and not text.startswith(_BEGINNINGS)):
        raise _refuse(system, f"`{text}` is not a read-only command", "See the other commands.")


def _command(data: dict[str, Any], raw: dict[str, Any]) -> Command:
    tail = "" if raw.get("plain") else str(data.get("tail", ""))
    text = str(raw["text"])
    return Command(
        str(raw["probe"]),
        text + tail,
        str(raw.get("instance", text)),
        int(raw.get("timeout_s", data["timeout_s"])),
        bool(raw.get("part", False)),
    )


def load_system(name: str, text: str) -> System:
    """One system from its TOML text; anything that is not a pure read is refused."""
    data: dict[str, Any] = load_toml(text, f"{name}.toml")
    commands = tuple(_command(data, raw) for raw in data["command"])
    system = System(
        name,
        str(data["title"]),
        str(data["way"]),
        str(data["role"]),
        str(data["role_source"]),
        commands,
        int(data["cap_bytes"]),
        tuple(data.get("opening", ())),
        str(data.get("closing", "")),
        tuple(data.get("refused", ())),
        tuple(data.get("denied", ())),
        dict(data.get("keep", {})),
        tuple(data.get("banners", ())),
    )
    if system.way not in WAYS or not 0 < system.cap_bytes <= LARGEST_CAP:
        raise _refuse(name, "way or cap_bytes is out of range", f"Ways: {', '.join(WAYS)}.")
    for command in commands:
        _check_text(name, command.text, session=False)
        if command.probe not in system.keep:
            raise _refuse(name, f"no filter for {command.probe}", "Add it to [keep].")
        if not 0 < command.timeout_s <= LONGEST_TIMEOUT:
            raise _refuse(name, f"`{command.text}`: timeout_s out of range", "Use at most 300 s.")
    for line in (*system.opening, *filter(None, [system.closing])):
        _check_text(name, line, session=True)
    return system


def system_names() -> list[str]:
    """Their names alone, for a help text: nothing is loaded."""
    return sorted(file.stem for file in (HERE / "switches").glob("*.toml"))


@cache
def systems() -> dict[str, System]:
    """The systems that Railwright can ask, by name."""
    return {
        file.stem: load_system(file.stem, file.read_text("utf-8"))
        for file in sorted((HERE / "switches").glob("*.toml"))
    }
