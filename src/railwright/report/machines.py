"""Whom a section of the overview is asked of: all machines, or in large fleets one of each kind.

A section tells of each machine by itself. Machines that say the same in all the tables it reads are
told by one of them, the example: what it has, its members have.
"""

import re

import duckdb

from railwright.model.alike import FEWEST, examples_of, find_kinds, number_kinds, words_behind
from railwright.model.derived.digest import hash_of
from railwright.model.derived.likeness import likened
from railwright.report.section import Section
from railwright.report.sections import HELPERS, MACROS, SECTIONS
from railwright.schema.table import tables
from railwright.store.duck import identifier, words

_COMMENT = re.compile(r"--.*")  # names things too, and reads none
_MADE = re.compile(r"^create (?:temp )?table (\w+)(.*?);", re.DOTALL | re.MULTILINE)
# What machines are told by beside `likeness`. Of gaps only what sections say of them: reasons are
# in the machine's own words.
_MORE = {
    "silent": ["probe", "status"],
    "disagreement": ["fact", "subject", "source_a", "value_a", "source_b", "value_b"],
}
# Of every section: how the machine answered. `digest` is made of tables that are named beside it.
_ALWAYS = ("status", "out_of_service", "silent")
_NOT_COUNTED = {"target", "gap", "digest"}


def read_by(section: Section) -> frozenset[str]:
    """The tables in which machines must be alike to be told once."""
    made = {name: words(body) for name, body in _MADE.findall(_COMMENT.sub("", MACROS + HELPERS))}
    named = words_behind(_COMMENT.sub("", f"{section.before}\n{section.query}"), made)
    return frozenset(named & set(tables())) - _NOT_COUNTED


def _foldable(section: Section) -> bool:
    return not read_by(section) - {table.name for table in likened()} - set(_MORE)


def _number(name: str) -> str:
    """Of every machine one number over its rows."""
    number = f"xor(bit_xor({hash_of(_MORE[name])}), hash(count(*)))"
    return f"SELECT target, {number} AS {name} FROM {name} GROUP BY target"


class Machines:
    """Table `machine`, made for one section after the other, and the names behind its rows."""

    def __init__(self, database: duckdb.DuckDBPyConnection, hosts: int) -> None:
        self._database = database
        self._names: dict[object, tuple[str, ...]] = {}
        self._helped: set[str] = set()  # schemas that have the tables of HELPERS
        self._place = ""  # the schema that is read now
        self._folded: list[Section] = []
        database.execute(MACROS)
        if hosts >= FEWEST:
            self._fold()

    def _fold(self) -> None:
        database = self._database
        sections = [section for section in SECTIONS if _foldable(section)]
        read = sorted(frozenset().union(*map(read_by, sections)) - set(_MORE))
        number_kinds(database, read, map(_number, _MORE))
        for section in sections:
            by = [*_ALWAYS, *map(identifier, read_by(section))]
            if find_kinds(database, section.title, by):
                self._folded.append(section)
        if self._folded:
            self._keep_examples()

    def _keep_examples(self) -> None:
        """Schema `example`: the rows of the examples alone, found before those of all."""
        database = self._database
        chosen = examples_of(database, [section.title for section in self._folded])
        database.execute("CREATE SCHEMA example")
        read = frozenset().union(*map(read_by, self._folded))
        for name in sorted({*read, "digest"}):
            table = identifier(name)
            database.execute(
                f"CREATE TABLE example.{table} AS FROM main.{table} WHERE target IN ({chosen})"
            )

    def ask(self, section: Section) -> None:
        """From now on `machine` are those that the section is asked of, each with its members."""
        database = self._database
        if section in self._folded:
            database.execute("SET search_path = 'example,main'")
            kinds = f"main.target JOIN main.{identifier(section.title)} ON target = example"
            self._make_machine("example", kinds)
        elif self._place != "main":
            database.execute("RESET search_path")
            self._make_machine("main", "(SELECT *, [target] AS members FROM main.target)")
        if self._place not in self._helped:
            self._helped.add(self._place)
            database.execute(HELPERS)
        if section.before:
            database.execute(section.before)

    def _make_machine(self, place: str, source: str) -> None:
        self._place = place
        self._database.execute(
            "CREATE OR REPLACE TEMP TABLE machine AS "
            "SELECT target, status, out_of_service, members, list_aggregate("
            "list_transform(members, lambda member: hash(member)), 'bit_xor') AS members_key "
            f"FROM {source} WHERE kind = 'host'"
        )

    def names(self, examples: list[str], key: object) -> tuple[str, ...]:
        """All members of some examples, in order.

        Most sections part the machines in the same way: what was found for a key is kept.
        """
        if key not in self._names:
            found = examples
            if self._place == "example":
                rows = self._database.execute(
                    "SELECT unnest(members) FROM machine "
                    "SEMI JOIN (SELECT unnest(?) AS target) USING (target)",
                    [examples],
                ).fetchall()
                found = [name for (name,) in rows]
            self._names[key] = tuple(sorted(found))
        return self._names[key]
