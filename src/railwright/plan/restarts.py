"""What is restarted for the changes of a plan, once for all of them, and what is put back then."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

import duckdb

from railwright.plan.changes import UnsafeError, change_query, columns_of, filled, steps_of
from railwright.plan.plan import Again, Blind, Lost, Restart
from railwright.settings.setting import Setting, settings
from railwright.store.duck import read_sql

_AGAIN = read_sql(__file__, "again.sql")
_HIDDEN = read_sql(__file__, "hidden.sql")
_PLANNED = read_sql(__file__, "planned.sql")
RESET = "nic.reset"
FIRMWARE_RESET = "firmware_reset"
_ORDER = (FIRMWARE_RESET, "reboot", "power_cycle")
# A firmware reset loads the driver again.
_LOST_BY_RESET = {FIRMWARE_RESET, "driver"}

Row = dict[str, Any]
_Key = tuple[str, str, tuple[str, ...], tuple[str, ...]]  # kind, card, settings, rules


def restarts_of(
    database: duckdb.DuckDBPyConnection, changed: Collection[Row]
) -> tuple[Restart, ...]:
    """Of the rows that are in the plan; makes the table planned."""
    database.execute(_PLANNED, {"numbers": [row["number"] for row in changed]})
    cards: dict[tuple[str, str, str], tuple[set[str], set[str]]] = defaultdict(
        lambda: (set(), set())
    )
    for row in changed:
        for target in row["targets"] if row["restart"] else ():
            card = row["card"] if row["restart"] == FIRMWARE_RESET else ""
            waits, found = cards[row["restart"], card, target]
            if row["setting"] == RESET:
                found.update(row["rules"])
            else:
                waits.add(row["setting"])
    folded: dict[_Key, set[str]] = defaultdict(set)
    for (kind, card, target), (waits, found) in cards.items():
        folded[kind, card, tuple(sorted(waits)), tuple(sorted(found))].add(target)
    in_order = sorted(folded.items(), key=lambda one: (_ORDER.index(one[0][0]), *one[0][1:]))
    made = [
        _restart(kind, card, waits, found, targets)
        for (kind, card, waits, found), targets in in_order
    ]
    resets = [one for one in made if one.kind == FIRMWARE_RESET]
    return (
        *resets,
        *_second(_hidden(database)),
        *(one for one in made if one.kind != FIRMWARE_RESET),
    )


def _restart(
    kind: str, card: str, waits: tuple[str, ...], found: tuple[str, ...], targets: set[str]
) -> Restart:
    names: dict[str, str | None] = {"pci": card} if card else {}
    steps = filled(settings()[RESET].writes[0].steps, names) if card else ()
    return Restart(kind, names, tuple(sorted(targets)), waits, found, steps)


def _hidden(database: duckdb.DuckDBPyConnection) -> list[Row]:
    found = database.execute(_HIDDEN)
    columns = [one[0] for one in found.description]
    return [dict(zip(columns, values, strict=True)) for values in found.fetchall()]


def _second(hidden: list[Row]) -> list[Restart]:
    """One more reset of a card for everything that the first one shows."""
    cards: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in hidden:
        for target in row["targets"]:
            cards[row["card"]][target].append(row)
    folded: dict[tuple[str, tuple[int, ...]], tuple[list[Row], list[str]]] = {}
    for card, machines in cards.items():
        for target, rows in machines.items():
            key = (card, tuple(sorted(map(id, rows))))
            folded.setdefault(key, (rows, []))[1].append(target)
    made = []
    for (card, _), (rows, targets) in sorted(folded.items()):
        one = _restart(
            FIRMWARE_RESET, card, tuple(sorted({r["setting"] for r in rows})), (), set(targets)
        )
        made.append(one._replace(blind=tuple(_blind(row, one.targets) for row in rows)))
    return made


def _blind(row: Row, targets: tuple[str, ...]) -> Blind:
    write = settings()[row["setting"]].writes[row["write"]]
    steps = filled(write.steps, {**row["names"], "to": row["wanted"]})
    return Blind(row["setting"], row["wanted"], row["names"], targets, steps)


# ---- what a reset may lose


def put_back(
    database: duckdb.DuckDBPyConnection, restarts: Collection[Restart]
) -> tuple[tuple[Again, ...], tuple[Lost, ...]]:
    """Every runtime value of cards that are reset, and which of them no step puts back."""
    if not any(one.kind == FIRMWARE_RESET for one in restarts):
        return (), ()
    lost = [one for one in settings().values() if one.writes and _LOST_BY_RESET & set(one.lost_at)]
    _fill(database, lost)
    found = database.execute(_AGAIN)
    columns = [one[0] for one in found.description]
    again, gone = [], []
    for values in found.fetchall():
        row = dict(zip(columns, values, strict=True))
        targets = tuple(row["targets"])
        try:
            if not row["why"]:
                write = settings()[row["setting"]].writes[row["write"]]
                steps, _ = steps_of(write, row["value"], row["value"], row["names"])
                again.append(Again(row["setting"], row["value"], row["names"], targets, steps))
                continue
        except UnsafeError:
            row["why"] = "a name or value of the machine cannot be put into a command"
        gone.append(Lost(row["setting"], row["why"], targets))
    return tuple(again), tuple(gone)


def _fill(database: duckdb.DuckDBPyConnection, lost: Collection[Setting]) -> None:
    database.execute("CREATE TEMP TABLE runtime_row AS FROM change_row WHERE false")
    for one in lost:
        query = change_query(one, columns_of(database, one))
        database.execute(f"INSERT INTO runtime_row BY NAME ({query})")
