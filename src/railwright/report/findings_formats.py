"""The same findings for programs: JSON, JUnit, SARIF; and the hosts as a node set."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from railwright import __version__
from railwright.check.findings import Findings
from railwright.check.places import COLUMNS, Place, aside
from railwright.check.remedy import Subject, commands
from railwright.check.rule import Rule, shipped
from railwright.check.unused import unused
from railwright.check.waivers import Waiver
from railwright.nodes import fold, is_machine_name
from railwright.report.pace import pace_json, pace_of
from railwright.text import plain

FORMAT = "railwright-findings-2"
_FIELDS = ("rule", "severity", "target", "subject", "observed", "expected", "detail", "cost_gbps")
_PLACE = tuple(name for name in COLUMNS if name != "part")
_MORE = ("kind", "part")  # for the commands alone
_AT_A_TIME = 10_000
NO_STEPS = 1 << 62  # Slurm does not read gpu[001-015/2]
# SARIF knows three levels.
_LEVELS = {"blocker": "error", "high": "error", "medium": "warning", "low": "note", "info": "note"}


_PROPERTIES = ("target", *_PLACE, "action", "setting", "disturbs", "commands")


def _rows(findings: Findings, columns: tuple[str, ...], where: str) -> Iterator[dict[str, Any]]:
    found = findings.database.execute(
        f"SELECT {', '.join(columns)} FROM placed WHERE {where} ORDER BY rank, rule, subject"
    )
    while rows := found.fetchmany(_AT_A_TIME):
        for row in rows:
            yield dict(zip(columns, row, strict=True))


def _fingerprint(findings: Findings, row: dict[str, Any]) -> str:
    """Tells a finding again in another run; a rule that is given a new name keeps it."""
    named = f"{findings.rules[row['rule']].first_name}\0{row['subject']}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def _remedied(findings: Findings, row: dict[str, Any]) -> dict[str, Any]:
    """With what to do about it."""
    rule = findings.rules[row["rule"]]
    kind, part = row.pop("kind"), row.pop("part")
    place = Place(**{name: row[name] for name in _PLACE}, part=part)
    subject = Subject(kind, place, row["expected"], findings.never_touch)
    offered = commands(rule.do, rule.fix, subject)
    listed = [{"command": c.text, "fix": c.is_fix, "missing": list(c.missing)} for c in offered]
    return {**row, **_repair(rule), "commands": listed}


def _repair(rule: Rule) -> dict[str, str | None]:
    """What to do in three words."""
    setting = rule.setting or None
    return {"action": rule.action, "setting": setting, "disturbs": rule.disturbs}


def _known_again(findings: Findings, row: dict[str, Any]) -> dict[str, Any]:
    waiver = _waiver(findings, row["waiver"])
    return {**row, "waiver": waiver, "fingerprint": _fingerprint(findings, row)}


def _decision(findings: Findings, waiver: Waiver) -> dict[str, Any]:
    """A waiver by itself, with the name of its rule for people."""
    rule = findings.rules.get(waiver.rule) or shipped().get(waiver.rule)
    return {
        "rule": waiver.rule,
        "title": rule.title if rule else None,
        "subjects": list(waiver.subjects),
        "reason": waiver.reason,
        "owner": waiver.owner,
        "expires": waiver.expires.isoformat() if waiver.expires else None,
    }


def _waiver(findings: Findings, number: int | None) -> dict[str, str | None] | None:
    if number is None:
        return None
    one = findings.waivers[number]
    expires = one.expires.isoformat() if one.expires else None
    return {"reason": one.reason, "owner": one.owner, "expires": expires}


def _listed(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    comma = ""
    for row in rows:
        yield f"{comma}\n    {json.dumps(row)}"
        comma = ","


def _rule_rows(findings: Findings) -> Iterator[dict[str, Any]]:
    for one in findings.accounts():
        rule = findings.rules[one.rule]
        yield {
            "id": rule.id,
            "aliases": list(rule.aliases),
            "title": rule.title,
            "severity": rule.severity,
            "severities": list(rule.severities),
            "subject": rule.subject.kind,
            **_repair(rule),
            "remedy": rule.do,
            "ok": one.ok,
            "fail": one.fail,
            "inconclusive": one.unknown,
            "not_applicable": one.not_applicable,
            "state": one.state.value,
            "trouble": one.trouble,
        }


def finding_rows(findings: Findings) -> Iterator[dict[str, Any]]:
    """Every finding as JSON has it, the worst first."""
    told = (*_FIELDS, *_PLACE, *_MORE, "state", "cause", "cause_subject", "waiver")
    for row in _rows(findings, told, "verdict = 'fail'"):
        yield _known_again(findings, _remedied(findings, row))


def as_json(findings: Findings, profile: str, status: int) -> Iterator[str]:
    """One object, its lists one row per line."""
    head = {
        "format": FORMAT,
        "railwright": __version__,
        "snapshot": findings.snapshot.name,
        "profile": profile,
        "on": findings.on or None,
        "exit_status": status,
        "expired_waivers": [_decision(findings, w) for w in findings.expired()],
        "unused_waivers": [{**_decision(findings, w), "why": why} for w, why in unused(findings)],
        "pace": pace_json(pace_of(findings)),
    }
    yield json.dumps(head)[:-1] + ',\n  "rules": ['
    yield from _listed(_rule_rows(findings))
    yield '\n  ],\n  "findings": ['
    yield from _listed(finding_rows(findings))
    yield '\n  ],\n  "inconclusive": ['
    gaps = ("rule", "target", "subject", *_PLACE, "reason", "why", "state", "waiver")
    unknown = _rows(findings, gaps, "verdict = 'unknown'")
    yield from _listed(_known_again(findings, row) for row in unknown)
    yield "\n  ]\n}\n"


def _message(rule: Rule, row: dict[str, Any]) -> str:
    values = {
        "subject": plain(row["subject"]),
        "observed": "not read" if row["observed"] is None else plain(row["observed"]) or "''",
        "expected": "?" if row["expected"] is None else plain(row["expected"]) or "''",
    }
    more = aside(row["detail"], row["subject"])
    return rule.message.format(**values) + (f" ({more})" if more else "")


def as_junit(findings: Findings, profile: str, status: int) -> Iterator[str]:  # noqa: ARG001
    """A suite per rule: what failed or is inconclusive is a case, the rest are counted in one."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={quoteattr(f'railwright check {findings.snapshot.name}')}>\n"
    for one in findings.accounts():
        rule = findings.rules[one.rule]
        where = f"rule = '{rule.id}' AND state IN ('open', 'implied')"
        rows = list(_rows(findings, (*_FIELDS, "verdict", "why"), where))
        failed = sum(1 for row in rows if row["verdict"] == "fail")
        stopped = bool(one.trouble)
        total = len(rows) + bool(one.ok) + stopped
        yield (
            f'  <testsuite name={quoteattr(f"{rule.id} {rule.title}")} tests="{total}" '
            f'failures="{failed}" errors="{len(rows) - failed + stopped}">\n'
        )
        if one.ok:
            name = quoteattr(f"{one.ok:,} in order")
            yield f'    <testcase name={name} classname="{rule.id}"/>\n'
        if stopped:
            said = f"<error>{escape(plain(one.trouble))}</error>"
            yield f'    <testcase name="run" classname="{rule.id}">{said}</testcase>\n'
        for row in rows:
            tag = "failure" if row["verdict"] == "fail" else "error"
            said = _message(rule, row) if tag == "failure" else f"inconclusive: {plain(row['why'])}"
            yield (
                f'    <testcase name={quoteattr(plain(row["subject"]))} classname="{rule.id}">'
                f"<{tag} message={quoteattr(said)}/></testcase>\n"
            )
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def as_sarif(findings: Findings, profile: str, status: int) -> Iterator[str]:  # noqa: ARG001
    """SARIF 2.1.0: subjects are logical locations."""
    rules = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.why},
            "help": {"text": rule.do},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
            "properties": _repair(rule),
        }
        for rule in findings.rules.values()
    ]
    driver = {"name": "Railwright", "version": __version__, "rules": rules}
    head = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
    }
    run = json.dumps({"tool": {"driver": driver}})[:-1]
    yield json.dumps(head)[:-1] + f', "runs": [{run}, "results": ['
    rows = _rows(findings, (*_FIELDS, *_PLACE, *_MORE, "verdict", "why", "state"), "true")

    def results() -> Iterator[dict[str, Any]]:
        for row in rows:
            rule = findings.rules[row["rule"]]
            known = row["verdict"] == "fail"
            result: dict[str, Any] = {
                "ruleId": rule.id,
                "kind": "fail" if known else "open",  # open: it could not be decided
                "level": _LEVELS[row["severity"]] if known else "none",
                "message": {
                    "text": _message(rule, row) if known else f"inconclusive: {plain(row['why'])}"
                },
                "locations": [
                    {"logicalLocations": [{"fullyQualifiedName": plain(row["subject"])}]}
                ],
                "partialFingerprints": {"ruleAndSubject/v1": _fingerprint(findings, row)},
            }
            if known:
                told = _remedied(findings, row)
                result["properties"] = {name: told[name] for name in _PROPERTIES}
            if row["state"] in ("waived", "accepted", "out of service"):
                result["suppressions"] = [{"kind": "external", "justification": row["state"]}]
            yield result

    yield from _listed(results())
    yield "\n]}]}\n"


_NODESET = """
SELECT DISTINCT f.target FROM finding AS f INNER JOIN target AS t ON t.target = f.target
WHERE t.kind = 'host' AND f.verdict = $verdict AND f.state = 'open'
"""


def hosts_with(findings: Findings, verdict: str) -> set[str]:
    """Hosts with an open verdict of this kind."""
    rows = findings.database.execute(_NODESET, {"verdict": verdict}).fetchall()
    return {name for (name,) in rows}


def as_nodeset(findings: Findings, profile: str, status: int) -> Iterator[str]:  # noqa: ARG001
    """Hosts with open findings as one node set, as Slurm reads it; nothing if there are none."""
    found = [name for name in hosts_with(findings, "fail") if is_machine_name(name)]
    if found:
        yield f"{fold(found, NO_STEPS)}\n"
