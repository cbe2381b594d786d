"""Everything that the page shows, put together from what the verbs say."""

from typing import Any, NamedTuple

from railwright import __version__
from railwright.check.explain import explain, show_intent
from railwright.check.findings import Findings
from railwright.check.links import say_of_ends
from railwright.check.rails import misplaced, undecided
from railwright.check.waivers import Waiver
from railwright.fabric.classes import sections
from railwright.fabric.infiniband import count_ports
from railwright.fabric.rails import rails
from railwright.intent.site import Site
from railwright.model.compare import Difference
from railwright.nodes import fold
from railwright.report.changes import change_rows
from railwright.report.explained import subject_json
from railwright.report.findings import findings_status
from railwright.report.hops import classes_json
from railwright.report.pace import pace_of
from railwright.report.page.answer_lines import lines_of
from railwright.report.page.encode import as_json
from railwright.report.page.fabric import Blocks, hosts, make_places, ports, switches
from railwright.report.page.heat import heat
from railwright.report.page.paths import traced
from railwright.report.page.verdict import finding_table, rule_texts, rules, verdict
from railwright.report.rails import Matrix, rails_data
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-report-1"
# Beside those that the page lists by themselves.
_PLANNED = "SELECT target FROM planned_link UNION SELECT peer FROM planned_link ORDER BY 1"
_CLASSES = "SELECT DISTINCT class FROM node_class WHERE class IS NOT NULL ORDER BY 1"
MOST_EXPLAINED = 24  # examples whose facts are in the page; the others by `railwright explain`
_NAMED = "SELECT count(DISTINCT target) FROM host"


class Page(NamedTuple):
    """What is there at once, and blocks that a view inflates when it is opened."""

    core: dict[str, Any]
    blocks: Blocks
    status: int
    planned: list[str]  # machines that only the site's plan names
    classes: list[str]  # of hosts, as the site calls them


def collected(
    findings: Findings,
    site: Site,
    waivers: list[Waiver],
    pairs: list[tuple[str, str]],
    changes: dict[str, Any] | None,
) -> Page:
    """All views; `changes` is what `railwright diff` says, if it was asked."""
    snapshot, database = findings.snapshot, findings.database
    blocks: Blocks = {}
    pace = pace_of(findings)
    make_places(database)
    status = findings_status(findings, snapshot)
    found = ports(database, blocks)
    say_of_ends(findings)
    core: dict[str, Any] = {
        "format": FORMAT,
        "railwright": __version__,
        "snapshot": snapshot.name,
        "title": snapshot.title,
        "demo": snapshot.is_demo,
        "started": str(snapshot.run.get("started") or ""),
        "profile": site.profile,
        "exit_status": status,
        **verdict(findings, pace),
        "rules": rules(findings),
        "findings": finding_table(findings),
        "hosts": hosts(database),
        "switches": switches(database),
        "ports": found,
        "heat": heat(database, found["count"], blocks),
        "hops": classes_json(list(sections(database))),
        "rails": _rails(findings),
        "infiniband": count_ports(database),
        "changes": changes,
    }
    blocks["explained"] = as_json(_explained(findings, core["blocks"]))
    blocks["texts"] = as_json(rule_texts(findings))
    core["paths"] = traced(findings, site, waivers, pairs)
    planned, classes = (
        [str(name) for (name,) in database.execute(query).fetchall()]
        for query in (_PLANNED, _CLASSES)
    )
    return Page(core, blocks, status, planned, classes)


def changes_of(before: Snapshot, now: Snapshot, found: Difference) -> dict[str, Any]:
    """What `railwright diff` says, as rows."""
    return {
        "before": before.title,
        "now": now.title,
        "moved": [
            {"hosts": fold(names), "before": old, "now": new} for old, new, names, _ in found.moved
        ],
        "rows": change_rows(found),
        "missing": [
            {"what": gap.what, "side": gap.side, "hosts": fold(gap.targets)} for gap in found.gaps
        ],
    }


def _rails(findings: Findings) -> dict[str, Any]:
    """What `railwright rails` says; leaves with the same counts as one text."""
    matrix = Matrix(rails(findings.database), misplaced(findings), undecided(findings))
    said = rails_data(matrix)
    for row, of in zip(said["rows"], matrix.rails.rows, strict=True):
        row["leaves"], row["count"] = fold(of.leaves), len(of.leaves)
        for cell in row["ports"]:
            cell["odd"] = matrix.is_odd(of, (cell["rail"], cell["plane"]))
    return said


def _explained(findings: Findings, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Facts behind one finding of each rule, the worst first."""
    show_intent(findings)
    told = {}
    for block in found[:MOST_EXPLAINED]:
        rule, subject = findings.rules[block["rule"]], block["groups"][0]["examples"][0]["subject"]
        told[f"{rule.id} {subject}"] = explain(findings, rule, subject)
    lines = lines_of(findings.snapshot, told)
    return {key: {**subject_json(one), "lines": lines.get(key, [])} for key, one in told.items()}
