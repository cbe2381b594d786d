"""Which rows of a rule's input tables a verdict rests on: about its subject, or named by it.

No rule says which row decided it. What decides is found from both sides: a row that the verdict's
words name, a row about the subject, and one about what the subject is connected to.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from railwright.check.findings import Findings
from railwright.check.rule import Rule
from railwright.check.tables import all_tables
from railwright.check.things import all_names, things_of
from railwright.schema.table import Table
from railwright.schema.value_state import is_none, may_be_none
from railwright.store.duck import identifier, quote, read_sql

MOST_ROWS = 12
FEW = 6  # rows of what the subject is connected to, beside its own
MOST_READ = 20_000  # rows of one machine in one table
_PLACE = read_sql(__file__, "subject_place.sql")
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_TOKEN = re.compile(r"[\w.:/-]*\w")
_NAME = re.compile(r"[a-zA-Z:].*\d|\d.*[a-zA-Z:]")  # neither a word nor a number
# Of a key that only numbers the parts of one thing, the subject's own counts.
_NUMBERS = ("port", "priority", "index", "element")
_OF_PROBES = ("probe_result", "gap")  # what became of every probe: only some matter to a rule
_NO_THING = ("target", "probe", "family", "file", "map", "pool", "profile")


class Place(NamedTuple):
    """A machine, and what on it a verdict is about."""

    target: str
    own: frozenset[str]  # all names of the subject; none: the machine as a whole
    related: frozenset[str]  # what its PCIe path crosses, the GPU beside it
    known: frozenset[str]  # every name of a thing there
    numbers: dict[str, int]  # the subject's own: port 1, priority 3


class Words(NamedTuple):
    """What a verdict and the SELECT behind it speak of."""

    deciding: frozenset[str]  # of a fault: what was observed and not expected, and where
    said: frozenset[str]  # observed, expected and the detail
    text: str
    asked: frozenset[str]  # the literals of the SELECT


class Seen(NamedTuple):
    """Rows of one input table."""

    table: str
    columns: list[str]
    rows: list[Sequence[object]]
    held: int  # how many there are of the kind that is shown
    deciding: list[frozenset[str]]  # per row: the columns whose value the verdict names
    none: list[frozenset[str]]  # per row: those that are NULL because there is none
    more: str  # the statement that shows the rest; '' = nothing is left out


def tokens(text: str | None) -> frozenset[str]:
    """Words and numbers of a text; of x8 and 9000, the number too."""
    found = set(_TOKEN.findall(text or ""))
    return frozenset(found | {one[1:] for one in found if re.fullmatch(r"x\d+", one)})


def places_said(detail: str | None) -> frozenset[str]:
    """The names in what a detail says first, which is where it is."""
    return frozenset(one for one in tokens((detail or "").partition(";")[0]) if _NAME.search(one))


def words_of(rule: Rule, verdict: dict[str, str | None]) -> Words:
    """What the verdict names, and what the rule asks its tables for."""
    observed, expected = tokens(verdict["observed"]), tokens(verdict["expected"])
    said = observed | expected | tokens(verdict["detail"])
    parts = (verdict[name] or "" for name in ("observed", "expected", "detail"))
    asked = frozenset(text for text in _TEXT.findall(rule.sql) if text)
    where = places_said(verdict["detail"])
    deciding = (observed - expected) | where if verdict["verdict"] == "fail" else frozenset()
    return Words(deciding, said, " ".join(parts).lower(), asked)


def places_of(
    findings: Findings, target: str, key: dict[str, object], *, with_partner: bool
) -> list[Place]:
    """The subject's place, and that of its link partner."""
    things = things_of(findings.database, target)
    named = [v for n, v in key.items() if isinstance(v, str) and n != "target"]
    own = frozenset().union(*(all_names(things, name) for name in named)) if named else frozenset()
    numbers = {n: v for n, v in key.items() if n in _NUMBERS and isinstance(v, int)}
    around = findings.database.execute(_PLACE, {"target": target, "own": sorted(own)}).fetchall()
    related = frozenset(name for kind, _, name in around if kind == "related" and name) - own
    places = [Place(target, own, related, frozenset().union(*things), numbers)]
    for kind, peer, name in around:
        if kind == "partner" and with_partner:
            there = things_of(findings.database, peer)
            known = frozenset().union(*there)
            places.append(Place(peer, all_names(there, name), frozenset(), known, {}))
    return places


def rows_of(
    findings: Findings, table: Table, wanted: list[str], places: list[Place], words: Words
) -> Seen:
    """The rows that matter, of all its places together."""
    keys = [name for name in table.key if name not in ("target", "read_at")]
    columns = list(dict.fromkeys([*keys, *wanted]))
    by_machine = "target" in table.column_types()
    maybe_none = [name for name in columns if may_be_none(table.name, name)]
    asked = ", ".join(
        [*map(identifier, columns), *(is_none(table.name, name) for name in maybe_none)]
    )
    shown: list[Sequence[object]] = []
    held, more, own = 0, "", frozenset().union(*(place.own for place in places))
    for place in places if by_machine else places[:1]:
        where = "WHERE target = ?" if by_machine else ""
        rows = findings.database.execute(
            f"SELECT {asked} FROM {identifier(table.name)} {where} ORDER BY ALL LIMIT {MOST_READ}",
            [place.target] if by_machine else [],
        ).fetchall()
        about = _Rows(columns, keys, table, place, words)
        found = about.chosen(rows)
        kept = found if len(found) <= MOST_ROWS else []  # none of so many is named: which ones?
        shown += [(place.target, *row) for row in kept]
        held += len(found)
        if not kept and found:
            more = _rest(table.name, place, about)
    wide = 1 + len(columns)  # behind them stands what is none
    none = [
        frozenset(n for n, flag in zip(maybe_none, row[wide:], strict=True) if flag)
        for row in shown
    ]
    if len({target for target, *_ in shown}) > 1:
        columns = ["target", *columns]
        shown = [row[:wide] for row in shown]
    else:
        shown = [row[1:wide] for row in shown]
    marks = [_deciding(columns, keys, row, words, own) for row in shown]
    return Seen(table.name, columns, shown, held, marks, none, more)


def _rest(table: str, place: Place, about: "_Rows") -> str:
    where = f"target = {quote(place.target)}"
    if about.things and place.own:
        own = ", ".join(map(quote, sorted(place.own)))
        where += f" AND {about.columns[about.things[0]]} IN ({own})"
    return f"FROM {table} WHERE {where}"


class _Rows:
    """The rows of one table on one machine, and how near each is to the verdict."""

    def __init__(
        self, columns: list[str], keys: list[str], table: Table, place: Place, words: Words
    ) -> None:
        self.columns = columns
        self._place = place
        self._words = words
        kinds = table.column_types()
        texts = [
            n for n, name in enumerate(columns)
            if kinds[name] == "VARCHAR" and (name not in _NO_THING or table.name in _OF_PROBES)
        ]  # fmt: skip
        self._only_asked = table.name in _OF_PROBES
        self._keys = [n for n, name in enumerate(columns) if name in keys]
        self._texts = texts
        self.things: list[int] = []

    def chosen(self, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        """The nearest: what the verdict names, then the subject's own, then what it is tied to."""
        self.things = self._of_things(rows, [n for n in self._texts if n in self._keys])
        if not self.things:  # a message of the kernel names the thing beside its key
            self.things = self._of_things(rows, [n for n in self._texts if n not in self._keys])
        by_rank: dict[int, list[tuple[object, ...]]] = {}
        for row in rows:
            by_rank.setdefault(self._rank(row), []).append(row)
        found = by_rank.get(0, []) + by_rank.get(1, [])
        if not self._place.own and by_rank.get(0):  # of a machine as a whole
            found = by_rank[0]
        for rank in (2, 3, 4):
            group = by_rank.get(rank, [])
            if not found or (rank == 2 and len(found) + len(group) <= FEW):
                found += group
        if len(found) <= FEW and not self._only_asked:
            return found
        asked = [row for row in found if self._is_said(row) or self._is_asked(row)]
        if len(asked) > FEW:
            asked = [row for row in asked if self._is_said(row)] or asked
        return asked if asked or self._only_asked else found

    def _of_things(self, rows: list[tuple[object, ...]], among: list[int]) -> list[int]:
        """The columns that hold names of things of this machine."""
        known = self._place.known
        return [n for n in among if any(row[n] in known for row in rows)]

    def _rank(self, row: tuple[object, ...]) -> int:
        place = self._place
        named = [str(row[n]) for n in self.things if row[n]]
        strange = [one for one in named if one not in place.own]
        if any(one in self._words.said for one in strange):
            return 0
        if any(self._is_other(n, row[n]) for n in self._keys):
            return 9
        if not strange or not place.own:
            return 1
        own = len(named) - len(strange)
        if all(one in place.related for one in strange):
            return 2 if own else 4
        return 3 if own else 9

    def _is_other(self, column: int, value: object) -> bool:
        """Another priority, another port of the same device; 0 stands for all of them."""
        own = self._place.numbers.get(self.columns[column])
        is_number = isinstance(value, int) and own is not None
        return is_number and value not in (own, 0, -1)

    def _details(self, row: tuple[object, ...], among: list[int]) -> Iterator[tuple[str, object]]:
        """What tells the rows of one thing apart: a parameter's name, a class."""
        for number in among:
            if number not in self.things and row[number] not in (None, ""):
                yield self.columns[number], row[number]

    def _is_said(self, row: tuple[object, ...]) -> bool:
        """Whether the verdict names one of the row's values, or says `class 3`."""
        return any(
            (value in self._words.said and len(value) > 2)  # a 0 is many things
            or value in self._place.own  # a parameter's name is in its subject
            if isinstance(value, str)
            else re.search(rf"\b{column} {value}\b", self._words.text)
            for column, value in self._details(row, [*self._texts, *self._keys])
        )

    def _is_asked(self, row: tuple[object, ...]) -> bool:
        """Whether the SELECT names one of its keys."""
        return any(
            isinstance(value, str) and self._is_literal(value)
            for _, value in self._details(row, self._keys)
        )

    def _is_literal(self, value: str) -> bool:
        asked = self._words.asked
        patterns = (one.replace("%", "*") for one in asked if "%" in one and one.strip("%_"))
        return value in asked or any(fnmatchcase(value, pattern) for pattern in patterns)


def _deciding(
    columns: list[str],
    keys: list[str],
    row: Sequence[object],
    words: Words,
    own: frozenset[str],
) -> frozenset[str]:
    """The cells that the verdict repeats: what was observed, and not what is expected."""
    told = words.deciding - own
    found = set()
    for name, value in zip(columns, row, strict=True):
        if value is None or isinstance(value, bool) or name == "target":
            continue
        text = f"{value:g}" if isinstance(value, float) else str(value)
        is_number = isinstance(value, int | float)
        if text in told and not (is_number and name in keys):
            found.add(name)
    return frozenset(found)


def inputs_of(needs: list[str]) -> dict[str, list[str]]:
    """The tables behind what a rule reads, with their columns."""
    found: dict[str, list[str]] = {}
    for need in needs:
        table, _, column = need.removeprefix("before.").rpartition(".")
        if table in all_tables() and column not in found.setdefault(table, []):
            found[table].append(column)
    return found
