"""What was written, by whom, and what it changed: the judge of later tests."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

LONGEST = 4096  # of a file's content as text; of more there is the hash


@dataclass(frozen=True)
class Record:
    """One write, or one event that changed something."""

    time: float  # seconds since 1970
    machine: str
    kind: str  # command, file, attribute, event, other
    argv: tuple[str, ...]  # of a file: write or remove, and its path
    code: int = 0
    # "enp24s0np0 mtu" -> before, after; without an entry nothing has changed.
    changes: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    note: str = ""  # misbehaved: set_ignored

    def line(self) -> str:
        """As one line of JSON."""
        return json.dumps(vars(self), default=_plain, ensure_ascii=True) + "\n"


def content_words(content: bytes | str | None) -> str | None:
    """A file's content for the record."""
    if content is None or isinstance(content, str):
        return None if content is None else f"-> {content}"
    if len(content) <= LONGEST:
        return content.decode("utf-8", "backslashreplace")
    return f"{len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}"


def _plain(value: object) -> object:
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, bytes):
        return content_words(value)
    return str(value)
