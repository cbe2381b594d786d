"""Verdicts -> findings: graded, waived, put under their cause, and counted."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from railwright.check.account import COLUMNS
from railwright.check.engine import Ran, RunState
from railwright.check.reasons import probes_beside, probes_of, tables_of
from railwright.check.rule import OPTIONAL, REASONS, SEVERITIES, Rule
from railwright.check.waivers import Waiver
from railwright.intent.roles import site_port
from railwright.store.duck import file_list, identifier, read_sql
from railwright.store.snapshot import Snapshot, make_view

_TYPES = {**OPTIONAL, "subjects": "BIGINT"}


@dataclass(frozen=True)
class Account:
    """How one rule went over all its subjects."""

    rule: str
    ok: int
    fail: int
    unknown: int
    not_applicable: int
    trouble: str  # why it did not run; '' = it did
    state: RunState


def _fill(database: duckdb.DuckDBPyConnection, name: str, rows: list[tuple[Any, ...]]) -> None:
    for at in range(0, len(rows), 1000):
        part = rows[at : at + 1000]
        marks = ", ".join(f"({', '.join('?' * len(part[0]))})" for _ in part)
        database.execute(f"INSERT INTO {name} VALUES {marks}", [v for row in part for v in row])


_INPUTS = read_sql(__file__, "finding_inputs.sql")
_SETTLED = read_sql(__file__, "findings.sql")
_PLACES = read_sql(__file__, "places.sql")
_ASKED = read_sql(__file__, "asked.sql")
MEMORY = "2GB"  # as for rules: of 10,000 hosts without waivers there are 200,000 findings
_FEW_BYTES = 4 * 1024 * 1024  # of all verdicts, packed


class Findings:
    """The findings of one run, in a database of their own."""

    def __init__(
        self, snapshot: Snapshot, rules: dict[str, Rule], ran: list[Ran], out: Path, intent: Path
    ) -> None:
        self.rules = rules
        self.ran = {one.rule: one for one in ran}
        self.snapshot = snapshot
        self.intent = intent
        self.never_touch: tuple[str, ...] = ()  # by the site file
        self.database = snapshot.database()
        self.database.execute(f"SET memory_limit = '{MEMORY}'")
        files = [out / one.file for one in ran if not one.trouble]
        if files:
            source = f"read_parquet({file_list(files)})"
        else:
            empty = ", ".join(
                f"NULL::{_TYPES.get(c, 'VARCHAR')} AS {identifier(c)}" for c in COLUMNS
            )
            source = f"(SELECT {empty} WHERE false)"
        # Asked several times: read once, unless it is large.
        few = sum(file.stat().st_size for file in files) < _FEW_BYTES
        self.database.execute(f"CREATE {'TABLE' if few else 'VIEW'} verdict AS FROM {source}")
        make_view(self.database, "declared_role", intent / "declared_role.parquet")
        self.database.execute(site_port())

    def settle(
        self,
        waivers: list[Waiver],
        today: date,
        severity: str = "info",
        on: Collection[str] = (),
    ) -> None:
        """Make the table `finding`: what is of this severity or worse, on these machines alone."""
        self.on = sorted(on)
        self.waivers = waivers
        self.today = today
        self.database.execute(_INPUTS)
        least = SEVERITIES.index(severity)
        known = [(name, rank, rank <= least) for rank, name in enumerate(SEVERITIES)]
        _fill(self.database, "severity", known)
        _fill(self.database, "reason_words", list(REASONS.items()))
        self._fill_rules()
        waived = [
            (number, one.verdict, one.rule, *place, one.is_expired(today), one.system, one.fact)
            for number, one in enumerate(waivers)
            for place in one.prefixes()
        ]
        _fill(self.database, "waiver", waived)
        self.database.execute(_SETTLED)
        self.database.execute(_PLACES)
        if on:
            _fill(self.database, "asked_target", [(name,) for name in self.on])
            self.database.execute(_ASKED)

    def _fill_rules(self) -> None:
        database, rules = self.database, self.rules.values()
        ranks = {name: rank for rank, name in enumerate(SEVERITIES)}
        info = [(r.id, ranks[r.severity], r.subject.kind, r.both_ends) for r in rules]
        _fill(database, "rule_info", info)
        grades = [(r.id, one, ranks[one]) for r in rules for one in r.severities]
        _fill(database, "rule_grade", grades)
        _fill(database, "rule_cause", [(r.id, cause) for r in rules for cause in r.implied_by])
        unknown = database.execute(
            "SELECT DISTINCT rule FROM verdict WHERE verdict = 'unknown'"
        ).fetchall()
        asked = [self.rules[name] for (name,) in unknown]
        probes = [(r.id, probe, True) for r in asked for probe in probes_of(r)]
        probes += [(r.id, probe, False) for r in asked for probe in probes_beside(r)]
        _fill(database, "rule_probe", probes)
        read = [(r.id, table) for r in asked for table in tables_of(r)]
        _fill(database, "rule_table", read)

    def accounts(self) -> list[Account]:
        """Every rule, also the ones that could not be run."""
        found: dict[str, dict[str, int]] = {}
        for rule, verdict, subjects in self.database.execute(
            "SELECT rule, verdict, sum(subjects)::BIGINT FROM verdict GROUP BY ALL"
        ).fetchall():
            found.setdefault(rule, {})[verdict] = subjects

        def count(rule: str, verdict: str) -> int:
            return found.get(rule, {}).get(verdict, 0)

        return [
            Account(
                name,
                count(name, "ok"),
                count(name, "fail"),
                count(name, "unknown"),
                count(name, "not applicable"),
                self.ran[name].trouble,
                self.ran[name].state,
            )
            for name in self.rules
        ]

    def stopped(self) -> list[Ran]:
        """Rules that could not be run to their end: what they would have said, nobody knows."""
        return [one for one in self.ran.values() if one.state is RunState.STOPPED]

    def expired(self) -> list[Waiver]:
        """Decisions whose time is over: each is a finding of its own."""
        return [one for one in self.waivers if one.is_expired(self.today)]

    def targets(self) -> list[str]:
        """All machines of the snapshot."""
        found = self.database.execute("SELECT target FROM target ORDER BY target").fetchall()
        return [name for (name,) in found]

    def switches(self) -> set[str]:
        """Those of them that are no hosts."""
        query = "SELECT target FROM target WHERE kind = 'switch'"
        return {name for (name,) in self.database.execute(query).fetchall()}
