"""`railwright evidence`: the bytes that a fact came from."""

from pathlib import Path

import typer

from railwright.cli.common import STORE
from railwright.cli.opening import opened
from railwright.config import store_folder
from railwright.report.console import next_step, output
from railwright.report.evidence import print_answers, write_answer
from railwright.report.screen import Screen


def evidence(
    host: str = typer.Argument(..., help="Host name, as it was collected."),
    probe: str | None = typer.Argument(
        None, help="Probe. Default: list the answers of all probes."
    ),
    instance: str | None = typer.Argument(
        None, help="PCI address or network device, if the probe has several answers."
    ),
    snapshot: str | None = typer.Option(
        None, "--snapshot", help="Path, name or start of the date. Default: the latest."
    ),
    store: Path | None = STORE,
) -> None:
    """Print the raw output collected from a host: the evidence behind its facts."""
    found = opened(store_folder(store), snapshot)
    if probe is None:
        print_answers(Screen(output()), found, host)
        next_step(f"railwright evidence {host} PROBE")
        return
    write_answer(found, host, probe, instance)
