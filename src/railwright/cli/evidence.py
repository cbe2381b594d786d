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
    host: str = typer.Argument(..., help="The host, as it was named when it was read."),
    probe: str | None = typer.Argument(None, help="A probe. Nothing: what every probe answered."),
    instance: str | None = typer.Argument(
        None, help="Which of its answers: a PCI address or a network device."
    ),
    snapshot: str | None = typer.Option(
        None, "--snapshot", help="Path, name or beginning of the date. Default: the latest."
    ),
    store: Path | None = STORE,
) -> None:
    """What a host answered, byte for byte: the proof behind every fact."""
    found = opened(store_folder(store), snapshot)
    if probe is None:
        print_answers(Screen(output()), found, host)
        next_step(f"railwright evidence {host} PROBE")
        return
    write_answer(found, host, probe, instance)
