"""What `check` says, for the page: its blocks, its sentences, every finding with its ports."""

import shlex
from typing import Any

from railwright.check.findings import Findings
from railwright.check.sources import told
from railwright.check.unused import unused
from railwright.nodes import fold
from railwright.predict.pace import Pace
from railwright.report.check_head import (
    compute_ports,
    judged,
    links,
    machines,
    severities,
)
from railwright.report.finding_groups import groups_of
from railwright.report.findings import (
    Block,
    accepting,
    accepting_gap,
    blocks,
    decided_rows,
    excluded_rows,
    explained_by,
    reasons,
    unreported_rows,
)
from railwright.report.findings_formats import finding_rows
from railwright.report.pace import pace_json
from railwright.report.unreached import happened, to_do

_PORT_OF = (
    "SELECT rule, subject, list(idx ORDER BY idx) FROM page_told WHERE NOT is_whole GROUP BY ALL"
)
_OPEN = "SELECT count(*) FROM finding WHERE verdict = 'unknown' AND state = 'open'"
_KEPT = (
    *("rule", "severity", "target", "subject", "observed", "expected", "detail", "cost_gbps"),
    *("device", "netdev", "pci", "switch_port", "rail", "link_partner"),
    *("state", "cause", "cause_subject", "waiver", "commands"),
)


def _open_checks(findings: Findings) -> int:
    """Checks that are inconclusive, and nobody has accepted that."""
    [count] = findings.database.execute(_OPEN).fetchone() or [0]
    return int(count)


def head(findings: Findings, pace: Pace) -> dict[str, Any]:
    """The numbers that `check` begins with."""
    accounts = findings.accounts()
    seen = machines(findings)
    return {
        **seen._asdict(),
        "ports": compute_ports(findings),
        "links": links(findings),
        "rules": sum(not one.trouble for one in accounts),
        "decided": judged(accounts),
        "inconclusive": sum(one.unknown for one in accounts),
        "open": _open_checks(findings),
        "stopped": len(findings.stopped()),
        "expired": len(findings.expired()),
        "not_applicable": sum(one.not_applicable for one in accounts),
        "severities": severities(findings),
        "pace": pace_json(pace),
    }


def _block(findings: Findings, block: Block, under: list[Any]) -> dict[str, Any]:
    rule = findings.rules[block.rule]
    return {
        **block._asdict(),
        "kind": rule.subject.kind.replace("_", " "),
        "groups": [
            {
                "severity": one.severity,
                "examples": [example._asdict() for example in one.examples],
                "observed": one.observed,
                "expected": one.expected,
                "says": rule.said(one.observed, one.expected),
                "subjects": one.subjects,
                "hosts": fold(one.targets),
            }
            for one in groups_of(findings, rule)
        ],
        "under": [one._asdict() for one in under],
    }


def verdict(findings: Findings, pace: Pace) -> dict[str, Any]:
    """Everything on the first view, in the words of the terminal."""
    under = explained_by(findings)
    return {
        "head": head(findings, pace),
        "blocks": [_block(findings, one, under.get(one.rule, [])) for one in blocks(findings)],
        "inconclusive": [*_reasons(findings), *_unreported(findings), *_stopped(findings)],
        "excluded": [
            {
                "reason": reason,
                "status": happened(status),
                "hosts": fold(targets),
                "machines": len(targets),
                "findings": failed,
                "inconclusive": unknown,
            }
            for reason, status, targets, failed, unknown in excluded_rows(findings)
        ],
        "waived": [_waived(findings, *row) for row in decided_rows(findings)],
        "expired": [_decision(one) for one in findings.expired()],
        "unused": [{**_decision(one), "why": why} for one, why in unused(findings)],
    }


def _reasons(findings: Findings) -> list[dict[str, Any]]:
    found = []
    for one in reasons(findings):
        hosts = fold(one.targets)
        switches = findings.switches().intersection(one.targets)
        do = to_do(one.status, "" if switches else shlex.quote(hosts)) if one.status else ""
        names = one.rules.split(",")
        found.append(
            {
                "why": f"unreachable: {happened(one.status)}" if one.status else one.why,
                "rules": names,
                "checks": one.checks,
                "machines": len(one.targets),
                "hosts": hosts,
                "do": do,
                "accept": [accepting_gap(findings, n, one.targets) for n in names]
                if one.lasts
                else [],
            }
        )
    return found


def _unreported(findings: Findings) -> list[dict[str, Any]]:
    return [
        {
            "why": f"{system} does not report {fact}",
            "rules": rules.split(","),
            "checks": count,
            "machines": len(targets),
            "hosts": fold(targets),
            "do": "",
            "accept": [accepting(system, fact)],
        }
        for system, fact, rules, count, targets in unreported_rows(findings)
    ]


def _stopped(findings: Findings) -> list[dict[str, Any]]:
    return [
        {
            "why": f"{one.rule} could not be run: {one.trouble}",
            "rules": [one.rule],
            "checks": 0,
            "machines": 0,
            "hosts": "",
            "do": "",
            "accept": [],
        }
        for one in findings.stopped()
    ]


def _decision(one: Any) -> dict[str, Any]:
    return {
        "rule": one.fact or one.rule,
        "subjects": list(one.subjects),
        "until": str(one.until),
        "owner": one.owner,
        "reason": one.reason,
    }


def _waived(
    findings: Findings, number: int, state: str, count: int, targets: list[str]
) -> dict[str, Any]:
    told = _decision(findings.waivers[number])
    return {**told, "state": state, "count": count, "hosts": fold(targets)}


def finding_table(findings: Findings) -> dict[str, Any]:
    """Every finding, as columns; `ports` are those that it is about."""
    rows = findings.database.execute(_PORT_OF).fetchall()
    ports = {(rule, subject): places for rule, subject, places in rows}
    columns: dict[str, list[Any]] = {name: [] for name in (*_KEPT, "ports")}
    for row in finding_rows(findings):
        for name in _KEPT:
            columns[name].append(row[name])
        columns["ports"].append(ports.get((row["rule"], row["subject"]), []))
    return columns


def rules(findings: Findings) -> list[dict[str, Any]]:
    """Each rule with how it went."""
    found = []
    for one in findings.accounts():
        rule = findings.rules[one.rule]
        found.append(
            {
                "id": rule.id,
                "title": rule.title,
                "severity": rule.severity,
                "topic": rule.topic,
                "action": rule.action,
                "setting": rule.setting,
                "disturbs": rule.disturbs,
                "do": rule.do if one.fail else "",
                "ok": one.ok,
                "fail": one.fail,
                "unknown": one.unknown,
                "other": one.not_applicable,
                "trouble": one.trouble,
            }
        )
    return found


def rule_texts(findings: Findings) -> dict[str, dict[str, Any]]:
    """What a person reads of the rules that found something."""
    named = "SELECT DISTINCT rule FROM finding WHERE verdict = 'fail' ORDER BY rule"
    texts = {}
    for (name,) in findings.database.execute(named).fetchall():
        rule = findings.rules[name]
        texts[name] = {
            "why": rule.why,
            "wrong": rule.wrong,
            "sources": [line.strip() for line in told(rule.sources)],
            "sql": rule.sql,
        }
    return texts
