"""What must not be changed, whatever the options are, and why: the table `guard`.

The reasons are in SQL, one file for each kind: the way to a machine and its storage (way_in,
unknown_way), to a switch (way_switch), cards that are shared (card_guard), owners of a value
(owners), and link partners that would not agree (counterparts).
"""

import ipaddress
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb

from railwright.plan.changes import UNSAFE, UnsafeError, steps_of
from railwright.plan.paths import Limits, what_stops
from railwright.plan.restarts import RESET
from railwright.settings.setting import Setting, Write, settings
from railwright.store.duck import identifier, read_sql
from railwright.toml import load_toml

HERE = Path(__file__).parent
_GIVEN = read_sql(__file__, "given.sql")
_MACROS = read_sql(__file__, "macros.sql")
# In the order in which they rest on each other; the addresses are filled in between.
_TOUCHED = read_sql(__file__, "touched.sql")
_WAYS = tuple(
    read_sql(__file__, f"{name}.sql")
    for name in ("routed", "way_in", "unknown_way", "way_switch", "card_guard", "guards", "owners")
)
_COUNTERPARTS = read_sql(__file__, "counterparts.sql")
_WRITTEN = read_sql(__file__, "written.sql")
_LATER = read_sql(__file__, "later_guards.sql")
_RESTARTS = read_sql(__file__, "restarts.sql")
_ADDRESSES = read_sql(__file__, "addresses.sql")
# Every file, for whoever has to know which tables are read.
GUARD_SQL = " ".join((_TOUCHED, *_WAYS, _COUNTERPARTS, _WRITTEN, _LATER, _RESTARTS, _ADDRESSES))
_KINDS: dict[type, str] = {int: "BIGINT", list: "VARCHAR[]"}  # the rest is text
_MOST_ROUNDS = 8  # a change that goes takes its partner's along, and that of the partner's partner


class WayIn(NamedTuple):
    """A machine that the site declares a second way to, and the interfaces it gives up there."""

    target: str
    interfaces: list[str]


class Owner(NamedTuple):
    """Who owns settings (patterns) of a machine, as the site file says it."""

    target: str
    name: str
    settings: list[str]


class Kept(NamedTuple):
    """What the operator and the site file say besides the facts."""

    limits: Limits
    ways_in: Collection[WayIn] = ()
    never_touch: Collection[str] = ()
    owners: Collection[Owner] = ()


@cache
def owner_data() -> dict[str, Any]:
    """What else may set a value for good."""
    text = (HERE / "owners.toml").read_text("utf-8")
    return cast("dict[str, Any]", load_toml(text, "owners.toml"))


@cache
def families() -> dict[str, list[str]]:
    """What both ends of a link must agree in -> the settings of it, as patterns."""
    text = (HERE / "counterparts.toml").read_text("utf-8")
    data = cast("dict[str, Any]", load_toml(text, "counterparts.toml"))
    return {name: list(one["settings"]) for name, one in data.items()}


def with_partners(chosen: Collection[Setting]) -> list[Setting]:
    """The settings, and those that the other ends of their links have for the same thing."""
    known = settings()
    names = {one.id for one in chosen}
    for members in families().values():
        if names & set(members):
            names |= {name for name in members if name in known and known[name].writes}
    return [known[name] for name in sorted(names)]


def guard(database: duckdb.DuckDBPyConnection, kept: Kept) -> None:
    """The table guard: setting, target, subject, why, owner ('' = nobody else's)."""
    database.execute(_GIVEN)
    for table, content in _given(kept):
        _insert(database, table, content)
    database.execute(_MACROS)
    database.execute(_TOUCHED)
    database.execute(_ADDRESSES)
    texts = [row[0] for row in database.execute("FROM address_text").fetchall()]
    _insert(database, "address_bits", [row for text in texts for row in _bits(text)])
    database.execute(_WRITTEN)
    _fill_written(database)
    for query in _WAYS:
        database.execute(query)
    database.execute(f"CREATE TEMP TABLE card_reset AS {settings()[RESET].sql}")
    database.execute(_RESTARTS)
    database.execute(_LATER, [UNSAFE])
    for _ in range(_MOST_ROUNDS):
        before = _count(database)
        database.execute(_COUNTERPARTS)
        if _count(database) == before:
            return


def _count(database: duckdb.DuckDBPyConnection) -> int:
    (count,) = database.execute("SELECT count(*) FROM guard").fetchall()[0]
    return int(count)


def reaches_every_port(write: Write) -> bool:
    """Whether one of its steps names no port: then the whole switch has it."""
    if write.system == "onyx":
        return any("{port" not in line for step in write.steps for line in step.lines)
    return any("{port" not in " ".join(step.texts()) for step in write.steps)


def _given(kept: Kept) -> Iterator[tuple[str, list[list[Any]]]]:
    """Tables that are not facts, with their rows."""
    known = list(settings().values())
    values: dict[str, Any] = owner_data()["values"]
    yield (
        "setting_guard",
        [
            [s.id, what_stops(s), s.reach, kept.limits.held_back(s), s.takes_hold, list(s.lost_at)]
            for s in known
        ],
    )
    whole = [
        [one.id, number]
        for one in known
        if one.area == "switch"
        for number, write in enumerate(one.writes)
        if reaches_every_port(write)
    ]
    yield "whole_write", whole
    yield "family", [[one, name] for name, members in families().items() for one in members]
    yield "never", [[one] for one in kept.never_touch]
    yield "second_way", [list(one) for one in kept.ways_in]
    declared = [[one.target, one.name, glob] for one in kept.owners for glob in one.settings]
    yield "declared_owner", declared
    yield "owner_key", [[n, key] for n, one in values.items() for key in one.get("keys", ())]
    calls = [
        [name, *call.split(" ", 1)] for name, one in values.items() for call in one.get("calls", ())
    ]
    yield "owner_call", calls
    yield "owner_file", [[n, file] for n, one in values.items() for file in one.get("files", ())]
    operators = [
        [one["name"], one["label"], one.get("value", ""), glob]
        for one in owner_data()["operator"]
        for glob in one["settings"]
    ]
    yield "operator", operators


def _insert(database: duckdb.DuckDBPyConnection, table: str, rows: list[list[Any]]) -> None:
    """All at once, by columns: a fleet has some hundred thousand prefixes."""
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        kinds = (_KINDS.get(type(column[0]), "VARCHAR") for column in columns)
        picked = f"SELECT {', '.join(f'unnest(?::{kind}[])' for kind in kinds)}"
        database.execute(f"INSERT INTO {identifier(table)} {picked}", columns)


def _bits(text: str) -> Iterator[list[str]]:
    """An address, or that of a prefix, in bits; nothing of what is neither."""
    try:
        address = ipaddress.ip_interface(text).ip
    except ValueError:
        return
    family = "inet" if address.version == 4 else "inet6"
    yield [text, family, f"{int(address):0{address.max_prefixlen}b}"]


def _fill_written(database: duckdb.DuckDBPyConnection) -> None:
    """What each change would write, and those that cannot be filled in."""
    known = settings()
    rows = database.execute("SELECT id, setting, write, now, wanted, names FROM written").fetchall()
    unsafe, wrote = [], []
    for number, setting, write, now, wanted, names in rows:
        try:
            steps, _ = steps_of(known[setting].writes[write], now, wanted, names)
        except UnsafeError:
            unsafe.append([number])
            continue
        for step in steps:
            tool, value = (step.argv[0], step.argv[-1]) if step.argv else ("", "")
            wrote.append([number, tool, value, step.file])
    _insert(database, "unsafe", unsafe)
    _insert(database, "wrote", wrote)
