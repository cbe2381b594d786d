"""`railwright rules` and `railwright explain`: what a rule says, and what it saw at one subject."""

import shlex

from railwright.check.disturbance import remark_on, way_back_of
from railwright.check.explain import Answer, Explanation
from railwright.check.facts_at import Seen
from railwright.check.rule import Rule
from railwright.check.sources import told
from railwright.check.subject_names import MOST_NAMED, Judged, listed
from railwright.report.console import plain
from railwright.report.folded_table import print_folded
from railwright.report.json_text import json_text
from railwright.report.screen import Screen, cut, number_of, padded, reflowed, widths, wrapped
from railwright.settings.words import DISTURBANCES, WAY_BACK


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
        **repair(rule),
        "why": rule.why,
        "remedy": rule.do,
        "exceptions": rule.wrong,
        "inputs": list(rule.needs),
        "optional_inputs": list(rule.uses),
        "parameters": [vars(parameter) for parameter in rule.parameters],
        "sources": list(rule.sources),
    }


def repair(rule: Rule) -> dict[str, str | None]:
    """What its remedy is and disturbs, for programs."""
    return {
        "action": rule.action,
        "setting": rule.setting or None,
        "disturbs": rule.disturbs,
        "disturbs_remark": remark_on(rule.setting, rule.disturbs) or None,
        "way_back": way_back_of(rule.setting) or None,
    }


def _print_disturbs(screen: Screen, rule: Rule) -> None:
    remark = remark_on(rule.setting, rule.disturbs)
    screen.line()
    screen.heading("Disturbs", f": {rule.disturbs}{f' ({remark})' if remark else ''}")
    said = [DISTURBANCES[rule.disturbs]]
    way_back = way_back_of(rule.setting)
    said += [f"way back: {WAY_BACK[way_back]}"] if way_back else []
    for text in said:
        for line in reflowed(screen, text, 2):
            screen.line(line)


def _marks(rule: Rule) -> str:
    return "preview" if rule.preview else "two snapshots" if rule.baseline else ""


def print_rule(screen: Screen, rule: Rule, *, inputs: bool = False) -> None:
    """Everything a rule's file says."""
    fits = len(rule.id) + len(rule.title) + 2 <= screen.width
    screen.heading(rule.id, f"  {rule.title}" if fits else "")
    if not fits:
        screen.line(f"  {rule.title}")
    kind = rule.subject.kind.replace("_", " ")
    screen.line(f"  {' or '.join(rule.severities)}, checked per {kind}")
    if rule.aliases:
        screen.line(f"  formerly {', '.join(rule.aliases)}", "dim")
    for grade in rule.severities if rule.grades else ():
        for line in wrapped(screen, f"{grade}: {rule.grades[grade]}", 2):
            screen.line(line)
    for heading, text in (
        ("Why it matters", rule.why),
        ("What to do", rule.do),
        ("Exceptions and false positives", rule.wrong),
    ):
        screen.line()
        screen.heading(heading)
        for line in reflowed(screen, text, 2):
            screen.line(line)
        if heading == "What to do":
            _print_disturbs(screen, rule)
    screen.line()
    _print_inputs(screen, rule, all_of_them=inputs)
    screen.line()
    screen.heading("Sources")
    for source in told(rule.sources):
        indent = 4 if source.startswith(" ") else 2
        for line in reflowed(screen, source.strip(), indent):
            screen.line(line)


def _print_inputs(screen: Screen, rule: Rule, *, all_of_them: bool) -> None:
    if all_of_them:
        screen.heading("Inputs")
        said = [
            f"{name}, unless: {rule.unless[name]}" for name in rule.needs if name in rule.unless
        ]
        said = [*(name for name in rule.needs if name not in rule.unless), *said]
        said += [
            f"{name}, optional{f': {use}' if str(use) else ''}" for name, use in rule.uses.items()
        ]
    else:
        needed = list(dict.fromkeys(need.rpartition(".")[0] for need in rule.needs))
        more = dict.fromkeys(use.rpartition(".")[0] for use in rule.uses)
        optional = [name for name in more if name not in needed]
        behind = f" (optional: {', '.join(optional)})" if optional else ""
        said = [f"Inputs: {', '.join(needed)}{behind}"]
    for text in said:
        for line in wrapped(screen, text, 2 if all_of_them else 0):
            screen.line(line)
    for parameter in rule.parameters:
        text = f"{parameter.name} = {parameter.default} {parameter.unit}: {parameter.reason}"
        for line in wrapped(screen, text, 2):
            screen.line(line)
    if rule.cost:
        for line in wrapped(screen, f"Cost: {rule.cost}", 0):
            screen.line(line)


def print_failing(screen: Screen, rule: Rule, found: list[Judged]) -> None:
    """The subjects to pass on, the worst first."""
    failing = [one.subject for one in found if one.verdict == "fail"]
    open_ = sum(one.verdict == "unknown" for one in found)
    screen.line()
    if failing:
        screen.heading("Failing", f": {number_of(len(failing), 'subject')} in this snapshot")
        for name in failing[:MOST_NAMED]:
            screen.line(f"  {rule.id} --subject {plain(name)}")
        if len(failing) > MOST_NAMED:
            screen.line(f"  and {len(failing) - MOST_NAMED:,} more", "dim")
    if open_:
        screen.line(f"Inconclusive for {number_of(open_, 'subject')} in this snapshot.")
    if not failing and not open_:
        screen.line("No finding of it in this snapshot.")


def print_seen(screen: Screen, told: Explanation, others: list[Judged]) -> None:
    """What a rule said of one subject, and the facts it rests on."""
    screen.line()
    screen.heading(told.subject, f": {told.verdict['verdict']}")
    said = {name: told.verdict[name] for name in ("observed", "expected", "detail", "severity")}
    said |= {"state": told.verdict["state"], "why": told.verdict["why"]}
    if said["state"] == "open":
        del said["state"]
    worse = [one for one in others if one.verdict in ("fail", "unknown")]
    if worse:
        said["also"] = listed([f"{one.subject} ({one.verdict})" for one in worse])
    for name, text in said.items():
        if text:
            for line in wrapped(screen, f"{name:<9} {plain(str(text))}", 2):
                screen.line(line)
    for one in told.seen:
        if one.held:
            screen.line()
            _print_rows(screen, one)
    empty = [one.table for one in told.seen if not one.held]
    if empty:
        screen.line()
        for line in wrapped(screen, f"No rows about it: {', '.join(empty)}", 0):
            screen.line(line, "dim")


def _print_rows(screen: Screen, seen: Seen) -> None:
    if not seen.rows:
        screen.heading(seen.table, f": {seen.held:,} rows, none that the rule names")
        screen.line(f'  railwright sql "{plain(seen.more)}"', "dim")
        return
    screen.heading(seen.table)
    cells = [
        [
            "none" if column in none else _cell(value, column in marked)
            for column, value in zip(seen.columns, row, strict=True)
        ]
        for row, marked, none in zip(seen.rows, seen.deciding, seen.none, strict=True)
    ]
    styles = ["yellow" if marked else "" for marked in seen.deciding]
    print_folded(screen, seen.columns, cells, styles)
    if seen.more:  # at the link partner
        screen.line(f'  more: railwright sql "{plain(seen.more)}"', "dim")


def _cell(value: object, is_deciding: bool) -> str:
    said = f"{value:.6g}" if isinstance(value, float) else str(value)
    text = "not read" if value is None else plain(said) or "''"
    return f"{text} !" if is_deciding else text


def print_evidence(screen: Screen, answers: list[Answer]) -> None:
    """The commands that print what the facts were read from."""
    screen.line()
    screen.heading("Evidence")
    if not answers:
        screen.line("  none: no probe of its inputs was asked there")
    for one in answers:
        status = "" if one.status == "ok" else f"{one.status}: "
        about = f"# {status}{', '.join(one.tables)}"
        line = f"  {command(one)}"
        style = "" if one.status in ("ok", "absent") else "yellow"
        if len(line) + len(about) + 2 <= screen.width:
            screen.line(f"{line}  {about}", style)
            continue
        screen.line(line, style)
        for part in wrapped(screen, about, 4):
            screen.line(part, style or "dim")


def command(answer: Answer) -> str:
    """What prints an answer's bytes."""
    parts = ("railwright", "evidence", answer.target, answer.probe, answer.instance)
    return " ".join(shlex.quote(plain(part)) for part in parts if part)
