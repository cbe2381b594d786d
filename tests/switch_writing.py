"""What tests of writes to the lab's switches share: one switch, what it answers, read by parsers."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lab.fleet.fabric import Fabric, Routing, answers, build
from lab.fleet.fabric.model import Switch
from lab.fleet.fabric.shapes import Shape
from lab.switch_writes import Outcome, SwitchState
from lab.switch_writes.fabric import written
from railwright.store.ingest import parse_answer

Rows = dict[str, list[dict[str, Any]]]
FILE = "/tmp/change.json"


def small(system: str, **values: Any) -> Fabric:
    """Two hosts, a leaf and a spine of one system; 200G, as Onyx has no more."""
    models = {"models": {"sonic": "SN3700", "cumulus": "SN3700"}} if system == "onyx" else {}
    shape = {"rails": 1, "hosts_per_leaf": 2, "uplinks": 2, "spines": 1, "host_mbps": 200_000,
             "uplink_mbps": 200_000, "leaf_systems": (system,), "spine_systems": (system,),
             **models, **values}  # fmt: skip
    return build(Shape(2, **shape))


@dataclass
class Clock:
    """One that is turned by hand."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Desk:
    """Somebody before one switch of a fabric."""

    fabric: Fabric
    name: str = "leaf001"
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.state = SwitchState(self.fabric.named(self.name), clock=self.clock)

    def type(self, *lines: str, session: str = "me") -> Outcome:
        """One after the other; each must go well."""
        done = Outcome()
        for line in lines:
            done = self.state.run(line, session=session)
            assert done.code == 0, (line, done)
        return done

    def patch(self, *changes: tuple[str, str, Any] | tuple[str, str], dry: bool = False) -> Outcome:
        """config apply-patch of (op, path, value)."""
        found = [
            {"op": op, "path": path, **({"value": rest[0]} if rest else {})}
            for op, path, *rest in changes
        ]
        command = f"sudo config apply-patch {'-d ' if dry else ''}{FILE}"
        return self.state.run(command, files={FILE: json.dumps(found).encode()})

    def now(self) -> Fabric:
        """The fabric as it is."""
        return written(self.fabric.copy(), self.fabric, {self.name: self.state})

    def texts(self) -> dict[tuple[str, str], str]:
        """Every answer of the switch."""
        fabric = self.now()
        return {
            (probe, command): text
            for probe, command, text in answers(fabric, fabric.named(self.name), Routing(fabric))
        }

    def rows(self) -> Rows:
        """What the parsers make of them."""
        return parsed(self.texts())

    def switch(self) -> Switch:
        return self.now().named(self.name)


def parsed(texts: dict[tuple[str, str], str]) -> Rows:
    found: Rows = {}
    for (probe, command), text in texts.items():
        for table, values in _rows(probe, command, text):
            found.setdefault(table, []).append({**values, "probe": probe})
    return found


@lru_cache(maxsize=2_000)
def _rows(probe: str, command: str, text: str) -> list[tuple[str, dict[str, Any]]]:
    """Most answers are as they were before a write."""
    rows, why = parse_answer(probe, command, text.encode())
    assert why == "", (command, why)
    return [(row.table, dict(row.values)) for row in rows]


def value(rows: Rows, table: str, column: str, /, **key: Any) -> Any:
    """A column of the rows with a key: every probe that tells it must tell the same."""
    found = {
        repr(row[column]): row[column]
        for row in rows.get(table, [])
        if row.get(column) is not None and all(row.get(name) == one for name, one in key.items())
    }
    assert len(found) <= 1, (table, column, key, found)
    return next(iter(found.values()), None)
