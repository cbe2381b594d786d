"""`railwright waive`: decide to live with a finding, or with not knowing, for a while."""

from datetime import datetime
from pathlib import Path

import typer

from railwright.check.rule import shipped
from railwright.check.waivers import Waiver, append_waiver
from railwright.cli.common import STORE, WAIVERS
from railwright.config import store_folder, waiver_file
from railwright.errors import UsageError
from railwright.report.console import next_step, remarks


def waive(
    rule: str | None = typer.Argument(None, help="The rule's id; '*' for all, with --gap."),
    subjects: list[str] | None = typer.Argument(
        None, help="Hosts or subjects: 'gpu[001-004]', gpu017:mlx5_3/1."
    ),
    reason: str = typer.Option(..., "--reason", help="Why this may stay."),
    owner: str = typer.Option(..., "--owner", help="Who answers for it."),
    expires: datetime | None = typer.Option(
        None, "--expires", formats=["%Y-%m-%d"], help="The last day on which it counts."
    ),
    gap: bool = typer.Option(False, "--gap", help="Accept that it is unknown there."),
    system: str = typer.Option(
        "", "--system", help="With --fact: accept that this system of switches does not report it."
    ),
    fact: str = typer.Option("", "--fact", help="The fact that the system does not report."),
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Write one decision into the waiver file; `check` prints it until it expires."""
    of_fact = bool(system or fact)
    if not of_fact and not (rule and subjects and expires):
        raise UsageError(
            "a waiver needs RULE, SUBJECTS and --expires",
            do="Only what a system does not report (--system, --fact) needs none of them.",
        )
    if rule and rule not in shipped() and rule != "*" and not gap:
        raise UsageError(f"no rule {rule}", do="railwright rules lists them.")
    path = waiver_file(waivers, store_folder(store))
    last = expires.date() if expires else None
    verdict = "unknown" if gap or of_fact else "fail"
    named = tuple(subjects or ["*"])
    append_waiver(path, Waiver(verdict, rule or "*", named, reason, owner, last, system, fact))
    remarks().print(f"Written to {path}")
    next_step("railwright check")
