"""Which revision of every table this version makes, and which a snapshot holds.

A table's revision changes with its columns and with the code that fills it. run.json keeps those of
the version that wrote it, so that a later one knows what to make again.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from railwright.schema.table import tables
from railwright.store.snapshot import REVISIONS, Snapshot
from railwright.toml import load_toml

FILE = Path(__file__).with_name("revisions.toml")


@cache
def revisions() -> dict[str, str]:
    """Table -> revision, as `just revisions` wrote them down."""
    return {
        name: str(value) for name, value in load_toml(FILE.read_text("utf-8"), FILE.name).items()
    }


@cache
def fingerprint() -> str:
    """One name for all of them."""
    return hashlib.sha256(repr(sorted(revisions().items())).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Older:
    """What of a snapshot another version made."""

    parsed: frozenset[str]  # tables that its evidence can be parsed for again
    written: frozenset[str]  # tables that the run itself wrote
    derived: frozenset[str]

    @property
    def probes(self) -> frozenset[str]:
        """Whose answers fill the tables that have to be parsed again."""
        return frozenset(probe for name in self.parsed for probe in tables()[name].probes)


def older(snapshot: Snapshot) -> Older | None:
    """None where this very version made all of it."""
    held = snapshot.run.get(REVISIONS)
    held = held if isinstance(held, dict) else {}
    now = revisions()
    if held == now:
        return None
    changed = {name for name in now if held.get(name) != now[name]}
    kinds = {name: tables()[name].fed_by for name in now}
    return Older(
        frozenset(name for name in changed if kinds[name] not in ("run", "evidence", "derived")),
        frozenset(name for name in changed if kinds[name] in ("run", "evidence")),
        # A derived table reads others, which may have changed: all of them are cheap.
        frozenset(name for name, kind in kinds.items() if kind == "derived"),
    )
