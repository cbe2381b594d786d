"""Statements that the verbs make about one snapshot, each derived from what a verb itself prints.

A statement is (kind, subject) -> value. Two verbs that state the same thing must give the same
value; what a verb does not know it says with UNKNOWN, which agrees with UNKNOWN alone. KINDS lists
by hand what is compared, and who states it.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from railwright.cli import program
from railwright.errors import NotReadError

UNKNOWN = "unknown"
Key = tuple[str, str]  # kind, subject
Statements = dict[Key, Any]

KINDS = {
    "exit status of the findings": "check in each format, as its list has it",
    "exit status of links": "links, and what its list has",
    "exit status of a path": "path, and what its hops have",
    "exit status of the hops": "path without ends, and what its classes have",
    "exit status of rails": "rails, and what it marks",
    "exit status of ceilings": "predict, and what its list leaves open",
    "findings in total": "check in JSON, JUnit, SARIF and Markdown",
    "rules that find something on a link": "check at both ends, links",
    "rules that cannot tell of a link": "check at both ends, links",
    "rule that breaks a way": "path at an end, check there",
    "rule that leaves a way open": "path at an end, check there",
    "rules that find something in a class of ports": "path without ends, check at its ports",
    "misplaced port": "rails, check by cable-wrong-rail, cable-wrong-plane and cable-unlike-peers",
    "verdict": "check, explain",
    "observed": "check, explain",
    "expected": "check, explain",
    "severity": "check, explain",
    "what was not reached": "check, facts, show",
    "host that was not read": "path, check",
    "MTU of an end": "show, path, path without ends",
    "speed of an end": "show, path, links, path without ends",
    "error correction of an end": "show, path, path without ends",
    "trust of an end": "show, path, path without ends",
    "PFC of an end": "show, path without ends",
    "whether a link is down": "show, links",
    "machine at the other end": "show, links",
    "role of a port": "show, predict",
    "rate of a port": "show, predict",
    "relation of a port to its GPU": "show, predict",
    "what this PCIe path carries": "check by pcie-below-port-rate, predict",
    "compute ports": "rails, predict, facts, the head of check",
    "compute ports of each rail": "rails, predict",
}


_RANGE = re.compile(r"\[([^\]]*)\]")


def unfolded(text: str) -> list[str]:
    """Ethernet[0,4-5],swp1 -> its four ports, whose names have slashes, unlike those of hosts."""
    found = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        match = _RANGE.search(part)
        if match is None:
            found.append(part.strip())
            continue
        for one in match[1].split(","):
            first, _, last = one.partition("-")
            for number in (
                range(int(first), int(last or first) + 1) if first.isdecimal() else (one,)
            ):
                found += unfolded(part[: match.start()] + str(number) + part[match.end() :])
    return found


class Said(NamedTuple):
    """What one verb printed."""

    text: str
    status: int

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found


def run(store: Path, *words: str) -> Said:
    done = CliRunner().invoke(program(), [*words, "--store", str(store)], env={"COLUMNS": "4000"})
    if isinstance(done.exception, NotReadError):
        return Said(done.stdout, done.exception.exit_code)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Said(done.stdout, done.exit_code)


class Book:
    """All statements, by who makes them."""

    def __init__(self) -> None:
        self.by: dict[Key, dict[str, Any]] = defaultdict(dict)
        self.links: dict[tuple[str, str], bool] = {}  # both ends: whether it is down
        self.down: dict[str, bool] = {}  # what ports say of themselves

    def say(self, who: str, kind: str, subject: str, value: Any) -> None:
        assert kind in KINDS, kind
        key = (kind, subject)
        known = self.by[key].get(who, value)
        # One who contradicts itself is told as well.
        self.by[key][who] = value if known == value else f"{known!r} and {value!r}"

    def differences(self) -> Iterator[str]:
        for (kind, subject), told in sorted(self.by.items()):
            if len({repr(value) for value in told.values()}) > 1:
                yield f"{kind}, {subject}: " + ", ".join(f"{w} {v!r}" for w, v in told.items())

    def compared(self) -> set[str]:
        return {kind for (kind, _), told in self.by.items() if len(told) > 1}


def status_of(found: int, unknown: int) -> int:
    """As the guide has it: 1 for findings, else 3 for what is not known, else 0."""
    return 1 if found else 3 if unknown else 0


class Check:
    """What check says, by subject."""

    def __init__(self, said: Said) -> None:
        self.data = said.data
        self.status = said.status
        self.found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.unknown: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in self.data["findings"]:
            self.found[one["subject"]].append(one)
        for one in self.data["inconclusive"]:
            self.unknown[one["subject"]].append(one)

    def open_findings(self) -> list[dict[str, Any]]:
        return [
            f for f in self.data["findings"] if f["state"] == "open" and f["severity"] != "info"
        ]

    def open_unknown(self) -> list[dict[str, Any]]:
        return [u for u in self.data["inconclusive"] if u["state"] == "open"]

    def rules_found(self, subjects: list[str], rules: set[str]) -> list[str]:
        told = {f["rule"] for f in self.open_findings() if f["subject"] in subjects}
        return sorted(told & rules)

    def rules_unknown(self, subjects: list[str], rules: set[str]) -> list[str]:
        machines = {f"{one.partition(':')[0]}:*" for one in subjects}
        told = {u["rule"] for u in self.open_unknown() if u["subject"] in {*subjects, *machines}}
        return sorted(told & rules)


FORMATS = ("text", "junit", "sarif", "markdown")


def label(name: str) -> str:
    """leaf1.example.net is leaf1."""
    return name.partition(":")[0].partition(".")[0]
