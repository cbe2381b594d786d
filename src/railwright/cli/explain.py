"""`railwright explain`: what a rule means, and what it saw."""

from pathlib import Path

import typer

from railwright.check.explain import explain as explained
from railwright.check.lint import with_parameters
from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import SITE, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import opened, opened_before
from railwright.config import site_file, store_folder
from railwright.intent.site import load_site
from railwright.report.console import next_step, output
from railwright.report.rule_help import print_evidence, print_rule, print_seen
from railwright.report.screen import Screen


def explain(
    rule: str = typer.Argument(..., help="Rule, e.g. pcie-link-narrow."),
    subject: str | None = typer.Option(
        None, "--subject", help="Subject as check prints it, e.g. gpu017:mlx5_3/1."
    ),
    sql: bool = typer.Option(False, "--sql", help="Print only the rule's SELECT."),
    inputs: bool = typer.Option(False, "--inputs", help="List every input and what it is for."),
    snapshot: str | None = SNAPSHOT_OPTION,
    before: str | None = typer.Option(
        None, "--before", help="Earlier snapshot; 'previous' takes the one before."
    ),
    rules: list[Path] = typer.Option([], "--rules", help="Add a folder of your own rules."),
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """Explain a rule; with --subject also its verdict, the facts and their evidence."""
    folder = store_folder(store)
    wanted = load_site(site_file(site, folder))
    found = chosen(Choice(select=(rule,), packs=tuple(rules)), wanted)
    one = next(iter(found.values()))
    screen = Screen(output())
    if sql:
        screen.line(with_parameters(one.sql, one.parameters))
        return
    if subject is None:
        print_rule(screen, one, inputs=inputs)
    else:
        now = opened(folder, snapshot)
        earlier = opened_before(folder, before, now) if before else None
        with checked(now, {one.id: one}, wanted, [], before=earlier, each=True) as findings:
            told = explained(findings, one, subject)  # a wrong subject is said before the page
        print_rule(screen, one, inputs=inputs)
        print_seen(screen, subject, told.verdict, told.seen)
        print_evidence(screen, told.answers)
    host = subject.partition(":")[0] if subject else ""
    next_step(f"railwright show {host}" if host else f"railwright check --select {one.id}")
