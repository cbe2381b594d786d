"""`railwright import`: answers that were made on the hosts themselves."""

from pathlib import Path

import typer

from railwright.cli.common import JSON, STORE
from railwright.collect.importing import import_files
from railwright.collect.saved import Saved, import_saved, time_of
from railwright.collect.switch import system_names
from railwright.config import own_store
from railwright.errors import UsageError
from railwright.report.collected import collected, tell_collected
from railwright.report.console import next_step
from railwright.report.status import exit_status


def import_(
    files: list[Path] = typer.Argument(..., help="Files written by `python3 -I rw.py > HOST.rw`."),
    kind: str | None = typer.Option(
        None,
        "--kind",
        help="Import saved output of this probe's command; of a switch its system: "
        f"{', '.join(system_names())}; of a benchmark: perftest, nccl_tests or nccl_log.",
    ),
    target: str = typer.Option(
        "", "--target", help="With --kind: host or switch that the output is from."
    ),
    instance: str = typer.Option(
        "",
        "--instance",
        help="With --kind: PCI address or network device of the output, or name of the run.",
    ),
    at: str | None = typer.Option(
        None,
        "--at",
        help="With --kind: when it was saved (2026-11-14T22:15:00Z). Default: time of the file.",
    ),
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Make a snapshot from files that the runner wrote on the hosts: HOST.rw is host HOST.

    Exits 3 if the files are incomplete.
    """
    folder = own_store(store)
    if kind is None and (target or instance or at):
        given = "--target" if target else "--instance" if instance else "--at"
        raise UsageError(
            f"{given} needs --kind",
            why="A file of the runner says itself what is in it, and its name is the host.",
            do=f"Leave out {given}, or say what the output is: --kind PROBE.",
        )
    if kind is None:
        snapshot = import_files(files, folder)
    else:
        saved = Saved(kind, target, instance, time_of(at) if at else None)
        snapshot = import_saved(files, saved, folder)
    told = collected(snapshot)
    status = exit_status(unknown=not told.is_whole)
    tell_collected("import", told, status, as_json=as_json)
    next_step("railwright check")
    raise typer.Exit(status)
