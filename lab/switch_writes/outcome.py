"""What a write comes to: what the tool prints, and the ways in which it does not go well."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.fleet.fabric.setting import Setting


@dataclass(frozen=True)
class Outcome:
    """What whoever typed a command gets."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0
    prompt: str = ""  # of a CLI on a terminal: what it shows next
    hung_up: bool = False  # the connection ended before anything was said
    reads: bool = False  # it changes nothing, and is not noted


@dataclass(frozen=True)
class Call:
    """A command as it was given."""

    words: tuple[str, ...]
    line: str  # as it was typed
    stdin: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)  # that its arguments name
    session: str = ""  # who it is: a login, for systems that tell logins apart


@dataclass(frozen=True)
class Config:
    """All that a switch is set to."""

    settings: tuple[Setting, ...]
    native: Any = None  # in the words of its system: CONFIG_DB, NVUE's tree, profiles


class RefusedError(Exception):
    """The tool says no: its words, where they go and its exit status."""

    def __init__(self, words: str, code: int = 1, *, said: str = "") -> None:
        super().__init__(words)
        self.words, self.code, self.said = words, code, said


class HungUpError(Exception):
    """The connection ended in the middle of it."""
