"""findings + intent + settings -> a plan: what to change, and what nobody can change by program."""

import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import duckdb

from railwright.check.findings import Findings
from railwright.check.tables import Folders, make_lookups, make_macros, make_scopes, show_files
from railwright.plan.changes import NO_TOOL, NOT_CLEAR, NOT_READ, change_query, columns_of
from railwright.plan.guards import GUARD_SQL, Kept, guard, with_partners
from railwright.plan.plan import ByHand, Plan
from railwright.plan.sort import sorted_plan
from railwright.settings.setting import Setting, settings
from railwright.store.duck import connect, copy_query, quote, read_sql, words

_ASKED = read_sql(__file__, "asked.sql")
_PEERS = read_sql(__file__, "peers.sql")
_PICKED = read_sql(__file__, "picked.sql")
_GROUPS = read_sql(__file__, "groups.sql")
_BY_HAND = read_sql(__file__, "by_hand.sql")
MEMORY = "2GB"  # as for rules


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
    kept: Kept,
    *,
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
            return plan_in(database, chosen, kept._replace(never_touch=findings.never_touch))


def plan_in(
    database: duckdb.DuckDBPyConnection,
    mends: Mends,
    kept: Kept,
) -> Plan:
    """In a database with facts, intent, scopes, and what is wrong as the table `asked`."""
    _fill(database, mends)
    if kept.limits.from_peers:
        _ask_peers(database)
    database.execute(_PICKED)
    return planned(database, kept)


def planned(database: duckdb.DuckDBPyConnection, kept: Kept) -> Plan:
    """What becomes of the tables `picked` and `change_row`."""
    guard(database, kept)
    database.execute(f"CREATE TEMP TABLE grouped AS {_GROUPS}")
    by_hand = [
        ByHand(rule, severity, tuple(at), subjects, tuple(places))
        for rule, severity, at, subjects, places in database.execute(_BY_HAND).fetchall()
    ]
    return sorted_plan(database, kept, by_hand)


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
        show_files(database, folders, words(every + GUARD_SQL) | {"probe_result", "switch"})
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
    with_other_ends = with_partners(list(wanted.values()))
    queries = [change_query(one, columns_of(database, one)) for one in with_other_ends]
    empty = change_query(*_any(database)) + " WHERE false"
    database.execute(f"CREATE TEMP TABLE change_row AS {empty}")
    for query in queries:
        database.execute(f"INSERT INTO change_row BY NAME ({query})")


def _ask_peers(database: duckdb.DuckDBPyConnection) -> None:
    """What nobody says is what its peers have, where enough of them agree."""
    made, filled = _PEERS.split(";", 1)
    database.execute(made)
    words = {"not_read": NOT_READ, "no_tool": NO_TOOL, "not_clear": NOT_CLEAR}
    database.execute(filled, words)


def _any(database: duckdb.DuckDBPyConnection) -> tuple[Setting, list[str]]:
    """Any setting: all of them have the same columns."""
    one = next(one for one in settings().values() if one.writes)
    return one, columns_of(database, one)
