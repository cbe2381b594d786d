"""`railwright path`: what each hop does to a packet."""

from pathlib import Path

import typer

from railwright.check.along import traces
from railwright.check.links import rules_of_links, say_of_ends
from railwright.check.run import checked, with_thresholds
from railwright.cli.common import JSON, SITE, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.opening import decisions, intended, opened
from railwright.config import store_folder
from railwright.errors import NotReadError, UsageError
from railwright.fabric.classes import sections
from railwright.fabric.infiniband import count_ports
from railwright.report.console import next_step, output
from railwright.report.hops import hops_json, hops_status, print_hops
from railwright.report.paths import not_read_json, print_traces, traces_json, traces_status
from railwright.report.screen import Screen


def path(
    source: str | None = typer.Argument(
        None, help="Source port: gpu001:mlx5_0 or gpu001:ens1np0. Default: group all hops by class."
    ),
    destination: str | None = typer.Argument(None, help="Destination port."),
    dscp: int | None = typer.Option(
        None,
        "--dscp",
        min=0,
        max=63,
        help="DSCP of the data, 0 to 63. Default: from the site file, else the sender's.",
    ),
    as_json: bool = JSON,
    snapshot: str | None = SNAPSHOT_OPTION,
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Show what each hop does to RoCE data and its CNPs.

    Exits 1 if a hop is faulty, 3 if something is unknown.
    """
    folder = store_folder(store)
    found = opened(folder, snapshot)
    if source is not None and destination is None:
        raise UsageError(
            "no destination port given",
            do=f"Name both ports: railwright path {source} HOST:DEVICE",
        )
    wanted = intended(site, folder)
    if source is None or destination is None:
        rules = with_thresholds(rules_of_links(), wanted)
        with checked(found, rules, wanted, decisions(waivers, folder)) as findings:
            say_of_ends(findings)
            hops = list(sections(findings.database))
            infiniband = count_ports(findings.database)
        status = hops_status(hops, found)
        said = hops_json(hops, found.name, infiniband, status) if as_json else ""
        if not as_json:
            print_hops(Screen(output()), hops, found.title, infiniband)
    else:
        decided = decisions(waivers, folder)
        try:
            ways = traces(found, wanted, decided, (source, destination), dscp)
        except NotReadError as error:
            if as_json:
                typer.echo(not_read_json(found.name, error.exit_code, error.what))
            raise
        status = traces_status(ways, found)
        said = traces_json(found.name, status, ways) if as_json else ""
        if not as_json:
            screen = Screen(output())
            if found.is_demo:
                screen.line(f"Snapshot {found.title}", "dim")
            print_traces(screen, ways)
    if as_json:
        typer.echo(said)
    next_step("railwright check" if source else "railwright path HOST:DEVICE HOST:DEVICE")
    raise typer.Exit(status)
