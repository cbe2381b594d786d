"""A host is restarted no more often than its changes need, and keeps what it had."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from railwright.check.cases import facts_of, probes_of, read_cases, with_defaults
from railwright.check.tables import SCOPES
from railwright.check.trial import filled, trial_database
from railwright.plan.cases import text_of
from railwright.plan.guards import GUARD_SQL, Kept, WayIn
from railwright.plan.make import plan_in
from railwright.plan.paths import ALLOWED, Limits
from railwright.plan.plan import Plan, Restart
from railwright.schema.table import tables
from railwright.settings.setting import settings
from railwright.store.duck import words

GIVEN, CASES = read_cases(Path(__file__).with_name("plan_restarts.yaml"))
ASKED = """
CREATE TABLE asked AS
SELECT
    setting AS rule, 'high' AS severity, 1 AS rank, 'a' AS target, 'a' AS subject, 'host' AS kind,
    NULL::VARCHAR AS device, NULL::INTEGER AS port, NULL::VARCHAR AS netdev, NULL::VARCHAR AS pci,
    NULL::VARCHAR AS switch_port, NULL::VARCHAR AS link_partner, NULL::DOUBLE AS cost_gbps
FROM unnest($settings) AS s(setting)
"""


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with trial_database() as made:
        yield made


def planned(database: duckdb.DuckDBPyConnection, name: str, case: dict[str, Any]) -> Plan:
    """Nothing cuts the way in: the case is about restarts."""
    known = settings()
    chosen = {one: [known[one]] for one in case.pop("settings")}
    allow = frozenset(case.pop("allow", ALLOWED))
    ways_in = [WayIn(one, ["ens1", "ens2"]) for one in case.pop("ways_in", [])]
    read = case.pop("read", "")
    every = [one.tables() for one in known.values() if one.writes]
    probes = {w.probe for one in known.values() for w in one.writes if w.probe}
    probes |= probes_of(sorted({table for tables in every for table in tables}))
    probes |= probes_of(sorted(words(GUARD_SQL) & tables().keys()))
    rows = with_defaults(facts_of(name, {**GIVEN, **case}), probes)
    path = "aggressive" if allow == set(ALLOWED) else "conservative"
    with filled(database, rows, SCOPES):
        database.execute(ASKED, {"settings": list(chosen)})
        database.execute("DELETE FROM ssh_session")
        database.execute("UPDATE probe_result SET status = 'absent' WHERE probe = 'ssh_session'")
        answered = "INSERT INTO probe_result BY NAME SELECT 'a' AS target, 'mlxconfig' AS probe, "
        database.execute(f"{answered} $card AS instance, 'ok' AS status", {"card": read})
        return plan_in(database, chosen, Kept(Limits(path, allow), ways_in))


def told(one: Restart) -> str:
    first = "; ".join(text_of(step) for blind in one.blind for step in blind.steps)
    steps = "; ".join(map(text_of, one.steps))
    parts = [one.kind, one.names.get("pci") or "", "for", ", ".join(one.settings)]
    said = " ".join(filter(None, parts))
    return f"{first}; " * bool(first) + said + f": {steps}" * bool(steps)


@pytest.mark.parametrize("name", CASES)
def test_what_is_restarted(database: duckdb.DuckDBPyConnection, name: str) -> None:
    case = dict(CASES[name])
    names = ("restarts", "changes", "refused", "held_back", "again", "not_again")
    expected = {key: case.pop(key) for key in names if key in case}
    plan = planned(database, name, case)
    assert [told(one) for one in plan.restarts] == expected["restarts"]
    if "changes" in expected:
        assert sorted(
            ("after " if group.is_late else "") + group.setting.id for group in plan.groups
        ) == sorted(expected["changes"])
    for key, groups in (("refused", plan.refused), ("held_back", plan.held_back)):
        assert {one.setting.id: one.why for one in groups} == expected.get(key, {})
    again = {text_of(step) for one in plan.again for step in one.steps}
    assert set(expected.get("again", ())) <= again
    assert not again & set(expected.get("not_again", ()))
    assert bool(plan.again) == any(one.kind == "firmware_reset" for one in plan.restarts)
