"""`railwright check` for people: what is wrong, what is inconclusive, what is waived."""

import shlex
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from railwright.check.findings import Account, Findings
from railwright.check.rule import Rule
from railwright.check.unused import unused
from railwright.nodes import fold
from railwright.report.check_head import judged, machines, print_head
from railwright.report.console import plain
from railwright.report.finding_groups import Group, groups_of
from railwright.report.grouped import STYLES, print_grouped
from railwright.report.screen import Screen, cut, number_of, with_hosts, wrapped
from railwright.report.status import exit_status
from railwright.report.unreached import happened, to_do
from railwright.settings.words import LOOK_FIRST
from railwright.store.duck import read_sql
from railwright.store.snapshot import Snapshot

MOST_GROUPS = 6  # of one rule on a terminal; a pipe gets all
INDENT = 10
ACCEPTED_DAYS = 90  # judgement: a quarter, then it is reviewed


class Block(NamedTuple):
    """The open findings of one rule."""

    rule: str
    severity: str
    subjects: int
    hosts: int
    cost_gbps: float | None
    priced: int  # of how many the cost is known


_BLOCKS = read_sql(__file__, "views/check/blocks.sql")
_UNDER = """
SELECT cause, rule, arg_min(severity, rank), count(*)::BIGINT
FROM finding WHERE state = 'implied' GROUP BY cause, rule ORDER BY min(rank), rule
"""
_UNKNOWN = read_sql(__file__, "views/check/unknown.sql")
_NOT_REPORTED = read_sql(__file__, "views/check/not_reported.sql")
_AWAY = read_sql(__file__, "views/check/away.sql")
_DECIDED = """
SELECT waiver, state, count(*)::BIGINT, list(DISTINCT target)
FROM finding WHERE state IN ('waived', 'accepted') GROUP BY ALL ORDER BY 1
"""


def blocks(findings: Findings) -> list[Block]:
    """What is open, the worst first, then the costliest."""
    return [Block(*row) for row in findings.database.execute(_BLOCKS).fetchall()]


def findings_status(findings: Findings, snapshot: Snapshot) -> int:
    """1: findings, or an expired waiver; 3: checks that are inconclusive and not accepted.

    3 also where no check was decided at all: then anything may be wrong.
    """
    worth = any(block.severity != "info" for block in blocks(findings))
    accounts = findings.accounts()
    gap = findings.database.execute(
        "SELECT 1 FROM finding WHERE verdict = 'unknown' AND state = 'open' LIMIT 1"
    ).fetchone()
    return exit_status(
        found=worth or bool(findings.expired()),
        unknown=bool(findings.stopped()) or bool(gap) or not judged(accounts),
        snapshot=snapshot,
    )


def print_findings(
    screen: Screen, findings: Findings, against: str, *, coverage: bool, by: str = "rule"
) -> None:
    """The report; `against` says which intent it was held to."""
    accounts = findings.accounts()
    found = blocks(findings)
    expired = findings.expired()
    print_head(screen, findings, accounts, against)
    if by == "rule":
        under = explained_by(findings)
        for block in found:
            _print_block(screen, findings, block, under.get(block.rule, []))
    else:
        print_grouped(screen, findings, by)
    for waiver in expired:
        screen.line()
        screen.heading("medium    ", f"Waiver of {waiver.rule} expired on {waiver.expires}")
        screen.line(f"{' ' * INDENT}{', '.join(waiver.subjects)}: {waiver.reason} ({waiver.owner})")
    gaps = _print_unknown(screen, findings, accounts)
    _print_away(screen, findings)
    _print_decided(screen, findings)
    _print_unused(screen, findings)
    if coverage:
        _print_coverage(screen, findings, accounts)
    if not judged(accounts):
        screen.line()
        screen.line("No result: every check was inconclusive or did not apply.", "yellow")
    elif not found and not expired and not gaps:
        screen.line()
        screen.line(_clean(findings), "green")


def _clean(findings: Findings) -> str:
    """`No findings on 30 of 31 hosts, 4 switches; 1 excluded.`"""
    if findings.on:
        return f"No findings on {fold(findings.on)}."
    seen = machines(findings)
    hosts, asked = number_of(seen.hosts + seen.not_asked, "host"), seen.hosts + seen.not_asked
    parts = [hosts if seen.reached == asked else f"{seen.reached:,} of {hosts}"] if asked else []
    if seen.switches:
        switches = number_of(seen.switches, "switch")
        parts.append(switches if seen.talked == seen.switches else f"{seen.talked:,} of {switches}")
    away = f"; {seen.away:,} excluded" if seen.away else ""
    return f"No findings on {', '.join(parts)}{away}."


class Reason(NamedTuple):
    """Why checks are inconclusive, and where."""

    why: str
    rules: str  # their names, with commas
    checks: int
    targets: list[str]
    lasts: bool  # reading again would bring nothing
    status: str | None  # of machines that were not reached


class Explained(NamedTuple):
    """Findings of another rule that follow from an open one."""

    rule: str
    severity: str
    findings: int


def explained_by(findings: Findings) -> dict[str, list[Explained]]:
    """Rule -> what follows from its findings."""
    found: dict[str, list[Explained]] = {}
    for cause, *rest in findings.database.execute(_UNDER).fetchall():
        found.setdefault(cause, []).append(Explained(*rest))
    return found


def cost_words(block: Block) -> str:
    """What the findings cost together, as far as it is known of them."""
    if not block.cost_gbps:
        return ""
    least = "at least " if block.priced < block.subjects else ""
    return f", costs {least}{block.cost_gbps:,.0f} Gb/s"


def _print_group(screen: Screen, rule: Rule, group: Group, worst: str, everyone: list[str]) -> None:
    # The block is named after its worst.
    aside = "" if group.severity == worst else group.severity
    said = plain(rule.said(group.observed, group.expected))
    line = f"{aside:<{INDENT}}{group.subjects:>5,}  {said[:1].upper()}{said[1:]}"
    for part in with_hosts(screen, line, group.targets, everyone, INDENT + 7):
        screen.line(part, STYLES[group.severity])
    for one in group.examples:
        for part in wrapped(screen, group.line(one), INDENT + 7):
            screen.line(part, "dim")
        if one.fix:
            screen.line(f"{' ' * (INDENT + 7)}fix: {one.fix}")  # never broken: it is copied


def _print_block(screen: Screen, findings: Findings, block: Block, under: list[Explained]) -> None:
    rule = findings.rules[block.rule]
    kind = rule.subject.kind.replace("_", " ")
    # An end may be a host's or a switch's.
    where = number_of(block.hosts, "machine" if kind == "end" else "host")
    whole = kind in ("host", "switch")
    count = (
        number_of(block.hosts, kind) if whole else f"{number_of(block.subjects, kind)} on {where}"
    )
    screen.line()
    said = f"{rule.id}  {rule.title}: {count}{cost_words(block)}"
    screen.heading(f"{block.severity:<{INDENT}}", said)
    groups = groups_of(findings, rule)
    most = MOST_GROUPS if screen.is_terminal else len(groups)
    everyone = findings.targets()
    for group in groups[:most]:
        _print_group(screen, rule, group, block.severity, everyone)
    if len(groups) > most:
        screen.line(
            f"{' ' * INDENT}and {len(groups) - most:,} more kinds: railwright check | cat", "dim"
        )
    if rule.disturbs != LOOK_FIRST:
        screen.line(f"{' ' * (INDENT + 7)}repair disturbs: {rule.disturbs}", "dim")
    for one in under:
        what = f"also explains {one.findings:,} {one.severity} {one.rule}"
        said = f"{what} ({findings.rules[one.rule].title})"
        for part in wrapped(screen, said, INDENT + 7):
            screen.line(part, "dim")


def _names(rules: str, total: int) -> str:
    names = rules.split(",")
    if len(names) == total and total > 1:
        return "every rule"
    return ", ".join(names) if len(names) <= 4 else f"{len(names)} rules: {', '.join(names[:3])}, …"


def _counted(targets: list[str], switches: set[str]) -> str:
    """`3 hosts`, `2 switches`, `5 machines` where both are among them."""
    of_them = len(switches.intersection(targets))
    kind = "host" if not of_them else "switch" if of_them == len(targets) else "machine"
    return number_of(len(targets), kind)


def _print_reason(screen: Screen, findings: Findings, one: Reason, rules: int) -> None:
    switches = findings.switches()
    because = f"unreachable: {happened(one.status)}" if one.status else plain(one.why)
    said = f"{because}: {_names(one.rules, rules)} ({one.checks:,})"
    line = f"  {_counted(one.targets, switches):>9}  {said}"
    for part in with_hosts(screen, line, one.targets, findings.targets(), 13):
        screen.line(part, "yellow")
    if one.status:
        hosts = "" if switches.intersection(one.targets) else shlex.quote(fold(one.targets))
        for part in wrapped(screen, to_do(one.status, hosts), 13):
            screen.line(part, "dim")
    # Reading again brings nothing: pods have the devices for as long as they run.
    for rule in one.rules.split(",") if one.lasts else ():
        accept = accepting_gap(findings, rule, one.targets)
        screen.line(f"{' ' * 13}to accept that: {accept}", "dim")


def reasons(findings: Findings) -> list[Reason]:
    """Why checks are inconclusive that nobody accepted, the most machines first."""
    return [Reason(*row) for row in findings.database.execute(_UNKNOWN).fetchall()]


def unreported_rows(findings: Findings) -> list[tuple[Any, ...]]:
    """(system, fact, rules, checks, machines): what switch systems do not report."""
    return findings.database.execute(_NOT_REPORTED).fetchall()


def excluded_rows(findings: Findings) -> list[tuple[Any, ...]]:
    """(reason, status, machines, findings, inconclusive) of what is out of service."""
    return findings.database.execute(_AWAY).fetchall()


def decided_rows(findings: Findings) -> list[tuple[Any, ...]]:
    """(waiver, state, findings, machines) of what was waived or accepted."""
    return findings.database.execute(_DECIDED).fetchall()


def _print_unknown(screen: Screen, findings: Findings, accounts: list[Account]) -> bool:
    """What could not be decided; whether some of it was not accepted."""
    rows, unreported = reasons(findings), unreported_rows(findings)
    stopped = findings.stopped()
    if not rows and not unreported and not stopped:
        return False
    screen.line()
    screen.heading("Inconclusive")
    everyone, switches = findings.targets(), findings.switches()
    for one in rows:
        _print_reason(screen, findings, one, len(accounts))
    for system, fact, rules, count, targets in unreported:
        said = f"{system} does not report {fact}, {number_of(count, 'port')}"
        line = f"  {_counted(targets, switches):>9}  {said}: {_names(rules, len(accounts))}"
        for part in with_hosts(screen, line, targets, everyone, 13):
            screen.line(part, "yellow")
        screen.line(f"{' ' * 13}to accept that: {accepting(system, fact)}", "dim")
    for ran in stopped:
        for line in wrapped(screen, f"{ran.rule} could not be run: {plain(ran.trouble)}", 2):
            screen.line(line, "yellow")
    return True


def accepting_gap(findings: Findings, rule: str, targets: list[str]) -> str:
    """The command that accepts for some months that a rule cannot tell on these machines."""
    hosts, end = shlex.quote(fold(targets)), findings.today + timedelta(days=ACCEPTED_DAYS)
    return f"railwright waive --gap {rule} {hosts} --expires {end} --reason 'why' --owner 'who'"


def accepting(system: str, fact: str) -> str:
    """The command that accepts that a system does not report a fact."""
    return f"railwright waive --system {system} --fact {fact} --reason 'why' --owner 'who'"


def _print_away(screen: Screen, findings: Findings) -> None:
    """Who is out of service and why; what was seen there is counted and decides nothing."""
    rows = excluded_rows(findings)
    if not rows:
        return
    screen.line()
    screen.heading("Excluded")
    everyone, switches = findings.targets(), findings.switches()
    for reason, status, targets, failed, unknown in rows:
        said = f"{happened(status)}, {number_of(failed, 'finding')}, {unknown:,} inconclusive"
        who = f"{_counted(targets, switches):>9}"
        line = f"  {who}  out of service, {plain(reason)}: {said}"
        for part in with_hosts(screen, line, targets, everyone, 13):
            screen.line(part, "dim")


def _print_decided(screen: Screen, findings: Findings) -> None:
    rows = decided_rows(findings)
    if not rows:
        return
    screen.line()
    screen.heading("Waived")
    for number, state, count, targets in rows:
        one = findings.waivers[number]
        text = (
            f"  {count:>7,}  {state} until {one.until} by {one.owner}: {one.fact or one.rule} on "
            f"{fold(targets)}: {one.reason}"
        )
        screen.line(cut(screen, plain(text)))


def _print_unused(screen: Screen, findings: Findings) -> None:
    rows = unused(findings)
    if not rows:
        return
    screen.line()
    screen.heading("Unused waivers")
    for one in rows:
        said = f"{one.waiver.rule} on {', '.join(one.waiver.subjects)}: {one.why}"
        screen.line(cut(screen, plain(f"  {said} ({one.waiver.owner}: {one.waiver.reason})")))


def coverage_rows(accounts: list[Account]) -> Iterator[tuple[str, ...]]:
    """Rule, judged, failed, unknown, not applicable."""
    for one in accounts:
        numbers = (one.ok + one.fail, one.fail, one.unknown, one.not_applicable)
        yield one.rule, *(f"{n:,}" for n in numbers), one.trouble


def _print_coverage(screen: Screen, findings: Findings, accounts: list[Account]) -> None:
    screen.line()
    screen.heading("Coverage", ": what each rule could decide")
    rows = list(coverage_rows(accounts))
    wide = max((len(row[0]) for row in rows), default=4)
    head = (
        f"  {'rule':<{wide}}  {'decided':>9}  {'failed':>7}  {'inconclusive':>12}  "
        f"{'not applicable':>14}"
    )
    screen.line(head, "dim")
    for name, told, failed, unknown, other, trouble in rows:
        line = f"  {name:<{wide}}  {told:>9}  {failed:>7}  {unknown:>12}  {other:>14}"
        said = plain(trouble) or findings.rules[name].title
        screen.line(cut(screen, f"{line}  {said}"), "yellow" if unknown != "0" else "")
