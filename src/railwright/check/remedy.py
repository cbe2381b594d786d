"""What to do about one finding: its rule's own commands, with the real device filled in.

A command is a piece of code in *What to do*. What comes from a machine goes into it quoted for a
shell, and what could be read as an option or as another path does not go into it at all.
"""

import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from railwright.check.places import Place
from railwright.text import plain

ACTIONS = {
    "set": "change a setting",
    "reset": "reset, restart or power-cycle something",
    "reseat": "work with hands: clean, reseat, re-cable, cool",
    "replace": "replace a part",
    "ask": "people decide first: look further, choose a value, call the vendor",
}
# Filled from the finding. EXPECTED is what it expected, where the rule's fix asks for that.
OF_DEVICE = ("NETDEV", "DEVICE", "PCI", "PORT")
FILLED = (*OF_DEVICE, "NAME", "EXPECTED")
# What only a person can fill in.
NEVER = (
    *("ADDRESS", "BDF", "BUS_ID", "DSCP", "GATEWAY", "GUID", "IMAGE", "MASK", "MODE", "N"),
    *("PF", "PRIO", "PRIORITY", "VALUE", "VF"),
)
_CODE = re.compile(r"`([^`]+)`")
_PLACEHOLDER = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join((*FILLED, *NEVER))})(?![A-Za-z0-9_])")
_SETTING = re.compile(r"[a-z_]+(?:\.[A-Za-z0-9_]+)*")
_VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:-]*", re.ASCII)


class Command(NamedTuple):
    """A command of a rule for one finding."""

    text: str
    is_fix: bool  # the one that by itself puts right what was found
    missing: tuple[str, ...]  # placeholders that could not be filled


class Subject(NamedTuple):
    """What a finding fills in."""

    kind: str
    place: Place
    expected: str | None
    never_touch: tuple[str, ...] = ()  # network devices that the site lets no one change


def wrong_remedy(action: str, setting: str, fix: str, do: str) -> Iterator[str]:
    """What a rule's header can have wrong about its remedy."""
    if action not in ACTIONS:
        yield f"unknown action {action!r}; choose one of {', '.join(ACTIONS)}"
    if action == "set" and not setting:
        yield "the action set needs a setting"
    if setting and not _SETTING.fullmatch(setting):
        yield f"{setting!r} is not a setting: write for example nic.pfc"
    if fix and fix not in _code(do):
        yield "fix must stand in What to do, as code"
    if any("'" in part or '"' in part for part, _ in _templates(do, fix)):
        yield "a command with a placeholder must not have quotes"


@lru_cache(maxsize=1024)
def _code(do: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(found.split()) for found in _CODE.findall(do)))


@lru_cache(maxsize=1024)
def _templates(do: str, fix: str) -> tuple[tuple[str, bool], ...]:
    """The commands of a text that are about one device, and the fix, which is the first."""
    named = [one for one in _code(do) if " " in one and _names_a_device(one) and one != fix]
    return tuple((one, one == fix) for one in ([fix] if fix else []) + named)


def _names_a_device(template: str) -> bool:
    return any(word in OF_DEVICE for word in _PLACEHOLDER.findall(template))


def commands(do: str, fix: str, subject: Subject) -> list[Command]:
    """All of them, the fix first; what could not be filled in stays, and is named."""
    values = _values(subject)
    netdev = subject.place.netdev or ""
    is_kept = any(fnmatchcase(netdev, glob) for glob in subject.never_touch)
    found = []
    for template, is_fix in _templates(do, fix):
        words = dict.fromkeys(_PLACEHOLDER.findall(template))
        missing = tuple(word for word in words if values.get(word) is None)
        text = _PLACEHOLDER.sub(lambda word: values.get(word[0]) or word[0], template)
        found.append(Command(text, is_fix and not is_kept, missing))
    return found


def fix_of(do: str, fix: str, subject: Subject) -> str:
    """The command that puts it right, where nothing of it is open; else ''."""
    return next((c.text for c in commands(do, fix, subject) if c.is_fix and not c.missing), "")


def _values(subject: Subject) -> dict[str, str | None]:
    place = subject.place
    port = place.switch_port or (str(place.port) if place.port is not None else None)
    expected = subject.expected or ""
    return {
        "NETDEV": _quoted(place.netdev),
        "DEVICE": _quoted(place.device),
        # A GPU's address is not what these commands are for.
        "PCI": _quoted(place.pci) if subject.kind != "gpu" else None,
        "PORT": _quoted(port),
        "NAME": _quoted(place.part) if subject.kind == "parameter" else None,
        "EXPECTED": expected if _VALUE.fullmatch(expected) else None,
    }


def _quoted(name: str | None) -> str | None:
    """A name as one word of a shell; None where it could be more than a name."""
    if not name or plain(name) != name or name.startswith("-"):
        return None
    return None if "/" in name or name in (".", "..") else shlex.quote(name)
