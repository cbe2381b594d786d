"""`railwright explain`: what a rule means, and what it saw."""

from pathlib import Path

import typer

from railwright.check.explain import explain as explained
from railwright.check.lint import with_parameters
from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import SITE, STORE
from railwright.cli.opening import opened
from railwright.config import site_file, store_folder
from railwright.intent.site import load_site
from railwright.report.console import next_step, output
from railwright.report.rule_help import print_evidence, print_rule, print_seen
from railwright.report.screen import Screen


def explain(
    rule: str = typer.Argument(..., help="The rule's id, such as PCI-02."),
    subject: str | None = typer.Option(
        None, "--subject", help="One subject, as `check` writes it: gpu017:mlx5_3/1."
    ),
    sql: bool = typer.Option(False, "--sql", help="Only its SELECT, for railwright sql."),
    snapshot: str | None = typer.Option(
        None, "--snapshot", help="Path, name or beginning of the date. Default: the latest."
    ),
    before: str | None = typer.Option(None, "--before", help="An earlier snapshot."),
    rules: list[Path] = typer.Option([], "--rules", help="A folder with rules of your own."),
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """A rule in full; with --subject also its verdict there, its facts and their evidence."""
    folder = store_folder(store)
    wanted = load_site(site_file(site, folder))
    found = chosen(Choice(select=(rule,), packs=tuple(rules)), wanted)
    one = next(iter(found.values()))
    screen = Screen(output())
    if sql:
        screen.line(with_parameters(one.sql, one.parameters))
        return
    if subject is None:
        print_rule(screen, one)
    else:
        now, earlier = opened(folder, snapshot), opened(folder, before) if before else None
        with checked(now, {one.id: one}, wanted, [], before=earlier, each=True) as findings:
            told = explained(findings, one, subject)  # a wrong subject is said before the page
        print_rule(screen, one)
        print_seen(screen, subject, told.verdict, told.seen)
        print_evidence(screen, told.answers)
    next_step(f"railwright explain {one.id} --sql")
