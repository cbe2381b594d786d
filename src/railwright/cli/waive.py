"""`railwright waive`: decide to live with a finding, or with not knowing, for a while."""

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import typer

from railwright.check.rule import by_name, shipped
from railwright.check.run import checked, no_rule, with_thresholds
from railwright.check.unused import unknown_subjects, unused
from railwright.check.waivers import Waiver, append_waiver
from railwright.cli.common import STORE, WAIVERS
from railwright.cli.opening import opened
from railwright.config import site_file, stands_in, store_folder, waiver_file
from railwright.errors import RailwrightError, SnapshotError, UsageError
from railwright.intent.site import load_site
from railwright.report.console import next_step, remarks


def waive(
    rule: str | None = typer.Argument(None, help="Rule to waive; with --gap, '*' for all."),
    subjects: list[str] | None = typer.Argument(
        None, help="Hosts or subjects, e.g. 'gpu[001-004]' or gpu017:mlx5_3/1."
    ),
    reason: str = typer.Option(..., "--reason", help="Why this is acceptable."),
    owner: str = typer.Option(..., "--owner", help="Who is responsible."),
    expires: datetime | None = typer.Option(
        None, "--expires", formats=["%Y-%m-%d"], help="Last day the waiver applies."
    ),
    gap: bool = typer.Option(False, "--gap", help="Accept that the check is inconclusive there."),
    system: str = typer.Option(
        "", "--system", help="With --fact: switch system that does not report it, e.g. sonic."
    ),
    fact: str = typer.Option(
        "", "--fact", help="With --system: accept that this fact is not reported."
    ),
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Waive a finding: add it to the waiver file. `check` lists it until it expires."""
    of_fact = bool(system or fact)
    if not of_fact and not (rule and subjects and expires):
        raise UsageError(
            "a waiver needs RULE, SUBJECTS and --expires",
            do="For a fact that a switch system does not report, give --system and --fact instead.",
        )
    known = by_name(shipped().values())
    if rule and rule not in known and rule != "*" and not gap:
        raise no_rule(rule, shipped())
    folder = store_folder(store)
    path = waiver_file(waivers, folder)
    if stands_in(folder) and path.parent.absolute() != folder:
        raise UsageError(
            f"{path} would get a waiver of a finding in demo data",
            why=f"There is no snapshot of yours, so the demo in {folder} is used.",
            do="Collect first, or leave --waivers out to waive it in the demo.",
        )
    last = expires.date() if expires else None
    if last and last < date.today():
        raise UsageError(f"{last} has passed", do="Give the last day on which it applies.")
    verdict = "unknown" if gap or of_fact else "fail"
    named = tuple(subjects or ["*"])
    named_now = known.get(rule, rule) if rule else "*"
    one = Waiver(verdict, named_now, named, reason, owner, last, system, fact)
    append_waiver(path, one)
    remarks().print(f"Written to {path}")
    for doubt in _doubts(folder, one):
        remarks().print(f"Warning: {doubt}", markup=False)
    next_step("railwright check")


def _doubts(folder: Path, waiver: Waiver) -> Iterator[str]:
    """What of it covers nothing in the latest snapshot: it is written, and a slip is seen now."""
    if waiver.fact:
        return
    try:
        now = opened(folder, None)
        site = load_site(site_file(None, folder))
        rules = {name: rule for name, rule in shipped().items() if name == waiver.rule}
        with checked(now, with_thresholds(rules, site), site, [waiver]) as findings:
            yield from unknown_subjects(findings, waiver)
            for one in unused(findings):
                yield f"it covers nothing in {now.name} ({one.why})"
    except SnapshotError:
        return  # nothing was collected yet
    except RailwrightError as error:
        yield f"it could not be held against the latest snapshot: {error}"
