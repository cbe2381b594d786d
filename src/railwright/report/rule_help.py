"""`railwright rules` and `railwright explain`: what a rule says, and what it saw at one subject."""

from railwright.check.explain import Seen
from railwright.check.rule import Rule
from railwright.check.sources import told
from railwright.report.console import plain
from railwright.report.json_text import json_text
from railwright.report.screen import Screen, cut, padded, reflowed, widths


def print_rules(screen: Screen, rules: list[Rule]) -> None:
    """One line each, by topic."""
    rows = [
        (
            rule.id,
            "/".join(rule.severities),
            rule.subject.kind.replace("_", " "),
            _marks(rule),
            rule.title,
        )
        for rule in rules
    ]
    title = ("rule", "severity", "of each", "", "fault")
    columns = widths([title, *rows])
    topic = ""
    for rule, row in zip(rules, rows, strict=True):
        if rule.topic != topic:
            topic = rule.topic
            screen.line()
            screen.heading(topic)
            screen.line("  " + padded(title, columns), "dim")
        screen.line(cut(screen, "  " + padded(row, columns)), "dim" if rule.preview else "")


def rules_json(rules: list[Rule], status: int) -> str:
    """The catalogue for programs."""
    return json_text("rules", status, rules=[_entry(rule) for rule in rules])


def _entry(rule: Rule) -> dict[str, object]:
    return {
        "rule": rule.id,
        "aliases": list(rule.aliases),
        "topic": rule.topic,
        "title": rule.title,
        "severities": list(rule.severities),
        "subject": rule.subject.kind,
        "preview": rule.preview,
        "compares_snapshots": rule.baseline,
        "why": rule.why,
        "remedy": rule.do,
        "exceptions": rule.wrong,
        "inputs": list(rule.needs),
        "optional_inputs": list(rule.uses),
        "parameters": [vars(parameter) for parameter in rule.parameters],
        "sources": list(rule.sources),
    }


def _marks(rule: Rule) -> str:
    return "preview" if rule.preview else "two snapshots" if rule.baseline else ""


def print_rule(screen: Screen, rule: Rule, *, inputs: bool = False) -> None:
    """Everything a rule's file says."""
    screen.heading(
        f"{rule.id}  {rule.title}",
        f"  ({' or '.join(rule.severities)}, of each {rule.subject.kind})",
    )
    if rule.aliases:
        screen.line(f"  formerly {', '.join(rule.aliases)}", "dim")
    for grade in rule.severities if rule.grades else ():
        screen.line(f"  {grade:<8} {rule.grades[grade]}")
    for heading, text in (
        ("Why it matters", rule.why),
        ("What to do", rule.do),
        ("Exceptions", rule.wrong),
    ):
        screen.line()
        screen.heading(heading)
        for line in reflowed(screen, text, 2):
            screen.line(line)
    _print_inputs(screen, rule, all_of_them=inputs)
    screen.line()
    screen.heading("Sources")
    for line in told(rule.sources):
        screen.line(f"  {line}")


def _print_inputs(screen: Screen, rule: Rule, *, all_of_them: bool) -> None:
    screen.line()
    screen.heading("Inputs")
    for line in reflowed(screen, ", ".join(rule.needs), 2):
        screen.line(line)
    if all_of_them:
        for name, when in rule.unless.items():
            screen.line(f"  {name}, unless: {when}")
        for name, why in rule.uses.items():
            screen.line(f"  {name}, optional: {why}")
    elif rule.uses:
        screen.line(f"  and {len(rule.uses)} optional (--inputs)", "dim")
    for parameter in rule.parameters:
        screen.line(
            f"  {parameter.name} = {parameter.default} {parameter.unit}: {parameter.reason}"
        )
    if rule.cost:
        screen.line(f"  cost: {rule.cost}")


def print_seen(
    screen: Screen, subject: str, verdict: dict[str, str | None], tables: list[Seen]
) -> None:
    """What a rule said of one subject, and the facts it rests on."""
    screen.line()
    screen.heading(subject, f": {verdict['verdict']}")
    for name in ("observed", "expected", "detail", "severity", "why"):
        if verdict.get(name):
            screen.line(f"  {name:<9} {plain(str(verdict[name]))}")
    for table, columns, rows, count in tables:
        screen.line()
        many = f": {count:,} rows, see railwright sql 'FROM {table} WHERE …'"
        screen.heading(table, "" if rows else many if count else ": no row about it")
        if not rows:
            continue
        cells = [[("not read" if v is None else plain(str(v))) for v in row] for row in rows]
        shape = widths([columns, *cells])
        screen.line(cut(screen, "  " + padded(columns, shape)), "dim")
        for row in cells:
            screen.line(cut(screen, "  " + padded(row, shape)))


def print_evidence(screen: Screen, rows: list[tuple[str, str, str, str]]) -> None:
    """Which answers the facts were read from."""
    screen.line()
    screen.heading("Evidence")
    for target, probe, instance, status in rows:
        what = f"railwright evidence {target} {probe}" + (f" {instance}" if instance else "")
        screen.line(f"  {status:<14} {what}", "" if status == "ok" else "yellow")
