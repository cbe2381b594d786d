"""A setting is a TOML file: what it means to change it, and how it is written, per tool.

Beside it lie a SELECT and cases (facts in, commands and undo out; plan/cases.py). Only settings of
the levels `write` and `site` have those two.

The SELECT gives one row for every subject that the setting is on, good or bad: the key columns of
its subject kind, then `now`, `wanted` and `refused`, then whatever the steps fill in and what tells
which finding it is about (device, port, pci, netdev). `now` and `wanted` are the same kind of text.
`wanted` is NULL where nobody says what it is to be. `refused` is '' where it may be written, the
reason where it must not be, NULL where that is not known.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from railwright.errors import RailwrightError
from railwright.schema.subjects import Subject, subjects
from railwright.settings.words import DISTURBANCES, EVENTS, LEVELS, REACH, TAKES_HOLD, WAY_BACK
from railwright.toml import load_toml

HERE = Path(__file__).parent
SYSTEMS = ("sonic", "cumulus", "eos", "onyx")
# How a step changes something, and the keys that it has then.
STEPS: dict[str, tuple[str, ...]] = {
    "argv": (),  # a command
    "file": ("text", "line", "key"),  # a value written to a file, or one line of a file replaced
    "patch": (),  # SONiC: operations of a JSON patch of CONFIG_DB
    "lines": (),  # EOS and Onyx: lines of configuration
}
_PARAMETER = "nic.parameter"
# What the SELECT gives beside the key of its subject. `refused` says why it must not be written
# there, '' = nothing speaks against it; NULL of any of the three is unknown, and never written.
AGREED = ("now", "wanted", "refused")
_FIELDS = {
    *("title", "subject", "level", "values", "takes_hold", "reach", "way_back", "disturbs"),
    *("remark", "reads", "lost_at", "kept_by", "after", "before", "both_ends", "repeats"),
    *("mends", "uses", "gain", "hazards", "sources", "write"),
}
_PLACEHOLDER = re.compile(r"\{([a-z_0-9]+)(?::([a-z_0-9]+))?\}")


class Step(NamedTuple):
    """One thing to do on a machine; texts have placeholders."""

    kind: str  # of STEPS
    argv: tuple[str, ...] = ()
    file: str = ""
    text: str = ""  # what is written to it
    line: str = ""  # or the line that replaces the one that begins with `key`
    key: str = ""
    patch: tuple[dict[str, str], ...] = ()
    lines: tuple[str, ...] = ()
    when: str = ""  # a column of the SELECT: where it is false, the step is left out

    def texts(self) -> Iterator[str]:
        """Everything in it that may have placeholders."""
        yield from (*self.argv, *self.lines, self.file, self.text, self.line, self.key)
        for operation in self.patch:
            yield from operation.values()


@dataclass(frozen=True)
class Write:
    """One way to write it: of several, the first that fits the machine is taken."""

    steps: tuple[Step, ...]
    way: str = ""  # the column `way` of the SELECT has this value
    probe: str = ""  # the tool of this probe answered there
    system: str = ""  # of a switch
    undo: tuple[Step, ...] | None = None  # None = the same steps with the value of before


@dataclass(frozen=True)
class Setting:
    """One setting as its file says it."""

    id: str
    title: str
    subject: Subject
    level: str  # of LEVELS
    takes_hold: str  # of TAKES_HOLD
    reach: str  # of REACH
    way_back: str  # of WAY_BACK
    sources: tuple[str, ...]
    disturbs: str  # of DISTURBANCES
    path: Path
    remark: str = ""  # where it disturbs something else: "ConnectX-4: packet loss"
    values: str = ""  # which it can have, in words
    reads: tuple[str, ...] = ()  # table.column: where one was not read, nothing is written
    uses: dict[str, str] = field(default_factory=dict)  # read too -> why it may be missing
    mends: tuple[str, ...] = ()  # rules that have another setting, and whose finding it mends too
    lost_at: tuple[str, ...] = ()  # of EVENTS
    kept_by: tuple[str, ...] = ()  # settings that make it last
    after: tuple[str, ...] = ()  # settings that come before it on the way in
    before: tuple[str, ...] = ()
    both_ends: bool = False  # the other end of the link belongs into the same plan
    repeats: bool = True  # writing the value that it has disturbs nothing
    gain: str = ""  # of a published case, with its source; '' = nobody published one
    hazards: tuple[str, ...] = ()
    writes: tuple[Write, ...] = field(default=(), repr=False)

    @property
    def area(self) -> str:
        """The folder it is in: nic, switch …"""
        return self.id.partition(".")[0]

    @property
    def is_planned(self) -> bool:
        """Whether `plan` may propose to write it."""
        return self.level in ("write", "site")

    @property
    def sql(self) -> str:
        """Its SELECT."""
        return self.sql_path.read_text("utf-8")

    @property
    def sql_path(self) -> Path:
        """Where its SELECT is."""
        return self.path.with_name(f"{self.path.stem}.sql")

    @property
    def cases_path(self) -> Path:
        """Where its cases are."""
        return self.path.with_name(f"{self.path.stem}.cases.yaml")

    def tables(self) -> list[str]:
        """The fact tables it rests on."""
        return sorted({need.rpartition(".")[0] for need in (*self.reads, *self.uses)})

    def steps(self) -> Iterator[Step]:
        """All of all ways to write it, and what undoes them."""
        for write in self.writes:
            yield from (*write.steps, *(write.undo or ()))

    def names(self) -> set[str]:
        """The columns that its steps ask for."""
        asked = {name for name, _ in self.placeholders()} | {one.when for one in self.steps()}
        return asked - {"to", "from", ""}

    def placeholders(self) -> set[tuple[str, str]]:
        """(name, form) of everything that its writes fill in."""
        return {
            (name, form)
            for step in self.steps()
            for text in step.texts()
            for name, form in _PLACEHOLDER.findall(text)
        }


def _step(name: str, data: dict[str, Any]) -> Step:
    kinds = [kind for kind in STEPS if kind in data]
    if len(kinds) != 1 or set(data) - {kinds[0], "when", *STEPS[kinds[0]]}:
        raise RailwrightError(f"setting {name}: a step has one of {', '.join(STEPS)}: {data}")
    if kinds[0] == "file" and ("text" in data) == ("line" in data):
        raise RailwrightError(f"setting {name}: a file gets a text or a line: {data}")
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    return Step(kinds[0], **fields)


def _steps(name: str, data: list[dict[str, Any]]) -> tuple[Step, ...]:
    return tuple(_step(name, one) for one in data)


def _write(name: str, data: dict[str, Any]) -> Write:
    unknown = set(data) - {"steps", "way", "probe", "system", "undo"}
    if unknown or not data.get("steps"):
        raise RailwrightError(f"setting {name}: a write has steps, and no {', '.join(unknown)}")
    undo = _steps(name, data["undo"]) if "undo" in data else None
    fits = (data.get("way", ""), data.get("probe", ""), data.get("system", ""))
    write = Write(_steps(name, data["steps"]), *fits, undo)
    if write.system and write.system not in SYSTEMS:
        raise RailwrightError(f"setting {name}: no switch system is called {write.system}")
    return write


def _one_of(name: str, key: str, value: object, words: dict[str, Any]) -> None:
    if value not in words:
        raise RailwrightError(f"setting {name}: {key} {value!r} is none of {', '.join(words)}")


def load_setting(path: Path) -> Setting:
    """One file."""
    name = f"{path.parent.name}.{path.stem}" if path.parent != HERE else path.stem
    data = cast("dict[str, Any]", load_toml(path.read_text("utf-8"), path.name))
    if set(data) - _FIELDS:
        raise RailwrightError(f"setting {name}: unknown key {min(set(data) - _FIELDS)}")
    _one_of(name, "subject", data["subject"], subjects())
    _one_of(name, "level", data["level"], LEVELS)
    _one_of(name, "takes_hold", data["takes_hold"], TAKES_HOLD)
    _one_of(name, "reach", data["reach"], REACH)
    _one_of(name, "way_back", data["way_back"], WAY_BACK)
    data.setdefault("disturbs", TAKES_HOLD[data["takes_hold"]][1])
    _one_of(name, "disturbs", data["disturbs"], DISTURBANCES)
    for event in data.get("lost_at", ()):
        _one_of(name, "lost_at", event, EVENTS)
    writes = tuple(_write(name, one) for one in data.pop("write", []))
    data["subject"] = subjects()[data["subject"]]
    lists = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
    return Setting(id=name, path=path, writes=writes, **{**data, **lists})


@cache
def settings() -> dict[str, Setting]:
    """All of them by id."""
    files = [*HERE.glob("*.toml"), *HERE.glob("*/*.toml")]
    return {one.id: one for one in map(load_setting, sorted(files))}


def setting_of(name: str) -> Setting | None:
    """A setting by id; a firmware parameter without a file of its own is as any other."""
    general = settings()[_PARAMETER] if name.startswith(f"{_PARAMETER}.") else None
    return settings().get(name, general)
