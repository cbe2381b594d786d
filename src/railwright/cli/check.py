"""`railwright check`: what is wrong, what is unknown, why it matters."""

import sys
from pathlib import Path

import typer

from railwright.check.rule import SEVERITIES, Rule, by_name, shipped
from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import SITE, SNAPSHOT, STORE, WAIVERS
from railwright.cli.opening import decisions, opened, opened_before
from railwright.config import site_file, store_folder
from railwright.errors import UsageError
from railwright.intent.site import load_site
from railwright.report.console import next_step, output, remarks
from railwright.report.findings import blocks, findings_status, print_findings
from railwright.report.findings_formats import FORMATS
from railwright.report.screen import Screen


def check(
    snapshot: str | None = SNAPSHOT,
    before: str | None = typer.Option(
        None,
        "--before",
        help="Earlier snapshot to compare counters with; 'previous' takes the one before.",
    ),
    select: list[str] = typer.Option(
        [], "--select", help="Run only these rules: names, topics or patterns, e.g. 'pcie-*'."
    ),
    ignore: list[str] = typer.Option([], "--ignore", help="Skip these rules."),
    severity: str = typer.Option(
        "info", "--severity", help="Show findings of this severity and worse."
    ),
    rules: list[Path] = typer.Option([], "--rules", help="Add a folder of your own rules."),
    form: str = typer.Option("text", "--format", help=f"text, {', '.join(FORMATS)}."),
    coverage: bool = typer.Option(
        False, "--coverage", help="Show how much each rule could decide."
    ),
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Check a snapshot. Exits 1 if there are findings, 3 if checks were inconclusive."""
    if severity not in SEVERITIES:
        raise UsageError(
            f"unknown severity {severity!r}", do=f"Choose one of {', '.join(SEVERITIES)}."
        )
    if form != "text" and form not in FORMATS:
        raise UsageError(
            f"unknown format {form!r}", do=f"Choose one of text, {', '.join(FORMATS)}."
        )
    folder = store_folder(store)
    now = opened(folder, snapshot)
    earlier = opened_before(folder, before, now) if before else None
    described = site_file(site, folder)
    wanted = load_site(described)
    found = chosen(Choice(tuple(select), tuple(ignore), severity, tuple(rules)), wanted)
    decided = decisions(waivers, folder)
    _tell_of_nobodys(
        {one.rule for one in decided} - {"*"}, found, "what is waived of it stays open"
    )
    _tell_of_nobodys(set(wanted.parameters), found, "its parameters change nothing")
    with checked(now, found, wanted, decided, before=earlier, severity=severity) as findings:
        status = findings_status(findings, now)
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


def _tell_of_nobodys(named: set[str], found: dict[str, Rule], so: str) -> None:
    """What is written for a rule that does not exist has no effect, and nobody would see that."""
    known = by_name([*shipped().values(), *found.values()])
    for name in sorted(named - set(known)):
        remarks().print(f"No rule is called {name}: {so}.", markup=False)
