"""`railwright check`: what is wrong, what is unknown, why it matters."""

import sys
from pathlib import Path

import typer

from railwright.check.findings import Findings
from railwright.check.rule import SEVERITIES, Rule, by_name, shipped
from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import JSON, SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.opening import decisions, intended, one_of, opened, opened_before
from railwright.config import site_file, store_folder
from railwright.errors import SnapshotError, UsageError
from railwright.fabric.ends import no_machine
from railwright.node_sets import unfold
from railwright.report.console import next_step, output, remarks
from railwright.report.findings import blocks, findings_status, print_findings
from railwright.report.findings_formats import hosts_with
from railwright.report.formats import FORMATS
from railwright.report.grouped import GROUPINGS
from railwright.report.screen import Screen, number_of
from railwright.store.lookup import find
from railwright.store.snapshot import Snapshot


def check(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    on: str = typer.Option(
        "",
        "--on",
        "-w",
        metavar="HOSTS",
        help="Show only findings of these machines and of links to them.",
    ),
    before: str | None = typer.Option(
        None,
        "--before",
        help="Earlier snapshot to compare counters with; 'previous' takes the one before.",
    ),
    select: list[str] = typer.Option(
        [], "--select", help="Run only these rules: names, topics, prefixes or patterns."
    ),
    ignore: list[str] = typer.Option([], "--ignore", help="Skip these rules."),
    severity: str = typer.Option(
        "info", "--severity", help="Show findings of this severity and worse."
    ),
    by: str = typer.Option("rule", "--by", metavar="|".join(GROUPINGS), help="Group findings."),
    rules: list[Path] = typer.Option([], "--rules", help="Add a folder of your own rules."),
    form: str = typer.Option("text", "--format", "-o", help=f"Print text, {', '.join(FORMATS)}."),
    as_json: bool = JSON,
    coverage: bool = typer.Option(
        False, "--coverage", help="Show how much each rule could decide."
    ),
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Check a snapshot. Exits 1 if there are findings, 3 if checks were inconclusive."""
    form = _form(form, as_json=as_json)
    _known("severity", severity, SEVERITIES)
    _known("grouping", by, GROUPINGS)
    if by != "rule" and form != "text":
        raise UsageError(
            f"--by groups the text, and --format is {form}",
            do="JSON has host, rail and link partner in every finding.",
        )
    folder = store_folder(store)
    now = _opened(folder, one_of(snapshot, named))
    machines = _machines(now, on)
    earlier = opened_before(folder, before, now) if before else None
    described = site_file(site, folder)
    wanted = intended(site, folder)
    found = chosen(Choice(tuple(select), tuple(ignore), severity, tuple(rules)), wanted)
    decided = decisions(waivers, folder)
    _tell_of_nobodys(
        {one.rule for one in decided} - {"*"}, found, "what is waived of it stays open"
    )
    _tell_of_nobodys(set(wanted.parameters), found, "its parameters change nothing")
    with checked(
        now, found, wanted, decided, before=earlier, severity=severity, on=machines
    ) as findings:
        status = findings_status(findings, now)
        if form == "text":
            where = f"of {described}" if described else "without a site file"
            against = f"profile {wanted.profile} {where}"
            print_findings(Screen(output()), findings, against, coverage=coverage, by=by)
        else:
            for part in FORMATS[form](findings, wanted.profile, status):
                sys.stdout.write(part)
        if form == "nodeset":
            _tell_of_left_out(findings)
        worst = blocks(findings)
    next_step(f"railwright explain {worst[0].rule}" if worst else "railwright facts")
    raise typer.Exit(status)


def _known(what: str, given: str, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise UsageError(f"unknown {what} {given!r}", do=f"Choose one of {', '.join(choices)}.")


def _form(form: str, *, as_json: bool) -> str:
    _known("format", form, ("text", *FORMATS))
    if as_json and form not in ("text", "json"):
        raise UsageError(f"--json and --format {form} contradict each other", do="Give one.")
    return "json" if as_json else form


def _opened(folder: Path, wanted: str | None) -> Snapshot:
    """The snapshot; a machine's name in its place is met with what was meant."""
    try:
        return opened(folder, wanted)
    except SnapshotError as error:
        if not wanted or not _is_machine(folder, wanted):
            raise
        raise UsageError(
            f"{wanted} is a machine, not a snapshot",
            do=f"Did you mean railwright check -w {wanted} or railwright show {wanted}?",
        ) from error


def _is_machine(folder: Path, name: str) -> bool:
    try:
        return name in _targets(find(folder, None))
    except SnapshotError:
        return False


def _targets(snapshot: Snapshot) -> set[str]:
    with snapshot.database("target") as database:
        rows = database.execute("SELECT target FROM target").fetchall()
    return {name for (name,) in rows}


def _machines(snapshot: Snapshot, on: str) -> list[str]:
    """The machines of a node set; one that the snapshot does not have would look sound."""
    names = unfold(on) if on else []
    known = _targets(snapshot) if names else set()
    for name in names:
        if name not in known:
            raise no_machine(name, known)
    return names


def _tell_of_left_out(findings: Findings) -> None:
    """What the node set cannot say: where nobody knows whether something is wrong."""
    left = hosts_with(findings, "unknown") - hosts_with(findings, "fail")
    if left:
        remarks().print(
            f"{number_of(len(left), 'host')} inconclusive and without findings: not in the node set"
        )


def _tell_of_nobodys(named: set[str], found: dict[str, Rule], so: str) -> None:
    """What is written for a rule that does not exist has no effect, and nobody would see that."""
    known = by_name([*shipped().values(), *found.values()])
    for name in sorted(named - set(known)):
        remarks().print(f"No rule is called {name}: {so}.", markup=False)
