"""`railwright explain --json`: a rule, and what it saw at one subject."""

import json
from typing import Any

from railwright import __version__
from railwright.check.explain import Explanation
from railwright.check.facts_at import Seen
from railwright.check.rule import Rule
from railwright.check.sources import told
from railwright.check.subject_names import Judged
from railwright.report.rule_help import command, repair
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-explain-1"
MOST_LISTED = 100  # subjects, the worst first


def explained_json(
    rule: Rule, snapshot: Snapshot | None, one: Explanation | None, found: list[Judged]
) -> str:
    """One object; `subject` is null where none was asked for."""
    listed = [judged._asdict() for judged in found if judged.verdict in ("fail", "unknown")]
    data = {
        "format": FORMAT,
        "railwright": __version__,
        "snapshot": snapshot.name if snapshot else None,
        "rule": _rule(rule),
        "subject": subject_json(one) if one else None,
        "subjects": listed[:MOST_LISTED],
        "subjects_left_out": max(0, len(listed) - MOST_LISTED),
    }
    return json.dumps(data, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "aliases": list(rule.aliases),
        "topic": rule.topic,
        "title": rule.title,
        "severities": list(rule.severities),
        "grades": dict(rule.grades),
        "checked_per": rule.subject.kind,
        "needs_earlier_snapshot": rule.baseline,
        "why_it_matters": rule.why,
        "what_to_do": rule.do,
        **repair(rule),
        "exceptions": rule.wrong,
        "cost": rule.cost,
        "inputs": list(rule.needs),
        "optional_inputs": {name: str(use) for name, use in rule.uses.items()},
        "parameters": [parameter.__dict__ for parameter in rule.parameters],
        "implied_by": list(rule.implied_by),
        "sources": [line.strip() for line in told(rule.sources)],
    }


def subject_json(one: Explanation) -> dict[str, Any]:
    """A verdict, the facts behind it and the answers behind these."""
    return {
        "subject": one.subject,
        **one.verdict,
        "inputs": [_input(seen) for seen in one.seen],
        "evidence": [
            {**answer._asdict(), "tables": list(answer.tables), "command": command(answer)}
            for answer in one.answers
        ],
    }


def _input(seen: Seen) -> dict[str, Any]:
    rows = [
        {
            "values": {
                name: value if isinstance(value, str | int | float | None) else str(value)
                for name, value in zip(seen.columns, row, strict=True)
            },
            "deciding": sorted(marked),
            "none": sorted(none),
        }
        for row, marked, none in zip(seen.rows, seen.deciding, seen.none, strict=True)
    ]
    return {"table": seen.table, "held": seen.held, "rows": rows, "rest": seen.more or None}
