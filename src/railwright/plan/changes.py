"""What one setting is on every subject, what it is to be, and the steps that make it so.

A value that was not read is never written over, and what nobody has said is never guessed.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

import duckdb

from railwright.check.account import subject_text
from railwright.plan.forms import FORMS
from railwright.settings.setting import AGREED, Setting, Step, Write
from railwright.store.duck import read_sql
from railwright.text import plain

_PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([a-z_0-9]+))?\}")
# What may be filled in: a name or a value, never an option, a path upwards or more than one word.
_SAFE = re.compile(r"[A-Za-z0-9_.:@,=+()\[\]-]{1,200}", re.ASCII)
_TOLD = read_sql(__file__, "changes.sql")
NOT_READ = "its value was not read"
NOT_CLEAR = "whether it may be written there is not known"
NO_TOOL = "no tool that could write it answered on the machine"
UNSAFE = "a name or value of the machine cannot be put into a command"


class State(Enum):
    """What is to be done with a setting on one subject."""

    CHANGE = "change"
    LEAVE = "leave"  # it is as wanted
    UNDECIDED = "undecided"  # nobody says what it is to be
    REFUSED = "refused"


class Change(NamedTuple):
    """A setting on one subject."""

    setting: str
    target: str
    subject: str
    state: State
    now: str | None
    wanted: str | None
    why: str = ""  # it was refused
    steps: tuple[Step, ...] = ()
    undo: tuple[Step, ...] = ()


class _Place(NamedTuple):
    """Where it is, and what can be used there."""

    subject: str
    answered: list[str]  # probes
    system: str  # of a switch


class _UnsafeError(Exception):
    """Something that a machine said could be read as more than a name."""


def changes(setting: Setting, database: duckdb.DuckDBPyConnection) -> Iterator[Change]:
    """The setting on every subject that it is on."""
    names = _columns(database, setting.sql)
    keys = (*setting.subject.key, *AGREED)
    if tuple(names[: len(keys)]) != keys:
        raise ValueError(f"{setting.id}: its SELECT must begin with {', '.join(keys)}")
    query = _TOLD.format(subject=subject_text(setting.subject), rows=setting.sql)
    found = database.execute(query)
    while rows := found.fetchmany(2048):
        for subject, answered, system, *values in rows:
            told = dict(zip(names, values, strict=True))
            yield _change(setting, _Place(subject, answered, system), told)


def _columns(database: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    return [row[0] for row in database.execute(f"DESCRIBE {query}").fetchall()]


def _change(setting: Setting, place: _Place, told: dict[str, Any]) -> Change:
    now, wanted = (None if told[name] is None else str(told[name]) for name in ("now", "wanted"))
    change = Change(setting.id, told["target"], place.subject, State.REFUSED, now, wanted)
    if told["refused"]:
        return change._replace(why=told["refused"])
    if wanted is None:
        return change._replace(state=State.UNDECIDED)
    if now == wanted:
        return change._replace(state=State.LEAVE)
    write = _way(setting, place)
    if now is None or told["refused"] is None or write is None:
        why = NOT_READ if now is None else NO_TOOL if write is None else NOT_CLEAR
        return change._replace(why=why)
    forth, back = {**told, "to": wanted, "from": now}, {**told, "to": now, "from": wanted}
    try:
        steps = filled(write.steps, forth)
        # The same steps the other way round, unless the file has others.
        undo = filled(write.undo, forth) if write.undo is not None else _undone(write.steps, back)
    except _UnsafeError:
        return change._replace(why=UNSAFE)
    return change._replace(state=State.CHANGE, steps=steps, undo=undo)


def _way(setting: Setting, place: _Place) -> Write | None:
    """The first that fits the machine."""
    fits = (
        write
        for write in setting.writes
        if write.system == place.system and (not write.probe or write.probe in place.answered)
    )
    return next(fits, None)


def _undone(steps: tuple[Step, ...], values: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps with the value of before; a line of a file comes back as it was, or goes."""
    before = (s._replace(line="") if s.line else s for s in steps)
    return filled(tuple(before), values)


# ---- placeholders


def filled(steps: tuple[Step, ...], values: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps with everything filled in."""
    return tuple(_filled(step, values) for step in steps)


def _filled(step: Step, values: Mapping[str, Any]) -> Step:
    return step._replace(
        argv=tuple(word for one in step.argv for word in _words(one, values)),
        lines=tuple(_text(one, values) for one in step.lines),
        patch=tuple({k: _text(v, values) for k, v in one.items()} for one in step.patch),
        **{name: _text(getattr(step, name), values) for name in ("file", "text", "line", "key")},
    )


def _words(template: str, values: Mapping[str, Any]) -> list[str]:
    """A word of a command, or several where its form gives several."""
    whole = _PLACEHOLDER.fullmatch(template)
    found = _value(whole, values) if whole else _text(template, values)
    words = found if isinstance(found, list) else [found]
    if whole and any(word.startswith("-") for word in words):  # it would be an option
        raise _UnsafeError
    return words


def _text(template: str, values: Mapping[str, Any]) -> str:
    def one(found: re.Match[str]) -> str:
        value = _value(found, values)
        return ",".join(value) if isinstance(value, list) else value

    return _PLACEHOLDER.sub(one, template)


def _value(found: re.Match[str], values: Mapping[str, Any]) -> str | list[str]:
    value = values[found[1]]
    text = "" if value is None else str(value)
    if not _SAFE.fullmatch(text) or plain(text) != text or ".." in text:
        raise _UnsafeError
    return FORMS[found[2]](text) if found[2] else text
