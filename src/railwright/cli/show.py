"""`railwright show`: one host on one screen."""

import shlex
from pathlib import Path

import typer

from railwright.check.machine import OfMachine, of_machine
from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import JSON, SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.opening import decisions, opened
from railwright.config import site_file, store_folder
from railwright.intent.site import Site, load_site
from railwright.report.console import next_step, output, remarks
from railwright.report.host import named_machine, print_host
from railwright.report.screen import Screen
from railwright.report.shown import shown_json
from railwright.report.status import exit_status
from railwright.store.snapshot import Snapshot
from railwright.text import plain

MOST_CHECKED = 5_000  # machines: a check of more takes too long for a look at one


def show(
    host: str = typer.Argument(..., help="Host or switch, as it was collected."),
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    check: bool | None = typer.Option(
        None,
        "--check/--no-check",
        help=f"List findings and mark their values. Default: up to {MOST_CHECKED:,} machines.",
    ),
    as_json: bool = JSON,
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Show one host or switch: PCIe tree, GPUs, NICs, ports, findings, and what is unknown.

    Values with a finding are marked with !. Exits 3 if it was not reached.
    """
    folder = store_folder(store)
    found, wanted = opened(folder, snapshot, named), load_site(site_file(site, folder))
    name, reached = named_machine(found, host)
    if check is None:
        _, asked = found.reached()
        check = asked <= MOST_CHECKED
        if not check:
            remarks().print(f"railwright: {asked:,} machines are not checked here; --check does")
    of = _checked(found, name, wanted, waivers, folder) if check else None
    status = exit_status(unknown=not reached, snapshot=found)
    if as_json:
        typer.echo(shown_json(found, name, wanted, of, status))
    else:
        print_host(Screen(output()), found, name, site=wanted, of=of)
    stands = next((one for one in of.found if one.state == "open"), None) if of else None
    next_step(
        f"railwright explain {stands.rule} --subject {shlex.quote(plain(stands.subject))}"
        if stands
        else f"railwright evidence {shlex.quote(plain(name))}"
    )
    raise typer.Exit(status)


def _checked(
    snapshot: Snapshot, name: str, site: Site, waivers: Path | None, folder: Path
) -> OfMachine:
    """A check of everything: a machine is also judged by its peers and by link partners."""
    decided = decisions(waivers, folder)
    with checked(snapshot, chosen(Choice(), site), site, decided) as findings:
        return of_machine(findings, name)
