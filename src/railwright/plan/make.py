"""findings + intent + settings -> a plan: what to change, and what nobody can change by program."""

import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from railwright.check.findings import Findings
from railwright.check.tables import Folders, make_lookups, make_macros, make_scopes, show_files
from railwright.plan.changes import UNSAFE, State, UnsafeError, change_query, columns_of, steps_of
from railwright.plan.order import ordered
from railwright.plan.paths import Limits, what_stops
from railwright.settings.setting import Setting, Step, settings
from railwright.store.duck import connect, copy_query, quote, read_sql, words

_ASKED = read_sql(__file__, "asked.sql")
_PICKED = read_sql(__file__, "picked.sql")
_GROUPS = read_sql(__file__, "groups.sql")
_GUARDS = read_sql(__file__, "guards.sql")
_BY_HAND = read_sql(__file__, "by_hand.sql")
MEMORY = "2GB"  # as for rules
AS_WANTED = "it is as wanted already, and the finding stands: look further"
NEVER_TOUCH = "the site file says never to touch it"


class WayIn(NamedTuple):
    """A machine that the site declares a second way to, and the interfaces it gives up there."""

    target: str
    interfaces: list[str]


class Member(NamedTuple):
    """The same names and steps on several machines."""

    names: dict[str, str | None]
    targets: tuple[str, ...]
    steps: tuple[Step, ...]
    undo: tuple[Step, ...]


@dataclass(frozen=True)
class Group:
    """One change, wherever it is made: what a person reviews."""

    setting: Setting
    now: str | None
    wanted: str | None
    rules: tuple[str, ...]  # what finds it
    subjects: int
    targets: tuple[str, ...]
    members: tuple[Member, ...] = ()
    why: str = ""  # it is not in the plan


class ByHand(NamedTuple):
    """What a rule found and no setting mends."""

    rule: str
    severity: str
    targets: tuple[str, ...]
    subjects: int
    places: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What is to be changed, in order, and what is left."""

    limits: Limits
    groups: tuple[Group, ...]
    held_back: tuple[Group, ...]
    refused: tuple[Group, ...]
    undecided: tuple[Group, ...]
    by_hand: tuple[ByHand, ...]


Mends = dict[str, list[Setting]]  # rule -> settings


def mending(rules: Mapping[str, str]) -> Mends:
    """Rule -> the settings that mend what it finds and can be written; given the one it names."""
    known = settings()
    found: Mends = {}
    for name, own in rules.items():
        chosen = [known[own]] if own in known else []
        chosen += [one for one in known.values() if name in one.mends and one.id != own]
        found[name] = [one for one in chosen if one.is_planned and one.writes]
    return found


def make_plan(
    findings: Findings,
    limits: Limits,
    *,
    ways_in: Collection[WayIn] = (),
    select: Collection[str] = (),
    exclude: Collection[str] = (),
) -> Plan:
    """Of everything that is open; `select` and `exclude` are patterns of settings."""
    with tempfile.TemporaryDirectory(prefix="railwright-plan-") as name:
        asked = Path(name) / "asked.parquet"
        copy_query(findings.database, _ASKED, asked)
        with _opened(findings, Path(name)) as database:
            source = f"read_parquet({quote(str(asked))})"
            database.execute(f"CREATE TEMP TABLE asked AS FROM {source}")
            found = database.execute("SELECT DISTINCT rule FROM asked").fetchall()
            mends = mending({rule: findings.rules[rule].setting for (rule,) in found})
            chosen = _chosen(mends, select, exclude)
            return plan_in(database, chosen, limits, ways_in, findings.never_touch)


def plan_in(
    database: duckdb.DuckDBPyConnection,
    mends: Mends,
    limits: Limits,
    ways_in: Collection[WayIn] = (),
    never_touch: Collection[str] = (),
) -> Plan:
    """In a database with facts, intent, scopes, and what is wrong as the table `asked`."""
    _fill(database, mends)
    _guard(database, ways_in)
    rows = _rows(database)
    by_hand = [
        ByHand(rule, severity, tuple(at), subjects, tuple(places))
        for rule, severity, at, subjects, places in database.execute(_BY_HAND).fetchall()
    ]
    return _sorted(rows, limits, by_hand, never_touch)


def _chosen(mends: Mends, select: Collection[str], exclude: Collection[str]) -> Mends:
    def is_in(setting: Setting) -> bool:
        if any(fnmatchcase(setting.id, one) for one in exclude):
            return False
        return not select or any(fnmatchcase(setting.id, one) for one in select)

    return {rule: [one for one in chosen if is_in(one)] for rule, chosen in mends.items()}


@contextmanager
def _opened(findings: Findings, folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The facts and the intent, with everything that a SELECT of a setting may read."""
    every = " ".join(one.sql for one in settings().values() if one.writes)
    with connect(folder / "tmp", threads=2, memory=MEMORY) as database:
        folders = Folders(findings.snapshot.facts, findings.intent)
        findings.snapshot.files()
        show_files(database, folders, words(every + _GUARDS) | {"probe_result", "switch"})
        make_macros(database)
        make_scopes(database, "temp table")
        make_lookups(database, "temp", with_before=False)
        yield database


def _fill(database: duckdb.DuckDBPyConnection, mends: Mends) -> None:
    """The tables mends and change_row."""
    database.execute("CREATE TEMP TABLE mends (rule VARCHAR, setting VARCHAR)")
    pairs = [[rule, one.id] for rule, chosen in mends.items() for one in chosen]
    if pairs:
        database.executemany("INSERT INTO mends VALUES (?, ?)", pairs)
    wanted = {one.id: one for chosen in mends.values() for one in chosen}
    queries = [change_query(one, columns_of(database, one)) for one in wanted.values()]
    empty = change_query(*_any(database)) + " WHERE false"
    database.execute(f"CREATE TEMP TABLE change_row AS {empty}")
    for query in queries:
        database.execute(f"INSERT INTO change_row BY NAME ({query})")
    database.execute(_PICKED)


def _guard(database: duckdb.DuckDBPyConnection, ways_in: Collection[WayIn]) -> None:
    """The table guard: what must not be changed, whatever the options are."""
    database.execute("CREATE TEMP TABLE setting_guard (setting VARCHAR, stops VARCHAR)")
    stops = [[one.id, what_stops(one)] for one in settings().values()]
    database.executemany("INSERT INTO setting_guard VALUES (?, ?)", stops)
    database.execute("CREATE TEMP TABLE second_way (target VARCHAR, netdevs VARCHAR[])")
    if ways_in:
        database.executemany("INSERT INTO second_way VALUES (?, ?)", [list(w) for w in ways_in])
    database.execute(_GUARDS)


def _any(database: duckdb.DuckDBPyConnection) -> tuple[Setting, list[str]]:
    """Any setting: all of them have the same columns."""
    one = next(one for one in settings().values() if one.writes)
    return one, columns_of(database, one)


def _rows(database: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    found = database.execute(_GROUPS)
    columns = [one[0] for one in found.description]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


def _sorted(
    rows: list[dict[str, Any]], limits: Limits, by_hand: list[ByHand], never: Collection[str]
) -> Plan:
    """The rows in the order in which they are made, folded, each where it belongs."""
    known = settings()
    kept: dict[str, dict[tuple[Any, ...], list[dict[str, Any]]]] = {
        name: defaultdict(list) for name in ("change", "held", "refused", "undecided")
    }
    for row in rows:
        setting = known[row["setting"]]
        where, why = row["state"], row["why"]
        if where == State.CHANGE.value:
            where, why = _where(setting, row, limits, never)
        elif where == State.LEAVE.value:
            where, why = State.REFUSED.value, AS_WANTED
        kept[where][(setting.id, row["now"], row["wanted"], why)].append(row)
    in_order = {name: number for number, name in enumerate(ordered(known.values()))}

    def groups(name: str) -> tuple[Group, ...]:
        made = [_group(known[key[0]], key, rows) for key, rows in kept[name].items()]
        return tuple(sorted(made, key=lambda one: in_order[one.setting.id]))

    return Plan(
        limits,
        groups("change"),
        groups("held"),
        groups("refused"),
        groups("undecided"),
        tuple(by_hand),
    )


def _where(
    setting: Setting, row: dict[str, Any], limits: Limits, never: Collection[str]
) -> tuple[str, str]:
    """In the plan, held back or refused; and why."""
    touched = [name for name in row["names"].values() if name]
    if any(fnmatchcase(name, glob) for name in touched for glob in never):
        return "refused", NEVER_TOUCH
    try:
        row["filled"] = steps_of(
            setting.writes[row["write"]], row["now"], row["wanted"], row["names"]
        )
    except UnsafeError:
        return "refused", UNSAFE
    needed = limits.held_back(setting)
    return ("held", needed) if needed else ("change", "")


def _group(setting: Setting, key: tuple[Any, ...], rows: list[dict[str, Any]]) -> Group:
    _, now, wanted, why = key
    members = tuple(
        Member(row["names"], tuple(row["targets"]), *row["filled"])
        for row in sorted(rows, key=lambda row: str(row["names"]))
        if "filled" in row
    )
    return Group(
        setting,
        now,
        wanted,
        tuple(sorted({rule for row in rows for rule in row["rules"]})),
        sum(row["subjects"] for row in rows),
        tuple(sorted({target for row in rows for target in row["targets"]})),
        members,
        why,
    )
