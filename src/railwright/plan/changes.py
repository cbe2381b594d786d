"""What one setting is on every subject, what it is to be, and the steps that make it so.

A value that was not read is never written over, and what nobody has said is never guessed.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

import duckdb

from railwright.check.account import subject_text
from railwright.plan.forms import FORMS
from railwright.settings.setting import AGREED, Setting, Step, Write
from railwright.store.duck import identifier, quote, read_sql
from railwright.text import plain

_PLACEHOLDER = re.compile(r"\{([a-z_0-9]+)(?::([a-z_0-9]+))?\}")
# What may be filled in: a name or a value, never an option, a path upwards or more than one word.
_SAFE = re.compile(r"[A-Za-z0-9_.:@,=+()\[\]-]{1,1000}", re.ASCII)
# In a line of configuration also the slash of a port: Ethernet1/1.
_SAFE_LINE = re.compile(r"[A-Za-z0-9_.:@,=+()\[\]/-]{1,1000}", re.ASCII)
_SQL = read_sql(__file__, "changes.sql")
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

    target: str
    subject: str
    state: State
    now: str | None
    wanted: str | None
    why: str  # it was refused
    steps: tuple[Step, ...] = ()
    undo: tuple[Step, ...] = ()


Values = Mapping[str, str | None]  # what a machine said, by the column


class UnsafeError(Exception):
    """Something that a machine said could be read as more than a name."""


# ---- what is to be done


def change_query(setting: Setting, columns: list[str]) -> str:
    """The setting on every subject that it is on, as SQL; `columns` are those of its SELECT."""
    kind = setting.subject.kind
    known = {name: identifier(name) if name in columns else "NULL" for name in columns}
    # The names by which a finding may know the same thing.
    of_end = kind == "end"
    netdev = "name" if kind == "netdev" else "netdev"
    names = sorted(setting.names())
    pairs = ", ".join(f"{quote(name)}: {identifier(name)}::VARCHAR" for name in names)
    return _SQL.format(
        setting=quote(setting.id),
        subject=subject_text(setting.subject),
        not_read=quote(NOT_READ),
        no_tool=quote(NO_TOOL),
        not_clear=quote(NOT_CLEAR),
        names=f"map {{{pairs}}}",
        device=known.get("device", "NULL"),
        port="NULL" if of_end else known.get("port", "NULL"),
        netdev=known.get(netdev, "NULL"),
        pci=known.get("pci", "NULL"),
        switch_port="port" if of_end else "NULL",
        ways=" ".join(_when(number, write) for number, write in enumerate(setting.writes)),
        rows=setting.sql,
    )


def _when(number: int, write: Write) -> str:
    there = f"list_contains(p.answered, {quote(write.probe)})" if write.probe else "true"
    system = f"w.system = {quote(write.system)}" if write.system else "w.system IS NULL"
    way = f"s.way = {quote(write.way)}" if write.way else "true"
    return f"WHEN {system} AND {there} AND {way} THEN {number}"


def columns_of(database: duckdb.DuckDBPyConnection, setting: Setting) -> list[str]:
    """The names that its SELECT gives."""
    found = [row[0] for row in database.execute(f"DESCRIBE {setting.sql}").fetchall()]
    agreed = (*setting.subject.key, *AGREED)
    if tuple(found[: len(agreed)]) != agreed:
        raise ValueError(f"{setting.id}: its SELECT must begin with {', '.join(agreed)}")
    return found


def changes(setting: Setting, database: duckdb.DuckDBPyConnection) -> Iterator[Change]:
    """One by one, with the steps filled in."""
    query = change_query(setting, columns_of(database, setting))
    found = database.execute(f"FROM ({query}) ORDER BY ALL")
    columns = [one[0] for one in found.description]
    for values in found.fetchall():
        row = dict(zip(columns, values, strict=True))
        change = Change(*(row[name] for name in Change._fields[:6]))
        change = change._replace(state=State(row["state"]))
        if change.state is State.CHANGE:
            write = setting.writes[row["write"]]
            try:
                steps, undo = steps_of(write, row["now"], row["wanted"], row["names"])
                change = change._replace(steps=steps, undo=undo)
            except UnsafeError:
                change = change._replace(state=State.REFUSED, why=UNSAFE)
        yield change


# ---- the steps


def steps_of(
    write: Write, now: str, wanted: str, names: Values
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """(what to do, what undoes it), filled in."""
    forth = {**names, "to": wanted, "from": now}
    if write.undo is not None:
        return filled(write.steps, forth), filled(write.undo, forth)
    # The same the other way round; a line of a file comes back as it was, or goes.
    back = tuple(one._replace(line="") if one.line else one for one in write.steps)
    return filled(write.steps, forth), filled(back, {**names, "to": now, "from": wanted})


def filled(steps: tuple[Step, ...], values: Values) -> tuple[Step, ...]:
    """The steps that are done there, with everything filled in."""
    if any(step.when and values[step.when] is None for step in steps):
        raise UnsafeError  # whether it is to be done is not known
    done = (step for step in steps if not step.when or values[step.when] == "true")
    return tuple(_filled(step, values) for step in done)


def _filled(step: Step, values: Values) -> Step:
    return step._replace(
        argv=tuple(word for one in step.argv for word in _words(one, values)),
        lines=tuple(line for one in step.lines for line in _words(one, values, _SAFE_LINE)),
        patch=tuple({k: _text(v, values) for k, v in one.items()} for one in step.patch),
        file=_text(step.file, values),
        text=_text(step.text, values),
        line=_text(step.line, values),
        key=_text(step.key, values),
    )


def _words(template: str, values: Values, safe: re.Pattern[str] = _SAFE) -> list[str]:
    """A word of a command or a line, or several where its form gives several."""
    whole = _PLACEHOLDER.fullmatch(template)
    found = _value(whole, values, safe) if whole else _text(template, values, safe)
    words = found if isinstance(found, list) else [found]
    if whole and any(word.startswith("-") for word in words):  # it would be an option
        raise UnsafeError
    return words


def _text(template: str, values: Values, safe: re.Pattern[str] = _SAFE) -> str:
    def one(found: re.Match[str]) -> str:
        value = _value(found, values, safe)
        return ",".join(value) if isinstance(value, list) else value

    return _PLACEHOLDER.sub(one, template)


def _value(found: re.Match[str], values: Values, safe: re.Pattern[str]) -> str | list[str]:
    text = values[found[1]]
    if text is None or not safe.fullmatch(text) or plain(text) != text or ".." in text:
        raise UnsafeError
    return FORMS[found[2]](text) if found[2] else text
