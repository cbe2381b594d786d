"""`railwright explain`: what a rule means, and what it saw."""

import shlex
from pathlib import Path
from typing import NamedTuple

import typer

from railwright.check.explain import Explanation, show_intent
from railwright.check.explain import explain as explained
from railwright.check.rule import Rule
from railwright.check.run import Choice, checked, chosen
from railwright.check.statement import statement
from railwright.check.subject_names import Judged, judged, machine_named, subjects_named
from railwright.cli.common import JSON, SITE, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.opening import decisions, opened, opened_before
from railwright.config import site_file, store_folder
from railwright.errors import RailwrightError, UsageError
from railwright.intent.site import Site, load_site
from railwright.report.console import next_step, output
from railwright.report.explained import explained_json
from railwright.report.rule_help import print_evidence, print_failing, print_rule, print_seen
from railwright.report.screen import Screen
from railwright.store.snapshot import Snapshot


class Asked(NamedTuple):
    """Where a rule's verdicts are looked up."""

    folder: Path
    snapshot: str | None
    before: str | None
    site: Site
    waivers: Path | None


class Told(NamedTuple):
    """What there is to say beside the rule's own page."""

    snapshot: Snapshot | None = None
    one: Explanation | None = None  # the subject that was asked for
    found: list[Judged] = []  # noqa: RUF012 (never changed)


def explain(
    rule: str = typer.Argument(..., help="Rule, e.g. pcie-link-narrow."),
    subject: str | None = typer.Option(
        None, "--subject", help="Host, device, network device, PCI address or switch port."
    ),
    sql: bool = typer.Option(False, "--sql", help="Print the rule's SELECT for railwright sql."),
    inputs: bool = typer.Option(False, "--inputs", help="List every input and what it is for."),
    as_json: bool = JSON,
    snapshot: str | None = SNAPSHOT_OPTION,
    before: str | None = typer.Option(
        None, "--before", help="Earlier snapshot; 'previous' takes the one before."
    ),
    rules: list[Path] = typer.Option([], "--rules", help="Add a folder of your own rules."),
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Explain a rule; with --subject also its verdict, the facts and their evidence.

    Name the subject as you know it: gpu017, gpu017:mlx5_1, gpu017:29:00.0, leaf003:Ethernet4.
    """
    folder = store_folder(store)
    wanted = load_site(site_file(site, folder))
    one = _rule(rule, rules, wanted)
    if sql:
        output().print(statement(one), soft_wrap=True)
        return
    asked = Asked(folder, snapshot, before, wanted, waivers)
    told = _about(one, asked, subject) if subject else _failing(one, asked)
    if as_json:
        typer.echo(explained_json(one, told.snapshot, told.one, told.found))
    else:
        _print(one, told, inputs=inputs)
    next_step(_next(one, told))


def _next(rule: Rule, told: Told) -> str:
    if told.one is not None:
        return shlex.join(["railwright", "show", told.one.subject.partition(":")[0]])
    if told.found and told.found[0].verdict == "fail":
        return shlex.join(["railwright", "explain", rule.id, "--subject", told.found[0].subject])
    return f"railwright check --select {rule.id}"


def _rule(name: str, packs: list[Path], site: Site) -> Rule:
    """One rule; a machine that stands in its place is told where to ask for it."""
    if ":" in name:
        raise UsageError(
            f"{name!r} is not a rule", do=f"Did you mean railwright show {name.partition(':')[0]}?"
        )
    return next(iter(chosen(Choice(select=(name,), packs=tuple(packs)), site).values()))


def _about(rule: Rule, asked: Asked, typed: str) -> Told:
    """The verdict at one subject."""
    now = opened(asked.folder, asked.snapshot)
    if rule.baseline and not asked.before:
        raise UsageError(
            f"{rule.id} compares two snapshots", do="Name the earlier one: --before previous"
        )
    with now.database() as database:
        machine = machine_named(database, typed.partition(":")[0])
    earlier = opened_before(asked.folder, asked.before, now) if asked.before else None
    decided = decisions(asked.waivers, asked.folder)
    with checked(
        now, {rule.id: rule}, asked.site, decided, before=earlier, named=[machine]
    ) as findings:
        _ran(findings.ran[rule.id].trouble)
        found = subjects_named(findings, rule, typed, machine)
        show_intent(findings)
        return Told(now, explained(findings, rule, found[0].subject), found)


def _ran(trouble: str) -> None:
    if trouble:
        raise RailwrightError(f"the rule could not be run: {trouble}")


def _failing(rule: Rule, asked: Asked) -> Told:
    """Where it fails, if there is a snapshot at all: the page of a rule needs none."""
    if rule.baseline and not asked.before:
        return Told()
    try:
        now = opened(asked.folder, asked.snapshot)
    except RailwrightError:
        if asked.snapshot:
            raise
        return Told()
    earlier = opened_before(asked.folder, asked.before, now) if asked.before else None
    decided = decisions(asked.waivers, asked.folder)
    with checked(now, {rule.id: rule}, asked.site, decided, before=earlier) as findings:
        _ran(findings.ran[rule.id].trouble)
        return Told(now, None, judged(findings, rule))


def _print(rule: Rule, told: Told, *, inputs: bool) -> None:
    screen = Screen(output())
    print_rule(screen, rule, inputs=inputs)
    if told.one is not None:
        print_seen(screen, told.one, told.found[1:])
        print_evidence(screen, told.one.answers)
    elif told.snapshot is not None:
        print_failing(screen, rule, told.found)
