"""`railwright check`: what is wrong, what is unknown, why it matters."""

import sys
from pathlib import Path

import typer

from railwright.check.rule import SEVERITIES
from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import SITE, SNAPSHOT, STORE, WAIVERS
from railwright.cli.opening import decisions, opened
from railwright.config import site_file, store_folder
from railwright.errors import UsageError
from railwright.intent.site import load_site
from railwright.report.console import next_step, output
from railwright.report.findings import blocks, findings_status, print_findings
from railwright.report.findings_formats import FORMATS
from railwright.report.screen import Screen


def check(
    snapshot: str | None = SNAPSHOT,
    before: str | None = typer.Option(
        None, "--before", help="An earlier snapshot: counters are judged by what they grew since."
    ),
    select: list[str] = typer.Option(
        [], "--select", help="Only these rules: ids, topics or patterns such as 'QOS-*'."
    ),
    ignore: list[str] = typer.Option([], "--ignore", help="Not these."),
    severity: str = typer.Option(
        "info", "--severity", help="Findings of this severity and worse ones."
    ),
    rules: list[Path] = typer.Option([], "--rules", help="A folder with rules of your own."),
    form: str = typer.Option("text", "--format", help=f"text, {', '.join(FORMATS)}."),
    coverage: bool = typer.Option(
        False, "--coverage", help="How many subjects each rule could judge."
    ),
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Judge a snapshot. Exit status 1: findings; 3: something is unknown that nobody accepted."""
    if severity not in SEVERITIES:
        raise UsageError(f"no severity {severity}", do=f"There are {', '.join(SEVERITIES)}.")
    if form != "text" and form not in FORMATS:
        raise UsageError(f"no format {form}", do=f"There are text, {', '.join(FORMATS)}.")
    folder = store_folder(store)
    now, earlier = opened(folder, snapshot), opened(folder, before) if before else None
    described = site_file(site, folder)
    wanted = load_site(described)
    found = chosen(Choice(tuple(select), tuple(ignore), severity, tuple(rules)), wanted)
    decided = decisions(waivers, folder)
    with checked(now, found, wanted, decided, before=earlier, severity=severity) as findings:
        status = findings_status(findings)
        if form == "text":
            where = f"of {described}" if described else "without a site file"
            against = f"profile {wanted.profile} {where}"
            print_findings(Screen(output()), findings, against, coverage=coverage)
        else:
            for part in FORMATS[form](findings, wanted.profile, status):
                sys.stdout.write(part)
        worst = blocks(findings)
    next_step(f"railwright explain {worst[0].rule}" if worst else "railwright rules")
    raise typer.Exit(status)
