"""`railwright waive`: decide to live with a finding, or with not knowing, for a while."""

from datetime import datetime
from pathlib import Path

import typer

from railwright.check.rule import by_name, shipped
from railwright.check.run import no_rule
from railwright.check.waivers import Waiver, append_waiver
from railwright.cli.common import STORE, WAIVERS
from railwright.config import store_folder, waiver_file
from railwright.errors import UsageError
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
    path = waiver_file(waivers, store_folder(store))
    last = expires.date() if expires else None
    verdict = "unknown" if gap or of_fact else "fail"
    named = tuple(subjects or ["*"])
    named_now = known.get(rule, rule) if rule else "*"
    append_waiver(path, Waiver(verdict, named_now, named, reason, owner, last, system, fact))
    remarks().print(f"Written to {path}")
    next_step("railwright check")
