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
    rule: str = typer.Argument(..., help="The rule's id; '*' for all, with --gap."),
    subjects: list[str] = typer.Argument(
        ..., help="Hosts or subjects: 'gpu[001-004]', gpu017:mlx5_3/1."
    ),
    reason: str = typer.Option(..., "--reason", help="Why this may stay."),
    owner: str = typer.Option(..., "--owner", help="Who answers for it."),
    expires: datetime = typer.Option(
        ..., "--expires", formats=["%Y-%m-%d"], help="The last day on which it counts."
    ),
    gap: bool = typer.Option(False, "--gap", help="Accept that it is unknown there."),
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Write one decision into the waiver file; `check` prints it until it expires."""
    if rule not in shipped() and rule != "*" and not gap:
        raise UsageError(f"no rule {rule}", do="railwright rules lists them.")
    path = waiver_file(waivers, store_folder(store))
    verdict = "unknown" if gap else "fail"
    append_waiver(path, Waiver(verdict, rule, tuple(subjects), reason, owner, expires.date()))
    remarks().print(f"Written to {path}")
    next_step("railwright check")
