"""From the evidence up: what was not read is never ok, on hosts of every kind.

One sound host of each model is read once. A fleet is made of its copies: one whole, one that is
gone, and for every probe one that lacks its answer. All of them would say the same as the whole one,
so whatever a rule says of a copy is compared with what it says there:

- what was ok or failed may become unknown, and nothing else; it may also stay as it is, but not ok
  where a column that the rule needs has lost every value that it had;
- nothing fails that did not;
- no subject vanishes, unless the rule says of the whole machine that it knows nothing (`host:*`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pytest

from lab.fleet import MODELS
from lab.harness.fleets import Reading, evidence_of, snapshot_of
from railwright.check.rule import Rule, shipped
from railwright.check.run import checked
from railwright.check.tables import SCOPES, make_macros, make_scopes
from railwright.collect.probe import probes
from railwright.intent.propose import proposal
from railwright.intent.site import Site, read_site
from railwright.intent.write import write_intent
from railwright.schema.table import intent_tables, tables
from railwright.store.duck import identifier, quote
from railwright.store.evidence import Answer
from railwright.store.snapshot import Snapshot

WHOLE, GONE = "whole", "gone"
# How an answer can be lost. The last one arrives, and no parser knows it.
WAYS = ("never came", "denied", "timeout", "gibberish")
Verdicts = dict[tuple[str, str], dict[str, str]]  # machine, rule -> subject -> verdict


def _lost(answer: Answer, way: str) -> Iterator[Answer]:
    if way == "gibberish" and answer.status == "ok":
        yield replace(answer, stdout=b"\x07 gibberish\n", packed=b"")
    elif way != "never came":
        yield replace(answer, status=way.replace("gibberish", "failed"), stdout=b"", packed=b"")


def _fleet(read: Reading, turn: int) -> dict[str, Reading]:
    """Copies of one host; which way a probe is lost goes by turns, so all models see each way.

    One machine under many names: address-twice tells by the boot that these are no doubles.
    """
    fleet = {WHOLE: read}
    for number, probe in enumerate(probes()):
        way = WAYS[(number + turn) % len(WAYS)]
        left = (
            one
            for answer in read.answers
            for one in (_lost(answer, way) if answer.probe == probe else [answer])
        )
        fleet[f"{probe}.{way.replace(' ', '-')}"] = replace(read, answers=tuple(left))
    return fleet


def _values(snapshot: Snapshot, intent: Path) -> dict[str, dict[str, int]]:
    """table.column -> machine -> how many values it has; scopes too."""
    found: dict[str, dict[str, int]] = {}
    with snapshot.database() as database:
        for name in intent_tables():
            file = quote(str(intent / f"{name}.parquet"))
            database.execute(f"CREATE VIEW {identifier(name)} AS FROM read_parquet({file})")
        make_macros(database)
        make_scopes(database)
        for table in (*tables(), *SCOPES):
            columns = _columns(database, table)
            if "target" not in columns:
                continue
            counts = ", ".join(f"count({identifier(column)})" for column in columns)
            for target, *numbers in database.execute(
                f"SELECT target, {counts} FROM {identifier(table)} GROUP BY target"
            ).fetchall():
                for column, number in zip(columns, numbers, strict=True):
                    found.setdefault(f"{table}.{column}", {})[target] = number
    return found


def _columns(database: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    return [row[0] for row in database.execute(f"DESCRIBE {identifier(table)}").fetchall()]


@dataclass(frozen=True)
class Judged:
    """What was read and said of a fleet."""

    verdicts: Verdicts
    values: dict[str, dict[str, int]]

    def needs_lost(self, rule: Rule, machine: str) -> list[str]:
        """What the rule always needs, the whole host has and this machine has nothing of."""
        found = []
        for need in set(rule.needs) - set(rule.unless):
            had = self.values.get(need.removeprefix("before."), {})
            if had.get(WHOLE) and not had.get(machine):
                found.append(need)
        return found


def _site(snapshot: Snapshot) -> Site:
    """What most of the fleet is, without roles: these are to be inferred."""
    with snapshot.database() as database:
        text = proposal(database, snapshot.name)
    return replace(read_site(text, "the proposal"), roles=())


def _judge(snapshot: Snapshot, folder: Path) -> Judged:
    site = _site(snapshot)
    write_intent(site, snapshot.path / "facts", folder)
    verdicts: Verdicts = {}
    # Its own earlier snapshot: nothing has grown, and what is lost is lost in both.
    with checked(snapshot, dict(shipped()), site, [], before=snapshot, each=True) as findings:
        assert [one for one in findings.accounts() if one.trouble] == []
        rows = findings.database.execute("SELECT target, rule, subject, verdict FROM verdict")
        for target, rule, subject, verdict in rows.fetchall():
            verdicts.setdefault((target, rule), {})[subject.removeprefix(target)] = verdict
    return Judged(verdicts, _values(snapshot, folder))


def _wrong(judged: Judged, rule: Rule, machine: str) -> Iterator[str]:
    before = judged.verdicts.get((WHOLE, rule.id), {})
    after = judged.verdicts.get((machine, rule.id), {})
    lost = judged.needs_lost(rule, machine)
    for subject, was in before.items():
        now = after.get(subject, "")
        if was not in ("ok", "fail") and now != "fail":
            continue
        if not now and ":*" not in after:
            yield f"{subject} was {was} and is gone"
        elif now not in (was, "unknown", ""):
            yield f"{subject} was {was} and is {now}"
        elif now == "ok" and lost:
            yield f"{subject} is ok without {', '.join(lost)}"
    for subject, now in after.items():
        if subject not in before and now in ("fail", "ok"):
            yield f"{subject} is {now} and was not there"


@pytest.mark.root
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.one_in(2)
def test_what_was_not_read_is_never_ok(model: str, tmp_path: Path) -> None:
    (read,) = evidence_of(tmp_path, [MODELS[model](1)]).values()
    fleet = _fleet(read, list(MODELS).index(model))
    snapshot = snapshot_of(tmp_path / "store", fleet, gone=[GONE])
    judged = _judge(snapshot, tmp_path / "intent")
    found = [
        f"{rule.id} at {machine}: {wrong}"
        for rule in shipped().values()
        for machine in (*fleet, GONE)
        for wrong in _wrong(judged, rule, machine)
    ]
    assert found == []
