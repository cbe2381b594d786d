"""`railwright evidence`: the bytes that a fact came from."""

from pathlib import Path

import typer

from railwright.cli.common import JSON, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import opened
from railwright.config import store_folder
from railwright.errors import UsageError
from railwright.report.console import next_step, output
from railwright.report.evidence import answers_json, print_answers, write_answer
from railwright.report.screen import Screen
from railwright.report.status import exit_status


def evidence(
    host: str = typer.Argument(..., help="Host name, as it was collected."),
    probe: str | None = typer.Argument(
        None, help="Probe. Default: list the answers of all probes."
    ),
    instance: str | None = typer.Argument(
        None, help="PCI address or network device, if the probe has several answers."
    ),
    snapshot: str | None = SNAPSHOT_OPTION,
    as_json: bool = JSON,
    store: Path | None = STORE,
) -> None:
    """Print the raw output collected from a host: the evidence behind its facts."""
    if as_json and probe is not None:
        raise UsageError(
            f"--json lists the answers of {host} and prints none",
            do=f"Leave out --json for the bytes of {probe}, or {probe} for the list.",
        )
    found = opened(store_folder(store), snapshot)
    if probe is None:
        if as_json:
            typer.echo(answers_json(found, host, exit_status(snapshot=found)))
        else:
            print_answers(Screen(output()), found, host)
        next_step(f"railwright evidence {host} PROBE")
        raise typer.Exit(exit_status(snapshot=found))
    write_answer(found, host, probe, instance)
